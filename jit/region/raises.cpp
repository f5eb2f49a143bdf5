#include "jit/region/raises.h"

#include "jit/region/scalar_eval.h"

namespace tsc::jit {

void Raises::collect_bounds(const Block& block) {
  for (const Instruction& instruction : block.instructions) {
    for (const auto& inner : instruction.blocks) collect_bounds(*inner);
    if (instruction.code != Code::Op) continue;
    const Op op = instruction.op;
    const bool view = op_row(op).flags & kView;
    const Sizes& axes = instruction.attributes.axes;
    const auto size = [&] { return region_.type(instruction.operands[0]).sizes[axes[0]]; };
    if ((op == Op::argmax || op == Op::argmin) && axes.size() == 1) below_[instruction.results[0]] = size();
    if (op_result_count(op) == 2) below_[instruction.results[1]] = size();
    if (!view) continue;
    if (const auto known = below_.find(instruction.operands[0]); known != below_.end()) {
      const ValueId bound = known->second;
      below_[instruction.results[0]] = bound;
    }
  }
}

bool Raises::may_raise(const Instruction& instruction) const {
  if (instruction.code == Code::Scalar) return is_raising_scalar(instruction);
  const OpRow& row = op_row(instruction.op);
  if (instruction.code != Code::Op || !(row.flags & kMayRaise)) return false;
  const ValueList& operands = instruction.operands;
  if (is_elementwise(instruction.op)) return !is_floating(region_.type(operands[0]).dtype);
  if (row.family == Family::Index) {
    const auto bound = below_.find(operands[1]);
    return bound == below_.end() ||
           !facts_.equal(bound->second, region_.type(operands[0]).sizes[instruction.attributes.axes[0]]);
  }
  if (row.domain == Domain::NonEmpty) {
    for (int64_t axis : instruction.attributes.axes)
      if (facts_.constant(region_.type(operands[0]).sizes[axis]).value_or(0) == 0) return true;
    return false;
  }
  return true;
}

// Sums and products of sizes may go; a division whose divisor may be zero may not.
bool Raises::is_raising_scalar(const Instruction& instruction) const {
  if (!scalar_may_raise(instruction.scalar_op, ValueKind::Float)) return false;  // Int: where integers overflow too
  const bool divides = instruction.scalar_op == ScalarOp::true_div || instruction.scalar_op == ScalarOp::floor_div ||
                       instruction.scalar_op == ScalarOp::mod;
  return !divides || facts_.constant(instruction.operands[1]).value_or(0) == 0;
}

}  // namespace tsc::jit
