#include "runtime/fft/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "runtime/fft/stages.h"

namespace tsc::fft {
namespace {

// exp(-2 pi i k / n), from an angle of at most an eighth of the circle.
Complex root(int64_t k, int64_t n) {
  // In eighths of the circle: 8 k = octant n + rest.
  const int64_t octant = 8 * k / n, rest = 8 * k - octant * n;
  const bool mirrored = octant % 2 == 1;
  const double angle = 2.0 * M_PI * static_cast<double>(mirrored ? n - rest : rest) / (8.0 * static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  // The angle from the nearest axis; axes are (octant + 1) / 2 quarters on.
  if (mirrored) s = -s;
  switch ((octant + 1) / 2 % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
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

// The numbers of one transform, or of kSide transforms side by side (stages.h).
struct Numbers {
  explicit Numbers(int side, int64_t length) : side(side), data(static_cast<size_t>(2 * side * length)) {}
  int side;
  std::vector<double> data;
};

void conjugate(double* numbers, int side, int64_t n) {
  for (int64_t k = 0; k < n; ++k)
    for (int lane = 0; lane < side; ++lane) numbers[(2 * k + 1) * side + lane] = -numbers[(2 * k + 1) * side + lane];
}

}  // namespace

std::vector<Complex> roots_of_unity(int64_t n, int64_t count) {
  std::vector<Complex> roots(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) roots[k] = root(k, n);
  return roots;
}

struct Plan::Roots {
  const Stages& loops = stages(current_device().isa);
  std::vector<int64_t> factors;
  std::vector<Complex> table;  // exp(-2 pi i k / length)

  explicit Roots(int64_t n) : factors(factors_of(n)), table(roots_of_unity(n, n)) {}
  int64_t length() const { return static_cast<int64_t>(table.size()); }

  // The transforms of the numbers 0, step, 2 * step, ... of `from`, n of each, by the factors from `level` on; their
  // roots are `stride` apart.
  void run(const double* from, int side, double* to, int64_t n, int64_t step, size_t level, bool inverse,
           int64_t stride) const {
    const int64_t number = 2 * side;
    if (n == 1) return static_cast<void>(std::copy_n(from, number, to));
    const int64_t p = factors[level], m = n / p;
    for (int64_t q = 0; q < p; ++q) {
      const double* part = from + q * step * number;
      if (m == 1) std::copy_n(part, number, to + q * number);
      else run(part, side, to + q * m * number, m, step * p, level + 1, inverse, stride * p);
    }
    join(to, side, m, stride, p, inverse);
  }

  void join(double* x, int side, int64_t m, int64_t stride, int64_t p, bool inverse) const {
    (side == 1 ? loops.join : loops.join_side)(x, {table.data(), length(), p, m, stride, inverse});
  }

  // One transform whose first levels make kSide or more of equal length: these run side by side.
  void run_alone(const Complex* in, Complex* out, bool inverse) const {
    const int64_t n = length();
    int64_t parts = 1;
    size_t levels = 0;
    while (levels < factors.size() && parts < kSide) parts *= factors[levels++];
    auto* numbers = reinterpret_cast<double*>(out);
    const int64_t points = n / parts;
    if (parts % kSide != 0 || points < 4)
      return run(reinterpret_cast<const double*>(in), 1, numbers, n, 1, 0, inverse, 1);
    Numbers before(kSide, points), after(kSide, points);
    for (int64_t first = 0; first < parts; first += kSide) {
      const Complex* from[kSide];
      Complex* to[kSide];
      for (int lane = 0; lane < kSide; ++lane) {
        // Part q of a level begins q strides in, and its result stands q lengths in.
        int64_t rest = first + lane, stride = 1, size = n;
        from[lane] = in;
        to[lane] = out;
        for (size_t level = 0; level < levels; ++level) {
          const int64_t q = rest % factors[level];
          rest /= factors[level];
          size /= factors[level];
          from[lane] += q * stride;
          to[lane] += q * size;
          stride *= factors[level];
        }
      }
      loops.take_side(from, points, parts, before.data.data());
      run(before.data.data(), kSide, after.data.data(), points, 1, levels, inverse, parts);
      loops.give_side(after.data.data(), points, to);
    }
    int64_t size = points;
    for (size_t level = levels; level-- > 0;) {
      const int64_t p = factors[level], joined = size * p;
      for (int64_t begin = 0; begin < n; begin += joined) join(numbers + 2 * begin, 1, size, n / joined, p, inverse);
      size = joined;
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
      : length(n), padded(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))), roots(padded),
        chirp(static_cast<size_t>(n)), kernel(static_cast<size_t>(padded)) {
    // k^2 modulo 2 n, step by step: the square itself may not fit.
    int64_t square = 0;
    std::vector<Complex> wave(static_cast<size_t>(padded));
    for (int64_t k = 0; k < n; ++k) {
      chirp[k] = root(square, 2 * n);
      square = (square + 2 * k + 1) % (2 * n);
      wave[k] = std::conj(chirp[k]);
      if (k > 0) wave[padded - k] = wave[k];
    }
    roots.run_alone(wave.data(), kernel.data(), false);
  }

  // The inverse is the conjugate of the transform of the conjugate.
  void run(const Complex* const* in, int side, Complex* const* out, bool inverse) const {
    const Stages& loops = roots.loops;
    const auto multiply = side == 1 ? loops.multiply : loops.multiply_side;
    Numbers a(side, padded), b(side, padded);
    if (side == 1) std::copy_n(in[0], length, reinterpret_cast<Complex*>(a.data.data()));
    else loops.take_side(in, length, 1, a.data.data());
    if (inverse) conjugate(a.data.data(), side, length);
    multiply(a.data.data(), chirp.data(), length, 1.0);
    transform(a, b, false);
    multiply(b.data.data(), kernel.data(), padded, 1.0);
    transform(b, a, true);
    multiply(a.data.data(), chirp.data(), length, 1.0 / static_cast<double>(padded));
    if (inverse) conjugate(a.data.data(), side, length);
    if (side == 1) std::copy_n(reinterpret_cast<const Complex*>(a.data.data()), length, out[0]);
    else loops.give_side(a.data.data(), length, out);
  }

  void transform(const Numbers& from, Numbers& to, bool inverse) const {
    if (from.side > 1) return roots.run(from.data.data(), from.side, to.data.data(), padded, 1, 0, inverse, 1);
    roots.run_alone(reinterpret_cast<const Complex*>(from.data.data()), reinterpret_cast<Complex*>(to.data.data()),
                    inverse);
  }
};

Plan::Plan(int64_t length) : length_(length) {
  const std::vector<int64_t> factors = factors_of(length);
  if (factors.empty() || factors.back() <= kLargestFactor) roots_ = std::make_unique<Roots>(length);
  else convolution_ = std::make_unique<Convolution>(length);
}

Plan::~Plan() = default;

void Plan::transform_side_by_side(const double* in, double* out, bool inverse) const {
  roots_->run(in, kSide, out, length_, 1, 0, inverse, 1);
}

void Plan::transform(const Complex* in, Complex* out, int64_t count, bool inverse) const {
  const int64_t room = roots_ && count >= kSide ? length_ : 0;
  Numbers before(kSide, room), after(kSide, room);
  for (int64_t done = 0; done < count;) {
    const int side = count - done >= kSide ? kSide : 1;
    const Complex* from[kSide];
    Complex* to[kSide];
    for (int lane = 0; lane < side; ++lane) {
      from[lane] = in + (done + lane) * length_;
      to[lane] = out + (done + lane) * length_;
    }
    done += side;
    if (!roots_) {
      convolution_->run(from, side, to, inverse);
    } else if (side == 1) {
      roots_->run_alone(*from, *to, inverse);
    } else {
      roots_->loops.take_side(from, length_, 1, before.data.data());
      roots_->run(before.data.data(), side, after.data.data(), length_, 1, 0, inverse, 1);
      roots_->loops.give_side(after.data.data(), length_, to);
    }
  }
}

}  // namespace tsc::fft
