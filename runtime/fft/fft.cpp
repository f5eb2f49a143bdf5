#include "runtime/fft/fft.h"

#include <bit>
#include <cmath>
#include <vector>

namespace tsc::fft {
namespace {

// A larger prime factor costs more than the convolution.
constexpr int64_t kLargestFactor = 31;

// exp(-2 pi i k / n), from an angle of at most an eighth of the circle.
Complex root(int64_t k, int64_t n) {
  // In eighths of the circle: 8 k = octant n + rest.
  const int64_t octant = 8 * k / n, rest = 8 * k - octant * n;
  const bool mirrored = octant % 2 == 1;
  const double angle =
      2.0 * M_PI * static_cast<double>(mirrored ? n - rest : rest) / (8.0 * static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  // The angle from the nearest axis; axes are (octant + 1) / 2 quarters on.
  if (mirrored) s = -s;
  switch ((octant + 1) / 2 % 4) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

Complex turned(Complex x, bool inverse) {  // x * -i, or x * i
  return inverse ? Complex{-x.imag(), x.real()} : Complex{x.imag(), -x.real()};
}

// Products without the checks for infinities that std::complex makes.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

struct Plan::Roots {
  std::vector<int64_t> factors;
  std::vector<Complex> table;  // exp(-2 pi i k / length)

  explicit Roots(int64_t n) : factors(factors_of(n)), table(static_cast<size_t>(n)) {
    for (int64_t k = 0; k < n; ++k) table[k] = root(k, n);
  }
  int64_t length() const { return static_cast<int64_t>(table.size()); }
  Complex at(int64_t k, bool inverse) const { return inverse ? std::conj(table[k]) : table[k]; }

  // The transform of in[0], in[stride], ...: `length` elements, by the factors from `level` on.
  void run(const Complex* in, Complex* out, int64_t n, int64_t stride, size_t level,
           bool inverse) const {
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    const int64_t p = factors[level], m = n / p;
    for (int64_t q = 0; q < p; ++q)
      run(in + q * stride, out + q * m, m, stride * p, level + 1, inverse);
    if (p == 2)
      join2(out, m, stride, inverse);
    else if (p == 4)
      join4(out, m, stride, inverse);
    else
      join(out, m, stride, p, inverse);
  }

  void join2(Complex* out, int64_t m, int64_t stride, bool inverse) const {
    for (int64_t j = 0; j < m; ++j) {
      const Complex a = out[j], b = times(out[m + j], at(j * stride, inverse));
      out[j] = a + b;
      out[m + j] = a - b;
    }
  }

  void join4(Complex* out, int64_t m, int64_t stride, bool inverse) const {
    for (int64_t j = 0; j < m; ++j) {
      const Complex a = out[j], b = times(out[m + j], at(j * stride, inverse));
      const Complex c = times(out[2 * m + j], at(2 * j * stride, inverse));
      const Complex d = times(out[3 * m + j], at(3 * j * stride, inverse));
      const Complex even = a + c, odd = a - c, sum = b + d, turn = turned(b - d, inverse);
      out[j] = even + sum;
      out[m + j] = odd + turn;
      out[2 * m + j] = even - sum;
      out[3 * m + j] = odd - turn;
    }
  }

  void join(Complex* out, int64_t m, int64_t stride, int64_t p, bool inverse) const {
    Complex parts[kLargestFactor];
    const int64_t n = length();
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t q = 0; q < p; ++q)
        parts[q] = q == 0 ? out[j] : times(out[q * m + j], at(q * j * stride, inverse));
      for (int64_t k = 0; k < p; ++k) {
        Complex total = parts[0];
        for (int64_t q = 1; q < p; ++q) total += times(parts[q], at(q * k % p * (n / p), inverse));
        out[k * m + j] = total;
      }
    }
  }
};

// j k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with a chirp.
struct Plan::Convolution {
  int64_t length, padded;
  Roots roots;
  std::vector<Complex> chirp;   // exp(-pi i k^2 / length)
  std::vector<Complex> kernel;  // the transform of the conjugate chirp, over the padded length

  explicit Convolution(int64_t n)
      : length(n),
        padded(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))),
        roots(padded),
        chirp(static_cast<size_t>(n)),
        kernel(static_cast<size_t>(padded)) {
    // k^2 modulo 2 n, step by step: the square itself may not fit.
    int64_t square = 0;
    std::vector<Complex> wave(static_cast<size_t>(padded));
    for (int64_t k = 0; k < n; ++k) {
      chirp[k] = root(square, 2 * n);
      square = (square + 2 * k + 1) % (2 * n);
      wave[k] = std::conj(chirp[k]);
      if (k > 0) wave[padded - k] = wave[k];
    }
    roots.run(wave.data(), kernel.data(), padded, 1, 0, false);
  }

  void run(const Complex* in, Complex* out, bool inverse) const {
    std::vector<Complex> a(static_cast<size_t>(padded)), b(static_cast<size_t>(padded));
    // The inverse is the conjugate of the transform of the conjugate.
    for (int64_t k = 0; k < length; ++k) a[k] = times(inverse ? std::conj(in[k]) : in[k], chirp[k]);
    roots.run(a.data(), b.data(), padded, 1, 0, false);
    for (int64_t k = 0; k < padded; ++k) b[k] = times(b[k], kernel[k]);
    roots.run(b.data(), a.data(), padded, 1, 0, true);
    const double scale = 1.0 / static_cast<double>(padded);
    for (int64_t k = 0; k < length; ++k) {
      const Complex found = times(a[k], chirp[k]) * scale;
      out[k] = inverse ? std::conj(found) : found;
    }
  }
};

Plan::Plan(int64_t length) : length_(length) {
  const std::vector<int64_t> factors = factors_of(length);
  if (factors.empty() || factors.back() <= kLargestFactor)
    roots_ = std::make_unique<Roots>(length);
  else
    convolution_ = std::make_unique<Convolution>(length);
}

Plan::~Plan() = default;

void Plan::transform(const Complex* in, Complex* out, bool inverse) const {
  if (roots_)
    roots_->run(in, out, length_, 1, 0, inverse);
  else
    convolution_->run(in, out, inverse);
}

}  // namespace tsc::fft
