#pragma once
// bfloat16 <-> float, the one rounding rule of the project: round to nearest even, every nan becomes
// 0x7FC0. Always inlined, because the same code is compiled for several instruction sets.
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace tsc {

[[gnu::always_inline]] inline float bf16_to_float(BFloat16 x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16);
}

[[gnu::always_inline]] inline BFloat16 float_to_bf16(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>(x != x ? 0x7FC0u : rounded)};
}

}  // namespace tsc
