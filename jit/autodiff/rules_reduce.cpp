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
  if (c.wanted[0]) c.out[0] = e.op(Op::scatter, {c.g(), c.y(), e.zeros(source)}, {}, c.attributes.axes);
  if (c.wanted[2]) c.out[2] = e.op(Op::gather, {c.g(), c.y()}, {}, c.attributes.axes);
}

void grad_scatter_add(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = c.g();
  if (c.wanted[2]) c.out[2] = e.op(Op::gather, {c.g(), c.y()}, {}, c.attributes.axes);
}

void grad_sum(GradientCall& c) { c.out[0] = Emit(c.b).expand_reduced(c.g(), c.x(), c.attributes.axes); }

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

// The product of all elements but one, for each of them: no division by the element, so it is exact where
// elements are zero. The reduced axes become one last axis.
ValueId others_over(Emit& e, ValueId x, const Sizes& axes) {
  Sizes order;
  Values kept, reduced;
  size_t next = 0;
  for (int64_t axis = 0; axis < e.b.rank(x); ++axis) {
    if (next < axes.size() && axes[next] == axis) {
      ++next;
      reduced.push_back(e.b.size(x, static_cast<int>(axis)));
    } else {
      order.push_back(axis);
      kept.push_back(e.b.size(x, static_cast<int>(axis)));
    }
  }
  for (int64_t axis : axes) order.push_back(axis);
  const ValueId moved = e.permute(x, order);
  Values flat = kept;
  flat.push_back(e.product(reduced));
  const auto last = static_cast<int64_t>(kept.size());
  const ValueId others = product_of_others(e, e.reshape(moved, flat), last);
  Sizes inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return e.permute(e.reshape(others, e.sizes(moved)), inverse);
}

