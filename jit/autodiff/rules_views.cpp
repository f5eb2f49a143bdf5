// Gradients of views and of primitives that move elements.
#include "jit/autodiff/rules_support.h"

namespace tsc::jit {

void grad_copy(GradientCall& c) { c.out[0] = c.g(); }

void grad_view_as_real(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.op(Op::view_as_complex, {e.op(Op::copy, {c.g()})});
}

void grad_view_as_complex(GradientCall& c) { c.out[0] = Emit(c.b).op(Op::view_as_real, {c.g()}); }

void grad_reshape(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.reshape(c.g(), e.sizes(c.x()));
}

void grad_permute(GradientCall& c) {
  Sizes inverse(c.attributes.axes.size());
  for (size_t i = 0; i < inverse.size(); ++i) inverse[c.attributes.axes[i]] = static_cast<int64_t>(i);
  c.out[0] = Emit(c.b).permute(c.g(), inverse);
}

// Sums over the repeated axes: the new ones in front, and those of size 1 that grew.
void grad_broadcast(GradientCall& c) {
  Emit e(c.b);
  const int lead = c.b.rank(c.g()) - c.b.rank(c.x());
  Sizes axes;
  for (int axis = 0; axis < lead; ++axis) axes.push_back(axis);
  for (int axis = 0; axis < c.b.rank(c.x()); ++axis) {
    const ValueId before = c.b.size(c.x(), axis), after = c.b.size(c.g(), lead + axis);
    if (c.b.known_int(before) == 1 && c.b.known_int(after) != 1) axes.push_back(lead + axis);
  }
  if (axes.empty()) {
    c.out[0] = c.g();
    return;
  }
  const ValueId summed = e.op(Op::sum, {c.g()}, {}, axes);
  const bool grew = axes.size() > static_cast<size_t>(lead);
  c.out[0] = grew ? e.reshape(summed, e.sizes(c.x())) : summed;
}

void grad_slice(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  const ValueId size = c.b.size(c.x(), static_cast<int>(axis));
  const ValueId start = c.scalars[0], length = c.scalars[1], step = c.scalars[2];
  if (c.b.known_int(step) == 1) {
    c.out[0] = e.put_back(c.g(), c.x(), axis, start, length);
  } else if (c.b.known_int(step) == -1 && e.same_size(length, size)) {
    c.out[0] = e.flip(c.g(), axis);
  } else {
    Values strides = e.strides(c.x());
    const ValueId offset = e.scalar(ScalarOp::mul, start, strides[axis]);
    strides[axis] = e.scalar(ScalarOp::mul, strides[axis], step);
    c.out[0] = e.stored_in_zeros(c.x(), c.g(), offset, strides);
  }
}

void grad_diagonal(GradientCall& c) {
  Emit e(c.b);
  const int64_t row = c.attributes.axes[0], column = c.attributes.axes[1];
  const Values all = e.strides(c.x());
  const ValueId zero = e.number(0), diagonal = c.scalars[0];
  const ValueId right = e.scalar(ScalarOp::maximum, diagonal, zero);
  const ValueId down = e.scalar(ScalarOp::sub, right, diagonal);
  const ValueId offset =
      e.scalar(ScalarOp::add, e.scalar(ScalarOp::mul, right, all[column]), e.scalar(ScalarOp::mul, down, all[row]));
  Values strides;
  for (int64_t axis = 0; axis < c.b.rank(c.x()); ++axis)
    if (axis != row && axis != column) strides.push_back(all[axis]);
  strides.push_back(e.scalar(ScalarOp::add, all[row], all[column]));
  c.out[0] = e.stored_in_zeros(c.x(), c.g(), offset, strides);
}

// Windows may overlap: every element collects the gradients of all places it went to.
void grad_unfold(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  Values strides = e.strides(c.x());
  strides.push_back(strides[axis]);
  strides[axis] = e.scalar(ScalarOp::mul, strides[axis], c.scalars[1]);
  const ValueId places = e.positions(e.number(0), e.sizes(c.g()), strides);
  const ValueId empty = e.flat(e.zeros(c.x()));
  const ValueId sums = e.op(Op::index_add, {empty, places, c.g()}, {}, {0});
  c.out[0] = e.reshape(sums, e.sizes(c.x()));
}

void grad_pad(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  const ValueId low = c.scalars[1], high = c.scalars[2];
  const auto before = c.b.known_int(low), after = c.b.known_int(high);
  if (before && after && *before >= 0 && *after >= 0) {
    c.out[0] = e.slice(c.g(), axis, low, c.b.size(c.x(), static_cast<int>(axis)));
  } else {
    const ValueId zero = e.number(0);
    c.out[0] = e.pad(c.g(), axis, 0.0, e.scalar(ScalarOp::sub, zero, low), e.scalar(ScalarOp::sub, zero, high));
  }
}

void grad_concat(GradientCall& c) {
  Emit e(c.b);
  const int64_t axis = c.attributes.axes[0];
  ValueId start = e.number(0);
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const ValueId length = c.b.size(c.operands[i], static_cast<int>(axis));
    if (c.wanted[i]) c.out[i] = e.slice(c.g(), axis, start, length);
    start = e.scalar(ScalarOp::add, start, length);
  }
}

void grad_store(GradientCall& c) {
  Emit e(c.b);
  if (c.wanted[0]) {
    const ValueId nothing = e.zeros(c.y());
    c.out[0] = e.op(Op::store, {c.g(), nothing}, Values(c.scalars.begin(), c.scalars.end()));
  }
  if (c.wanted[1]) {
    const size_t rank = c.b.rank(c.y());
    const Values sizes(c.scalars.begin() + 1, c.scalars.begin() + 1 + rank);
    const Values strides(c.scalars.begin() + 1 + rank, c.scalars.end());
    const ValueId places = e.positions(c.scalars[0], sizes, strides);
    c.out[1] = e.op(Op::take, {e.flat(c.g()), places}, {}, {0});
  }
}

}  // namespace tsc::jit
