// math: doubles and ints, with Python's domain and range errors.
#include <cmath>
#include <limits>

#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/big_numbers.h"
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
double log_of_big(Vm& vm, const Value& big, double (*f)(double));
template <double (*f)(double)>
Value logarithm(Vm& vm, Args& a) {
  if (is_big(a[0])) return Value::real(log_of_big(vm, a[0], f));
  double x = to_double(vm, a[0]);
  if (x <= 0) domain_error(vm);
  return Value::real(f(x));
}
double natural_log(Vm& vm, const Value& v) {
  if (is_big(v)) return log_of_big(vm, v, std::log);
  const double x = to_double(vm, v);
  if (x <= 0) domain_error(vm);
  return std::log(x);
}
Value log_(Vm& vm, Args& a) {
  const double x = natural_log(vm, a[0]);
  if (!a.has(1)) return Value::real(x);
  const double divisor = natural_log(vm, a[1]);
  if (divisor == 0) raise(vm, vm.exceptions().ZeroDivisionError, "float division by zero");
  return Value::real(x / divisor);
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
  const double x = to_double(vm, a[0]);
  const double y = to_double(vm, a[1]);
  const double r = f(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) domain_error(vm);
  return Value::real(r);
}
constexpr char kFloor[] = "__floor__", kCeil[] = "__ceil__", kTrunc[] = "__trunc__";
template <double (*f)(double), const char* kMethod>
Value rounding(Vm& vm, Args& a) {
  if (is_integer_like(a[0])) return Value::integer(a[0].as_int());
  Type* type = type_of(vm, a[0]);
  if (const Value* method = lookup_in_type(type, intern(vm, kMethod)))
    return call(vm, bind_attribute(vm, *method, a[0], type));
  if (std::string_view(kMethod) == kTrunc)
    raise_type_error(vm, "type " + type->name + " doesn't define __trunc__ method");
  return float_to_int(vm, f(to_double(vm, a[0])));
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
  for (uint32_t i = 0; i < x->size; ++i) r = std::hypot(r, to_double(vm, x->items[i]) - to_double(vm, y->items[i]));
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
// Adds to partial sums that are exact and do not overlap (Shewchuk).
void add_exactly(std::vector<double>& partials, double x) {
  size_t kept = 0;
  for (double y : partials) {
    if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
    double high = x + y, low = y - (high - x);
    if (low != 0) partials[kept++] = low;
    x = high;
  }
  partials.resize(kept);
  partials.push_back(x);
}
double rounded_sum(const std::vector<double>& partials) {
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
  return sum;
}
Value fsum(Vm& vm, Args& a) {
  std::vector<double> partials;
  double infinities = 0, specials = 0;  // specials: the infinities and nans
  for_each(vm, a[0], [&](const Value& v) {
    const double x = to_double(vm, v);
    if (!std::isfinite(x)) {
      specials += x;
      if (std::isinf(x)) infinities += x;
      return true;
    }
    add_exactly(partials, x);
    if (!std::isfinite(partials.back())) raise(vm, vm.exceptions().OverflowError, "intermediate overflow in fsum");
    return true;
  });
  if (std::isnan(infinities)) raise_value_error(vm, "-inf + inf in fsum");
  return Value::real(specials != 0 ? specials : rounded_sum(partials));
}
Value prod(Vm& vm, Args& a) {
  Value total = a[1];
  for_each(vm, a[0], [&](const Value& v) {
    total = binary(vm, BinaryOp::Mul, total, v);
    return true;
  });
  return total;
}
bool is_zero(const Value& v) { return v.is_int() && v.as_int() == 0; }
bool is_negative(const Value& v) { return compare_ints(v, Value::integer(0)) < 0; }
Value gcd_(Vm& vm, Args& a) {
  Value r = Value::integer(0);
  for (const Value& v : cast<TupleObject>(a[0])->span()) r = gcd_of(vm, r, whole_of(vm, v));
  return r;
}
Value lcm_(Vm& vm, Args& a) {
  Value r = Value::integer(1);
  for (const Value& v : cast<TupleObject>(a[0])->span()) {
    const Value i = whole_of(vm, v);
    if (is_zero(i) || is_zero(r)) {
      r = Value::integer(0);
      continue;
    }
    const Value rest = binary(vm, BinaryOp::FloorDiv, i, gcd_of(vm, r, i));
    r = unary(vm, UnaryOp::Absolute, binary(vm, BinaryOp::Mul, r, rest));
  }
  return r;
}
Value factorial(Vm& vm, Args& a) {
  const Value n = whole_of(vm, a[0]);
  if (is_negative(n)) raise_value_error(vm, "factorial() not defined for negative values");
  if (is_big(n)) raise(vm, vm.exceptions().OverflowError, "factorial() argument should not exceed 9223372036854775807");
  return factorial_of(vm, n.as_int());
}
void check_counts(Vm& vm, const Value& n, const Value& k) {
  if (is_negative(n)) raise_value_error(vm, "n must be a non-negative integer");
  if (is_negative(k)) raise_value_error(vm, "k must be a non-negative integer");
}
Value comb(Vm& vm, Args& a) {
  const Value n = whole_of(vm, a[0]);
  Value k = whole_of(vm, a[1]);
  check_counts(vm, n, k);
  const Value rest = binary(vm, BinaryOp::Sub, n, k);
  if (is_negative(rest)) return Value::integer(0);
  if (less(vm, rest, k)) k = rest;
  if (is_big(k)) raise(vm, vm.exceptions().OverflowError, "min(n - k, k) must not exceed 9223372036854775807");
  return combinations_of(vm, n, k.as_int());
}
Value perm(Vm& vm, Args& a) {
  const Value n = whole_of(vm, a[0]);
  if (a[1].is_none()) {
    Value shifted[] = {n};
    Args inner;
    inner.positional = shifted;
    inner.count = 1;
    return factorial(vm, inner);
  }
  const Value k = whole_of(vm, a[1]);
  check_counts(vm, n, k);
  if (less(vm, n, k)) return Value::integer(0);
  if (is_big(k)) raise(vm, vm.exceptions().OverflowError, "k must not exceed 9223372036854775807");
  Value r = Value::integer(1);
  for (int64_t i = 0; i < k.as_int(); ++i) {
    vm.hear_stop();
    r = binary(vm, BinaryOp::Mul, r, binary(vm, BinaryOp::Sub, n, Value::integer(i)));
  }
  return r;
}
Value isqrt(Vm& vm, Args& a) { return root_of(vm, whole_of(vm, a[0])); }
// As CPython does it: of a fraction between a half and one, and the power of two, where no float holds the int.
double log_of_big(Vm& vm, const Value& big, double (*f)(double)) {
  if (is_negative(big)) domain_error(vm);
  const int64_t length = bit_length_of(big);
  if (length <= 1023) return f(to_double(vm, big));
  const Value shift = Value::integer(length - 62);
  Value top = binary(vm, BinaryOp::RShift, big, shift);
  if (!equal(vm, binary(vm, BinaryOp::LShift, top, shift), big))
    top = binary(vm, BinaryOp::BitOr, top, Value::integer(1));
  int exponent = 0;
  const double fraction = std::frexp(to_double(vm, top), &exponent);
  return f(fraction) + f(2.0) * static_cast<double>(length - 62 + exponent);
}
Value frexp_(Vm& vm, Args& a) {
  int e;
  double m = std::frexp(to_double(vm, a[0]), &e);
  return make_tuple(vm, std::vector<Value>{Value::real(m), Value::integer(e)}).take();
}
Value ldexp_(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]);
  const Value exponent = whole_of(vm, a[1]);
  const int64_t e =
      is_big(exponent) ? (is_negative(exponent) ? -5000 : 5000) : std::clamp<int64_t>(exponent.as_int(), -5000, 5000);
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
// clang-format off
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
    {"copysign", "x, y, /", binary_function<std::copysign>}, {"fmod", "x, y, /", binary_function<std::fmod>},
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
// clang-format on

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
