#pragma once
// pow(x, y) = 2^(y * log2|x|) with the logarithm in more than the format's precision (f64 for f32,
// a sum of two for f64); the cases of C99 Annex F are selected afterwards.
#include "runtime/kernels/scalar_math_exp.h"
#include "runtime/kernels/scalar_math_log.h"

namespace tsc::scalar_math {

template <class M>
TSC_MATH FloatOf<M> pow_magnitude_f32(M& m, FloatOf<M> a, FloatOf<M> y) {
  auto w = m.wide();
  auto reduced = reduce_log(m, a);
  auto f = m.widen(reduced.f);
  auto log2 = w.fma(f, polynomial(w, f, coefficients::kPowLog2), m.widen(reduced.e));
  auto raw = w.mul(m.widen(y), log2);
  auto exponent = at_least(w, at_most(w, raw, 150.0), -152.0);
  auto k = round_small(w, exponent);
  return m.scale(exp2_near_zero(m, m.narrow(w.sub(exponent, k))), m.narrow(k));
}

// log2(a) as a pair, to about 2^-68 of itself.
template <class M>
TSC_MATH Pair<M> log2_pair(M& m, FloatOf<M> a) {
  auto reduced = reduce_log(m, a);
  auto f = reduced.f;
  auto sum = two_sum(m, f, m.constant(2.0));
  auto s_high = m.div(f, sum.high);
  auto remainder = m.fma(m.neg(s_high), sum.low, m.fma(m.neg(s_high), sum.high, f));
  Pair<M> s{s_high, m.div(remainder, sum.high)};
  auto z = multiply_pair(m, s, s);
  // atanh(s) / s = 1 + z / 3 + z^2 * tail
  Pair<M> third{m.constant(0x1.5555555555555p-2), m.constant(0x1.5555555555555p-56)};
  auto bent = multiply_pair(m, z, third);
  auto tail = m.mul(m.mul(z.high, z.high), polynomial(m, z.high, coefficients::kPowTail));
  auto rest = fast_two_sum(m, bent.high, m.add(bent.low, tail));
  auto one_more = fast_two_sum(m, m.constant(1.0), rest.high);
  auto series = fast_two_sum(m, one_more.high, m.add(one_more.low, rest.low));
  Pair<M> factor{part(m, kLog2ESplit, 0, 2.0), part(m, kLog2ESplit, 1, 2.0)};
  auto logarithm = multiply_pair(m, multiply_pair(m, s, factor), series);
  auto whole = two_sum(m, reduced.e, logarithm.high);
  return fast_two_sum(m, whole.high, m.add(whole.low, logarithm.low));
}

template <class M>
TSC_MATH FloatOf<M> pow_magnitude_f64(M& m, FloatOf<M> a, FloatOf<M> y) {
  auto log2 = log2_pair(m, a);
  // A bound on y keeps the products finite; beyond it the result is 0, 1 or inf all the same.
  auto bounded = at_least(m, at_most(m, y, 0x1p100), -0x1p100);
  auto product = two_product(m, bounded, log2.high);
  auto sum = fast_two_sum(m, product.high, m.fma(bounded, log2.low, product.low));
  auto exponent = at_least(m, at_most(m, sum.high, 1100.0), -1100.0);
  auto inside = m.eq(exponent, sum.high);
  auto low = m.select(inside, sum.low, m.constant(0.0));
  auto k = round_small(m, exponent);
  return m.scale(exp2_near_zero(m, m.add(m.sub(exponent, k), low)), k);
}

// The value for |x| of 0 or inf, where the logarithm has none.
template <class M>
TSC_MATH FloatOf<M> pow_at_ends(M& m, FloatOf<M> a, FloatOf<M> y, FloatOf<M> otherwise) {
  auto zero = m.constant(0.0), infinity = m.constant(kInfinity);
  auto is_zero = m.eq(a, zero), is_infinite = m.eq(a, infinity);
  auto falls = m.lt(y, zero);
  auto to_infinity = m.mask_or(m.mask_and(is_zero, falls), m.mask_and(is_infinite, m.mask_not(falls)));
  return m.select(m.mask_or(is_zero, is_infinite), m.select(to_infinity, infinity, zero), otherwise);
}

template <class M>
TSC_MATH FloatOf<M> pow(M& m, FloatOf<M> x, FloatOf<M> y) {
  auto a = m.abs(x);
  auto zero = m.constant(0.0), one = m.constant(1.0), nan = m.constant(kNan);
  FloatOf<M> magnitude = [&] {
    if constexpr (M::kDouble) return pow_magnitude_f64(m, a, y);
    else return pow_magnitude_f32(m, a, y);
  }();
  magnitude = pow_at_ends(m, a, y, magnitude);
  auto half = m.mul(y, m.constant(0.5));
  auto is_integer = m.eq(m.floor(y), y);
  auto is_odd = m.mask_and(is_integer, m.mask_not(m.eq(m.floor(half), half)));
  auto has_sign = m.int_lt(m.as_int(x), m.integer(0));
  auto result = m.select(m.mask_and(has_sign, is_odd), m.neg(magnitude), magnitude);
  auto is_below = m.mask_and(m.lt(x, zero), m.lt(m.constant(-kInfinity), x));
  auto is_invalid = m.mask_or(m.mask_and(is_below, m.mask_not(is_integer)), m.mask_or(m.is_nan(x), m.is_nan(y)));
  auto infinite_y = m.eq(m.abs(y), m.constant(kInfinity));
  result = m.select(is_invalid, nan, result);
  auto base_is_one = m.mask_or(m.eq(x, one), m.mask_and(m.eq(x, m.constant(-1.0)), infinite_y));
  return m.select(m.mask_or(m.eq(y, zero), base_is_one), one, result);
}

}  // namespace tsc::scalar_math
