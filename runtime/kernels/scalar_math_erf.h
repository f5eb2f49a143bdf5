#pragma once
// erf and its inverse.
#include "runtime/kernels/scalar_math_exp.h"
#include "runtime/kernels/scalar_math_log.h"

namespace tsc::scalar_math {

// erf(a) for a beyond the small range, f32: 1 - exp(polynomial for log(erfc(a))).
template <class M>
TSC_MATH FloatOf<M> erf_large_f32(M& m, FloatOf<M> a) {
  auto bounded = at_most(m, a, 4.0);  // erf is 1 from 3.92 on
  auto exponent = polynomial(m, bounded, coefficients::kErfLogF32);
  auto reduced = reduce_exp(m, exponent);
  auto complement = exp_near_zero(m, reduced.r);
  return m.fma(m.neg(complement), power_of_two(m, reduced.k), m.constant(1.0));
}

// f64: erfc(a) = exp(-a^2) * erfcx(a), with erfcx a polynomial of (a - 2) / (a + 2).
template <class M>
TSC_MATH FloatOf<M> erf_large_f64(M& m, FloatOf<M> a) {
  auto bounded = at_most(m, a, 6.0);  // erf is 1 from 5.93 on
  auto two = m.constant(2.0);
  auto t = m.div(m.sub(bounded, two), m.add(bounded, two));
  auto scaled = polynomial(m, t, coefficients::kErfcxF64);
  auto decay = exp_in_normal_range(m, m.neg(m.mul(bounded, bounded)));
  return m.fma(m.neg(decay), scaled, m.constant(1.0));
}

template <class M>
TSC_MATH FloatOf<M> erf(M& m, FloatOf<M> x) {
  auto a = m.abs(x);
  auto square = m.mul(a, a);
  auto tail = polynomial(m, square, coefficients::kErfTailF32, coefficients::kErfTailF64);
  auto small = m.fma(a, tail, a);
  if constexpr (M::kDouble) {
    auto result = m.select(m.lt(a, m.constant(0.85)), small, erf_large_f64(m, a));
    return with_sign(m, result, x);
  } else {
    auto result = m.select(m.lt(a, m.constant(0.92)), small, erf_large_f32(m, a));
    return with_sign(m, result, x);
  }
}

// erfinv(x) / x as a function of w = -log(1 - x^2), in ranges of w or sqrt(w).
template <class M>
TSC_MATH FloatOf<M> inverse_erf_ratio(M& m, FloatOf<M> w) {
  auto root = m.sqrt(w);
  auto shifted = [&](FloatOf<M> value, double middle) { return m.sub(value, m.constant(middle)); };
  if constexpr (M::kDouble) {
    auto central = polynomial(m, w, coefficients::kErfinvCentralF64);
    auto middle = polynomial(m, shifted(root, 3.25), coefficients::kErfinvMiddleF64);
    auto tail = polynomial(m, shifted(root, 5.0), coefficients::kErfinvTailF64);
    auto outer = m.select(m.lt(w, m.constant(16.0)), middle, tail);
    return m.select(m.lt(w, m.constant(6.25)), central, outer);
  } else {
    auto central = polynomial(m, w, coefficients::kErfinvCentralF32);
    auto tail = polynomial(m, shifted(root, 3.0), coefficients::kErfinvTailF32);
    return m.select(m.lt(w, m.constant(5.0)), central, tail);
  }
}

template <class M>
TSC_MATH FloatOf<M> erfinv(M& m, FloatOf<M> x) {
  auto one = m.constant(1.0);
  auto w = m.neg(log(m, m.fma(m.neg(x), x, one)));  // nan outside [-1, 1]
  auto ratio = inverse_erf_ratio(m, w);
  auto at_end = m.eq(m.abs(x), one);
  return m.mul(x, m.select(at_end, m.constant(kInfinity), ratio));
}

}  // namespace tsc::scalar_math
