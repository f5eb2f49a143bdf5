#pragma once
// Small squares of a matrix whose columns are the contiguous ones, turned in registers: from the columns' memory to a
// vector of columns for each step of k. Vectors are of 32 bytes in every instruction set.
#include "runtime/kernels/vector/matmul_lanes.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::TSC_ISA {

#ifdef TSC_TILES

// A square of kCount columns, of which each gives 32 bytes: kDepth steps of k, a vector for each.
template <class S>
struct Square;

// Words of four bytes, turned: half[i] holds the halves of columns i and i + 4.
[[gnu::always_inline]] inline void turn_words(const std::byte* src, int64_t stride, __m256 (&out)[8]) {
  __m256 pair[4];
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    __m256 in[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const std::byte* p = src + i * stride + half * 16;
      in[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float*>(p))),
                                   _mm_loadu_ps(reinterpret_cast<const float*>(p + 4 * stride)), 1);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
      pair[i] = _mm256_unpacklo_ps(in[i], in[i + 1]);
      pair[i + 1] = _mm256_unpackhi_ps(in[i], in[i + 1]);
    }
    out[half * 4] = _mm256_shuffle_ps(pair[0], pair[2], 0x44);
    out[half * 4 + 1] = _mm256_shuffle_ps(pair[0], pair[2], 0xEE);
    out[half * 4 + 2] = _mm256_shuffle_ps(pair[1], pair[3], 0x44);
    out[half * 4 + 3] = _mm256_shuffle_ps(pair[1], pair[3], 0xEE);
  }
}

template <>
struct Square<float> {
  using T = float;
  using V = __m256;
  static constexpr int kCount = 8, kDepth = 8;
  TSC_LANE void turn(const std::byte* src, int64_t stride, V (&out)[kDepth]) { turn_words(src, stride, out); }
  TSC_LANE V zero() { return _mm256_setzero_ps(); }
  TSC_LANE V fma(const T* a, V b, V c) { return _mm256_fmadd_ps(_mm256_broadcast_ss(a), b, c); }
  TSC_LANE V load(const T* p) { return _mm256_loadu_ps(p); }
  TSC_LANE void store(T* p, V v) { _mm256_storeu_ps(p, v); }
  TSC_LANE V add(V a, V b) { return _mm256_add_ps(a, b); }
};

// Two neighbours in k are one word: the even one its lower half.
template <>
struct Square<BFloat16> : Square<float> {
  static constexpr int kDepth = 16;
  TSC_LANE void turn(const std::byte* src, int64_t stride, V (&out)[kDepth]) {
    __m256 pairs[8];
    turn_words(src, stride, pairs);
    const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000u));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const __m256i word = _mm256_castps_si256(pairs[i]);
      out[2 * i] = _mm256_castsi256_ps(_mm256_slli_epi32(word, 16));
      out[2 * i + 1] = _mm256_castsi256_ps(_mm256_and_si256(word, upper));
    }
  }
};

template <>
struct Square<double> {
  using T = double;
  using V = __m256d;
  static constexpr int kCount = 4, kDepth = 4;
  TSC_LANE void turn(const std::byte* src, int64_t stride, V (&out)[kDepth]) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      V in[2];
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const std::byte* p = src + i * stride + half * 16;
        in[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(reinterpret_cast<const double*>(p))),
                                     _mm_loadu_pd(reinterpret_cast<const double*>(p + 2 * stride)), 1);
      }
      out[half * 2] = _mm256_unpacklo_pd(in[0], in[1]);
      out[half * 2 + 1] = _mm256_unpackhi_pd(in[0], in[1]);
    }
  }
  TSC_LANE V zero() { return _mm256_setzero_pd(); }
  TSC_LANE V fma(const T* a, V b, V c) { return _mm256_fmadd_pd(_mm256_broadcast_sd(a), b, c); }
  TSC_LANE V load(const T* p) { return _mm256_loadu_pd(p); }
  TSC_LANE void store(T* p, V v) { _mm256_storeu_pd(p, v); }
  TSC_LANE V add(V a, V b) { return _mm256_add_pd(a, b); }
};

#endif

}  // namespace tsc::TSC_ISA
