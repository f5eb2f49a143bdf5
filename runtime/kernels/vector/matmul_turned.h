#pragma once
// A few rows times a matrix whose columns are the contiguous ones, as the weight of a linear layer is: read once, from
// where it lies. Lanes are columns of the result, so that each keeps its own chain; small squares of the matrix are
// turned in registers.
#include <cstring>
#include <utility>

#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/vector/matmul_square.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

template <class S, int kRows, int kGroups>
using TurnedSums = typename Square<S>::V[kGroups][kRows];

// `steps` (at most kDepth) steps of k of one group of columns.
template <class S, int kRows>
[[gnu::always_inline]] inline void turned_steps(typename Square<S>::V (&sum)[kRows], const typename Square<S>::T* a,
                                                int64_t a_stride,
                                                const typename Square<S>::V (&right)[Square<S>::kDepth], int steps) {
  using Q = Square<S>;
#pragma GCC unroll 16
  for (int k = 0; k < Q::kDepth; ++k) {
    if (k >= steps) break;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[i] = Q::fma(a + i * a_stride + k, right[k], sum[i]);
  }
}

// The last steps of k: fewer than a square holds, read from a copy.
template <class S, int kRows, int kGroups>
void turned_rest(TurnedSums<S, kRows, kGroups>& sum, const typename Square<S>::T* a, int64_t a_stride,
                 const std::byte* b, int64_t b_stride, int steps) {
  using Q = Square<S>;
  for (int group = 0; group < kGroups; ++group) {
    S copy[Q::kCount][Q::kDepth] = {};
    for (int j = 0; j < Q::kCount; ++j)
      std::memcpy(copy[j], b + (group * Q::kCount + j) * b_stride, static_cast<size_t>(steps) * sizeof(S));
    typename Q::V right[Q::kDepth];
    Q::turn(reinterpret_cast<const std::byte*>(copy), sizeof copy[0], right);
    turned_steps<S, kRows>(sum[group], a, a_stride, right, steps);
  }
}

template <class S, int kRows, int kGroups>
void turned(const typename Square<S>::T* a, int64_t a_stride, const void* from, int64_t column_stride,
            typename Square<S>::T* c, int64_t c_stride, int64_t depth, bool add) {
  using Q = Square<S>;
  TurnedSums<S, kRows, kGroups> sum;
#pragma GCC unroll 8
  for (int group = 0; group < kGroups; ++group)
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[group][i] = Q::zero();
  const auto* b = static_cast<const std::byte*>(from);
  const int64_t b_stride = column_stride * static_cast<int64_t>(sizeof(S));
  int64_t k = 0;
  constexpr int kLineDepth = 2 * Q::kDepth;  // what a cache line holds
  for (; k + kLineDepth <= depth; k += kLineDepth, b += 64) {
#pragma GCC unroll 8
    for (int group = 0; group < kGroups; ++group) {
      const std::byte* square = b + group * Q::kCount * b_stride;
#pragma GCC unroll 8
      for (int j = 0; j < Q::kCount; ++j) __builtin_prefetch(square + j * b_stride + 64, 0, 2);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        typename Q::V right[Q::kDepth];
        Q::turn(square + half * 32, b_stride, right);
        turned_steps<S, kRows>(sum[group], a + k + half * Q::kDepth, a_stride, right, Q::kDepth);
      }
    }
  }
  for (; k < depth; k += Q::kDepth, b += 32)
    turned_rest<S, kRows, kGroups>(sum, a + k, a_stride, b, b_stride,
                                   static_cast<int>(depth - k < Q::kDepth ? depth - k : Q::kDepth));
#pragma GCC unroll 8
  for (int group = 0; group < kGroups; ++group)
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      auto* to = c + i * c_stride + group * Q::kCount;
      Q::store(to, add ? Q::add(Q::load(to), sum[group][i]) : sum[group][i]);
    }
}

template <class S>
void fill_turned(TurnedKernels<typename Square<S>::T>& out) {
  constexpr int kGroups = 4;
  out.columns = Square<S>::kCount;
  out.wide_columns = kGroups * Square<S>::kCount;
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    ((out.wide[kIndex + 1] = turned<S, kIndex + 1, kGroups>), ...);
  }(std::make_integer_sequence<int, kTurnedWideRows>());
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    ((out.narrow[kIndex + 1] = turned<S, kIndex + 1, 1>), ...);
  }(std::make_integer_sequence<int, kTurnedRows>());
}

#endif

}  // namespace tsc::TSC_ISA
