#pragma once
// log, log2, log1p. x = 2^e * m with m around 1; a polynomial for log(m); special values selected
// last.
#include "runtime/kernels/scalar_math_common.h"

namespace tsc::scalar_math {

template <class M>
struct LogReduced {
  FloatOf<M> e;  // integral
  FloatOf<M> f;  // m - 1, exact
};

// The bits of the least m: sqrt(1/2) for f64 (its series is in f / (2 + f)), 2/3 for f32 (a series
// in f).
template <class M>
inline constexpr int64_t kLeastMantissaBits = M::kDouble ? 0x3FE6A09E667F3BCD : 0x3F2AAAAB;

// The exponent e of x, as an integer, such that x / 2^e lies in the mantissa range; x normal,
// positive.
template <class M>
TSC_MATH typename M::I log_exponent(M& m, typename M::I bits) {
  return m.shift_right_arithmetic(m.int_sub(bits, m.integer(kLeastMantissaBits<M>)), FormatOf<M>::kMantissaBits);
}

template <class M>
TSC_MATH FloatOf<M> remove_exponent(M& m, typename M::I bits, typename M::I e) {
  return m.as_float(m.int_sub(bits, m.shift_left(e, FormatOf<M>::kMantissaBits)));
}

// For x > 0, denormals included.
template <class M>
TSC_MATH LogReduced<M> reduce_log(M& m, FloatOf<M> x) {
  using Format = FormatOf<M>;
  constexpr double kUp = M::kDouble ? 0x1p52 : 0x1p23;
  auto is_denormal = m.lt(x, m.constant(Format::kSmallestNormal));
  auto normal = m.select(is_denormal, m.mul(x, m.constant(kUp)), x);
  auto correction = m.select(is_denormal, m.constant(-Format::kMantissaBits), m.constant(0.0));
  auto bits = m.as_int(normal);
  auto e = log_exponent(m, bits);
  auto f = m.sub(remove_exponent(m, bits, e), m.constant(1.0));
  return {m.add(small_to_float(m, e), correction), f};
}

// log(1 + f) - f for 1 + f in the mantissa range.
template <class M>
TSC_MATH FloatOf<M> log_tail(M& m, FloatOf<M> f) {
  if constexpr (M::kDouble) {
    // log(1 + f) = 2 atanh(s) with s = f / (2 + f), which is f - f^2/2 + s * (f^2/2 + R(s^2)).
    auto s = m.div(f, m.add(f, m.constant(2.0)));
    auto z = m.mul(s, s);
    auto half_square = m.mul(m.mul(f, m.constant(0.5)), f);
    auto rest = m.mul(z, polynomial(m, z, coefficients::kLogTailF64));
    return m.sub(m.mul(s, m.add(half_square, rest)), half_square);
  } else {
    auto p = polynomial(m, f, coefficients::kLogTailF32);
    return m.mul(m.mul(f, f), m.fma(f, p, m.constant(-0.5)));
  }
}

// e * ln2 + log(1 + f).
template <class M>
TSC_MATH FloatOf<M> join_log(M& m, FloatOf<M> e, FloatOf<M> f) {
  auto tail = m.fma(e, part(m, kLn2Split, 1), log_tail(m, f));
  auto high = m.fma(e, part(m, kLn2Split, 0), f);
  auto lost = m.sub(f, m.fma(m.neg(e), part(m, kLn2Split, 0), high));
  return m.add(high, m.add(lost, tail));
}

// The result where 0 < x < inf; elsewhere -inf at zero, nan below, and x itself for inf and nan.
template <class M>
TSC_MATH FloatOf<M> with_log_specials(M& m, FloatOf<M> x, FloatOf<M> result) {
  auto zero = m.constant(0.0);
  auto is_ordinary = m.mask_and(m.lt(zero, x), m.lt(x, m.constant(kInfinity)));
  auto below = m.select(m.eq(x, zero), m.constant(-kInfinity), m.constant(kNan));
  auto special = m.select(m.le(x, zero), below, x);
  return m.select(is_ordinary, result, special);
}

template <class M>
TSC_MATH FloatOf<M> log(M& m, FloatOf<M> x) {
  auto reduced = reduce_log(m, x);
  return with_log_specials(m, x, join_log(m, reduced.e, reduced.f));
}

template <class M>
TSC_MATH FloatOf<M> log2(M& m, FloatOf<M> x) {
  auto reduced = reduce_log(m, x);
  auto f = reduced.f;
  auto scale = part(m, kLog2ESplit, 0);
  auto product = two_product(m, f, scale);
  auto tail = m.fma(log_tail(m, f), scale, m.fma(f, part(m, kLog2ESplit, 1), product.low));
  auto high = m.add(reduced.e, product.high);
  auto lost = m.sub(product.high, m.sub(high, reduced.e));
  return with_log_specials(m, x, m.add(high, m.add(lost, tail)));
}

template <class M>
TSC_MATH FloatOf<M> log1p(M& m, FloatOf<M> x) {
  using Format = FormatOf<M>;
  auto one = m.constant(1.0);
  auto u = m.add(x, one);
  auto bits = m.as_int(u);
  auto e = log_exponent(m, bits);
  // (1 + x) / 2^e - 1 from x, not from the rounded u: x * 2^-e + (2^-e - 1).
  auto down = m.as_float(m.int_sub(m.integer(Format::kOneBits), m.shift_left(e, Format::kMantissaBits)));
  auto exact = m.fma(x, down, m.sub(down, one));
  auto from_bits = m.sub(remove_exponent(m, bits, e), one);
  auto is_large = m.lt(m.constant(0x1p60), x);
  auto f = m.select(is_large, from_bits, exact);
  auto result = with_log_specials(m, u, join_log(m, small_to_float(m, e), f));
  auto is_tiny = m.lt(m.abs(x), m.constant(M::kDouble ? 0x1p-54 : 0x1p-25));
  return m.select(is_tiny, x, result);
}

}  // namespace tsc::scalar_math
