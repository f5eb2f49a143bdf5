#pragma once
// The scalar semantics of every elementwise primitive: one function a row of ops.def, and the edge
// behaviour beside it. The reference kernels run these; the compiler's emitter mirrors them bit for bit
// (a nan's payload and sign are not part of a result). The small floats (bf16, f16) have no functions of
// their own: their operands are converted to float, and the float result is rounded once.
// Compiled several times with different instruction sets, so everything here is always inlined and
// lives in the namespace TSC_ISA.
//
// Types: bool, the integers, float, double; complex numbers in scalar_complex.h. Integers wrap in their own width.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/scalar_math.h"
#include "runtime/tensor/small_floats.h"

#ifndef TSC_ISA
#define TSC_ISA baseline
#endif
#define TSC_INLINE [[gnu::always_inline]] inline

#include "runtime/kernels/scalar_complex.h"

namespace tsc::TSC_ISA::scalar {

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool kIsBool = std::is_same_v<T, bool>;
// Where wrapping arithmetic is done: no narrower than int, never signed.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// ---- unary ----

// A real number is its own conjugate.
template <class T>
TSC_INLINE T conj(T x) {
  return x;
}

template <class T>
TSC_INLINE T neg(T x) {
  if constexpr (kIsFloat<T>) return -x;  // flips the sign, of zero and nan too
  else return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
}

template <class T>
TSC_INLINE T abs(T x) {
  if constexpr (kIsFloat<T>) return __builtin_fabs(x);
  else return x < 0 ? neg(x) : x;  // abs of the smallest integer is itself
}

template <class T>
TSC_INLINE T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? neg(T(1)) : T(0);  // 0 for -0 and nan, as PyTorch has it
}

TSC_INLINE float floor(float x) { return __builtin_floorf(x); }
TSC_INLINE double floor(double x) { return __builtin_floor(x); }
TSC_INLINE float ceil(float x) { return __builtin_ceilf(x); }
TSC_INLINE double ceil(double x) { return __builtin_ceil(x); }
TSC_INLINE float trunc(float x) { return __builtin_truncf(x); }
TSC_INLINE double trunc(double x) { return __builtin_trunc(x); }
// Ties to even: rint in the default rounding mode, which nothing here changes.
TSC_INLINE float round(float x) { return __builtin_rintf(x); }
TSC_INLINE double round(double x) { return __builtin_rint(x); }

TSC_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }  // sqrt(-0) = -0
TSC_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
template <class T>
TSC_INLINE bool logical_not(T x) {
  return x == T(0);  // nan is not zero: false
}

template <class T>
TSC_INLINE T bitwise_not(T x) {
  if constexpr (kIsBool<T>) return !x;
  else return static_cast<T>(~x);
}

// ---- binary ----

template <class T>
TSC_INLINE T add(T x, T y) {
  if constexpr (kIsFloat<T>) return x + y;
  else if constexpr (kIsBool<T>) return x | y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
}

template <class T>
TSC_INLINE T sub(T x, T y) {
  if constexpr (kIsFloat<T>) return x - y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
}

template <class T>
TSC_INLINE T mul(T x, T y) {
  if constexpr (kIsFloat<T>) return x * y;
  else if constexpr (kIsBool<T>) return x & y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
}

template <class T>
TSC_INLINE T div(T x, T y) {
  return x / y;
}

// Integer division by zero: the kernel reports ZeroDivisionError (see division_fails) and never uses
// the value. The smallest integer divided by -1 wraps to itself, with remainder 0.
template <class T>
TSC_INLINE bool division_fails(T, T y) {
  if constexpr (kIsFloat<T>) return false;
  else return y == 0;
}

