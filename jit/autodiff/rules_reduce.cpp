// Gradients of indexing, reductions, scans, sort and the matrix product.
#include "jit/autodiff/rules_support.h"

namespace tsc::jit {

void grad_take(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.op(Op::index_add, {e.zeros(c.x()), c.y(), c.g()}, {}, c.attributes.axes);
}

void grad_gather(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.op(Op::scatter_add, {e.zeros(c.x()), c.y(), c.g()}, {}, c.attributes.axes);
}

void grad_index_add(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = c.g();
  if (c.wanted[2]) c.out[2] = e.op(Op::take, {c.g(), c.y()}, {}, c.attributes.axes);
}

void grad_scatter(GradientCall& c) {
  Emit e(c.b);
  const ValueId source = c.operands[2];
  if (c.wanted[0])
    c.out[0] = e.op(Op::scatter, {c.g(), c.y(), e.zeros(source)}, {}, c.attributes.axes);
  if (c.wanted[2]) c.out[2] = e.op(Op::gather, {c.g(), c.y()}, {}, c.attributes.axes);
}

void grad_scatter_add(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = c.g();
  if (c.wanted[2]) c.out[2] = e.op(Op::gather, {c.g(), c.y()}, {}, c.attributes.axes);
}

void grad_sum(GradientCall& c) {
  c.out[0] = Emit(c.b).expand_reduced(c.g(), c.x(), c.attributes.axes);
}

namespace {

// The products of all elements before, and of all after, each element of the last axis.
ValueId product_of_others(Emit& e, ValueId x, int64_t axis) {
  const ValueId size = e.b.size(x, static_cast<int>(axis));
  const ValueId zero = e.number(0), one = e.number(1);
  const ValueId upward = e.cumulate(Op::cumprod, e.pad(x, axis, 1.0, one, zero), axis);
  const ValueId flipped = e.flip(e.pad(x, axis, 1.0, zero, one), axis);
  const ValueId downward = e.flip(e.cumulate(Op::cumprod, flipped, axis), axis);
  return e.mul(e.slice(upward, axis, zero, size), e.slice(downward, axis, one, size));
}

}  // namespace

// Exact where elements are zero: no division by the element. The reduced axes become one last axis.
void grad_prod(GradientCall& c) {
  Emit e(c.b);
  const Sizes& axes = c.attributes.axes;
  if (axes.empty()) {
    c.out[0] = c.g();
    return;
  }
  Sizes order;
  Values kept, reduced;
  size_t next = 0;
  for (int64_t axis = 0; axis < c.b.rank(c.x()); ++axis) {
    if (next < axes.size() && axes[next] == axis) {
      ++next;
      reduced.push_back(c.b.size(c.x(), static_cast<int>(axis)));
    } else {
      order.push_back(axis);
      kept.push_back(c.b.size(c.x(), static_cast<int>(axis)));
    }
  }
  for (int64_t axis : axes) order.push_back(axis);
  const ValueId moved = e.permute(c.x(), order);
  Values flat = kept;
  flat.push_back(e.product(reduced));
  const auto last = static_cast<int64_t>(kept.size());
  const ValueId others = product_of_others(e, e.reshape(moved, flat), last);
  Sizes inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  const ValueId back = e.permute(e.reshape(others, e.sizes(moved)), inverse);
  c.out[0] = e.mul(e.expand_reduced(c.g(), c.x(), axes), back);
}

// Equal extrema share the gradient equally; a nan result gives nan.
void grad_reduced_extremum(GradientCall& c) {
  Emit e(c.b);
  const Sizes& axes = c.attributes.axes;
  const ValueId winner = e.op(Op::eq, {c.x(), e.expand_reduced(c.r(), c.x(), axes)});
  const ValueId mask = e.cast(winner, c.b.dtype(c.g()));
  const ValueId share = e.div(c.g(), e.op(Op::sum, {mask}, {}, axes));
  c.out[0] = e.mul(e.expand_reduced(share, c.x(), axes), mask);
}

void grad_cumsum(GradientCall& c) {
  c.out[0] = Emit(c.b).reversed_cumsum(c.g(), c.attributes.axes[0]);
}

// Before the first zero: the sum of g * r over what follows, divided by x. At the first zero: the
// same sum with the products that leave it out. After it: every product holds a zero.
void grad_cumprod(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  const ValueId is_zero = e.is_zero(c.x());
  const ValueId zeros_so_far = e.cumulate(Op::cumsum, e.cast(is_zero, DType::I64), axis);
  const ValueId before = e.is_zero(zeros_so_far);
  const ValueId first = e.op(
      Op::bitwise_and, {is_zero, e.op(Op::eq, {zeros_so_far, e.like(zeros_so_far, 1.0)})});
  const ValueId nothing = e.zeros(c.g()), one = e.like(c.x(), 1.0);
  const ValueId head = e.select(before, e.mul(c.g(), c.r()), nothing);
  const ValueId at_head =
      e.div(e.reversed_cumsum(head, axis), e.select(is_zero, one, c.x()));
  const ValueId without = e.cumulate(Op::cumprod, e.select(first, one, c.x()), axis);
  const ValueId tail = e.select(before, nothing, e.mul(c.g(), without));
  const ValueId at_zero = e.select(first, e.reversed_cumsum(tail, axis), nothing);
  c.out[0] = e.select(before, at_head, at_zero);
}

void grad_sort(GradientCall& c) {
  if (c.g() == kNoValue) return;
  Emit e(c.b);
  c.out[0] = e.op(Op::scatter, {e.zeros(c.x()), c.results[1], c.g()}, {}, c.attributes.axes);
}

void grad_dot(GradientCall& c) {
  Emit e(c.b);
  const Sizes transposed = {0, 2, 1};
  if (c.wanted[0]) c.out[0] = e.op(Op::dot, {c.g(), e.permute(c.y(), transposed)});
  if (c.wanted[1]) c.out[1] = e.op(Op::dot, {e.permute(c.x(), transposed), c.g()});
}

}  // namespace tsc::jit
