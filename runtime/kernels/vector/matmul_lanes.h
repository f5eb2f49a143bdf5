#pragma once
// Vectors of the instruction set this file is compiled for, as matmul's tiles need them: loads and
// stores with a partial last vector, broadcast, fused multiply-add.
#include <cstdint>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#define TSC_TILES 1
#endif

namespace tsc::TSC_ISA {

#define TSC_LANE [[gnu::always_inline]] static inline

template <class T>
struct Lanes;

#if defined(__AVX512F__)
template <>
struct Lanes<float> {
  using V = __m512;
  using Mask = __mmask16;
  static constexpr int kCount = 16;
  static constexpr int kStepsPerTurn = 2;
  TSC_LANE Mask first(int n) { return static_cast<Mask>((1u << n) - 1u); }
  TSC_LANE Mask from_bits(uint64_t bits) { return static_cast<Mask>(bits); }
  TSC_LANE V zero() { return _mm512_setzero_ps(); }
  TSC_LANE V load(const float* p) { return _mm512_loadu_ps(p); }
  TSC_LANE V load(const float* p, Mask mask) { return _mm512_maskz_loadu_ps(mask, p); }
  TSC_LANE V broadcast(const float* p) { return _mm512_set1_ps(*p); }
  TSC_LANE V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  TSC_LANE V add(V a, V b) { return _mm512_add_ps(a, b); }
  TSC_LANE void store(float* p, V v) { _mm512_storeu_ps(p, v); }
  TSC_LANE void store(float* p, V v, Mask mask) { _mm512_mask_storeu_ps(p, mask, v); }
};
template <>
struct Lanes<double> {
  using V = __m512d;
  using Mask = __mmask8;
  static constexpr int kCount = 8;
  static constexpr int kStepsPerTurn = 2;
  TSC_LANE Mask first(int n) { return static_cast<Mask>((1u << n) - 1u); }
  TSC_LANE Mask from_bits(uint64_t bits) { return static_cast<Mask>(bits); }
  TSC_LANE V zero() { return _mm512_setzero_pd(); }
  TSC_LANE V load(const double* p) { return _mm512_loadu_pd(p); }
  TSC_LANE V load(const double* p, Mask mask) { return _mm512_maskz_loadu_pd(mask, p); }
  TSC_LANE V broadcast(const double* p) { return _mm512_set1_pd(*p); }
  TSC_LANE V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  TSC_LANE V add(V a, V b) { return _mm512_add_pd(a, b); }
  TSC_LANE void store(double* p, V v) { _mm512_storeu_pd(p, v); }
  TSC_LANE void store(double* p, V v, Mask mask) { _mm512_mask_storeu_pd(p, mask, v); }
};
#elif defined(TSC_TILES)
template <>
struct Lanes<float> {
  using V = __m256;
  using Mask = __m256i;
  static constexpr int kCount = 8;
  static constexpr int kStepsPerTurn = 1;
  TSC_LANE Mask first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  TSC_LANE Mask from_bits(uint64_t bits) {
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), lane), lane);
  }
  TSC_LANE V zero() { return _mm256_setzero_ps(); }
  TSC_LANE V load(const float* p) { return _mm256_loadu_ps(p); }
  TSC_LANE V load(const float* p, Mask mask) { return _mm256_maskload_ps(p, mask); }
  TSC_LANE V broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  TSC_LANE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  TSC_LANE V add(V a, V b) { return _mm256_add_ps(a, b); }
  TSC_LANE void store(float* p, V v) { _mm256_storeu_ps(p, v); }
  TSC_LANE void store(float* p, V v, Mask mask) { _mm256_maskstore_ps(p, mask, v); }
};
template <>
struct Lanes<double> {
  using V = __m256d;
  using Mask = __m256i;
  static constexpr int kCount = 4;
  static constexpr int kStepsPerTurn = 1;
  TSC_LANE Mask first(int n) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)); }
  TSC_LANE Mask from_bits(uint64_t bits) {
    const __m256i lane = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(static_cast<int64_t>(bits)), lane), lane);
  }
  TSC_LANE V zero() { return _mm256_setzero_pd(); }
  TSC_LANE V load(const double* p) { return _mm256_loadu_pd(p); }
  TSC_LANE V load(const double* p, Mask mask) { return _mm256_maskload_pd(p, mask); }
  TSC_LANE V broadcast(const double* p) { return _mm256_broadcast_sd(p); }
  TSC_LANE V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  TSC_LANE V add(V a, V b) { return _mm256_add_pd(a, b); }
  TSC_LANE void store(double* p, V v) { _mm256_storeu_pd(p, v); }
  TSC_LANE void store(double* p, V v, Mask mask) { _mm256_maskstore_pd(p, mask, v); }
};
#endif

}  // namespace tsc::TSC_ISA
