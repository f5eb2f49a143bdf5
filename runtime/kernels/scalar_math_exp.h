#pragma once
// exp, exp2, expm1, tanh, sigmoid. x = k * ln2 + r with |r| <= ln2 / 2; a polynomial for exp(r); 2^k from
// bits.
#include "runtime/kernels/scalar_math_common.h"

namespace tsc::scalar_math {

// Where exp rounds to zero and where it overflows, with a margin: outside, x is moved to the bound.
template <class M>
inline constexpr double kExpLeast = M::kDouble ? -746.0 : -104.0;
template <class M>
inline constexpr double kExpMost = M::kDouble ? 710.0 : 89.0;

template <class M>
struct ExpReduced {
  FloatOf<M> k;  // integral
  FloatOf<M> r;  // x - k * ln2
};

template <class M>
TSC_MATH ExpReduced<M> reduce_exp(M& m, FloatOf<M> x) {
  auto magic = m.constant(FormatOf<M>::kRoundMagic);
  auto k = m.sub(m.fma(x, part(m, kLog2ESplit, 0), magic), magic);
  auto minus_k = m.neg(k);
  auto r = m.fma(minus_k, part(m, kLn2Split, 0), x);
  return {k, m.fma(minus_k, part(m, kLn2Split, 1), r)};
}

// (exp(r) - 1 - r) / r^2 for |r| <= ln2 / 2.
template <class M>
TSC_MATH FloatOf<M> exp_tail(M& m, FloatOf<M> r) {
  return polynomial(m, r, coefficients::kExpTailF32, coefficients::kExpTailF64);
}

// exp(r) for |r| <= ln2 / 2.
template <class M>
TSC_MATH FloatOf<M> exp_near_zero(M& m, FloatOf<M> r) {
  auto one = m.constant(1.0);
  return m.fma(r, m.fma(r, exp_tail(m, r), one), one);
}

// 2^f for |f| <= 1/2.
template <class M>
TSC_MATH FloatOf<M> exp2_near_zero(M& m, FloatOf<M> f) {
  auto tail = polynomial(m, f, coefficients::kExp2TailF32, coefficients::kExp2TailF64);
  return m.fma(f, tail, m.constant(1.0));
}

// near * 2^k, where x < least has a result that rounds to zero. Scaling 0 instead saves the processor a
// result below the normal numbers, which takes it a hundred times as long: a softmax's masked scores.
template <class M>
TSC_MATH FloatOf<M> scale_or_zero(M& m, FloatOf<M> x, double least, FloatOf<M> near, FloatOf<M> k) {
  auto vanishes = m.lt(x, m.constant(least));
  return m.scale(m.select(vanishes, m.constant(0.0), near), k);
}

// What is less than `least` ends as zero times a power of two: most machines need a power that they can make.
template <class M>
TSC_MATH FloatOf<M> bounded_exponent(M& m, FloatOf<M> x, double least, double most) {
  auto bounded = at_most(m, x, most);
  return m.scales_zero_by_any() ? bounded : at_least(m, bounded, least);
}

template <class M>
TSC_MATH FloatOf<M> exp(M& m, FloatOf<M> x) {
  auto bounded = bounded_exponent(m, x, kExpLeast<M>, kExpMost<M>);
  auto reduced = reduce_exp(m, bounded);
  return scale_or_zero(m, x, kExpLeast<M>, exp_near_zero(m, reduced.r), reduced.k);
}

// exp for kernels that know |k| stays in the normal range: one multiplication scales.
template <class M>
TSC_MATH FloatOf<M> exp_in_normal_range(M& m, FloatOf<M> x) {
  auto reduced = reduce_exp(m, x);
  return m.mul(exp_near_zero(m, reduced.r), power_of_two(m, reduced.k));
}

template <class M>
TSC_MATH FloatOf<M> exp2(M& m, FloatOf<M> x) {
  constexpr double kLeast = M::kDouble ? -1076.0 : -151.0;
  auto bounded = bounded_exponent(m, x, kLeast, M::kDouble ? 1025.0 : 129.0);
  auto k = round_small(m, bounded);
  return scale_or_zero(m, x, kLeast, exp2_near_zero(m, m.sub(bounded, k)), k);
}

template <class M>
TSC_MATH FloatOf<M> expm1(M& m, FloatOf<M> x) {
  auto bounded = at_least(m, at_most(m, x, kExpMost<M>), M::kDouble ? -40.0 : -20.0);
  auto [k, r] = reduce_exp(m, bounded);
  auto before = m.fma(m.neg(k), part(m, kLn2Split, 0), bounded);
  auto lost = m.fma(m.neg(k), part(m, kLn2Split, 1), m.sub(before, r));
  auto tail = m.fma(m.mul(r, r), exp_tail(m, r), lost);  // exp(r) - 1 - r
  // 2^(k-1) stays finite where 2^k would not; the doubling then overflows only when it should.
  auto scale = power_of_two(m, m.sub(k, m.constant(1.0)));
  auto linear = m.fma(scale, r, m.sub(scale, m.constant(0.5)));
  auto half = m.fma(scale, tail, linear);
  // Keeps -0, and denormals that halving would round.
  auto is_tiny = m.lt(m.abs(x), m.constant(M::kDouble ? 0x1p-54 : 0x1p-25));
  return m.select(is_tiny, x, m.add(half, half));
}

// The coefficients of exp_tail for twice the argument and half the result: exact, by powers of two.
template <class T, size_t N>
struct HalfOfTwice {
  constexpr explicit HalfOfTwice(const T (&c)[N]) {
    T factor = 2;
    for (size_t i = 0; i < N; ++i, factor *= 2) of[i] = c[i] * factor;
  }
  T of[N] = {};
};
inline constexpr HalfOfTwice kHalfExpTailF32{coefficients::kExpTailF32};
inline constexpr HalfOfTwice kHalfExpTailF64{coefficients::kExpTailF64};

// (exp(2a) - 1) / 2 for 0 <= a <= 20: 2^k * e + (2^k - 1) / 2, where a = k * ln2 / 2 + r and
// e = (exp(2r) - 1) / 2. One part of ln2 is enough for f32, whose first part happens to be within 2^-29 of it.
template <class M>
TSC_MATH FloatOf<M> half_expm1_of_twice(M& m, FloatOf<M> a) {
  using Format = FormatOf<M>;
  auto magic = m.constant(Format::kRoundMagic);
  auto k_in_low_bits = m.fma(a, part(m, kLog2ESplit, 0, 2.0), magic);
  auto minus_k = m.neg(m.sub(k_in_low_bits, magic));
  auto r = m.fma(minus_k, part(m, kLn2Split, 0, 0.5), a);
  if constexpr (M::kDouble) r = m.fma(minus_k, part(m, kLn2Split, 1, 0.5), r);
  auto tail = polynomial(m, r, kHalfExpTailF32.of, kHalfExpTailF64.of);
  auto near = m.fma(m.mul(r, r), tail, r);
  auto exponent = m.shift_left(m.as_int(k_in_low_bits), Format::kMantissaBits);
  auto scale = m.as_float(m.int_add(exponent, m.integer(Format::kOneBits)));
  return m.fma(scale, near, m.fma(scale, m.constant(0.5), m.constant(-0.5)));
}

// h / (h + 1) with h = (exp(2a) - 1) / 2. For small a as h - h * (h / (h + 1)), in which the
// quotient's rounding errors count for little.
template <class M>
TSC_MATH FloatOf<M> tanh(M& m, FloatOf<M> x) {
  auto a = m.abs(x);
  // Beyond the bound the result rounds to 1.
  auto h = half_expm1_of_twice(m, at_most(m, a, M::kDouble ? 20.0 : 10.0));
  auto quotient = m.div(h, m.add(h, m.constant(1.0)));
  auto small = m.fma(m.neg(h), quotient, h);
  return with_sign(m, m.select(m.lt(a, m.constant(0.5)), small, quotient), x);
}

// 1 / (1 + e) or, below zero, e / (1 + e) with e = exp(-|x|), which does not overflow.
template <class M>
TSC_MATH FloatOf<M> sigmoid(M& m, FloatOf<M> x) {
  auto one = m.constant(1.0);
  auto e = exp(m, m.neg(m.abs(x)));
  return m.div(m.select(m.lt(x, m.constant(0.0)), e, one), m.add(one, e));
}

}  // namespace tsc::scalar_math
