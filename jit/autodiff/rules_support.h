#pragma once
// The vocabulary of the gradient rules: short names for emitting primitives. Private to jit/autodiff.
// Of a complex value z = a + b j the gradient is dL/da + dL/db j, as in PyTorch: so a rule multiplies by the
// conjugate of the derivative.
#include <vector>

#include "jit/autodiff/rules.h"

namespace tsc::jit {

// A row without a gradient names this.
inline constexpr void (*no_gradient)(GradientCall&) = nullptr;

// The rules, by file.
void grad_neg(GradientCall& call);
void grad_abs(GradientCall& call);
void grad_zero(GradientCall& call);
void grad_sqrt(GradientCall& call);
void grad_rsqrt(GradientCall& call);
void grad_reciprocal(GradientCall& call);
void grad_exp(GradientCall& call);
void grad_exp2(GradientCall& call);
void grad_expm1(GradientCall& call);
void grad_log(GradientCall& call);
void grad_log2(GradientCall& call);
void grad_log1p(GradientCall& call);
void grad_sin(GradientCall& call);
void grad_cos(GradientCall& call);
void grad_tan(GradientCall& call);
void grad_asin(GradientCall& call);
void grad_acos(GradientCall& call);
void grad_atan(GradientCall& call);
void grad_tanh(GradientCall& call);
void grad_sigmoid(GradientCall& call);
void grad_erf(GradientCall& call);
void grad_erfinv(GradientCall& call);
void grad_add(GradientCall& call);
void grad_sub(GradientCall& call);
void grad_mul(GradientCall& call);
void grad_div(GradientCall& call);
void grad_rem(GradientCall& call);
void grad_remainder(GradientCall& call);
void grad_pow(GradientCall& call);
void grad_maximum(GradientCall& call);
void grad_minimum(GradientCall& call);
void grad_atan2(GradientCall& call);
void grad_select(GradientCall& call);
void grad_fma(GradientCall& call);
void grad_cast(GradientCall& call);
void grad_conj(GradientCall& call);
void grad_reshape(GradientCall& call);
void grad_permute(GradientCall& call);
void grad_broadcast(GradientCall& call);
void grad_slice(GradientCall& call);
void grad_diagonal(GradientCall& call);
void grad_unfold(GradientCall& call);
void grad_view_as_real(GradientCall& call);
void grad_view_as_complex(GradientCall& call);
void grad_copy(GradientCall& call);
void grad_pad(GradientCall& call);
void grad_concat(GradientCall& call);
void grad_store(GradientCall& call);
void grad_take(GradientCall& call);
void grad_gather(GradientCall& call);
void grad_index_add(GradientCall& call);
void grad_scatter(GradientCall& call);
void grad_scatter_add(GradientCall& call);
void grad_sum(GradientCall& call);
void grad_prod(GradientCall& call);
void grad_reduced_extremum(GradientCall& call);
void grad_cumsum(GradientCall& call);
void grad_cumprod(GradientCall& call);
void grad_sort(GradientCall& call);
void grad_running_extreme(GradientCall& call);
void grad_dot(GradientCall& call);
void grad_convolve(GradientCall& call);

using Values = std::vector<ValueId>;

class Emit {
 public:
  explicit Emit(OpBuilder& builder) : b(builder) {}
  OpBuilder& b;

  ValueId op(Op op, std::initializer_list<ValueId> tensors, const Values& scalars = {}, Sizes axes = {}) {
    OpAttributes attributes;
    attributes.axes = std::move(axes);
    return b.op(op, std::span<const ValueId>(tensors.begin(), tensors.size()), scalars, attributes);
  }
  ValueId neg(ValueId x) { return op(Op::neg, {x}); }
  ValueId add(ValueId x, ValueId y) { return op(Op::add, {x, y}); }
  ValueId sub(ValueId x, ValueId y) { return op(Op::sub, {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return op(Op::mul, {x, y}); }
  ValueId div(ValueId x, ValueId y) { return op(Op::div, {x, y}); }
  ValueId select(ValueId c, ValueId x, ValueId y) { return op(Op::select, {c, x, y}); }
  ValueId cast(ValueId x, DType dtype);
  // The conjugate; x itself where it is real.
  ValueId conj(ValueId x) { return is_complex(b.dtype(x)) ? op(Op::conj, {x}) : x; }
  ValueId cumulate(Op scan, ValueId x, int64_t axis) { return op(scan, {x}, {}, {axis}); }

  // Constants in the shape (and dtype) of x.
  ValueId like(ValueId x, double value) { return like(x, value, b.dtype(x)); }
  ValueId like(ValueId x, double value, DType dtype);
  ValueId zeros(ValueId x) { return like(x, 0.0); }
  ValueId is_zero(ValueId x) { return op(Op::eq, {x, zeros(x)}); }

  // Sizes.
  Values sizes(ValueId x);
  ValueId number(int64_t value) { return b.constant(value); }
  ValueId scalar(ScalarOp op, ValueId p, ValueId q);
  ValueId product(const Values& sizes);
  bool same_size(ValueId p, ValueId q);
  // Row-major strides of x's sizes.
  Values strides(ValueId x);

  // Shapes.
  ValueId reshape(ValueId x, const Values& sizes) { return op(Op::reshape, {x}, sizes); }
  ValueId flat(ValueId x) { return reshape(x, {product(sizes(x))}); }
  ValueId permute(ValueId x, const Sizes& axes) { return op(Op::permute, {x}, {}, axes); }
  ValueId slice(ValueId x, int64_t axis, ValueId start, ValueId length, int64_t step = 1);
  ValueId flip(ValueId x, int64_t axis);
  ValueId pad(ValueId x, int64_t axis, double value, ValueId low, ValueId high);
  // `part` where x[start : start + length] is, among zeros.
  ValueId put_back(ValueId part, ValueId x, int64_t axis, ValueId start, ValueId length);
  // The inverse of a reduction's shape: x's sizes, each element repeated along the reduced axes.
  ValueId expand_reduced(ValueId reduced, ValueId x, const Sizes& axes);
  ValueId reversed_cumsum(ValueId x, int64_t axis);

  // The row-major position offset + sum of index * stride, for every element of a tensor of `sizes`.
  ValueId positions(ValueId offset, const Values& sizes, const Values& strides);
  // Zeros in x's shape with y stored at the map.
  ValueId stored_in_zeros(ValueId x, ValueId y, ValueId offset, const Values& strides);
};

}  // namespace tsc::jit
