#pragma once
// memcpy of mostly a few bytes, without a call: the texts of numbers, names and separators.
#include <cstdint>

#include "interpreter/heap/patience.h"

namespace tsc::interp {

namespace detail {
// As one number at both ends: between sizeof(Word) and twice as many bytes.
template <class Word>
inline void copy_ends(char* to, const char* from, size_t size) {
  Word first, last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + size - sizeof last, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + size - sizeof last, &last, sizeof last);
}
}  // namespace detail

// The two do not overlap.
inline void copy_few(char* to, const char* from, size_t size) {
  if (size > 16) return copy_bytes(to, from, size);
  if (size >= 8) return detail::copy_ends<uint64_t>(to, from, size);
  if (size >= 4) return detail::copy_ends<uint32_t>(to, from, size);
  if (size >= 2) return detail::copy_ends<uint16_t>(to, from, size);
  if (size) *to = *from;
}

}  // namespace tsc::interp
