#include "jit/passes/dce.h"

#include <algorithm>
#include <unordered_map>

#include "jit/passes/rewrite.h"
#include "jit/region/raises.h"

namespace tsc::jit {
namespace {

class DeadCode {
 public:
  explicit DeadCode(Region& region)
      : region_(region), facts_(region), raises_(region, facts_), used_(region.value_count()) {}

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
      const ValueId first = number ? by_number.emplace(*number, value).first->second
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

  // The sizes of an operand are marked at what makes it, which stands in front and is seen later.
  void use_type(ValueId value) {
    for (ValueId size : region_.type(value).sizes) used_[size] = true;
  }

  void sweep(Block& block) {
    std::vector<bool> dead(block.instructions.size());
    for (size_t i = block.instructions.size(); i-- > 0;) {
      Instruction& instruction = block.instructions[i];
      bool needed = has_effect(instruction) || raises_.may_raise(instruction);
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
      if (instruction.code == Code::Loop && !instruction.blocks.empty()) drop_unread_stacks(instruction);
      if (instruction.code == Code::If && !instruction.blocks.empty()) drop_unread_results(instruction);
      for (ValueId result : instruction.results) use_type(result);
      for (ValueId operand : instruction.operands) used_[operand] = true;
      for (const auto& inner : instruction.blocks) sweep(*inner);
      for (const auto& inner : instruction.blocks)
        for (ValueId parameter : inner->parameters) use_type(parameter);
    }
    Kept kept(block.instructions);
    for (size_t i = 0; i < dead.size(); ++i)
      if (!dead[i]) kept.keep(i);
    kept.finish();
  }

  // Variables that nobody reads behind the branch, and what it saves for a backward that does not come.
  void drop_unread_results(Instruction& branch) {
    const auto is_read = [&](ValueId result) {
      const ValueList& sizes = region_.type(result).sizes;
      return used_[result] || std::any_of(sizes.begin(), sizes.end(), [&](ValueId size) { return used_[size]; });
    };
    for (size_t i = branch.results.size(); i-- > 0;) {
      if (is_read(branch.results[i])) continue;
      removed_.insert(branch.results[i]);
      branch.results.erase(i);
      for (const auto& block : branch.blocks)
        if (Instruction& end = block->instructions.back(); end.code == Code::Yield) end.operands.erase(i);
      changed_ = true;
    }
  }

  // Results that hold a value of all turns, for a backward that does not come.
  void drop_unread_stacks(Instruction& loop) {
    ValueList& yielded = loop.blocks[0]->instructions.back().operands;
    Sizes& read = loop.attributes.axes;
    for (size_t i = loop.results.size(); i >= loop.operands.size(); --i) {
      if (used_[loop.results[i - 1]]) continue;
      const auto place = static_cast<int64_t>(i - 1);
      removed_.insert(loop.results[i - 1]);
      loop.results.erase(i - 1);
      yielded.erase(i - 1);
      Sizes left;
      for (int64_t one : read) {
        const int64_t its = one < 0 ? ~one : one, now = its - (its > place);
        if (its != place) left.push_back(one < 0 ? ~now : now);
      }
      read = left;
      changed_ = true;
    }
  }

  Region& region_;
  EqualSizes facts_;
  Raises raises_;
  std::vector<bool> used_;
  ValueSet removed_, assumed_;
  bool changed_ = false;
};

}  // namespace

bool eliminate_dead_code(Region& region) { return DeadCode(region).run(); }

}  // namespace tsc::jit
