#pragma once
// One tile of a matrix product: the accumulators stay in registers for a whole block of k.
#include <utility>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/vector/matmul_lanes.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

// Every loop over kRows or kVectors is unrolled, so that each accumulator becomes a register.
template <class T, int kRows, int kVectors>
void tile(const T* a, int64_t a_row_stride, const T* b, int64_t b_row_stride, T* c,
          int64_t c_row_stride, int64_t k, int last_columns, TileSum mode, const char* next,
          int64_t next_step) {
  using L = Lanes<T>;
  const auto mask = L::first(last_columns);
  constexpr int kLast = kVectors - 1;
  typename L::V sum[kRows][kVectors];
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = L::zero();
  if (mode == TileSum::Continue) {
#pragma GCC unroll 14
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kLast; ++j) sum[i][j] = L::load(c + i * c_row_stride + j * L::kCount);
      sum[i][kLast] = L::load(c + i * c_row_stride + kLast * L::kCount, mask);
    }
  }
  const bool add = mode == TileSum::Add;
  for (; k > 0; --k, ++a, b += b_row_stride, next += next_step) {
    __builtin_prefetch(next, 0, 2);
    typename L::V right[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kLast; ++j) right[j] = L::load(b + j * L::kCount);
    right[kLast] = L::load(b + kLast * L::kCount, mask);
#pragma GCC unroll 14
    for (int i = 0; i < kRows; ++i) {
      auto left = L::broadcast(a + i * a_row_stride);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = L::fma(left, right[j], sum[i][j]);
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i) {
    T* row = c + i * c_row_stride;
#pragma GCC unroll 4
    for (int j = 0; j < kLast; ++j) {
      T* p = row + j * L::kCount;
      L::store(p, add ? L::add(L::load(p), sum[i][j]) : sum[i][j]);
    }
    T* p = row + kLast * L::kCount;
    L::store(p, add ? L::add(L::load(p, mask), sum[i][kLast]) : sum[i][kLast], mask);
  }
}

template <class T, int kVectors, int kRows>
void fill_tiles(TileKernels<T>& out) {
  out.lanes = Lanes<T>::kCount;
  out.vectors = out.vectors > kVectors ? out.vectors : kVectors;
  out.rows[kVectors] = kRows;
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    ((out.tile[kVectors][kIndex + 1] = tile<T, kIndex + 1, kVectors>), ...);
  }
  (std::make_integer_sequence<int, kRows>());
}

#endif

}  // namespace tsc::TSC_ISA
