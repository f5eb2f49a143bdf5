#include "runtime/random/draws.h"

#include <math.h>  // lgamma_r, which std does not have

#include <cmath>
#include <limits>

#include "runtime/device/device.h"
#include "runtime/random/philox.h"

namespace tsc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kGrain = 256;

double log_gamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

// The uniform numbers of one element, in [0, 1).
class Stream {
 public:
  Stream(RandomKey key, int64_t element) : key_(key), element_(static_cast<uint64_t>(element)) {}

  double uniform() {
    if (at_ == 4) refill();
    const double number = philox_uniform(block_[at_], block_[at_ + 1]);
    at_ += 2;
    return number;
  }
  // Box-Muller, one of the two.
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * v);
  }

 private:
  void refill() {
    block_ = philox_block(key_.seed, key_.offset, (attempt_++ << 40) ^ element_);
    at_ = 0;
  }
  RandomKey key_;
  uint64_t element_, attempt_ = 0;
  PhiloxBlock block_{};
  int at_ = 4;
};

// Marsaglia and Tsang 2000, for a shape of at least 1.
double large_gamma(Stream& stream, double shape) {
  const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = stream.normal(), root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root, u = 1.0 - stream.uniform();
    if (u < 1.0 - 0.0331 * x * x * x * x) return d * v;
    if (std::log(u) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
  }
}

double one_gamma(Stream& stream, double shape) {
  if (!(shape >= 0.0)) return kNan;
  if (shape == 0.0 || std::isinf(shape)) return shape;
  if (shape >= 1.0) return large_gamma(stream, shape);
  const double power = std::pow(1.0 - stream.uniform(), 1.0 / shape);
  return power * large_gamma(stream, shape + 1.0);
}

// Hoermann 1993, transformed rejection (PTRS), for rates of at least 10.
double large_poisson(Stream& stream, double rate) {
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4));
  const double within = 0.9277 - 3.6224 / (b - 2.0), log_rate = std::log(rate);
  for (;;) {
    const double u = stream.uniform() - 0.5, v = 1.0 - stream.uniform(), edge = 0.5 - std::abs(u);
    const double k = std::floor((2.0 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= within) return k;
    if (k < 0.0 || (edge < 0.013 && v > edge)) continue;
    if (std::log(v) + log_inverse_alpha - std::log(a / (edge * edge) + b) <= k * log_rate - rate - log_gamma(k + 1.0))
      return k;
  }
}

double one_poisson(Stream& stream, double rate) {
  if (!(rate >= 0.0)) return kNan;
  if (rate == 0.0 || std::isinf(rate)) return rate;
  if (rate >= 10.0) return large_poisson(stream, rate);
  const double floor = std::exp(-rate);
  double product = stream.uniform(), k = 0.0;
  for (; product > floor; ++k) product *= stream.uniform();
  return k;
}

// Hoermann 1993, transformed rejection (BTRS), for count * p of at least 10 and p of at most 1/2.
double large_binomial(Stream& stream, double count, double p) {
  const double q = 1.0 - p, deviation = std::sqrt(count * p * q);
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = count * p + 0.5, within = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1.0) * p);
  const double at_mode = log_gamma(mode + 1.0) + log_gamma(count - mode + 1.0);
  for (;;) {
    const double u = stream.uniform() - 0.5, v = 1.0 - stream.uniform(), edge = 0.5 - std::abs(u);
    const double k = std::floor((2.0 * a / edge + b) * u + center);
    if (edge >= 0.07 && v <= within) return k;
    if (k < 0.0 || k > count) continue;
    if (std::log(v * alpha / (a / (edge * edge) + b)) <=
        at_mode - log_gamma(k + 1.0) - log_gamma(count - k + 1.0) + (k - mode) * std::log(p / q))
      return k;
  }
}

// Sums of geometric waiting times (Devroye 1986, X.4), for few expected successes.
double small_binomial(Stream& stream, double count, double p) {
  const double log_miss = std::log1p(-p);
  double trials = 0.0, k = 0.0;
  for (;; ++k) {
    trials += std::ceil(std::log(1.0 - stream.uniform()) / log_miss);
    // A uniform number of 0 makes a wait of 0 trials: it is one.
    if (trials < k + 1.0) trials = k + 1.0;
    if (trials > count) return k;
  }
}

double one_binomial(Stream& stream, double count, double p) {
  if (!(count >= 0.0) || std::isinf(count) || !(p >= 0.0 && p <= 1.0)) return kNan;
  count = std::floor(count);
  if (count == 0.0 || p == 0.0) return 0.0;
  if (p == 1.0) return count;
  if (p > 0.5) return count - one_binomial(stream, count, 1.0 - p);
  return count * p >= 10.0 ? large_binomial(stream, count, p) : small_binomial(stream, count, p);
}

template <class Draw>
void draw_each(std::span<double> out, RandomKey key, Draw draw) {
  parallel_for(static_cast<int64_t>(out.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Stream stream(key, i);
      out[i] = draw(stream, i);
    }
  });
}

}  // namespace

void draw_standard_gamma(std::span<double> out, std::span<const double> shape, RandomKey key) {
  draw_each(out, key, [&](Stream& stream, int64_t i) { return one_gamma(stream, shape[i]); });
}

void draw_poisson(std::span<double> out, std::span<const double> rate, RandomKey key) {
  draw_each(out, key, [&](Stream& stream, int64_t i) { return one_poisson(stream, rate[i]); });
}

void draw_binomial(std::span<double> out, std::span<const double> count, std::span<const double> probability,
                   RandomKey key) {
  draw_each(out, key, [&](Stream& stream, int64_t i) { return one_binomial(stream, count[i], probability[i]); });
}

}  // namespace tsc
