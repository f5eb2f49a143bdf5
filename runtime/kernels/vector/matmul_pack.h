#pragma once
// Copies a strided matrix into rows, converting, with a vector transposition where its columns are
// the contiguous ones.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/vector/matmul_lanes.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::TSC_ISA {

[[gnu::always_inline]] inline float to_compute(float x) { return x; }
[[gnu::always_inline]] inline double to_compute(double x) { return x; }
[[gnu::always_inline]] inline float to_compute(BFloat16 x) { return bf16_to_float(x); }
[[gnu::always_inline]] inline float to_compute(Float16 x) { return f16_to_float(x); }

#ifdef TSC_TILES
// dst[j][i] = src[i][j] for 8 x 8 floats: rows in pairs, then in fours, then halves exchanged.
[[gnu::always_inline]] inline void transpose_8x8(float* dst, int64_t dst_stride, const float* src,
                                                 int64_t src_stride) {
  __m256 in[8], pair[8], four[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) in[i] = _mm256_loadu_ps(src + i * src_stride);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(in[i], in[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(in[i], in[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(dst + i * dst_stride, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
    _mm256_storeu_ps(dst + (i + 4) * dst_stride,
                     _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
  }
}
#endif

template <class S, class T>
void pack_transposed(T* dst, int64_t dst_stride, const S* src, int64_t column_stride, int64_t rows,
                     int64_t columns) {
  int64_t whole_rows = 0;
#ifdef TSC_TILES
  if constexpr (std::is_same_v<S, float>) {
    whole_rows = rows / 8 * 8;
    const int64_t whole_columns = columns / 8 * 8;
    for (int64_t j = 0; j < whole_columns; j += 8) {
      // Columns far apart are out of the hardware prefetcher's reach.
      const S* next = src + std::min(j + 8, columns - 8) * column_stride;
      for (int64_t i = 0; i < whole_rows; i += 8) {
        if (i % 16 == 0)
          for (int64_t r = 0; r < 8; ++r) __builtin_prefetch(next + r * column_stride + i);
        transpose_8x8(dst + i * dst_stride + j, dst_stride, src + j * column_stride + i,
                      column_stride);
      }
    }
    for (int64_t j = whole_columns; j < columns; ++j)
      for (int64_t i = 0; i < whole_rows; ++i) dst[i * dst_stride + j] = src[j * column_stride + i];
  }
#endif
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = whole_rows; i < rows; ++i)
      dst[i * dst_stride + j] = to_compute(src[j * column_stride + i]);
}

template <class S, class T>
void pack(T* dst, int64_t dst_stride, const void* source, int64_t row_stride, int64_t column_stride,
          int64_t rows, int64_t columns) {
  auto* src = static_cast<const S*>(source);
  if (column_stride == 1) {
    constexpr int64_t kLine = 64 / sizeof(S), kAhead = 8;
    for (int64_t i = 0; i < rows; ++i) {
      T* to = dst + i * dst_stride;
      const S* from = src + i * row_stride;
      // Rows far apart are out of the hardware prefetcher's reach.
      for (int64_t j = 0; j < columns; j += kLine)
        __builtin_prefetch(from + (i + kAhead < rows ? kAhead : 0) * row_stride + j);
      for (int64_t j = 0; j < columns; ++j) to[j] = to_compute(from[j]);
    }
  } else if (row_stride == 1) {
    pack_transposed(dst, dst_stride, src, column_stride, rows, columns);
  } else {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        dst[i * dst_stride + j] = to_compute(src[i * row_stride + j * column_stride]);
  }
}

}  // namespace tsc::TSC_ISA
