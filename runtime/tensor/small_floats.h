#pragma once
// bfloat16 and float16 <-> float, the one rounding rule of the project: round to nearest even, every nan
// becomes one (0x7FC0, 0x7E00). Integer arithmetic and selections only, so that a loop over it becomes vector
// code under every instruction set; always inlined, because the same text is compiled for several.
#include <cstdint>
#include <type_traits>

#include "runtime/tensor/dtype.h"

namespace tsc {

template <class S>
inline constexpr bool kIsSmallFloat = std::is_same_v<S, BFloat16> || std::is_same_v<S, Float16>;

[[gnu::always_inline]] inline float bf16_to_float(BFloat16 x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16);
}

[[gnu::always_inline]] inline BFloat16 float_to_bf16(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>(x != x ? 0x7FC0u : rounded)};
}

// The exponent moves by 127 - 15 = 112, and once more for infinities and nans; numbers below the normal ones
// are multiples of 2^-24.
[[gnu::always_inline]] inline float f16_to_float(Float16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7FFFu;
  const uint32_t normal = (magnitude << 13) + (magnitude >= 0x7C00u ? 224u << 23 : 112u << 23);
  const uint32_t small = __builtin_bit_cast(uint32_t, static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  return __builtin_bit_cast(float, (magnitude < 0x400u ? small : normal) | sign);
}

// Below 2^-14 the sum with 0.5 has its last place at 2^-24: the addition rounds. From 65520 on the result is
// an infinity.
[[gnu::always_inline]] inline Float16 float_to_f16(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x), magnitude = bits & 0x7FFFFFFFu;
  const uint32_t rounded = (magnitude - (112u << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t small = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3F000000u;
  const uint32_t finite = magnitude < 0x38800000u ? small : rounded;
  const uint32_t number = magnitude >= 0x477FF000u ? 0x7C00u : finite;
  const uint32_t signed_number = number | ((bits >> 16) & 0x8000u);
  return {static_cast<uint16_t>(magnitude > 0x7F800000u ? 0x7E00u : signed_number)};
}

// The element as what it computes in, and back.
template <class S>
[[gnu::always_inline]] inline S widen(S x) {
  return x;
}
[[gnu::always_inline]] inline float widen(BFloat16 x) { return bf16_to_float(x); }
[[gnu::always_inline]] inline float widen(Float16 x) { return f16_to_float(x); }
template <class S, class C>
[[gnu::always_inline]] inline S narrow(C x) {
  if constexpr (std::is_same_v<S, BFloat16>) return float_to_bf16(x);
  else if constexpr (std::is_same_v<S, Float16>) return float_to_f16(x);
  else if constexpr (std::is_same_v<S, C>) return x;
  else return static_cast<S>(x);
}

}  // namespace tsc
