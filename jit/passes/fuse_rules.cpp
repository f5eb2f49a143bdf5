#include "jit/passes/fuse_rules.h"

namespace tsc::jit {

bool is_reduction(Op op) { return op == Op::sum || op == Op::prod || op == Op::amax || op == Op::amin; }

bool is_fusable(Op op, DType dtype) {
  if (is_complex(dtype)) return false;  // the executor runs the reference kernels between two groups
  // Inside of a kernel a small float is a float, whose nans have other bits.
  if (op == Op::bitcast && is_small_float(dtype)) return false;
  if (is_floating(dtype)) return true;
  switch (op) {
    case Op::quot:
    case Op::rem:
    case Op::floor_div:
    case Op::remainder:
    case Op::pow: return false;
    default: return true;
  }
}

bool can_fuse(const Region& region, const Instruction& instruction) {
  const Op op = instruction.op;
  if (is_elementwise(op)) {
    const DType in = region.type(instruction.operands[op == Op::select ? 1 : 0]).dtype;
    return is_fusable(op, in) && is_fusable(op, region.type(instruction.results[0]).dtype);
  }
  if (is_reduction(op)) return is_fusable(op, region.type(instruction.operands[0]).dtype);
  if (is_complex(region.type(instruction.results[0]).dtype)) return false;
  return op == Op::full || op == Op::rng_bits || op == Op::broadcast || op == Op::reshape || op == Op::detach ||
         op == Op::copy;
}

bool starts_group(const Region& region, const Instruction& instruction) {
  const Op op = instruction.op;
  if (is_elementwise(op)) return !region.type(instruction.results[0]).sizes.empty();
  if (op == Op::rng_bits) return true;
  return is_reduction(op) && (trailing_split(region, instruction) >= 0 || leading_split(instruction) > 0);
}

int trailing_split(const Region& region, const Instruction& reduction) {
  const size_t rank = region.type(reduction.operands[0]).sizes.size();
  const Sizes& axes = reduction.attributes.axes;
  if (axes.empty()) return -1;
  const size_t k = rank - axes.size();
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(k + i)) return -1;
  return static_cast<int>(k);
}

int leading_split(const Instruction& reduction) {
  const Sizes& axes = reduction.attributes.axes;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(i)) return -1;
  return static_cast<int>(axes.size());
}

KernelShape starting_shape(const Region& region, const Instruction& instruction) {
  KernelShape shape;
  if (!is_reduction(instruction.op)) {
    shape.sizes = region.type(instruction.results[0]).sizes;
    return shape;
  }
  shape.sizes = region.type(instruction.operands[0]).sizes;
  shape.split = trailing_split(region, instruction);
  if (shape.split < 0) {
    shape.split = leading_split(instruction);
    shape.column = true;
  }
  return shape;
}

}  // namespace tsc::jit
