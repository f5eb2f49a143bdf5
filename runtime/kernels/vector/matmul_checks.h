#pragma once
// What forbids leaving out products with zero: values that are not finite, sums of -0. By their bits.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/matmul_kernels.h"

namespace tsc::TSC_ISA {

template <class T>
using BitsOf = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
template <class T>
inline constexpr BitsOf<T> kSignBit = ~(~BitsOf<T>(0) >> 1);

// A full exponent, and nothing less, runs over into the sign.
template <class T>
bool all_finite(const T* x, int64_t n) {
  constexpr BitsOf<T> kExponent = __builtin_bit_cast(BitsOf<T>, std::numeric_limits<T>::infinity());
  constexpr BitsOf<T> kUnit = kExponent & -kExponent;
  BitsOf<T> found = 0;
  for (int64_t i = 0; i < n; ++i) found |= (__builtin_bit_cast(BitsOf<T>, x[i]) & kExponent) + kUnit;
  return (found & kSignBit<T>) == 0;
}

// y - 1 has the sign where y has not only for y = 0.
template <class T>
bool holds_negative_zero(const T* x, int64_t n) {
  BitsOf<T> found = 0;
  for (int64_t i = 0; i < n; ++i) {
    const BitsOf<T> y = __builtin_bit_cast(BitsOf<T>, x[i]) ^ kSignBit<T>;
    found |= (y - 1) & ~y;
  }
  return (found & kSignBit<T>) != 0;
}

template <class T>
FloatChecks<T> float_checks() {
  return {all_finite<T>, holds_negative_zero<T>};
}

}  // namespace tsc::TSC_ISA
