#include "jit/passes/private_copies.h"

#include <algorithm>

#include "jit/passes/copies_for_later.h"
#include "jit/passes/dce.h"
#include "jit/passes/fuse_rules.h"
#include "jit/passes/rewrite.h"
#include "jit/region/op_cost.h"

namespace tsc::jit {
namespace {

constexpr size_t kMostCopies = 16;  // for one reduction

class ColumnInputs {
 public:
  ColumnInputs(Region& region, PrivateCopies& copies)
      : region_(region), copies_(copies), code_(region.body.instructions) {
    for (size_t i = 0; i < code_.size(); ++i)
      for (ValueId result : code_[i].results) definition_[result] = i;
    for (const Instruction& instruction : code_)
      for (ValueId operand : instruction.operands) ++uses_[operand];
    find_in_memory();
  }

  void run() {
    Insertions copied;
    for (size_t i = 0; i < code_.size(); ++i) {
      Instruction& reduction = code_[i];  // which no copy is made of
      std::vector<ValueId> order;
      if (!wants_copies(reduction) || !chain(reduction.operands[0], &order)) continue;
      renamed_.clear();
      for (ValueId value : order) copied.add(i, copy(value, reduction.results[0]));
      reduction.operands[0] = renamed_.at(reduction.operands[0]);
    }
    copied.put_into(code_);
  }

 private:
  // Values that are written to memory whatever this pass does: the operands of ops outside kernels,
  // and what those are views of.
  void find_in_memory() {
    for (size_t i = code_.size(); i-- > 0;) {
      const Instruction& instruction = code_[i];
      const bool fused = instruction.code == Code::Op && can_fuse(region_, instruction);
      const bool view = instruction.code == Code::Op && op_row(instruction.op).flags & kView;
      const bool stays = view ? in_memory_.count(instruction.results[0]) != 0 : !fused;
      if (!stays) continue;
      for (ValueId operand : instruction.operands) in_memory_.insert(operand);
    }
  }

  bool wants_copies(const Instruction& instruction) const {
    return instruction.code == Code::Op && is_reduction(instruction.op) && can_fuse(region_, instruction) &&
           trailing_split(region_, instruction) < 0 && leading_split(instruction) > 0;
  }

  bool is_leaf(ValueId value) const {
    const auto found = definition_.find(value);
    if (found == definition_.end() || in_memory_.count(value)) return true;
    const Instruction& made = code_[found->second];
    if (views_are_leaves_ && made.code == Code::Op && made.op == Op::reshape) return is_leaf(made.operands[0]);
    return made.code != Code::Op || made.op == Op::broadcast || !can_fuse(region_, made);
  }

  // What only the reduction reads may be made from views too. Otherwise a view, of a matrix product perhaps,
  // is better left to its one other reader.
  bool chain(ValueId value, std::vector<ValueId>* order) {
    views_are_leaves_ = false;
    if (expand(value, order)) return true;
    order->clear();
    views_are_leaves_ = true;
    if (!expand(value, order)) return false;
    return std::all_of(order->begin(), order->end(), [&](ValueId made) { return uses_.at(made) == 1; });
  }

  // The chain of cheap ops that makes the value, producers first. False: it is a leaf itself, or
  // something in it is neither cheap nor in memory.
  bool expand(ValueId value, std::vector<ValueId>* order) const {
    if (is_leaf(value)) return false;
    const Instruction& made = code_[definition_.at(value)];
    if (made.op != Op::full && !(is_cheap(made.op) && is_elementwise(made.op))) return false;
    for (size_t i = 0; i < tensor_count(made); ++i) {
      const ValueId operand = made.operands[i];
      const bool known = std::find(order->begin(), order->end(), operand) != order->end();
      if (!known && !is_leaf(operand) && !expand(operand, order)) return false;
    }
    order->push_back(value);
    return order->size() <= kMostCopies;
  }

  Instruction copy(ValueId value, ValueId consumer) {
    Instruction made = clone_instruction(code_[definition_.at(value)]);
    for (ValueId& operand : made.operands)
      if (const auto found = renamed_.find(operand); found != renamed_.end()) operand = found->second;
    made.results[0] = region_.add_value(Type(region_.type(value)));
    renamed_[value] = made.results[0];
    copies_.add(consumer, made.results[0]);
    return made;
  }

  Region& region_;
  PrivateCopies& copies_;
  std::vector<Instruction>& code_;
  ValueMap<size_t> definition_;
  ValueSet in_memory_;
  ValueMap<int> uses_;
  ValueMap<ValueId> renamed_;  // value -> its copy in the chain that is copied
  bool views_are_leaves_ = false;
};

void copy_constants(Region& region, PrivateCopies& copies) {
  std::vector<Instruction>& code = region.body.instructions;
  ValueMap<size_t> fulls;
  Insertions copied;
  for (size_t i = 0; i < code.size(); ++i) {
    Instruction& instruction = code[i];
    if (instruction.code == Code::Op && is_elementwise(instruction.op) && can_fuse(region, instruction) &&
        starts_group(region, instruction)) {
      for (ValueId& operand : instruction.operands) {
        const auto found = fulls.find(operand);
        if (found == fulls.end()) continue;
        Instruction copy = clone_instruction(code[found->second]);
        copy.results[0] = region.add_value(Type(region.type(operand)));
        operand = copy.results[0];
        copies.add(instruction.results[0], operand);
        copied.add(i, std::move(copy));
      }
    }
    if (instruction.code == Code::Op && instruction.op == Op::full) fulls[instruction.results[0]] = i;
  }
  copied.put_into(code);
}

}  // namespace

void PrivateCopies::forget_dead(const Region& region) {
  ValueSet present;
  for (const Instruction& instruction : region.body.instructions)
    present.insert(instruction.results.begin(), instruction.results.end());
  ValueMap<std::vector<ValueId>> of;
  copies_.clear();
  for (auto& [consumer, copies] : of_) {
    if (!present.count(consumer)) continue;
    std::erase_if(copies, [&](ValueId copy) { return !present.count(copy); });
    copies_.insert(copies.begin(), copies.end());
    of.emplace(consumer, std::move(copies));
  }
  of_ = std::move(of);
}

PrivateCopies make_private_copies(Region& region) {
  PrivateCopies copies;
  for (const Instruction& instruction : region.body.instructions)
    if (!instruction.blocks.empty()) return copies;
  copy_for_later_kernels(region, &copies);
  ColumnInputs(region, copies).run();
  eliminate_dead_code(region);
  copies.forget_dead(region);
  copy_constants(region, copies);
  return copies;
}

}  // namespace tsc::jit