Sizes all_axes(Emit& e, ValueId x) {
  Sizes axes;
  for (int64_t axis = 0; axis < e.b.rank(x); ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

// PyTorch's: the product divided by the element where the whole tensor has no zero, otherwise the product of the
// others. A reduction over everything with two zeros has no gradient, whatever the others are.
void grad_prod(GradientCall& c) {
  Emit e(c.b);
  const Sizes& axes = c.attributes.axes;
  if (axes.empty()) {
    c.out[0] = c.g();
    return;
  }
  const ValueId x = c.x();
  const Sizes all = all_axes(e, x);
  ValueId others = others_over(e, x, axes);
  if (axes == all) {
    const ValueId zeros = e.op(Op::sum, {e.cast(e.is_zero(x), DType::I64)}, {}, all);
    const ValueId at_most_one = e.op(Op::le, {zeros, e.like(zeros, 1.0)});
    others = e.select(e.expand_reduced(at_most_one, x, all), others, e.zeros(x));
  }
  const ValueId no_zero = e.expand_reduced(e.op(Op::all, {x}, {}, all), x, all);
  const ValueId divided = e.div(e.expand_reduced(c.r(), x, axes), x);
  c.out[0] = e.mul(e.expand_reduced(c.g(), x, axes), e.conj(e.select(no_zero, divided, others)));
}

// Equal extrema share the gradient equally. Where the result is nan, nothing equals it: the gradients are
// nan, or the nans share (mode 1).
void grad_reduced_extremum(GradientCall& c) {
  Emit e(c.b);
  const Sizes& axes = c.attributes.axes;
  ValueId winner = e.op(Op::eq, {c.x(), e.expand_reduced(c.r(), c.x(), axes)});
  if (c.attributes.mode == 1) winner = e.op(Op::bitwise_or, {winner, e.op(Op::ne, {c.x(), c.x()})});
  const ValueId mask = e.cast(winner, c.b.dtype(c.g()));
  const ValueId share = e.div(c.g(), e.op(Op::sum, {mask}, {}, axes));
  c.out[0] = e.mul(e.expand_reduced(share, c.x(), axes), mask);
}

void grad_cumsum(GradientCall& c) { c.out[0] = Emit(c.b).reversed_cumsum(c.g(), c.attributes.axes[0]); }

// Before the first zero: the sum of g * r over what follows, divided by x. At the first zero: the
// same sum with the products that leave it out, up to the second. After it: every product holds a zero.
void grad_cumprod(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  const ValueId is_zero = e.is_zero(c.x());
  const ValueId zeros_so_far = e.cumulate(Op::cumsum, e.cast(is_zero, DType::I64), axis);
  const ValueId before = e.is_zero(zeros_so_far);
  const ValueId one_so_far = e.op(Op::eq, {zeros_so_far, e.like(zeros_so_far, 1.0)});
  const ValueId first = e.op(Op::bitwise_and, {is_zero, one_so_far});
  const ValueId nothing = e.zeros(c.g()), one = e.like(c.x(), 1.0);
  const ValueId head = e.select(before, e.mul(c.g(), e.conj(c.r())), nothing);
  const ValueId at_head = e.div(e.reversed_cumsum(head, axis), e.conj(e.select(is_zero, one, c.x())));
  const ValueId without = e.cumulate(Op::cumprod, e.select(first, one, c.x()), axis);
  const ValueId tail = e.select(one_so_far, e.mul(c.g(), e.conj(without)), nothing);
  const ValueId at_zero = e.select(first, e.reversed_cumsum(tail, axis), nothing);
  c.out[0] = e.select(before, at_head, at_zero);
}

void grad_sort(GradientCall& c) {
  if (c.g() == kNoValue) return;
  Emit e(c.b);
  c.out[0] = e.op(Op::scatter, {e.zeros(c.x()), c.results[1], c.g()}, {}, c.attributes.axes);
}

void grad_running_extreme(GradientCall& c) {
  if (c.g() == kNoValue) return;
  Emit e(c.b);
  c.out[0] = e.op(Op::scatter_add, {e.zeros(c.x()), c.results[1], c.g()}, {}, c.attributes.axes);
}

void grad_dot(GradientCall& c) {
  Emit e(c.b);
  const Sizes transposed = {0, 2, 1};
  if (c.wanted[0]) c.out[0] = e.op(Op::dot, {c.g(), e.permute(e.conj(c.y()), transposed)});
  if (c.wanted[1]) c.out[1] = e.op(Op::dot, {e.permute(e.conj(c.x()), transposed), c.g()});
}

// Of the input: the weight from its last tap to its first over the gradient, whose elements lie `stride` apart. Of the
// weight: the gradient as the taps over the input. Both are convolutions again.
void grad_convolve(GradientCall& c) {
  Emit e(c.b);
  const int64_t windowed = c.b.rank(c.x()) - 3;
  const auto list = [&](int64_t i) {
    return Values(c.scalars.begin() + i * windowed, c.scalars.begin() + (i + 1) * windowed);
  };
  const Values strides = list(1), dilations = list(2), gaps = list(3), lows = list(4);
  const auto order = [&](int64_t first, int64_t second, int64_t third) {
    Sizes axes = {first, second, third};
    for (int64_t axis = 3; axis < 3 + windowed; ++axis) axes.push_back(axis);
    return axes;
  };
  const auto convolve = [&](ValueId x, ValueId y, std::initializer_list<Values> lists, int64_t mode) {
    Values scalars;
    for (const Values& numbers : lists) scalars.insert(scalars.end(), numbers.begin(), numbers.end());
    OpAttributes attributes;
    attributes.mode = mode;
    const ValueId operands[] = {x, y};
    return c.b.op(Op::convolve, operands, scalars, attributes);
  };
  const auto windowed_sizes = [&](ValueId x) {
    const Values sizes = e.sizes(x);
    return Values(sizes.begin() + 3, sizes.end());
  };
  const ValueId g = c.attributes.mode == 1 ? e.permute(c.g(), order(2, 0, 1)) : c.g();
  if (c.wanted[0]) {
    ValueId turned = e.permute(c.y(), order(0, 2, 1));
    Values edges;
    for (int64_t i = 0; i < windowed; ++i) {
      turned = e.flip(turned, 3 + i);
      const ValueId last = e.scalar(ScalarOp::sub, c.b.size(c.y(), static_cast<int>(3 + i)), e.number(1));
      edges.push_back(e.scalar(ScalarOp::sub, e.scalar(ScalarOp::mul, last, dilations[i]), lows[i]));
    }
    c.out[0] = convolve(g, turned, {windowed_sizes(c.x()), gaps, dilations, strides, edges}, 0);
  }
  if (c.wanted[1]) {
    const ValueId input = e.permute(c.x(), order(2, 1, 0)), taps = e.permute(g, order(1, 2, 0));
    c.out[1] = convolve(input, taps, {windowed_sizes(c.y()), dilations, strides, gaps, lows}, 1);
  }
}

}  // namespace tsc::jit
