// The loops of runtime/fft/stages.h. Every function is the text for one transform; the loop over those side by side is
// its innermost one.
#include "runtime/fft/stages.h"

#include "runtime/kernels/scalar_ops.h"

namespace tsc::fft::TSC_ISA {
namespace {

using Number = tsc::Complex<double>;

TSC_INLINE Number operator+(Number a, Number b) { return tsc::TSC_ISA::scalar::add(a, b); }
TSC_INLINE Number operator-(Number a, Number b) { return tsc::TSC_ISA::scalar::sub(a, b); }
TSC_INLINE Number operator*(Number a, Number b) { return tsc::TSC_ISA::scalar::mul(a, b); }
// x * -i for sign 1, x * i for -1.
TSC_INLINE Number turned(Number x, double sign) { return {sign * x.im, -sign * x.re}; }

template <int kLanes>
TSC_INLINE Number at(const double* x, int64_t k, int lane) {
  return {x[2 * k * kLanes + lane], x[(2 * k + 1) * kLanes + lane]};
}
template <int kLanes>
TSC_INLINE void put(double* x, int64_t k, int lane, Number value) {
  x[2 * k * kLanes + lane] = value.re;
  x[(2 * k + 1) * kLanes + lane] = value.im;
}

TSC_INLINE Number root(const Stage& stage, int64_t k) {
  const Complex found = stage.roots[k];
  return {found.real(), stage.inverse ? -found.imag() : found.imag()};
}

template <int kLanes>
void join2(double* x, const Stage& stage) {
  const int64_t m = stage.inner;
  for (int64_t j = 0; j < m; ++j) {
    const Number r = root(stage, j * stage.stride);
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const Number a = at<kLanes>(x, j, l), b = at<kLanes>(x, m + j, l) * r;
      put<kLanes>(x, j, l, a + b);
      put<kLanes>(x, m + j, l, a - b);
    }
  }
}

template <int kLanes>
void join4(double* x, const Stage& stage) {
  const int64_t m = stage.inner;
  const double sign = stage.inverse ? -1.0 : 1.0;
  for (int64_t j = 0; j < m; ++j) {
    const Number r1 = root(stage, j * stage.stride), r2 = root(stage, 2 * j * stage.stride);
    const Number r3 = root(stage, 3 * j * stage.stride);
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const Number a = at<kLanes>(x, j, l), b = at<kLanes>(x, m + j, l) * r1;
      const Number c = at<kLanes>(x, 2 * m + j, l) * r2, d = at<kLanes>(x, 3 * m + j, l) * r3;
      const Number even = a + c, odd = a - c, sum = b + d, turn = turned(b - d, sign);
      put<kLanes>(x, j, l, even + sum);
      put<kLanes>(x, m + j, l, odd + turn);
      put<kLanes>(x, 2 * m + j, l, even - sum);
      put<kLanes>(x, 3 * m + j, l, odd - turn);
    }
  }
}

template <int kLanes>
void join_any(double* x, const Stage& stage) {
  const int64_t m = stage.inner, p = stage.factor, apart = stage.length / p;
  double parts[2 * kLargestFactor * kLanes], total[2 * kLanes];
  for (int64_t j = 0; j < m; ++j) {
    for (int64_t q = 0; q < p; ++q) {
      const Number r = root(stage, q * j * stage.stride);
      for (int l = 0; l < kLanes; ++l) {
        const Number value = at<kLanes>(x, q * m + j, l);
        put<kLanes>(parts, q, l, q == 0 ? value : value * r);
      }
    }
    for (int64_t k = 0; k < p; ++k) {
      for (int l = 0; l < kLanes; ++l) put<kLanes>(total, 0, l, at<kLanes>(parts, 0, l));
      for (int64_t q = 1, turn = k; q < p; ++q, turn += turn < p - k ? k : k - p) {  // q * k modulo p
        const Number r = root(stage, turn * apart);
        for (int l = 0; l < kLanes; ++l)
          put<kLanes>(total, 0, l, at<kLanes>(total, 0, l) + at<kLanes>(parts, q, l) * r);
      }
      for (int l = 0; l < kLanes; ++l) put<kLanes>(x, k * m + j, l, at<kLanes>(total, 0, l));
    }
  }
}

