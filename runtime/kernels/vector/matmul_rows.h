#pragma once
// The plain product, one row of C at a time: integers, and floats on processors without fused
// multiply-add (there each is a call of libm's exact one).
#include <algorithm>
#include <type_traits>

#include "runtime/kernels/matmul.h"
#include "runtime/kernels/matmul_kernels.h"
#include "runtime/kernels/vector/matmul_pack.h"

namespace tsc::TSC_ISA {

template <class T>
[[gnu::always_inline]] inline T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(a, b, c);
  else if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, c);
  else if constexpr (kIsComplex<T>)
    return {multiply_add(a.re, b.re, multiply_add(-a.im, b.im, c.re)),
            // Rounded products, so that the imaginary part of a number times its conjugate is 0.
            c.im + (a.re * b.im + a.im * b.re)};
  else return static_cast<T>(a * b + c);
}
template <class T>
[[gnu::always_inline]] inline T sum_of(T a, T b) {
  if constexpr (kIsComplex<T>) return {a.re + b.re, a.im + b.im};
  else return a + b;
}

template <class T>
[[gnu::always_inline]] inline Complex<T> to_compute(Complex<T> x) {
  return x;
}
[[gnu::always_inline]] inline uint32_t to_compute(uint8_t x) { return x; }
[[gnu::always_inline]] inline uint32_t to_compute(int8_t x) { return static_cast<uint32_t>(x); }
[[gnu::always_inline]] inline uint32_t to_compute(int16_t x) { return static_cast<uint32_t>(x); }
[[gnu::always_inline]] inline uint32_t to_compute(int32_t x) { return static_cast<uint32_t>(x); }
[[gnu::always_inline]] inline uint64_t to_compute(int64_t x) { return static_cast<uint64_t>(x); }

// Columns are taken in strips whose sums fit registers or the nearest cache.
template <class S>
void product_row(void* c, const void* a, int64_t a_column_stride, const void* b, int64_t b_row_stride,
                 int64_t b_column_stride, int64_t k, int64_t n) {
  using T = decltype(to_compute(S()));
  constexpr int64_t kStrip = 64;
  auto* left = static_cast<const S*>(a);
  for (int64_t first = 0; first < n; first += kStrip) {
    const int64_t width = std::min(kStrip, n - first);
    auto* right = static_cast<const S*>(b) + first * b_column_stride;
    T total[kStrip] = {}, block[kStrip];
    for (int64_t start = 0; start < k; start += kMatmulBlock) {
      std::fill(block, block + kStrip, T{});
      for (int64_t i = start; i < std::min(k, start + kMatmulBlock); ++i) {
        const T x = to_compute(left[i * a_column_stride]);
        const S* row = right + i * b_row_stride;
        for (int64_t j = 0; j < width; ++j) block[j] = multiply_add(x, to_compute(row[j * b_column_stride]), block[j]);
      }
      for (int64_t j = 0; j < width; ++j) total[j] = start == 0 ? block[j] : sum_of(total[j], block[j]);
    }
    auto* out = static_cast<S*>(c) + first;
    for (int64_t j = 0; j < width; ++j) out[j] = narrow<S>(total[j]);
  }
}

// The columns of a strip as planes; those that are not there are zeros.
template <class T>
void split_columns(void* planes, const void* b, int64_t row_stride, int64_t column_stride, int64_t k, int64_t width) {
  auto* to = static_cast<T*>(planes);
  auto* from = static_cast<const Complex<T>*>(b);
  for (int64_t i = 0; i < k; ++i, to += 2 * kPlaneColumns, from += row_stride) {
    for (int64_t j = 0; j < width; ++j) {
      to[j] = from[j * column_stride].re;
      to[kPlaneColumns + j] = from[j * column_stride].im;
    }
    std::fill(to + width, to + kPlaneColumns, T(0));
    std::fill(to + kPlaneColumns + width, to + 2 * kPlaneColumns, T(0));
  }
}

// One row of C in a strip of columns: the chains of multiply_add, part by part.
template <class T>
void complex_product_row(void* c, const void* a, int64_t a_column_stride, const void* planes, int64_t k,
                         int64_t width) {
  auto* left = static_cast<const Complex<T>*>(a);
  auto* right = static_cast<const T*>(planes);
  alignas(64) T total[2 * kPlaneColumns] = {}, block[2 * kPlaneColumns];
  for (int64_t start = 0; start < k; start += kMatmulBlock) {
    std::fill(block, block + 2 * kPlaneColumns, T(0));
    for (int64_t i = start; i < std::min(k, start + kMatmulBlock); ++i) {
      const T re = left[i * a_column_stride].re, im = left[i * a_column_stride].im;
      const T *res = right + i * 2 * kPlaneColumns, *ims = res + kPlaneColumns;
      for (int64_t j = 0; j < kPlaneColumns; ++j) {
        block[j] = multiply_add(re, res[j], multiply_add(-im, ims[j], block[j]));
        block[kPlaneColumns + j] += re * ims[j] + im * res[j];
      }
    }
    for (int64_t j = 0; j < 2 * kPlaneColumns; ++j) total[j] = start == 0 ? block[j] : total[j] + block[j];
  }
  auto* out = static_cast<Complex<T>*>(c);
  for (int64_t j = 0; j < width; ++j) out[j] = {total[j], total[kPlaneColumns + j]};
}

}  // namespace tsc::TSC_ISA
