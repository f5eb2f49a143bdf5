#pragma once
// The machine on which the scalar math functions run. scalar_math.h writes every function once, as a
// template over a Machine M; ScalarMachine (below) computes with plain floats for the reference kernels,
// and the compiler supplies a Machine whose values are vectors of its IR. Same text, same operations in
// the same order, so the same bits lane for lane.
// Knows nothing of tensors or ops. Keeps: no function branches on a value, loops a value-dependent
// number of times, or indexes a table by a value.
//
// Concept Machine. All operations are members; functions take `M& m`, so a machine may hold state.
//
//   types      F     a number (or a vector of them); M::kDouble says f64, otherwise f32
//              I     an integer of the same width as F (32 or 64 bits; arithmetic wraps)
//              Mask  one truth value per lane
//              Wide  the machine for f64 with as many lanes; for an f64 machine, itself
//   constants  F constant(double value)           rounded to nearest in F's format
//              I integer(int64_t value)
//   IEEE ops   add sub mul div (F, F) -> F        each rounded once, to nearest even
//              fma(a, b, c) -> F                  a * b + c rounded once
//              neg abs sqrt trunc floor (F) -> F  neg and abs touch the sign bit only
//   compare    lt le eq (F, F) -> Mask            false if either is nan
//              is_nan(F) -> Mask
//              int_lt int_eq (I, I) -> Mask       signed
//   masks      mask_and mask_or (Mask, Mask), mask_not(Mask)
//              select(Mask, F yes, F no) -> F,    select_int(Mask, I, I) -> I; bits pass unchanged
//   bits       as_int(F) -> I, as_float(I) -> F   the same bits
//              int_add int_sub int_and int_or int_xor (I, I) -> I
//              shift_left shift_right_logical shift_right_arithmetic (I, int count) -> I
//   scale      scale(F x, F k) -> F               x * 2^k rounded once. Promised: 1/4 <= |x| <= 4 or
//              x is 0 or nan, and k is an integer with |k| <= 2 * bias (254, 2046). `scale_in_two_steps`
//              below does it with the other operations; vscalefps does it in one.
//   width      Wide wide(); Wide::F widen(F) (exact); F narrow(Wide::F) (rounded once, to nearest even)
//   rare       rare(Mask where, slow, F... fast): lanes where the mask holds take slow()'s results, the
//              others the fast ones. slow is a callable that returns std::array<F, N>, emits or runs
//              ordinary operations, and may be skipped altogether when no lane needs it. So a machine
//              without branches calls slow() and selects.
//
// NaN results carry no promise about their payload; every nan that a function makes itself is the
// positive quiet one.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tsc {

// The layout of F's format, and powers of two built from integer bits.
template <bool kDouble>
struct FloatFormat;
template <>
struct FloatFormat<false> {
  using Number = float;
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  // Adding it rounds to an integer, ties to even, and leaves that integer in the low bits (|x| < 2^22).
  static constexpr double kRoundMagic = 0x1.8p23;
  static constexpr int64_t kRoundMagicBits = 0x4B400000;
  static constexpr int64_t kOneBits = 0x3F800000;
  static constexpr double kSmallestNormal = 0x1p-126;
};
template <>
struct FloatFormat<true> {
  using Number = double;
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr double kRoundMagic = 0x1.8p52;
  static constexpr int64_t kRoundMagicBits = 0x4338000000000000;
  static constexpr int64_t kOneBits = 0x3FF0000000000000;
  static constexpr double kSmallestNormal = 0x1p-1022;
};
template <class M>
using FormatOf = FloatFormat<M::kDouble>;

// 2^k for an integral k of the normal range, given as a float.
template <class M>
typename M::F power_of_two(M& m, typename M::F k) {
  using Format = FormatOf<M>;
  auto low_bits = m.as_int(m.add(k, m.constant(Format::kRoundMagic)));
  auto exponent = m.shift_left(low_bits, Format::kMantissaBits);
  return m.as_float(m.int_add(exponent, m.integer(Format::kOneBits)));
}

// Machine::scale by two exact-then-rounded multiplications with 2^(k/2): the first product is exact.
template <class M>
typename M::F scale_in_two_steps(M& m, typename M::F x, typename M::F k) {
  auto half = m.floor(m.mul(k, m.constant(0.5)));
  auto first = m.mul(x, power_of_two(m, half));
  return m.mul(first, power_of_two(m, m.sub(k, half)));
}

// Plain numbers. With -mfma std::fma is one instruction; without, libm's exact one.
template <class T>
struct ScalarMachine {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static constexpr bool kDouble = std::is_same_v<T, double>;
  using F = T;
  using I = std::conditional_t<kDouble, int64_t, int32_t>;
  using U = std::make_unsigned_t<I>;
  using Mask = bool;
  using Wide = ScalarMachine<double>;

  static F constant(double value) { return static_cast<F>(value); }
  static I integer(int64_t value) { return static_cast<I>(value); }

  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static F neg(F a) { return -a; }
  static F abs(F a) { return std::fabs(a); }
  static F sqrt(F a) { return std::sqrt(a); }
  static F trunc(F a) { return std::trunc(a); }
  static F floor(F a) { return std::floor(a); }

  static Mask lt(F a, F b) { return a < b; }
  static Mask le(F a, F b) { return a <= b; }
  static Mask eq(F a, F b) { return a == b; }
  static Mask is_nan(F a) { return a != a; }
  static Mask int_lt(I a, I b) { return a < b; }
  static Mask int_eq(I a, I b) { return a == b; }
  static Mask mask_and(Mask a, Mask b) { return a & b; }
  static Mask mask_or(Mask a, Mask b) { return a | b; }
  static Mask mask_not(Mask a) { return !a; }
  static F select(Mask mask, F yes, F no) { return mask ? yes : no; }
  static I select_int(Mask mask, I yes, I no) { return mask ? yes : no; }

  static I as_int(F a) { return std::bit_cast<I>(a); }
  static F as_float(I a) { return std::bit_cast<F>(a); }
  static I int_add(I a, I b) { return static_cast<I>(static_cast<U>(a) + static_cast<U>(b)); }
  static I int_sub(I a, I b) { return static_cast<I>(static_cast<U>(a) - static_cast<U>(b)); }
  static I int_and(I a, I b) { return a & b; }
  static I int_or(I a, I b) { return a | b; }
  static I int_xor(I a, I b) { return a ^ b; }
  static I shift_left(I a, int count) { return static_cast<I>(static_cast<U>(a) << count); }
  static I shift_right_logical(I a, int count) {
    return static_cast<I>(static_cast<U>(a) >> count);
  }
  static I shift_right_arithmetic(I a, int count) { return a >> count; }

  F scale(F x, F k) { return scale_in_two_steps(*this, x, k); }
  static Wide wide() { return {}; }
  static double widen(F a) { return a; }
  static F narrow(double a) { return static_cast<F>(a); }

  template <class Slow, class... Fast>
  static std::array<F, sizeof...(Fast)> rare(Mask where, Slow&& slow, Fast... fast) {
    if (where) [[unlikely]]
      return slow();
    return {fast...};
  }
};

}  // namespace tsc
