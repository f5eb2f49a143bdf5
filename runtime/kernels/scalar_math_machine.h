#pragma once
// The machine on which the scalar math functions run. scalar_math.h writes every function once, as
// a template over a Machine M; ScalarMachine (below) computes with plain floats for the reference
// kernels, and the compiler supplies a Machine whose values are vectors of its IR. Same text, same
// operations in the same order, so the same bits lane for lane. Knows nothing of tensors or ops.
// Keeps: no function branches on a value, loops a value-dependent number of times, or indexes a
// table by a value.
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
//   scale      scale(F x, F k) -> F               x * 2^k rounded once. Promised: 1/4 <= |x| <= 4
//   or
//              x is 0 or nan, and k is an integer with |k| <= 2 * bias (254, 2046).
//              `scale_in_two_steps` below does it with the other operations; vscalefps does it in
//              one.
//              scales_zero_by_any() -> bool      scale(0, k) is 0 for every k below, -inf too
//   width      Wide wide(); Wide::F widen(F) (exact); F narrow(Wide::F) (rounded once, to nearest
//   even) rare       rare(Mask where, slow, F... fast): lanes where the mask holds take slow()'s
//   results, the
//              others the fast ones. slow is a callable that returns std::array<F, N>, emits or
//              runs ordinary operations, and may be skipped altogether when no lane needs it. So a
//              machine without branches calls slow() and selects.
//
// NaN results carry no promise about their payload; every nan that a function makes itself is the
// positive quiet one.
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

// A file that is compiled once per instruction set defines TSC_ISA: the machine then lives in that
// namespace, so the copies of the templates do not merge, and everything is inlined, so its loops
// vectorise.
#ifdef TSC_ISA
#define TSC_MATH [[gnu::always_inline]] inline
#else
#define TSC_ISA baseline
#define TSC_MATH inline
#endif

namespace tsc {

// The layout of F's format, and powers of two built from integer bits.
template <bool kDouble>
struct FloatFormat;
template <>
struct FloatFormat<false> {
  using Number = float;
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  // Adding it rounds to an integer, ties to even, and leaves that integer in the low bits (|x| <
  // 2^22).
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
TSC_MATH typename M::F power_of_two(M& m, typename M::F k) {
  using Format = FormatOf<M>;
  auto low_bits = m.as_int(m.add(k, m.constant(Format::kRoundMagic)));
  auto exponent = m.shift_left(low_bits, Format::kMantissaBits);
  return m.as_float(m.int_add(exponent, m.integer(Format::kOneBits)));
}

// Machine::scale by two multiplications with about 2^(k/2): the first is exact, the second rounds.
template <class M>
TSC_MATH typename M::F scale_in_two_steps(M& m, typename M::F x, typename M::F k) {
  using Format = FormatOf<M>;
  auto magic = m.constant(Format::kRoundMagic);
  auto half_bits = m.fma(k, m.constant(0.5), magic);  // k / 2, rounded, in its low bits
  auto exponent = m.shift_left(m.as_int(half_bits), Format::kMantissaBits);
  auto power = m.as_float(m.int_add(exponent, m.integer(Format::kOneBits)));
  return m.mul(m.mul(x, power), power_of_two(m, m.sub(k, m.sub(half_bits, magic))));
}

namespace TSC_ISA {

// Plain numbers. With -mfma the fma is one instruction; without, libm's exact one.
template <class T>
struct ScalarMachine {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static constexpr bool kDouble = std::is_same_v<T, double>;
  using F = T;
  using I = std::conditional_t<kDouble, int64_t, int32_t>;
  using U = std::make_unsigned_t<I>;
  using Mask = bool;
  using Wide = ScalarMachine<double>;

  TSC_MATH static F constant(double value) { return static_cast<F>(value); }
  TSC_MATH static I integer(int64_t value) { return static_cast<I>(value); }

  TSC_MATH static F add(F a, F b) { return a + b; }
  TSC_MATH static F sub(F a, F b) { return a - b; }
  TSC_MATH static F mul(F a, F b) { return a * b; }
  TSC_MATH static F div(F a, F b) { return a / b; }
  TSC_MATH static F fma(F a, F b, F c) { return kDouble ? __builtin_fma(a, b, c) : __builtin_fmaf(a, b, c); }
  TSC_MATH static F neg(F a) { return -a; }
  TSC_MATH static F abs(F a) { return kDouble ? __builtin_fabs(a) : __builtin_fabsf(a); }
  TSC_MATH static F sqrt(F a) { return kDouble ? __builtin_sqrt(a) : __builtin_sqrtf(a); }
  TSC_MATH static F trunc(F a) { return kDouble ? __builtin_trunc(a) : __builtin_truncf(a); }
  TSC_MATH static F floor(F a) { return kDouble ? __builtin_floor(a) : __builtin_floorf(a); }

  TSC_MATH static Mask lt(F a, F b) { return a < b; }
  TSC_MATH static Mask le(F a, F b) { return a <= b; }
  TSC_MATH static Mask eq(F a, F b) { return a == b; }
  TSC_MATH static Mask is_nan(F a) { return a != a; }
  TSC_MATH static Mask int_lt(I a, I b) { return a < b; }
  TSC_MATH static Mask int_eq(I a, I b) { return a == b; }
  TSC_MATH static Mask mask_and(Mask a, Mask b) { return a & b; }
  TSC_MATH static Mask mask_or(Mask a, Mask b) { return a | b; }
  TSC_MATH static Mask mask_not(Mask a) { return !a; }
  TSC_MATH static F select(Mask mask, F yes, F no) { return mask ? yes : no; }
  TSC_MATH static I select_int(Mask mask, I yes, I no) { return mask ? yes : no; }

  TSC_MATH static I as_int(F a) { return __builtin_bit_cast(I, a); }
  TSC_MATH static F as_float(I a) { return __builtin_bit_cast(F, a); }
  TSC_MATH static I int_add(I a, I b) { return static_cast<I>(static_cast<U>(a) + static_cast<U>(b)); }
  TSC_MATH static I int_sub(I a, I b) { return static_cast<I>(static_cast<U>(a) - static_cast<U>(b)); }
  TSC_MATH static I int_and(I a, I b) { return a & b; }
  TSC_MATH static I int_or(I a, I b) { return a | b; }
  TSC_MATH static I int_xor(I a, I b) { return a ^ b; }
  TSC_MATH static I shift_left(I a, int count) { return static_cast<I>(static_cast<U>(a) << count); }
  TSC_MATH static I shift_right_logical(I a, int count) { return static_cast<I>(static_cast<U>(a) >> count); }
  TSC_MATH static I shift_right_arithmetic(I a, int count) { return a >> count; }

  TSC_MATH static bool scales_zero_by_any() { return false; }
  TSC_MATH F scale(F x, F k) { return scale_in_two_steps(*this, x, k); }
  TSC_MATH static Wide wide() { return {}; }
  TSC_MATH static double widen(F a) { return a; }
  TSC_MATH static F narrow(double a) { return static_cast<F>(a); }

  template <class Slow, class... Fast>
  TSC_MATH static std::array<F, sizeof...(Fast)> rare(Mask where, Slow&& slow, Fast... fast) {
    if (where) [[unlikely]]
      return slow();
    return {fast...};
  }
};

}  // namespace TSC_ISA
using TSC_ISA::ScalarMachine;

}  // namespace tsc
