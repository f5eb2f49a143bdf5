#pragma once
// The sizes of an op's result, by family, generic over what a size is: int64_t in the eager path, a
// value of the region in the compiler. No checks here: the eager path checks first (infer_sizes in
// op.h), the compiler emits its own guards. Also the broadcasting rule of the front functions.
//
// Arithmetic is a policy: Size constant(int64_t), add(a, b), sub(a, b), mul(a, b), floor_div(a, b),
// min(a, b), max(a, b).
#include <span>

#include "runtime/base/error.h"
#include "runtime/ops/op.h"

namespace tsc {

// How many scalar operands of a Create op stand before its `sizes`.
inline int64_t scalars_before_sizes(Op op) { return op == Op::full ? 1 : op == Op::rng_bits ? 2 : 0; }

template <class Size>
using SizesOf = SmallVector<Size, 6>;

template <class Size, class Policy>
SizesOf<Size> infer_view_sizes(Op op, const SizesOf<Size>& x, std::span<const Size> scalars, const Sizes& axes,
                               Policy& policy) {
  SizesOf<Size> sizes;
  switch (op) {
    case Op::reshape:
    case Op::broadcast: return SizesOf<Size>(scalars);
    case Op::permute:
      for (int64_t axis : axes) sizes.push_back(x[axis]);
      return sizes;
    case Op::slice:
      sizes = x;
      sizes[axes[0]] = scalars[1];
      return sizes;
    case Op::view_as_real:
      sizes = x;
      sizes.push_back(policy.constant(2));
      return sizes;
    case Op::view_as_complex:
      sizes = x;
      sizes.pop_back();
      return sizes;
    case Op::unfold:
      sizes = x;
      sizes[axes[0]] = policy.add(policy.floor_div(policy.sub(x[axes[0]], scalars[0]), scalars[1]), policy.constant(1));
      sizes.push_back(scalars[0]);
      return sizes;
    case Op::diagonal: {
      for (int64_t axis = 0; axis < static_cast<int64_t>(x.size()); ++axis)
        if (axis != axes[0] && axis != axes[1]) sizes.push_back(x[axis]);
      Size zero = policy.constant(0), offset = scalars[0];
      Size rows = policy.add(x[axes[0]], policy.min(offset, zero));
      Size columns = policy.sub(x[axes[1]], policy.max(offset, zero));
      sizes.push_back(policy.max(policy.min(rows, columns), zero));
      return sizes;
    }
    default: TSC_CHECK(false, "not a view op: " + std::string(op_name(op)));
  }
}

template <class Size, class Policy>
SizesOf<Size> infer_move_sizes(Op op, std::span<const SizesOf<Size>> operands, std::span<const Size> scalars,
                               const Sizes& axes, Policy& policy) {
  SizesOf<Size> sizes = operands[0];
  if (op == Op::pad) {
    Size& size = sizes[axes[0]];
    size = policy.add(policy.add(size, scalars[1]), scalars[2]);
  }
  if (op == Op::concat)
    for (const SizesOf<Size>& other : operands.subspan(1)) sizes[axes[0]] = policy.add(sizes[axes[0]], other[axes[0]]);
  return sizes;
}

template <class Size>
SizesOf<Size> infer_index_sizes(Op op, std::span<const SizesOf<Size>> operands, const Sizes& axes) {
  if (op == Op::gather) return operands[1];
  if (op != Op::take) return operands[0];
  SizesOf<Size> sizes;
  const SizesOf<Size>& x = operands[0];
  for (int64_t axis = 0; axis < static_cast<int64_t>(x.size()); ++axis) {
    if (axis != axes[0]) sizes.push_back(x[axis]);
    else
      for (Size size : operands[1]) sizes.push_back(size);
  }
  return sizes;
}

template <class Size>
SizesOf<Size> infer_window_sizes(Op op, std::span<const SizesOf<Size>> operands, std::span<const Size> scalars,
                                 int64_t mode) {
  const SizesOf<Size>& x = operands[0];
  SizesOf<Size> sizes = {x[0]};
  if (op == Op::convolve && mode == 0) sizes = {x[0], x[1], operands[1][1]};
  if (op == Op::convolve && mode == 1) sizes = {x[1], operands[1][1], x[0]};
  const size_t windowed = x.size() - sizes.size();
  for (size_t i = 0; i < windowed; ++i) sizes.push_back(scalars[i]);
  return sizes;
}

template <class Size, class Policy>
SizesOf<Size> infer_sizes_generic(Op op, std::span<const SizesOf<Size>> operands, std::span<const Size> scalars,
                                  const OpAttributes& attributes, Policy&& policy) {
  SizesOf<Size> sizes;
  switch (op_row(op).family) {
    case Family::Unary:
    case Family::Binary:
    case Family::Ternary:
    case Family::Scan:
    case Family::Sort: return operands[0];
    case Family::Create: return SizesOf<Size>(scalars.subspan(scalars_before_sizes(op)));
    case Family::View: return infer_view_sizes(op, operands[0], scalars, attributes.axes, policy);
    case Family::Move: return infer_move_sizes(op, operands, scalars, attributes.axes, policy);
    case Family::Index: return infer_index_sizes(op, operands, attributes.axes);
    case Family::Reduce: {
      size_t next = 0;  // axes are sorted
      for (size_t axis = 0; axis < operands[0].size(); ++axis) {
        if (next < attributes.axes.size() && attributes.axes[next] == static_cast<int64_t>(axis)) ++next;
        else sizes.push_back(operands[0][axis]);
      }
      return sizes;
    }
    case Family::Contract:
      sizes = operands[0];
      sizes.back() = operands[1].back();
      return sizes;
    case Family::Window: return infer_window_sizes(op, operands, scalars, attributes.mode);
  }
  return sizes;
}

// The policy of the eager path.
struct ConcreteSizes {
  int64_t constant(int64_t value) const { return value; }
  int64_t add(int64_t a, int64_t b) const { return checked_add(a, b); }
  int64_t sub(int64_t a, int64_t b) const { return checked_add(a, -b); }
  int64_t mul(int64_t a, int64_t b) const { return checked_mul(a, b); }
  int64_t floor_div(int64_t a, int64_t b) const { return a / b; }  // a >= 0, b > 0: checked
  int64_t min(int64_t a, int64_t b) const { return a < b ? a : b; }
  int64_t max(int64_t a, int64_t b) const { return a < b ? b : a; }
};

// The common shape two operands broadcast to, or PyTorch's RuntimeError, which names the last axis that does not fit.
Sizes broadcast_sizes(const Sizes& a, const Sizes& b);

}  // namespace tsc