template <class T>
TSC_INLINE T quot(T x, T y) {
  if constexpr (kIsFloat<T>) {
    return trunc(x / y);
  } else {
    if (y == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (y == -1) return neg(x);
    return static_cast<T>(x / y);
  }
}

// Exact fmod with the sign of x; nan for y = 0 or x = inf. The short way, which has no branch, holds while the quotient
// is small enough for q * y (float: in double) or fma(-q, y, x) to be exact; rounding x / y can only have made q one
// too large, never too small.
template <class T>
struct ShortRem {
  T value;
  int holds;  // 0 or 1
};
TSC_INLINE ShortRem<float> short_rem(float x, float y) {
  double dividend = __builtin_fabs(static_cast<double>(x));
  double divisor = __builtin_fabs(static_cast<double>(y));
  double q = __builtin_trunc(dividend / divisor);
  double r = dividend - q * divisor;
  return {__builtin_copysignf(static_cast<float>(r < 0 ? r + divisor : r), x), (q < 0x1p29) & (divisor <= 0x1p128)};
}
TSC_INLINE ShortRem<double> short_rem(double x, double y) {
  double dividend = __builtin_fabs(x), divisor = __builtin_fabs(y);
  double q = __builtin_trunc(dividend / divisor);
  double r = __builtin_fma(-q, divisor, dividend);
  return {__builtin_copysign(r < 0 ? r + divisor : r, x), (q < 0x1p52) & (divisor >= 0x1p-900) & (divisor <= 0x1p1000)};
}
template <class T>
  requires(kIsFloat<T>)
TSC_INLINE T rem(T x, T y) {
  const ShortRem<T> found = short_rem(x, y);
  if (found.holds) [[likely]]
    return found.value;
  if constexpr (sizeof(T) == sizeof(float)) return ::fmodf(x, y);
  else return ::fmod(x, y);
}
template <class T>
  requires(!kIsFloat<T>)
TSC_INLINE T rem(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return 0;
  return static_cast<T>(x % y);
}

TSC_INLINE float copysign(float x, float y) { return __builtin_copysignf(x, y); }
TSC_INLINE double copysign(double x, double y) { return __builtin_copysign(x, y); }

// Of floats, with r = rem(x, y): exactly PyTorch's div_floor, which is Python's algorithm except that y = 0 gives x /
// y.
template <class T>
TSC_INLINE T floor_div_with(T x, T y, T r) {
  T quotient = x / y;
  T d = (x - r) / y;
  if (r != 0 && (y < 0) != (r < 0)) d -= 1;
  T floored = floor(d);
  if (d - floored > T(0.5)) floored += 1;
  T result = d != 0 ? floored : copysign(T(0), quotient);
  return y == 0 ? quotient : result;
}
template <class T>
TSC_INLINE T floor_div(T x, T y) {
  if constexpr (kIsFloat<T>) {
    return floor_div_with(x, y, rem(x, y));
  } else {
    T q = quot(x, y);
    T r = rem(x, y);
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(q - 1) : q;
  }
}

// With r = rem(x, y), moved to the sign of y; a zero result keeps the sign of fmod (that of x), as in PyTorch.
template <class T>
TSC_INLINE T remainder_with(T, T y, T r) {
  return r != 0 && (r < 0) != (y < 0) ? add(r, y) : r;
}
template <class T>
TSC_INLINE T remainder(T x, T y) {
  return remainder_with(x, y, rem(x, y));
}

// ---- functions of the math library ----

// One text for every tier: scalar_math.h states accuracy and edge values. The machines are types of
// this namespace, so that each instruction set has its own copies.

struct FloatMachine : ScalarMachine<float> {};
struct DoubleMachine : ScalarMachine<double> {};

#define TSC_MATH1(name)                   \
  TSC_INLINE float name(float x) {        \
    FloatMachine machine;                 \
    return scalar_math::name(machine, x); \
  }                                       \
  TSC_INLINE double name(double x) {      \
    DoubleMachine machine;                \
    return scalar_math::name(machine, x); \
  }
#define TSC_MATH2(name, function)                \
  TSC_INLINE float name(float x, float y) {      \
    FloatMachine machine;                        \
    return scalar_math::function(machine, x, y); \
  }                                              \
  TSC_INLINE double name(double x, double y) {   \
    DoubleMachine machine;                       \
    return scalar_math::function(machine, x, y); \
  }
TSC_SCALAR_MATH_UNARY(TSC_MATH1)
TSC_MATH2(atan2, atan2)
TSC_MATH2(pow_float, pow)
#undef TSC_MATH1
#undef TSC_MATH2

// Integers: by squaring, wrapping; 0 ** 0 = 1. A negative exponent is reported (pow_fails).
template <class T>
TSC_INLINE bool pow_fails(T, T y) {
  if constexpr (kIsFloat<T>) return false;
  else return y < 0;
}
template <class T>
TSC_INLINE T pow_integer(T x, T y) {
  T result = 1, base = x;
  for (; y > 0; y >>= 1) {
    if (y & 1) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

template <class T>
TSC_INLINE T pow(T x, T y) {
  if constexpr (kIsFloat<T>) return pow_float(x, y);
  else return pow_integer(x, y);
}

// nan wins; of two zeros maximum takes +0 and minimum -0: equal operands combine by their bits.
template <class T>
TSC_INLINE T maximum(T x, T y) {
  if constexpr (kIsBool<T>) return x | y;
  else if constexpr (kIsFloat<T>) {
    T both = __builtin_bit_cast(T, __builtin_bit_cast(BitsOf<T>, x) & __builtin_bit_cast(BitsOf<T>, y));
    T larger = x > y || x != x ? x : y;
    return x == y ? both : larger;
  } else {
    return x > y ? x : y;
  }
}

template <class T>
TSC_INLINE T minimum(T x, T y) {
  if constexpr (kIsBool<T>) return x & y;
  else if constexpr (kIsFloat<T>) {
    T both = __builtin_bit_cast(T, __builtin_bit_cast(BitsOf<T>, x) | __builtin_bit_cast(BitsOf<T>, y));
    T smaller = x < y || x != x ? x : y;
    return x == y ? both : smaller;
  } else {
    return x < y ? x : y;
  }
}

template <class T>
TSC_INLINE T bitwise_and(T x, T y) {
  return static_cast<T>(x & y);
}
template <class T>
TSC_INLINE T bitwise_or(T x, T y) {
  return static_cast<T>(x | y);
}
template <class T>
TSC_INLINE T bitwise_xor(T x, T y) {
  return static_cast<T>(x ^ y);
}

// Amounts outside [0, width): shift_left gives 0, shift_right the sign (0 for u8). Of bools only an
// amount of 0 keeps x.
template <class T>
TSC_INLINE T shift_left(T x, T y) {
  if constexpr (kIsBool<T>) return x & !y;
  else {
    constexpr int kWidth = sizeof(T) * 8;
    bool inside = y >= 0 && y < kWidth;
    return inside ? static_cast<T>(static_cast<Wrapping<T>>(x) << (y & (kWidth - 1))) : T(0);
  }
}
template <class T>
TSC_INLINE T shift_right(T x, T y) {
  if constexpr (kIsBool<T>) return x & !y;
  else if constexpr (std::is_signed_v<T>) {
    constexpr int kWidth = sizeof(T) * 8;
    bool inside = y >= 0 && y < kWidth;
    return static_cast<T>(x >> (inside ? y : T(kWidth - 1)));
  } else {
    return y < 8 ? static_cast<T>(x >> (y & 7)) : T(0);
  }
}

// Comparisons with nan are false, except ne.
template <class T>
TSC_INLINE bool eq(T x, T y) {
  return x == y;
}
template <class T>
TSC_INLINE bool ne(T x, T y) {
  return x != y;
}
template <class T>
TSC_INLINE bool lt(T x, T y) {
  return x < y;
}
template <class T>
TSC_INLINE bool le(T x, T y) {
  return x <= y;
}

// ---- ternary ----

TSC_INLINE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
TSC_INLINE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

// ---- cast ----

// What a float becomes on its way to an integer of `To`: PyTorch's bits on x86, whose conversion to a word of 32 or
// 64 bits gives the lowest one for nan and for what is out of its range. The lower bits of that word are the result.
// A byte comes from a long word, of which a float of 32 bits never has a low byte that the shorter word lacks.
template <class To, class From>
using WholeOf = std::conditional_t<sizeof(To) == 8 || (std::is_unsigned_v<To> && sizeof(From) == 8), int64_t, int32_t>;

template <class To, class From>
TSC_INLINE To truncated(From x) {
  using Whole = WholeOf<To, From>;
  constexpr From kLowest = static_cast<From>(std::numeric_limits<Whole>::min());
  const bool inside = x >= kLowest && x < -kLowest;
  return static_cast<To>(static_cast<Whole>(inside ? x : kLowest));
}

// To bool: x != 0 (nan gives true). From bool: 0 or 1. Integer to integer wraps; to float rounds to
// even (to the small floats: through float, two roundings, as PyTorch). Float to integer: `truncated`. Of a
// complex number the real part, but for bool, which asks both.
template <class To, class From>
TSC_INLINE To cast(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (kIsComplex<From> && kIsBool<To>) return !logical_not(x);
  else if constexpr (kIsComplex<From> && kIsComplex<To>)
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  else if constexpr (kIsComplex<From>) return cast<To>(x.re);
  else if constexpr (kIsComplex<To>) return {cast<decltype(To::re)>(x), 0};
  else if constexpr (kIsBool<To>) return x != From(0);
  else if constexpr (kIsFloat<From> && !kIsFloat<To>) return truncated<To>(x);
  else return static_cast<To>(x);
}

}  // namespace tsc::TSC_ISA::scalar
