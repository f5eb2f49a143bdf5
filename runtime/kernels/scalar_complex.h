#pragma once
// The scalar semantics of the primitives on complex numbers; scalar_ops.h includes this file and gives the
// rules. Products are the plain four of the parts, as in PyTorch, not those of C's Annex G; quotients are Smith's
// (R. L. Smith, "Algorithm 116: Complex division", 1962), so that large and small divisors do not overflow.
// Knows Complex<float> and Complex<double> only.

namespace tsc::TSC_ISA::scalar {

// A small integer as a number of any type.
template <class T>
constexpr T constant(int value) {
  if constexpr (kIsComplex<T>) return {static_cast<decltype(T::re)>(value), 0};
  else return static_cast<T>(value);
}

template <class T>
TSC_INLINE Complex<T> neg(Complex<T> x) {
  return {-x.re, -x.im};
}
template <class T>
TSC_INLINE Complex<T> conj(Complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
TSC_INLINE bool logical_not(Complex<T> x) {
  return x.re == 0 && x.im == 0;
}
template <class T>
TSC_INLINE Complex<T> add(Complex<T> x, Complex<T> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class T>
TSC_INLINE Complex<T> sub(Complex<T> x, Complex<T> y) {
  return {x.re - y.re, x.im - y.im};
}
// A product, rounded: GCC 12 makes vectors of a * b - c * d and a * d + b * c into fused multiply-adds, whatever
// -ffp-contract says, and the bits would depend on the instruction set.
template <class T>
TSC_INLINE T rounded_product(T x, T y) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_assoc_barrier(x * y);
#else
  return x * y;
#endif
}
template <class T>
TSC_INLINE Complex<T> mul(Complex<T> x, Complex<T> y) {
  return {rounded_product(x.re, y.re) - rounded_product(x.im, y.im),
          rounded_product(x.re, y.im) + rounded_product(x.im, y.re)};
}
// A zero divisor divides the parts by zero.
template <class T>
TSC_INLINE Complex<T> div(Complex<T> x, Complex<T> y) {
  const T re = y.re < 0 ? -y.re : y.re, im = y.im < 0 ? -y.im : y.im;
  if (re == 0 && im == 0) return {x.re / re, x.im / im};
  if (re >= im) {
    const T ratio = y.im / y.re, scale = T(1) / (y.re + y.im * ratio);
    return {(x.re + rounded_product(x.im, ratio)) * scale, (x.im - rounded_product(x.re, ratio)) * scale};
  }
  const T ratio = y.re / y.im, scale = T(1) / (y.re * ratio + y.im);
  return {(rounded_product(x.re, ratio) + x.im) * scale, (rounded_product(x.im, ratio) - x.re) * scale};
}
template <class T>
TSC_INLINE bool eq(Complex<T> x, Complex<T> y) {
  return x.re == y.re && x.im == y.im;
}
template <class T>
TSC_INLINE bool ne(Complex<T> x, Complex<T> y) {
  return x.re != y.re || x.im != y.im;
}

}  // namespace tsc::TSC_ISA::scalar
