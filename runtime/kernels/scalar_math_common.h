#pragma once
// Small pieces that the scalar math functions share: Horner's rule, clamps, signs, exact products.
// Knows only the Machine concept.
#include <cstddef>
#include <iterator>

#include "runtime/kernels/scalar_math_coefficients.h"
#include "runtime/kernels/scalar_math_machine.h"

namespace tsc::scalar_math {

template <class M>
using FloatOf = typename M::F;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A real number as a sum of three numbers of either format, each the rest of the one before.
struct Split {
  double f32[3], f64[3];
};
inline constexpr Split kLn2Split = {{0x1.62e43p-1, -0x1.05c61p-29, -0x1.950d88p-54},
                                    {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111}};
inline constexpr Split kLog2ESplit = {{0x1.715476p+0, 0x1.4ae0cp-26, -0x1.e8883p-52},
                                      {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, -0x1.60bb8a5442ab9p-110}};
inline constexpr Split kHalfPiSplit = {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50},
                                       {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}};

// Part `index` of split * factor; the factor is a power of two.
template <class M>
TSC_MATH FloatOf<M> part(M& m, const Split& split, int index, double factor = 1.0) {
  return m.constant(factor * (M::kDouble ? split.f64[index] : split.f32[index]));
}

// c[0] + c[1] * x + c[2] * x^2 ... from the highest power down. Unrolled by recursion, not a loop,
// because compilers vectorise loops around it only so.
template <size_t kFirst = 0, class M, class T, size_t N>
TSC_MATH FloatOf<M> polynomial(M& m, FloatOf<M> x, const T (&c)[N]) {
  if constexpr (kFirst + 1 == N) return m.constant(c[kFirst]);
  else return m.fma(polynomial<kFirst + 1>(m, x, c), x, m.constant(c[kFirst]));
}

// The polynomial of the machine's width.
template <class M, class T, size_t N, class U, size_t K>
TSC_MATH FloatOf<M> polynomial(M& m, FloatOf<M> x, const T (&f32)[N], const U (&f64)[K]) {
  if constexpr (M::kDouble) return polynomial(m, x, f64);
  else return polynomial(m, x, f32);
}

// Bounds that let nan through: the comparison is false for it.
template <class M>
TSC_MATH FloatOf<M> at_most(M& m, FloatOf<M> x, double limit) {
  auto bound = m.constant(limit);
  return m.select(m.lt(bound, x), bound, x);
}
template <class M>
TSC_MATH FloatOf<M> at_least(M& m, FloatOf<M> x, double limit) {
  auto bound = m.constant(limit);
  return m.select(m.lt(x, bound), bound, x);
}

template <class M>
TSC_MATH typename M::I sign_mask(M& m) {
  return m.integer(M::kDouble ? std::numeric_limits<int64_t>::min() : int64_t{std::numeric_limits<int32_t>::min()});
}

// `magnitude` (not negative) with the sign of `sign`.
template <class M>
TSC_MATH FloatOf<M> with_sign(M& m, FloatOf<M> magnitude, FloatOf<M> sign) {
  auto bit = m.int_and(m.as_int(sign), sign_mask(m));
  return m.as_float(m.int_or(m.as_int(magnitude), bit));
}

// x to the nearest integer, ties to even, for |x| < 2^22 (f32) or 2^51 (f64).
template <class M>
TSC_MATH FloatOf<M> round_small(M& m, FloatOf<M> x) {
  auto magic = m.constant(FormatOf<M>::kRoundMagic);
  return m.sub(m.add(x, magic), magic);
}

// A small integer in I as a number.
template <class M>
TSC_MATH FloatOf<M> small_to_float(M& m, typename M::I i) {
  auto magic = m.int_add(i, m.integer(FormatOf<M>::kRoundMagicBits));
  return m.sub(m.as_float(magic), m.constant(FormatOf<M>::kRoundMagic));
}

// A number as an unevaluated sum of two, |low| at most half a last place of high.
template <class M>
struct Pair {
  FloatOf<M> high, low;
};

// a + b exactly, for |a| >= |b| or a == 0.
template <class M>
TSC_MATH Pair<M> fast_two_sum(M& m, FloatOf<M> a, FloatOf<M> b) {
  auto sum = m.add(a, b);
  return {sum, m.sub(b, m.sub(sum, a))};
}

// a + b exactly, whatever their order.
template <class M>
TSC_MATH Pair<M> two_sum(M& m, FloatOf<M> a, FloatOf<M> b) {
  auto sum = m.add(a, b);
  auto b_part = m.sub(sum, a);
  auto a_part = m.sub(sum, b_part);
  return {sum, m.add(m.sub(a, a_part), m.sub(b, b_part))};
}

// a * b exactly.
template <class M>
TSC_MATH Pair<M> two_product(M& m, FloatOf<M> a, FloatOf<M> b) {
  auto product = m.mul(a, b);
  return {product, m.fma(a, b, m.neg(product))};
}

template <class M>
TSC_MATH Pair<M> add_pair(M& m, Pair<M> a, Pair<M> b) {
  auto sum = two_sum(m, a.high, b.high);
  return fast_two_sum(m, sum.high, m.add(sum.low, m.add(a.low, b.low)));
}

template <class M>
TSC_MATH Pair<M> multiply_pair(M& m, Pair<M> a, Pair<M> b) {
  auto product = two_product(m, a.high, b.high);
  auto low = m.fma(a.high, b.low, m.fma(a.low, b.high, product.low));
  return fast_two_sum(m, product.high, low);
}

}  // namespace tsc::scalar_math
