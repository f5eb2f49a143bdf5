#pragma once
// One tile of a matrix product: the accumulators stay in registers for a whole block of k.
#include <utility>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/vector/matmul_lanes.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

// Every loop over kRows or kVectors is unrolled, so that each accumulator becomes a register.
template <class T, int kRows, int kVectors>
void tile(const TileCall<T>& call) {
  using L = Lanes<T>;
  constexpr int kLast = kVectors - 1;
  const auto mask = L::first(call.last_columns);
  auto load = [mask](const T* row, int j) __attribute__((always_inline)) {
    return j < kLast ? L::load(row + j * L::kCount) : L::load(row + j * L::kCount, mask);
  };
  typename L::V sum[kRows][kVectors];
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      sum[i][j] = call.resume ? load(call.resume + i * call.resume_row_stride, j) : L::zero();
  // The tile's own lines arrive while the chains run.
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j)
      __builtin_prefetch(call.out + i * call.out_row_stride + j * L::kCount, 1);
  const T *a = call.a, *b = call.b;
  const int64_t a_row_stride = call.a_row_stride, b_row_stride = call.b_row_stride;
  for (int64_t k = call.k; k > 0; --k, ++a, b += b_row_stride) {
    typename L::V right[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) right[j] = load(b, j);
#pragma GCC unroll 14
    for (int i = 0; i < kRows; ++i) {
      auto left = L::broadcast(a + i * a_row_stride);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = L::fma(left, right[j], sum[i][j]);
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i) {
    T* row = call.out + i * call.out_row_stride;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      auto value = call.add ? L::add(load(row, j), sum[i][j]) : sum[i][j];
      if (j < kLast)
        L::store(row + j * L::kCount, value);
      else
        L::store(row + j * L::kCount, value, mask);
    }
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
