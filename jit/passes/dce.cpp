#include "jit/passes/dce.h"

#include <algorithm>
#include <unordered_map>

#include "jit/region/equal_sizes.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

class DeadCode {
 public:
  explicit DeadCode(Region& region)
      : region_(region), facts_(region), used_(region.value_count()) {
    collect_safe_indices(region.body);
  }

  bool run() {
    for (ValueId input : region_.body.parameters) use_type(input);
    // That a size is 1 is what makes a broadcast of it legal: such constants stay.
    for (const auto& [a, b] : region_.assumptions) {
      assumed_.insert(a);
      assumed_.insert(b);
    }
    sweep(region_.body);
    keep_assumptions();
    return changed_;
  }

 private:
  // What was assumed of values that are gone still ties those that stay: a == gone == b.
  void keep_assumptions() {
    std::unordered_map<int64_t, ValueId> by_number;
    ValueMap<ValueId> by_class;
    std::vector<std::pair<ValueId, ValueId>> kept;
    const auto visit = [&](ValueId value) {
      if (removed_.count(value)) return;
      const auto number = facts_.constant(value);
      const ValueId first =
          number ? by_number.emplace(*number, value).first->second
                 : by_class.emplace(facts_.representative(value), value).first->second;
      if (first != value) kept.push_back({first, value});
    };
    for (const auto& [a, b] : region_.assumptions) {
      visit(a);
      visit(b);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    region_.assumptions = std::move(kept);
  }

  void use(ValueId value) {
    used_[value] = true;
    use_type(value);
  }
  void use_type(ValueId value) {
    for (ValueId size : region_.type(value).sizes) used_[size] = true;
  }

  // Indices that are in range by construction.
  void collect_safe_indices(const Block& block) {
    for (const Instruction& instruction : block.instructions) {
      for (const auto& inner : instruction.blocks) collect_safe_indices(*inner);
      if (instruction.code != Code::Op) continue;
      const Op op = instruction.op;
      const bool view = op_row(op).flags & kView;
      if (op == Op::argmax || op == Op::argmin) safe_.insert(instruction.results[0]);
      if (op == Op::sort) safe_.insert(instruction.results[1]);
      if (view && safe_.count(instruction.operands[0])) safe_.insert(instruction.results[0]);
    }
  }

  bool may_raise(const Instruction& instruction) const {
    if (instruction.code == Code::Scalar) return scalar_may_raise(instruction);
    const OpRow& row = op_row(instruction.op);
    if (instruction.code != Code::Op || !(row.flags & kMayRaise)) return false;
    const ValueList& operands = instruction.operands;
    if (is_elementwise(instruction.op)) return !is_floating(region_.type(operands[0]).dtype);
    if (row.family == Family::Index) return !safe_.count(operands[1]);
    if (row.domain == Domain::NonEmpty) {
      for (int64_t axis : instruction.attributes.axes)
        if (facts_.constant(region_.type(operands[0]).sizes[axis]).value_or(0) == 0) return true;
      return false;
    }
    return true;
  }
  // Sums and products of sizes may go; a division whose divisor may be zero may not.
  bool scalar_may_raise(const Instruction& instruction) const {
    switch (instruction.scalar_op) {
      case ScalarOp::true_div:
      case ScalarOp::floor_div:
      case ScalarOp::mod: return facts_.constant(instruction.operands[1]).value_or(0) == 0;
      case ScalarOp::pow:
      case ScalarOp::float_to_int:
      case ScalarOp::sqrt:
      case ScalarOp::exp:
      case ScalarOp::log:
      case ScalarOp::sin:
      case ScalarOp::cos: return true;
      default: return false;
    }
  }

  void sweep(Block& block) {
    std::vector<bool> dead(block.instructions.size());
    for (size_t i = block.instructions.size(); i-- > 0;) {
      Instruction& instruction = block.instructions[i];
      bool needed = has_effect(instruction) || may_raise(instruction);
      for (ValueId result : instruction.results) needed |= used_[result];
      needed |= instruction.code == Code::Const && assumed_.count(instruction.results[0]);
      // The size that nonzero defines counts as its result.
      if (instruction.code == Code::Op && op_row(instruction.op).flags & kDynamicSize)
        needed |= used_[region_.type(instruction.results[0]).sizes[0]];
      if (!needed) {
        for (ValueId result : instruction.results) removed_.insert(result);
        dead[i] = changed_ = true;
        continue;
      }
      for (ValueId result : instruction.results) use_type(result);
      for (ValueId operand : instruction.operands) use(operand);
      for (const auto& inner : instruction.blocks) sweep(*inner);
      for (const auto& inner : instruction.blocks)
        for (ValueId parameter : inner->parameters) use_type(parameter);
    }
    std::vector<Instruction>& all = block.instructions;
    size_t kept = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (dead[i]) continue;
      if (kept != i) all[kept] = std::move(all[i]);
      ++kept;
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  }

  Region& region_;
  EqualSizes facts_;
  std::vector<bool> used_;
  ValueSet safe_, removed_, assumed_;
  bool changed_ = false;
};

}  // namespace

bool eliminate_dead_code(Region& region) { return DeadCode(region).run(); }

}  // namespace tsc::jit
