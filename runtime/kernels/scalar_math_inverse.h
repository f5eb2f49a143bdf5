#pragma once
// asin, acos, atan, atan2: polynomials on a reduced argument, placed by multiples of pi/4 or pi/2.
#include "runtime/kernels/scalar_math_common.h"

namespace tsc::scalar_math {

template <class M>
struct ArcSineReduced {
  typename M::Mask is_large;  // |x| > 1/2
  FloatOf<M> root;            // |x|, or sqrt((1 - |x|) / 2) where large
  FloatOf<M> rest;            // asin(root) - root
};

template <class M>
TSC_MATH ArcSineReduced<M> reduce_arc_sine(M& m, FloatOf<M> a) {
  auto half = m.constant(0.5);
  auto is_large = m.lt(half, a);
  auto complement = m.mul(m.sub(m.constant(1.0), a), half);
  auto square = m.select(is_large, complement, m.mul(a, a));
  auto root = m.select(is_large, m.sqrt(complement), a);
  auto tail = polynomial(m, square, coefficients::kAsinTailF32, coefficients::kAsinTailF64);
  // What the square root lost, to first order. The bound keeps 0 / 0 away.
  auto lost = m.div(m.fma(m.neg(root), root, square), at_least(m, m.add(root, root), 0x1p-100));
  auto correction = m.select(is_large, lost, m.constant(0.0));
  return {is_large, root, m.fma(m.mul(root, square), tail, correction)};
}

template <class M>
TSC_MATH FloatOf<M> asin(M& m, FloatOf<M> x) {
  auto a = m.abs(x);
  auto reduced = reduce_arc_sine(m, a);
  auto minus_two = m.constant(-2.0);
  auto half_pi = part(m, kHalfPiSplit, 0);
  auto high = m.fma(reduced.root, minus_two, half_pi);
  auto lost = m.fma(reduced.root, minus_two, m.sub(half_pi, high));
  auto low = m.fma(reduced.rest, minus_two, part(m, kHalfPiSplit, 1));
  auto large = m.add(high, m.add(lost, low));
  auto small = m.add(reduced.root, reduced.rest);
  return with_sign(m, m.select(reduced.is_large, large, small), x);
}

template <class M>
TSC_MATH FloatOf<M> acos(M& m, FloatOf<M> x) {
  auto reduced = reduce_arc_sine(m, m.abs(x));
  auto is_negative = m.lt(x, m.constant(0.0));
  auto place = [&](int index) {  // pi, 0 or pi/2
    auto at_ends = m.select(is_negative, part(m, kHalfPiSplit, index, 2.0), m.constant(0.0));
    return m.select(reduced.is_large, at_ends, part(m, kHalfPiSplit, index));
  };
  auto one = m.select(is_negative, m.constant(-1.0), m.constant(1.0));
  auto factor = m.select(reduced.is_large, m.add(one, one), m.neg(one));
  auto base = place(0);
  auto high = m.fma(factor, reduced.root, base);
  auto lost = m.fma(factor, reduced.root, m.sub(base, high));
  auto low = m.fma(factor, reduced.rest, place(1));
  return m.add(high, m.add(lost, low));
}

// atan(a / b) for 0 <= a <= b, b > 0, as eighths * pi/4 + rest.
template <class M>
struct ArcTangent {
  FloatOf<M> eighths, rest;
};
template <class M>
TSC_MATH ArcTangent<M> reduce_arc_tangent(M& m, FloatOf<M> a, FloatOf<M> b) {
  // From b / 2 on, a - b is exact.
  auto is_large = m.lt(m.mul(b, m.constant(0.5)), a);
  auto t = m.div(m.select(is_large, m.sub(a, b), a), m.select(is_large, m.add(a, b), b));
  auto square = m.mul(t, t);
  auto tail = polynomial(m, square, coefficients::kAtanTailF32, coefficients::kAtanTailF64);
  auto rest = m.fma(m.mul(t, square), tail, t);
  return {m.select(is_large, m.constant(1.0), m.constant(0.0)), rest};
}

// The same angle seen from the nearer end of [0, total * pi/4] where the mask holds.
template <class M>
TSC_MATH ArcTangent<M> reflect(M& m, typename M::Mask where, double total, const ArcTangent<M>& angle) {
  return {m.select(where, m.sub(m.constant(total), angle.eighths), angle.eighths),
          m.select(where, m.neg(angle.rest), angle.rest)};
}

template <class M>
TSC_MATH FloatOf<M> place_arc_tangent(M& m, const ArcTangent<M>& angle) {
  auto low = m.fma(angle.eighths, part(m, kHalfPiSplit, 1, 0.5), angle.rest);
  return m.fma(angle.eighths, part(m, kHalfPiSplit, 0, 0.5), low);
}

template <class M>
TSC_MATH FloatOf<M> atan(M& m, FloatOf<M> x) {
  auto one = m.constant(1.0);
  auto a = m.abs(x);
  auto is_above_one = m.lt(one, a);
  // For inf the quotient 1 / (2^100) is as good as zero and stays finite in a + b.
  auto bounded = at_most(m, a, 0x1p100);
  auto smaller = m.select(is_above_one, one, bounded);
  auto larger = m.select(is_above_one, bounded, one);
  auto angle = reflect(m, is_above_one, 2.0, reduce_arc_tangent(m, smaller, larger));
  return with_sign(m, place_arc_tangent(m, angle), x);
}

template <class M>
TSC_MATH FloatOf<M> atan2(M& m, FloatOf<M> y, FloatOf<M> x) {
  auto ay = m.abs(y), ax = m.abs(x);
  auto is_steep = m.lt(ax, ay);
  auto smaller = m.select(is_steep, ax, ay);
  auto larger = m.select(is_steep, ay, ax);
  auto zero = m.constant(0.0), one = m.constant(1.0);
  // inf / inf counts as 1, finite / inf as 0, 0 / 0 as 0; halving keeps a + b finite.
  auto infinite = m.eq(larger, m.constant(kInfinity));
  auto both = m.eq(smaller, m.constant(kInfinity));
  auto huge = m.lt(m.constant(0x1p100), larger);
  auto unit = m.mask_or(infinite, m.eq(larger, zero));
  auto shrink = m.select(huge, m.constant(0x1p-10), one);
  auto a = m.select(infinite, m.select(both, one, zero), m.mul(smaller, shrink));
  auto b = m.select(unit, one, m.mul(larger, shrink));
  auto angle = reflect(m, is_steep, 2.0, reduce_arc_tangent(m, a, b));
  auto is_left = m.int_lt(m.as_int(x), m.integer(0));
  auto result = with_sign(m, place_arc_tangent(m, reflect(m, is_left, 4.0, angle)), y);
  auto has_nan = m.mask_or(m.is_nan(x), m.is_nan(y));
  return m.select(has_nan, m.constant(kNan), result);
}

}  // namespace tsc::scalar_math
