#include "jit/passes/sizes.h"

#include <algorithm>
#include <unordered_map>

#include "jit/region/equal_sizes.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

class Unifier {
 public:
  explicit Unifier(Region& region)
      : region_(region), facts_(EqualSizes::at_entry(region)), entry_(region.value_count()) {}

  bool run() {
    hoist_constants();
    find_entry_values();
    find_constants();
    choose();
    if (with_.empty()) return false;
    find_guarded();
    rewrite(region_.body);
    rewrite_types();
    return true;
  }

 private:
  // Integer constants of the body stand first: they are visible everywhere.
  void hoist_constants() {
    auto& body = region_.body.instructions;
    std::vector<Instruction> constants;
    size_t kept = body.size();
    for (size_t i = body.size(); i-- > 0;) {
      if (body[i].code == Code::Const) constants.push_back(std::move(body[i]));
      else if (--kept != i) body[kept] = std::move(body[i]);
    }
    std::move(constants.rbegin(), constants.rend(), body.begin());
  }

  // Values that exist, or could be computed, before anything runs: sizes and scalars of the inputs,
  // constants, arithmetic on those. Facts about others may hold only behind a guard.
  void find_entry_values() {
    for (ValueId input : region_.body.parameters) {
      if (region_.type(input).kind == ValueKind::Int) entry_[input] = true;
      for (ValueId size : region_.type(input).sizes) {
        entry_[size] = true;
        input_sizes_.insert(size);
      }
    }
    for (const Instruction& instruction : region_.body.instructions) {
      if (instruction.code != Code::Const && instruction.code != Code::Scalar) continue;
      bool known = region_.type(instruction.results[0]).kind == ValueKind::Int;
      for (ValueId operand : instruction.operands) known = known && entry_[operand];
      entry_[instruction.results[0]] = known;
      order_[instruction.results[0]] = order_.size() + 1;
    }
  }

  // The constant of each number that a class is known to be.
  void find_constants() {
    for (const Instruction& instruction : region_.body.instructions)
      if (instruction.code == Code::Const && instruction.number.kind == Scalar::Kind::Int)
        constants_.emplace(instruction.number.i, instruction.results[0]);
  }

  // Inputs come before computed values, those in their order.
  bool earlier(ValueId a, ValueId b) const {
    const auto x = order_.find(a), y = order_.find(b);
    const size_t at = x == order_.end() ? 0 : x->second, other = y == order_.end() ? 0 : y->second;
    return at != other ? at < other : a < b;
  }

  void choose() {
    ValueMap<ValueId> first;
    for (ValueId value = 0; value < entry_.size(); ++value) {
      if (!entry_[value]) continue;
      const auto [place, fresh] = first.emplace(facts_.representative(value), value);
      if (!fresh && earlier(value, place->second)) place->second = value;
    }
    for (ValueId value = 0; value < entry_.size(); ++value) {
      if (!entry_[value]) continue;
      const auto number = facts_.constant(value);
      const auto constant = number ? constants_.find(*number) : constants_.end();
      const ValueId chosen = constant != constants_.end() ? constant->second : first.at(facts_.representative(value));
      if (chosen != value) with_[value] = chosen;
    }
  }

  ValueId resolve(ValueId value) const {
    const auto found = with_.find(value);
    return found == with_.end() ? value : found->second;
  }

  // The comparisons that entry guards test say why two values may share a name: they go on comparing
  // what they compared.
  void find_guarded() {
    for (const Instruction& instruction : region_.body.instructions)
      if (instruction.code == Code::Guard) guarded_.insert(instruction.operands[0]);
  }
  bool is_guard_test(const Instruction& instruction) const {
    return instruction.code == Code::Scalar && guarded_.count(instruction.results[0]);
  }
  void rewrite(Block& block) {
    for (Instruction& instruction : block.instructions) {
      if (is_guard_test(instruction)) continue;
      for (ValueId& operand : instruction.operands) operand = resolve(operand);
      for (const auto& inner : instruction.blocks) rewrite(*inner);
    }
  }

  // An input's sizes stay its own where they are constants: those are defined later.
  void rewrite_types() {
    const ValueSet inputs(region_.body.parameters.begin(), region_.body.parameters.end());
    for (ValueId value = 0; value < entry_.size(); ++value)
      if (!inputs.count(value))
        for (ValueId& size : region_.type(value).sizes) size = resolve(size);
    // What still says something: an input size that is a constant.
    std::vector<std::pair<ValueId, ValueId>> kept;
    for (const auto& [a, b] : region_.assumptions)
      if (resolve(a) != resolve(b)) kept.push_back({a, b});
    for (ValueId size : input_sizes_)
      if (resolve(size) != size) kept.push_back({size, resolve(size)});
    std::sort(kept.begin(), kept.end());
    region_.assumptions = std::move(kept);
  }

  Region& region_;
  EqualSizes facts_;
  std::vector<bool> entry_;
  ValueSet input_sizes_, guarded_;
  ValueMap<size_t> order_;
  std::unordered_map<int64_t, ValueId> constants_;
  ValueMap<ValueId> with_;
};

}  // namespace

bool unify_sizes(Region& region) {
  const bool shared = share_input_sizes(region);
  return Unifier(region).run() || shared;
}

}  // namespace tsc::jit
