#pragma once
// Reading x through its windows: where a run of positions lies inside, and loads that give zeros elsewhere.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/convolve_kernels.h"
#include "runtime/kernels/vector/matmul_pack.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

[[gnu::always_inline]] inline bool meets_row(const WindowSpace& space, int64_t z, int64_t y) {
  return static_cast<uint64_t>(z) < static_cast<uint64_t>(space.size_z) &&
         static_cast<uint64_t>(y) < static_cast<uint64_t>(space.size_y);
}

[[gnu::always_inline]] inline uint32_t every_second_bit(uint32_t x) {
  x = (x | x << 8) & 0x00FF00FFu;
  x = (x | x << 4) & 0x0F0F0F0Fu;
  x = (x | x << 2) & 0x33333333u;
  return (x | x << 1) & 0x55555555u;
}

// kVectors vectors of columns, of which those with a bit lie inside: each given to take(j, vector).
template <class S, class T, int kVectors, class Take>
[[gnu::always_inline]] inline void load_columns(const S* x, int64_t memory_step, uint64_t inside, const Take& take) {
  using L = Lanes<T>;
  constexpr int kCount = L::kCount;
  static_assert(kVectors * kCount <= kMaxDirectColumns);
  if constexpr (std::is_same_v<S, T>) {
    if (memory_step == 1) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) take(j, L::load(x + j * kCount, L::from_bits(inside >> (j * kCount))));
      return;
    }
  }
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<S, float>) {
    if (memory_step == 2) {
      const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const uint32_t mask = every_second_bit(static_cast<uint16_t>(inside >> (j * kCount)));
        const float* at = x + 2 * j * kCount;
        const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), at);
        const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), at + 16);
        take(j, _mm512_permutex2var_ps(low, even, high));
      }
      return;
    }
  }
#endif
  alignas(64) T columns[kVectors * kCount] = {};
  for (int i = 0; i < kVectors * kCount; ++i)
    if (inside >> i & 1) columns[i] = to_compute(x[i * memory_step]);
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) take(j, L::load(columns + j * kCount));
}

// One run of pack_windows, in pieces of 4, 2 and 1 vectors.
template <class S, class T>
[[gnu::always_inline]] inline void pack_run(T* to, const S* x, const WindowSpace& space, const Inside& inside,
                                            int64_t length) {
  using L = Lanes<T>;
  int64_t t = 0;
  const auto pack = [&]<int kVectors>() {
    const uint64_t bits = inside_bits(inside, t, kVectors * L::kCount);
    load_columns<S, T, kVectors>(x + t * space.memory_step, space.memory_step, bits,
                                 [&](int j, typename L::V v) { L::store(to + t + j * L::kCount, v); });
    t += kVectors * L::kCount;
  };
  while (t + 3 * L::kCount < length) pack.template operator()<4>();
  if (t + L::kCount < length) pack.template operator()<2>();
  if (t < length) pack.template operator()<1>();
}

template <class S, class T>
void pack_windows(T* dst, int64_t dst_stride, const void* data, const WindowSpace& space, const WindowRun* runs,
                  int64_t run_count, const WindowPoint* rows, int64_t row_count) {
  const S* source = static_cast<const S*>(data);
  for (int64_t i = 0; i < row_count; ++i) {
    const WindowPoint& row = rows[i];
    for (int64_t r = 0; r < run_count; ++r) {
      const WindowRun& run = runs[r];
      T* to = dst + i * dst_stride + run.to;
      Inside inside;
      if (meets_row(space, row.z + run.at.z, row.y + run.at.y)) inside = inside_of(space, row.x + run.at.x, run.length);
      pack_run<S, T>(to, source + row.offset + run.at.offset, space, inside, run.length);
    }
  }
}

template <class S, class T>
void pack_pattern(T* dst, int64_t dst_stride, const void* data, int64_t memory_step, int64_t channel_stride,
                  const WindowPattern& pattern, int64_t k, int64_t depth) {
  using L = Lanes<T>;
  const auto taps = static_cast<int64_t>(pattern.first.size()) - 1;
  const S* channel = static_cast<const S*>(data) + k / taps * channel_stride;
  int64_t tap = k % taps;
  for (T* const end = dst + depth * dst_stride; dst < end; dst += dst_stride) {
    for (size_t i = pattern.first[tap]; i < pattern.first[tap + 1]; ++i) {
      const PatternPiece& piece = pattern.pieces[i];
      T* to = dst + piece.to;
      const S* x = channel + piece.offset;
      const auto store = [to](int j, typename L::V v) { L::store(to + j * L::kCount, v); };
      switch (piece.vectors) {
        case 1: load_columns<S, T, 1>(x, memory_step, piece.inside, store); break;
        case 2: load_columns<S, T, 2>(x, memory_step, piece.inside, store); break;
        case 3: load_columns<S, T, 3>(x, memory_step, piece.inside, store); break;
        default: load_columns<S, T, 4>(x, memory_step, piece.inside, store); break;
      }
    }
    if (++tap == taps) tap = 0, channel += channel_stride;
  }
}

#endif

}  // namespace tsc::TSC_ISA