template <int kLanes>
void join(double* x, const Stage& stage) {
  if (stage.factor == 2) return join2<kLanes>(x, stage);
  if (stage.factor == 4) return join4<kLanes>(x, stage);
  return join_any<kLanes>(x, stage);
}

template <int kLanes>
void multiply(double* x, const Complex* factors, int64_t n, double scale) {
  for (int64_t k = 0; k < n; ++k) {
    const Number factor = {factors[k].real(), factors[k].imag()};
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const Number found = at<kLanes>(x, k, l) * factor;
      put<kLanes>(x, k, l, {found.re * scale, found.im * scale});
    }
  }
}

void take_side(const Complex* const* in, int64_t n, int64_t stride, double* x) {
  const double* from[kSide];
  for (int l = 0; l < kSide; ++l) from[l] = reinterpret_cast<const double*>(in[l]);
  for (int64_t k = 0; k < n; ++k, x += 2 * kSide)
#pragma GCC unroll 8
    for (int l = 0; l < kSide; ++l) {
      x[l] = from[l][2 * k * stride];
      x[kSide + l] = from[l][2 * k * stride + 1];
    }
}

void give_side(const double* x, int64_t n, Complex* const* out) {
  double* to[kSide];
  for (int l = 0; l < kSide; ++l) to[l] = reinterpret_cast<double*>(out[l]);
  for (int64_t k = 0; k < n; ++k, x += 2 * kSide)
#pragma GCC unroll 8
    for (int l = 0; l < kSide; ++l) {
      to[l][2 * k] = x[l];
      to[l][2 * k + 1] = x[kSide + l];
    }
}

template <int kLanes>
void unpack(double* out, const double* x, const Complex* roots, int64_t n, bool inverse) {
  const double sign = inverse ? -1.0 : 1.0;
  for (int64_t k = 0; 2 * k <= n; ++k) {
    const Number r = {roots[k].real(), roots[k].imag()};
    const int64_t mirrored = k == 0 ? 0 : n - k;
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const Number a = at<kLanes>(x, k, l), b = at<kLanes>(x, mirrored, l);
      const Number even = {(a.re + b.re) * 0.5, (a.im - b.im) * 0.5}, odd = {(a.im + b.im) * 0.5, (b.re - a.re) * 0.5};
      const Number term = odd * r, low = even + term, high = even - term;
      put<kLanes>(out, k, l, {low.re, sign * low.im});
      put<kLanes>(out, n - k, l,
                  {high.re, (k == 0 ? sign : -sign) * high.im});  // of the real last one the zero keeps its sign
    }
  }
}

template <class T, int kParts>
void take_lines(const void* const* in, int64_t n, int64_t stride, double* x) {
  const T* from[kSide];
  for (int l = 0; l < kSide; ++l) from[l] = static_cast<const T*>(in[l]);
  for (int64_t k = 0; k < n; ++k, x += 2 * kSide)
#pragma GCC unroll 8
    for (int l = 0; l < kSide; ++l) {
      x[l] = from[l][kParts * k * stride];
      x[kSide + l] = kParts == 2 ? static_cast<double>(from[l][kParts * k * stride + kParts - 1]) : 0;
    }
}

template <class T, int kParts>
void give_lines(const double* x, int64_t n, int64_t stride, double factor, void* const* out) {
  T* to[kSide];
  for (int l = 0; l < kSide; ++l) to[l] = static_cast<T*>(out[l]);
  for (int64_t k = 0; k < n; ++k, x += 2 * kSide)
#pragma GCC unroll 8
    for (int l = 0; l < kSide; ++l) {
      to[l][kParts * k * stride] = static_cast<T>(x[l] * factor);
      if (kParts == 2) to[l][kParts * k * stride + kParts - 1] = static_cast<T>(x[kSide + l] * factor);
    }
}

}  // namespace

Stages make_stages() {
  return {unpack<1>,
          unpack<kSide>,
          {{take_lines<float, 1>, take_lines<float, 2>}, {take_lines<double, 1>, take_lines<double, 2>}},
          {{give_lines<float, 1>, give_lines<float, 2>}, {give_lines<double, 1>, give_lines<double, 2>}},
          join<1>,
          join<kSide>,
          multiply<1>,
          multiply<kSide>,
          take_side,
          give_side};
}

}  // namespace tsc::fft::TSC_ISA
