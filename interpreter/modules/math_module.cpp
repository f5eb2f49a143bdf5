// math: doubles and 64-bit integers, with Python's domain and range errors.
#include <cmath>
#include <limits>
#include <numeric>

#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

[[noreturn]] void domain_error(Vm& vm) { raise_value_error(vm, "math domain error"); }

Value finish(Vm& vm, double x, double r) {
  if (std::isnan(r) && !std::isnan(x)) domain_error(vm);
  if (std::isinf(r) && std::isfinite(x)) raise(vm, vm.exceptions().OverflowError, "math range error");
  return Value::real(r);
}
template <double (*f)(double)>
Value unary_function(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  return finish(vm, x, f(x));
}
Value atanh_(Vm& vm, Args& a) {
  const double x = to_double(vm, a[0]);
  if (x == 1 || x == -1) domain_error(vm);
  return finish(vm, x, std::atanh(x));
}
template <double (*f)(double)>
Value logarithm(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  if (x <= 0) domain_error(vm);
  return Value::real(f(x));
}
Value log_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  if (x <= 0) domain_error(vm);
  if (!a.has(1)) return Value::real(std::log(x));
  double base = to_double(vm, a[1]);
  if (base <= 0) domain_error(vm);
  double divisor = std::log(base);
  if (divisor == 0) raise(vm, vm.exceptions().ZeroDivisionError, "float division by zero");
  return Value::real(std::log(x) / divisor);
}
// gamma and lgamma, which have poles at 0, -1, -2, ...
template <double (*f)(double)>
Value gamma_function(Vm& vm, Args& a) {
  const double x = to_double(vm, a[0]);
  if (x <= 0 && x == std::floor(x) && std::isfinite(x)) domain_error(vm);
  return unary_function<f>(vm, a);
}
Value log1p_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  if (x <= -1) domain_error(vm);
  return Value::real(std::log1p(x));
}
Value pow_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]), y = to_double(vm, a[1]), r = std::pow(x, y);
  if (std::isfinite(x) && std::isfinite(y)) {
    if (std::isnan(r) || (x == 0 && y < 0)) domain_error(vm);
    if (std::isinf(r)) raise(vm, vm.exceptions().OverflowError, "math range error");
  }
  return Value::real(r);
}
template <double (*f)(double, double)>
Value binary_function(Vm& vm, Args& a) {
  return Value::real(f(to_double(vm, a[0]), to_double(vm, a[1])));
}
Value fmod_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]), y = to_double(vm, a[1]);
  if (std::isinf(x) || y == 0) domain_error(vm);
  return Value::real(std::fmod(x, y));
}
constexpr char kFloor[] = "__floor__", kCeil[] = "__ceil__", kTrunc[] = "__trunc__";
template <double (*f)(double), const char* kMethod>
Value rounding(Vm& vm, Args& a) {
  if (is_integer_like(a[0])) return Value::integer(a[0].as_int());
  Type* type = type_of(vm, a[0]);
  if (const Value* method = lookup_in_type(type, intern(vm, kMethod)))
    return call(vm, bind_attribute(vm, *method, a[0], type));
  return Value::integer(float_to_int(vm, f(to_double(vm, a[0]))));
}
Value ulp(Vm& vm, Args& a) {
  double d = std::fabs(to_double(vm, a[0]));
  if (!std::isfinite(d)) return Value::real(d);
  double up = std::nextafter(d, std::numeric_limits<double>::infinity());
  return Value::real(std::isinf(up) ? d - std::nextafter(d, 0) : up - d);
}
Value hypot_(Vm& vm, Args& a) {
  double r = 0;
  for (const Value& v : cast<TupleObject>(a[0])->span()) r = std::hypot(r, to_double(vm, v));
  return Value::real(r);
}
Value dist(Vm& vm, Args& a) {
  Local<TupleObject> x = to_tuple(vm, a[0]), y = to_tuple(vm, a[1]);
  if (x->size != y->size) raise_value_error(vm, "both points must have the same number of dimensions");
  double r = 0;
  for (uint32_t i = 0; i < x->size; ++i)
    r = std::hypot(r, to_double(vm, x->items[i]) - to_double(vm, y->items[i]));
  return Value::real(r);
}
Value isnan_(Vm& vm, Args& a) { return Value::boolean(std::isnan(to_double(vm, a[0]))); }
Value isinf_(Vm& vm, Args& a) { return Value::boolean(std::isinf(to_double(vm, a[0]))); }
Value isfinite_(Vm& vm, Args& a) { return Value::boolean(std::isfinite(to_double(vm, a[0]))); }
Value isclose(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]), y = to_double(vm, a[1]), rel = to_double(vm, a[2]), abs = to_double(vm, a[3]);
  if (rel < 0 || abs < 0) raise_value_error(vm, "tolerances must be non-negative");
  if (x == y) return Value::boolean(true);
  if (std::isinf(x) || std::isinf(y)) return Value::boolean(false);
  double d = std::fabs(x - y);
  return Value::boolean(d <= std::fabs(rel * y) || d <= std::fabs(rel * x) || d <= abs);
}
Value fsum(Vm& vm, Args& a) {
  std::vector<double> partials;  // Shewchuk: exact partial sums that do not overlap
  for_each(vm, a[0], [&](const Value& v) {
    double x = to_double(vm, v);
    size_t kept = 0;
    for (double y : partials) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      double high = x + y, low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
    return true;
  });
  double sum = 0, low = 0;
  size_t left = partials.size();
  while (left > 0 && low == 0) {
    double before = sum, part = partials[--left];
    sum = before + part;
    low = part - (sum - before);
  }
  // What is left decides a tie of the last rounding.
  if (left > 0 && ((low < 0 && partials[left - 1] < 0) || (low > 0 && partials[left - 1] > 0))) {
    double twice = low * 2, moved = sum + twice;
    if (moved - sum == twice) sum = moved;
  }
  return Value::real(sum);
}
Value prod(Vm& vm, Args& a) {
  Value total = a[1];
  for_each(vm, a[0], [&](const Value& v) {
    total = binary(vm, BinaryOp::Mul, total, v);
    return true;
  });
  return total;
}
Value gcd_(Vm& vm, Args& a) {
  int64_t r = 0;
  for (const Value& v : cast<TupleObject>(a[0])->span()) r = std::gcd(r, to_index(vm, v));
  return Value::integer(r);
}
Value lcm_(Vm& vm, Args& a) {
  Value r = Value::integer(1);
  for (const Value& v : cast<TupleObject>(a[0])->span()) {
    int64_t i = to_index(vm, v);
    if (i == 0) return Value::integer(0);
    int64_t g = std::gcd(r.as_int(), i);
    r = binary(vm, BinaryOp::Mul, Value::integer(r.as_int() / g), Value::integer(i < 0 ? -i : i));
  }
  return r;
}
Value factorial(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]);
  if (n < 0) raise_value_error(vm, "factorial() not defined for negative values");
  Value r = Value::integer(1);
  for (int64_t i = 2; i <= n; ++i) r = binary(vm, BinaryOp::Mul, r, Value::integer(i));
  return r;
}
void check_counts(Vm& vm, int64_t n, int64_t k) {
  if (n < 0) raise_value_error(vm, "n must be a non-negative integer");
  if (k < 0) raise_value_error(vm, "k must be a non-negative integer");
}
Value comb(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]), k = to_index(vm, a[1]);
  check_counts(vm, n, k);
  if (k > n) return Value::integer(0);
  k = std::min(k, n - k);
  __int128 r = 1;
  for (int64_t i = 1; i <= k; ++i) {
    r = r * (n - k + i) / i;
    if (r > INT64_MAX) raise_integer_overflow(vm, BinaryOp::Mul, n, k);
  }
  return Value::integer(static_cast<int64_t>(r));
}
Value perm(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]), k = a[1].is_none() ? n : to_index(vm, a[1]);
  check_counts(vm, n, k);
  Value r = Value::integer(k > n ? 0 : 1);
  for (int64_t i = 0; i < k && k <= n; ++i) r = binary(vm, BinaryOp::Mul, r, Value::integer(n - i));
  return r;
}
Value isqrt(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]);
  if (n < 0) raise_value_error(vm, "isqrt() argument must be nonnegative");
  int64_t r = static_cast<int64_t>(std::sqrt(static_cast<long double>(n)));
  while (r > 0 && r > n / r) --r;
  while ((r + 1) <= n / (r + 1)) ++r;
  return Value::integer(r);
}
Value frexp_(Vm& vm, Args& a) {
  int e;
  double m = std::frexp(to_double(vm, a[0]), &e);
  return make_tuple(vm, std::vector<Value>{Value::real(m), Value::integer(e)}).take();
}
Value ldexp_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  int64_t e = std::clamp<int64_t>(to_index(vm, a[1]), -5000, 5000);
  return finish(vm, x, std::ldexp(x, static_cast<int>(e)));
}
Value modf_(Vm& vm, Args& a) {
  double whole, part = std::modf(to_double(vm, a[0]), &whole);
  return make_tuple(vm, std::vector<Value>{Value::real(part), Value::real(whole)}).take();
}
double degrees(double x) { return x * (180.0 / M_PI); }
double radians(double x) { return x * (M_PI / 180.0); }

