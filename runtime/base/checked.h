#pragma once
// Checked size arithmetic. Every product or sum of sizes, strides, offsets and byte counts goes
// through these: a wrapped product is how tensor libraries write out of bounds.
#include <cstdint>

#include "runtime/base/error.h"

namespace tsc {

// Largest number of bytes a tensor may have (2^47: what a user address space can hold).
inline constexpr int64_t kMaxBytes = int64_t{1} << 47;

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) [[unlikely]]
    throw Error(ErrorKind::OverflowError, "size computation overflows a 64-bit integer");
  return out;
}

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) [[unlikely]]
    throw Error(ErrorKind::OverflowError, "size computation overflows a 64-bit integer");
  return out;
}

}  // namespace tsc
