#pragma once
// One tile of a matrix product: the accumulators stay in registers for a whole block of k.
#include <cstddef>
#include <utility>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/vector/matmul_lanes.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

// Rows of A, three a pointer: more pointers would not fit the registers, and the compiler, if it
// knew how they hang together, would make one for each row.
template <class T, int kRows>
struct TileRows {
  static constexpr int kPointers = (kRows + 2) / 3;
  const std::byte* row[kPointers];
  int64_t stride;  // bytes

  TSC_LANE TileRows make(const T* a, int64_t row_stride) {
    TileRows rows;
    rows.stride = row_stride * static_cast<int64_t>(sizeof(T));
#pragma GCC unroll 5
    for (int i = 0; i < kPointers; ++i) {
      rows.row[i] = reinterpret_cast<const std::byte*>(a + 3 * i * row_stride);
      asm("" : "+r"(rows.row[i]));
    }
    return rows;
  }
  [[gnu::always_inline]] const T* at(int i, int k) const {
    return reinterpret_cast<const T*>(row[i / 3] + i % 3 * stride) + k;
  }
  [[gnu::always_inline]] void advance(int64_t k) {
#pragma GCC unroll 5
    for (int i = 0; i < kPointers; ++i) row[i] += k * static_cast<int64_t>(sizeof(T));
  }
};

// One step of k. Every loop over kRows or kVectors is unrolled, so that each accumulator becomes a
// register.
template <class T, int kRows, int kVectors, class LoadLast>
[[gnu::always_inline]] inline void tile_step(typename Lanes<T>::V (&sum)[kRows][kVectors], const TileRows<T, kRows>& a,
                                             int k, const T* b, LoadLast load_last) {
  using L = Lanes<T>;
  typename L::V right[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j + 1 < kVectors; ++j) right[j] = L::load(b + j * L::kCount);
  right[kVectors - 1] = load_last(b + (kVectors - 1) * L::kCount);
#pragma GCC unroll 14
  for (int i = 0; i < kRows; ++i) {
    auto left = L::broadcast(a.at(i, k));
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = L::fma(left, right[j], sum[i][j]);
  }
}

template <class T, int kRows, int kVectors>
void tile(const T* a, int64_t a_row_stride, const T* b, int64_t b_row_stride, T* c, int64_t c_row_stride, int64_t k,
          int last_columns, TileSum mode, const char* next, int64_t next_step) {
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
  // A whole packed panel is walked at distances the compiler knows and loaded without a mask, where
  // there are registers for it two steps a turn: moving pointers and Intel's masked loads take the
  // slots of one multiply-add in twelve.
  constexpr int64_t kPanel = kVectors * L::kCount;
  constexpr int kSteps = L::kStepsPerTurn;
  auto rows = TileRows<T, kRows>::make(a, a_row_stride);
  if (last_columns == L::kCount && b_row_stride == kPanel) {
    for (; k >= kSteps; k -= kSteps, rows.advance(kSteps), b += kSteps * kPanel) {
#pragma GCC unroll 2
      for (int step = 0; step < kSteps; ++step, next += next_step) {
        __builtin_prefetch(next, 0, 2);
        tile_step(sum, rows, step, b + step * kPanel, [](const T* p) { return L::load(p); });
      }
    }
  }
  for (; k > 0; --k, rows.advance(1), b += b_row_stride, next += next_step) {
    __builtin_prefetch(next, 0, 2);
    tile_step(sum, rows, 0, b, [mask](const T* p) { return L::load(p, mask); });
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
  }(std::make_integer_sequence<int, kRows>());
}

#endif

}  // namespace tsc::TSC_ISA