struct Row {
  const char* name;
  const char* signature;
  NativeCode code;
};
constexpr Row kRows[] = {
    {"sqrt", "x, /", unary_function<std::sqrt>}, {"cbrt", "x, /", unary_function<std::cbrt>},
    {"exp", "x, /", unary_function<std::exp>},   {"exp2", "x, /", unary_function<std::exp2>},
    {"expm1", "x, /", unary_function<std::expm1>}, {"sin", "x, /", unary_function<std::sin>},
    {"cos", "x, /", unary_function<std::cos>},   {"tan", "x, /", unary_function<std::tan>},
    {"asin", "x, /", unary_function<std::asin>}, {"acos", "x, /", unary_function<std::acos>},
    {"atan", "x, /", unary_function<std::atan>}, {"sinh", "x, /", unary_function<std::sinh>},
    {"cosh", "x, /", unary_function<std::cosh>}, {"tanh", "x, /", unary_function<std::tanh>},
    {"asinh", "x, /", unary_function<std::asinh>}, {"acosh", "x, /", unary_function<std::acosh>},
    {"atanh", "x, /", atanh_}, {"erf", "x, /", unary_function<std::erf>},
    {"erfc", "x, /", unary_function<std::erfc>}, {"gamma", "x, /", gamma_function<std::tgamma>},
    {"lgamma", "x, /", gamma_function<std::lgamma>}, {"fabs", "x, /", unary_function<std::fabs>},
    {"degrees", "x, /", unary_function<degrees>}, {"radians", "x, /", unary_function<radians>},
    {"log", "x, base=?, /", log_},               {"log2", "x, /", logarithm<std::log2>},
    {"ulp", "x, /", ulp},                        {"nextafter", "x, y, /", binary_function<std::nextafter>},
    {"log10", "x, /", logarithm<std::log10>},    {"log1p", "x, /", log1p_},
    {"pow", "x, y, /", pow_},                    {"atan2", "y, x, /", binary_function<std::atan2>},
    {"copysign", "x, y, /", binary_function<std::copysign>}, {"fmod", "x, y, /", fmod_},
    {"remainder", "x, y, /", binary_function<std::remainder>},
    {"floor", "x, /", rounding<std::floor, kFloor>},
    {"ceil", "x, /", rounding<std::ceil, kCeil>},
    {"trunc", "x, /", rounding<std::trunc, kTrunc>}, {"hypot", "*coordinates", hypot_},
    {"dist", "p, q, /", dist},                   {"isnan", "x, /", isnan_},
    {"isinf", "x, /", isinf_},                   {"isfinite", "x, /", isfinite_},
    {"isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", isclose}, {"fsum", "seq, /", fsum},
    {"prod", "iterable, /, *, start=1", prod},   {"gcd", "*integers", gcd_},
    {"lcm", "*integers", lcm_},                  {"factorial", "n, /", factorial},
    {"comb", "n, k, /", comb},                   {"perm", "n, k=None, /", perm},
    {"isqrt", "n, /", isqrt},                    {"frexp", "x, /", frexp_},
    {"ldexp", "x, i, /", ldexp_},                {"modf", "x, /", modf_},
};

}  // namespace

Local<ModuleObject> make_math_module(Vm& vm) {
  ModuleBuilder m(vm, "math");
  for (const Row& row : kRows) m.function(row.name, row.signature, row.code);
  m.value("pi", Value::real(M_PI))
      .value("e", Value::real(M_E))
      .value("tau", Value::real(2 * M_PI))
      .value("inf", Value::real(std::numeric_limits<double>::infinity()))
      .value("nan", Value::real(std::numeric_limits<double>::quiet_NaN()));
  return m.finish();
}

}  // namespace tsc::interp
