// cmath: the functions of math on complex numbers, through the C library's; the errors are CPython's.
#include <cmath>
#include <complex>
#include <limits>

#include "interpreter/modules/native_modules.h"
#include "interpreter/value/complex.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

using C = std::complex<double>;

[[noreturn]] void domain_error(Vm& vm) { raise_value_error(vm, "math domain error"); }

C argument(Vm& vm, const Value& v) {
  if (const std::optional<ComplexNumber> z = to_complex(vm, v)) return {z->re, z->im};
  raise_type_error(vm, "must be real number, not " + type_name(vm, v));
}
bool is_finite(const C& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool is_infinite(const C& z) { return std::isinf(z.real()) || std::isinf(z.imag()); }

Value result(Vm& vm, const C& z, const C& r) {
  if (is_finite(z) && is_infinite(r)) raise(vm, vm.exceptions().OverflowError, "math range error");
  return make_complex(vm, {r.real(), r.imag()});
}

// CPython's way to the root, so that the last digit is the same.
C root(const C& z) {
  if (!is_finite(z) || z == C(0)) return std::sqrt(z);
  constexpr int kScaleUp = 2 * (std::numeric_limits<double>::digits / 2) + 1, kScaleDown = -(kScaleUp + 1) / 2;
  constexpr double kTiny = std::numeric_limits<double>::min();
  const double x = std::fabs(z.real()), y = std::fabs(z.imag());
  double s;
  if (x < kTiny && y < kTiny) {
    const double scaled = std::ldexp(x, kScaleUp);
    s = std::ldexp(std::sqrt(scaled + std::hypot(scaled, std::ldexp(y, kScaleUp))), kScaleDown);
  } else {
    s = 2 * std::sqrt(x / 8 + std::hypot(x / 8, y / 8));
  }
  const double d = y / (2 * s);
  return z.real() >= 0 ? C(s, std::copysign(d, z.imag())) : C(d, std::copysign(s, z.imag()));
}

template <C (*f)(const C&)>
Value function(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  return result(vm, z, f(z));
}

// An infinite angle has no value, unless nothing is left of it.
template <C (*f)(const C&)>
Value hyperbolic(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (std::isinf(z.imag()) && !std::isnan(z.real())) domain_error(vm);
  return result(vm, z, f(z));
}
// Where C leaves open which of the results it is when a part is no number, the functions of circles are those of
// hyperbolas turned round, as CPython's are.
template <C (*circle)(const C&), C (*hyperbola)(const C&)>
C turned(const C& z) {
  if (is_finite(z)) return circle(z);
  const auto unsigned_nan = [](double x) { return std::isnan(x) ? std::nan("") : x; };
  const C r = hyperbola(C(unsigned_nan(-z.imag()), unsigned_nan(z.real())));
  return {r.imag(), -r.real()};
}
C hyperbolic_sine(const C& z) {
  if (z.real() == 0 && std::isnan(z.imag())) return {0, z.imag()};
  return std::sinh(z);
}
C hyperbolic_cosine(const C& z) {
  if (std::isnan(z.real()) && z.imag() == 0) return {z.real(), 0};
  if (z.real() == 0 && std::isnan(z.imag())) return {z.imag(), 0};
  return std::cosh(z);
}
C cosine(const C& z) { return is_finite(z) ? std::cos(z) : hyperbolic_cosine(C(-z.imag(), z.real())); }
C tangent(const C& z) {
  if (z.real() == 0 && std::isnan(z.imag())) return {z.imag(), z.imag()};
  if (std::isinf(z.real()) && !std::isfinite(z.imag())) return {std::copysign(1, z.real()), 0};
  return std::tanh(z);
}
C arc_cosine(const C& z) {
  if (std::isinf(z.real()) && std::isnan(z.imag())) return {z.imag(), HUGE_VAL};
  return std::acos(z);
}
C area_cosine(const C& z) {
  if (z.real() == 0 && std::isnan(z.imag())) return {z.imag(), z.imag()};
  return std::acosh(z);
}
template <C (*f)(const C&)>
Value circular(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (std::isinf(z.real()) && !std::isnan(z.imag())) domain_error(vm);
  return result(vm, z, f(z));
}
Value exp_(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  const bool vanishes = std::isinf(z.real()) && z.real() < 0;
  if (std::isinf(z.imag()) && !std::isnan(z.real()) && !vanishes) domain_error(vm);
  return result(vm, z, std::exp(z));
}
Value tanh_(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (std::isinf(z.imag()) && std::isfinite(z.real())) domain_error(vm);
  return result(vm, z, tangent(z));
}
Value tan_(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (std::isinf(z.real()) && std::isfinite(z.imag())) domain_error(vm);
  return result(vm, z, turned<std::tan, tangent>(z));
}
Value atanh_(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (z.imag() == 0 && std::fabs(z.real()) == 1) domain_error(vm);
  return result(vm, z, std::atanh(z));
}
Value atan_(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  if (z.real() == 0 && std::fabs(z.imag()) == 1) domain_error(vm);
  return result(vm, z, turned<std::atan, std::atanh>(z));
}

C logarithm(Vm& vm, const C& z) {
  if (z.real() == 0 && z.imag() == 0) domain_error(vm);
  return std::log(z);
}
Value log_(Vm& vm, Args& a) {
  const C r = logarithm(vm, argument(vm, a[0]));
  if (!a.has(1)) return make_complex(vm, {r.real(), r.imag()});
  const C base = logarithm(vm, argument(vm, a[1]));
  return make_complex(vm, complex_quotient(vm, {r.real(), r.imag()}, {base.real(), base.imag()}));
}
Value log10_(Vm& vm, Args& a) {
  const C r = logarithm(vm, argument(vm, a[0]));
  return make_complex(vm, {r.real() / M_LN10, r.imag() / M_LN10});
}

double magnitude(Vm& vm, const C& z) {
  const double r = std::hypot(z.real(), z.imag());
  if (std::isinf(r) && is_finite(z)) raise(vm, vm.exceptions().OverflowError, "math range error");
  return r;
}
Value phase(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  return Value::real(std::atan2(z.imag(), z.real()));
}
Value polar(Vm& vm, Args& a) {
  const C z = argument(vm, a[0]);
  return make_tuple(vm, std::vector<Value>{Value::real(magnitude(vm, z)), Value::real(std::atan2(z.imag(), z.real()))})
      .take();
}
Value rect(Vm& vm, Args& a) {
  const double r = to_double(vm, a[0]), angle = to_double(vm, a[1]);
  if (std::isinf(angle) && r != 0 && !std::isnan(r)) domain_error(vm);
  if (r == 0 && !std::isfinite(angle)) return make_complex(vm, {0, 0});
  if (angle == 0) return make_complex(vm, {r, r * angle});  // nothing of inf * 0
  return make_complex(vm, {r * std::cos(angle), r * std::sin(angle)});
}

template <bool (*test)(const C&)>
Value predicate(Vm& vm, Args& a) {
  return Value::boolean(test(argument(vm, a[0])));
}
bool is_nan(const C& z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

Value isclose(Vm& vm, Args& a) {
  const C x = argument(vm, a[0]), y = argument(vm, a[1]);
  const double relative = to_double(vm, a[2]), absolute = to_double(vm, a[3]);
  if (relative < 0 || absolute < 0) raise_value_error(vm, "tolerances must be non-negative");
  if (x == y) return Value::boolean(true);
  if (is_infinite(x) || is_infinite(y)) return Value::boolean(false);
  const double d = std::abs(x - y);
  return Value::boolean(d <= relative * std::abs(y) || d <= relative * std::abs(x) || d <= absolute);
}

struct Row {
  const char* name;
  const char* signature;
  NativeCode code;
};
// clang-format off
constexpr Row kRows[] = {
    {"sqrt", "z, /", function<root>},      {"exp", "z, /", exp_},
    {"log", "z, base=?, /", log_},              {"log10", "z, /", log10_},
    {"sin", "z, /", circular<turned<std::sin, hyperbolic_sine>>}, {"cos", "z, /", circular<cosine>},
    {"tan", "z, /", tan_},                      {"sinh", "z, /", hyperbolic<hyperbolic_sine>},
    {"cosh", "z, /", hyperbolic<hyperbolic_cosine>},    {"tanh", "z, /", tanh_},
    {"asin", "z, /", function<turned<std::asin, std::asinh>>}, {"acos", "z, /", function<arc_cosine>},
    {"atan", "z, /", atan_},                    {"asinh", "z, /", function<std::asinh>},
    {"acosh", "z, /", function<area_cosine>},    {"atanh", "z, /", atanh_},
    {"phase", "z, /", phase},                   {"polar", "z, /", polar},
    {"rect", "r, phi, /", rect},                {"isnan", "z, /", predicate<is_nan>},
    {"isinf", "z, /", predicate<is_infinite>},  {"isfinite", "z, /", predicate<is_finite>},
    {"isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", isclose},
};
// clang-format on

}  // namespace

Local<ModuleObject> make_cmath_module(Vm& vm) {
  ModuleBuilder m(vm, "cmath");
  for (const Row& row : kRows) m.function(row.name, row.signature, row.code);
  m.value("pi", Value::real(M_PI));
  m.value("e", Value::real(M_E));
  m.value("tau", Value::real(2 * M_PI));
  m.value("inf", Value::real(HUGE_VAL));
  m.value("nan", Value::real(std::nan("")));
  m.value("infj", make_complex(vm, {0, HUGE_VAL}));
  m.value("nanj", make_complex(vm, {0, std::nan("")}));
  return m.finish();
}

}  // namespace tsc::interp
