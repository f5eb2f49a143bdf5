// Derivatives of gamma and Dirichlet draws. The distribution functions are a power series and
// continued fractions (Abramowitz and Stegun 6.5.29, 6.5.31, 26.5.8), computed on dual numbers: a
// value with its derivative.
#include <cmath>
#include <limits>

#include "runtime/random/draws.h"

namespace tsc {
namespace {

struct Dual {
  double value, slope = 0.0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Dual operator/(Dual a, Dual b) {
  const double quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}
Dual scale(double factor, Dual a) { return {factor * a.value, factor * a.slope}; }

constexpr int kMostTerms = 10'000'000;
constexpr double kEnough = 1e-15;

// b0 + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method as Thompson and Barnett 1986 changed it;
// term(n) gives {an, bn}.
template <class Term>
Dual continued_fraction(Dual b0, Term term) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](Dual x) { return std::abs(x.value) < kTiny ? Dual{kTiny} : x; };
  Dual f = away_from_zero(b0), c = f, d{0.0};
  for (int n = 1; n < kMostTerms; ++n) {
    const auto [a, b] = term(n);
    d = Dual{1.0} / away_from_zero(b + a * d);
    c = away_from_zero(b + a / c);
    const Dual factor = c * d;
    f = f * factor;
    if (std::abs(factor.value - 1.0) < kEnough && std::abs(factor.slope) < kEnough * (1.0 + std::abs(f.slope))) break;
  }
  return f;
}

struct Terms {
  Dual a, b;
};

// The sum over n of x^n / (a (a + 1) ... (a + n)).
Dual gamma_series(Dual a, double x) {
  Dual term = Dual{1.0} / a, sum = term;
  for (int n = 1; n < kMostTerms; ++n) {
    term = scale(x, term) / (a + Dual{static_cast<double>(n)});
    sum = sum + term;
    if (term.value < kEnough * sum.value && std::abs(term.slope) <= kEnough * std::abs(sum.slope)) break;
  }
  return sum;
}

// Q(a, x) Gamma(a) / (x^a e^-x).
Dual gamma_fraction(Dual a, double x) {
  const Dual b0 = Dual{x + 1.0} - a;
  return Dual{1.0} / continued_fraction(b0, [&](int n) {
           const double k = n;
           return Terms{scale(k, a - Dual{k}), b0 + Dual{2.0 * k}};
         });
}

// I_x(a, b) a B(a, b) / (x^a (1 - x)^b).
Dual beta_fraction(Dual a, Dual b, double x) {
  return Dual{1.0} / continued_fraction(Dual{1.0}, [&](int n) {
           const double m = n / 2;
           const Dual am = a + Dual{m};
           const Dual numerator = n % 2 ? scale(-1.0, am * (a + b + Dual{m})) / ((am + Dual{m}) * (am + Dual{m + 1.0}))
                                        : scale(m, b - Dual{m}) / ((am + Dual{m - 1.0}) * (am + Dual{m}));
           return Terms{scale(x, numerator), Dual{1.0}};
         });
}

}  // namespace

double digamma(double x) {
  if (!(x > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  double shift = 0.0;
  for (; x < 10.0; x += 1.0) shift -= 1.0 / x;
  const double s = 1.0 / (x * x);
  const double series =
      s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760))))));
  return shift + std::log(x) - 0.5 / x - series;
}

double standard_gamma_derivative(double shape, double x) {
  if (!(shape > 0.0) || !(x >= 0.0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0.0) return 0.0;
  // Far out the draw is a + sqrt(a) z + (z^2 - 1) / 3 + ... with a normal z (Cornish and Fisher
  // 1938).
  if (shape > 1e7) return 1.0 + (x - shape) / (2.0 * shape);
  const double slope = std::log(x) - digamma(shape);
  if (x < shape + 1.0) {
    const Dual sum = gamma_series({shape, 1.0}, x);
    return -x * (sum.slope + sum.value * slope);
  }
  const Dual fraction = gamma_fraction({shape, 1.0}, x);
  return x * (fraction.slope + fraction.value * slope);
}

double dirichlet_derivative(double x, double a, double total) {
  const double b = total - a;
  if (!(a > 0.0) || !(b > 0.0) || !(x >= 0.0 && x <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0.0) return 0.0;
  const double slope = std::log(x) - digamma(a) + digamma(total);
  if (x < (a + 1.0) / (total + 2.0)) {
    const Dual fraction = beta_fraction({a, 1.0}, {b}, x);
    return -x / a * (fraction.slope + fraction.value * (slope - 1.0 / a));
  }
  const Dual fraction = beta_fraction({b}, {a, 1.0}, 1.0 - x);
  return x / b * (fraction.slope + fraction.value * slope);
}

}  // namespace tsc
