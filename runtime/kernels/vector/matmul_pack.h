#pragma once
// Copies a strided matrix into rows, converting, with a vector transposition where its columns are
// the contiguous ones.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/vector/matmul_square.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::TSC_ISA {

[[gnu::always_inline]] inline float to_compute(float x) { return x; }
[[gnu::always_inline]] inline double to_compute(double x) { return x; }
[[gnu::always_inline]] inline float to_compute(BFloat16 x) { return bf16_to_float(x); }
[[gnu::always_inline]] inline float to_compute(Float16 x) { return f16_to_float(x); }

#ifdef TSC_TILES
// The whole squares of a matrix; what is left of its rows and columns is not written.
template <class S, class T>
void pack_squares(T* dst, int64_t dst_stride, const S* src, int64_t column_stride, int64_t rows, int64_t columns) {
  using Q = Square<S>;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(S));
  for (int64_t j = 0; j + Q::kCount <= columns; j += Q::kCount) {
    // Columns far apart are out of the hardware prefetcher's reach.
    const S* next = src + std::min<int64_t>(j + Q::kCount, columns - Q::kCount) * column_stride;
    for (int64_t i = 0; i + Q::kDepth <= rows; i += Q::kDepth) {
      if (i % kLine == 0)
        for (int64_t r = 0; r < Q::kCount; ++r) __builtin_prefetch(next + r * column_stride + i);
      typename Q::V turned[Q::kDepth];
      Q::turn(reinterpret_cast<const std::byte*>(src + j * column_stride + i),
              column_stride * static_cast<int64_t>(sizeof(S)), turned);
#pragma GCC unroll 16
      for (int k = 0; k < Q::kDepth; ++k) Q::store(dst + (i + k) * dst_stride + j, turned[k]);
    }
  }
}
#endif

template <class S, class T>
void pack_transposed(T* dst, int64_t dst_stride, const S* src, int64_t column_stride, int64_t rows, int64_t columns) {
  int64_t whole_rows = 0;
#ifdef TSC_TILES
  if constexpr (!std::is_same_v<S, Float16>) {
    using Q = Square<S>;
    whole_rows = rows / Q::kDepth * Q::kDepth;
    pack_squares(dst, dst_stride, src, column_stride, rows, columns);
    for (int64_t j = columns / Q::kCount * Q::kCount; j < columns; ++j)
      for (int64_t i = 0; i < whole_rows; ++i) dst[i * dst_stride + j] = to_compute(src[j * column_stride + i]);
  }
#endif
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = whole_rows; i < rows; ++i) dst[i * dst_stride + j] = to_compute(src[j * column_stride + i]);
}

template <class S, class T>
void pack(T* dst, int64_t dst_stride, const void* source, int64_t row_stride, int64_t column_stride, int64_t rows,
          int64_t columns) {
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
