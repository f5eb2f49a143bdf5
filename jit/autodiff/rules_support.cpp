#include "jit/autodiff/rules_support.h"

namespace tsc::jit {

ValueId Emit::cast(ValueId x, DType dtype) {
  if (b.dtype(x) == dtype) return x;
  OpAttributes to;
  to.dtype = dtype;
  return b.op(Op::cast, {&x, 1}, {}, to);
}

ValueId Emit::like(ValueId x, double value, DType dtype) {
  const ValueId number = is_floating(dtype) ? b.constant(value) : b.constant(static_cast<int64_t>(value));
  return b.fill(number, sizes(x), dtype);
}

Values Emit::sizes(ValueId x) {
  Values sizes;
  for (int axis = 0; axis < b.rank(x); ++axis) sizes.push_back(b.size(x, axis));
  return sizes;
}

ValueId Emit::scalar(ScalarOp op, ValueId p, ValueId q) {
  const ValueId operands[] = {p, q};
  return b.scalar(op, operands);
}

ValueId Emit::product(const Values& sizes) {
  ValueId product = number(1);
  for (ValueId size : sizes) product = scalar(ScalarOp::mul, product, size);
  return product;
}

bool Emit::same_size(ValueId p, ValueId q) {
  if (p == q) return true;
  const auto a = b.known_int(p), c = b.known_int(q);
  return a && c && *a == *c;
}

Values Emit::strides(ValueId x) {
  const int rank = b.rank(x);
  Values strides(rank);
  ValueId stride = number(1);
  for (int axis = rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride = scalar(ScalarOp::mul, stride, b.size(x, axis));
  }
  return strides;
}

ValueId Emit::slice(ValueId x, int64_t axis, ValueId start, ValueId length, int64_t step) {
  return op(Op::slice, {x}, {start, length, number(step)}, {axis});
}

ValueId Emit::flip(ValueId x, int64_t axis) {
  const ValueId size = b.size(x, static_cast<int>(axis));
  const ValueId last = scalar(ScalarOp::sub, size, number(1));
  return slice(x, axis, scalar(ScalarOp::maximum, last, number(0)), size, -1);
}

ValueId Emit::pad(ValueId x, int64_t axis, double value, ValueId low, ValueId high) {
  return op(Op::pad, {x}, {b.constant(value), low, high}, {axis});
}

ValueId Emit::put_back(ValueId part, ValueId x, int64_t axis, ValueId start, ValueId length) {
  const ValueId end = scalar(ScalarOp::add, start, length);
  return pad(part, axis, 0.0, start, scalar(ScalarOp::sub, b.size(x, static_cast<int>(axis)), end));
}

ValueId Emit::expand_reduced(ValueId reduced, ValueId x, const Sizes& axes) {
  if (axes.empty()) return reduced;
  const Values full = sizes(x);
  Values kept = full;
  for (int64_t axis : axes) kept[axis] = number(1);
  return op(Op::broadcast, {reshape(reduced, kept)}, full);
}

ValueId Emit::reversed_cumsum(ValueId x, int64_t axis) { return flip(cumulate(Op::cumsum, flip(x, axis), axis), axis); }

ValueId Emit::positions(ValueId offset, const Values& sizes, const Values& strides) {
  if (sizes.empty()) return b.fill(offset, sizes, DType::I64);
  // From the last axis on: what is added for an axis is as long as that axis, and all elements are touched once.
  ValueId position = kNoValue;
  for (size_t k = sizes.size(); k-- > 0;) {
    OpAttributes attributes;
    attributes.axes = {0};
    attributes.dtype = DType::I64;
    const Values line = {sizes[k]}, tail(sizes.begin() + static_cast<ptrdiff_t>(k), sizes.end());
    ValueId along = mul(b.op(Op::iota, {}, line, attributes), b.fill(strides[k], line, DType::I64));
    if (k == 0) along = add(along, b.fill(offset, line, DType::I64));
    if (position == kNoValue) {
      position = along;
      continue;
    }
    Values column(tail.size(), number(1));
    column[0] = sizes[k];
    position = add(op(Op::broadcast, {reshape(along, column)}, tail), op(Op::broadcast, {position}, tail));
  }
  return position;
}

ValueId Emit::stored_in_zeros(ValueId x, ValueId y, ValueId offset, const Values& strides) {
  Values scalars = {offset};
  for (ValueId size : sizes(y)) scalars.push_back(size);
  scalars.insert(scalars.end(), strides.begin(), strides.end());
  return op(Op::store, {zeros(x), y}, scalars);
}

}  // namespace tsc::jit
