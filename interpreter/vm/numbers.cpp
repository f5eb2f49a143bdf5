#include "interpreter/vm/numbers.h"
#include "interpreter/value/complex.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/vm.h"
#include "runtime/base/hash.h"

namespace tsc::interp {

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t floor_modulo(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Value integer_str(Vm& vm, int64_t i) {
  char text[24];
  char* end = std::to_chars(text, text + sizeof text, i).ptr;
  return make_ascii_str(vm, std::string_view(text, static_cast<size_t>(end - text))).take();
}

double float_modulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r != 0.0) {
    if ((b < 0) != (r < 0)) r += b;
  } else {
    r = std::copysign(0.0, b);
  }
  return r;
}

double float_floor_divide(double a, double b) {
  double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0.0 && (b < 0) != (r < 0)) q -= 1.0;
  if (q == 0.0) return std::copysign(0.0, a / b);
  double f = std::floor(q);
  return q - f > 0.5 ? f + 1.0 : f;
}

const char* zero_division_message(BinaryOp op, bool floats) {
  switch (op) {
    case BinaryOp::TrueDiv: return floats ? "float division by zero" : "division by zero";
    case BinaryOp::FloorDiv: return floats ? "float floor division by zero" : "integer division or modulo by zero";
    case BinaryOp::Mod: return floats ? "float modulo" : "integer modulo by zero";
    default: return nullptr;
  }
}

namespace {

[[noreturn]] void zero_division(Vm& vm, BinaryOp op, bool floats) {
  raise(vm, vm.exceptions().ZeroDivisionError, zero_division_message(op, floats));
}

Value float_power(Vm& vm, double a, double b) {
  if (a == 0.0 && b < 0.0 && std::isfinite(b))
    raise(vm, vm.exceptions().ZeroDivisionError, "0.0 cannot be raised to a negative power");
  if (a < 0.0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    return make_complex(vm, complex_power(vm, {a, 0}, {b, 0}));
  double r = std::pow(a, b);
  if (std::isinf(r) && std::isfinite(a) && std::isfinite(b)) {
    Value args[] = {Value::integer(34), str_value(vm, "Numerical result out of range")};
    throw ScriptException(make_exception(vm, vm.exceptions().OverflowError, args));
  }
  return Value::real(r);
}

Value int_power(Vm& vm, int64_t a, int64_t b) {
  if (b < 0) return float_power(vm, static_cast<double>(a), static_cast<double>(b));
  int64_t result = 1, base = a;
  bool overflow = false, base_overflow = false;
  for (int64_t e = b; e > 0; e >>= 1) {
    if (e & 1) overflow |= base_overflow || __builtin_mul_overflow(result, base, &result);
    if (e > 1) base_overflow |= __builtin_mul_overflow(base, base, &base);
  }
  if (overflow) return big_binary(vm, BinaryOp::Pow, Value::integer(a), Value::integer(b));
  return Value::integer(result);
}

Value int_shift(Vm& vm, BinaryOp op, int64_t a, int64_t b) {
  if (b < 0) raise_value_error(vm, "negative shift count");
  if (op == BinaryOp::RShift) return Value::integer(a >> (b > 63 ? 63 : b));
  if (a == 0) return Value::integer(0);
  const int64_t r = b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  if (b > 63 || r >> b != a) return big_binary(vm, op, Value::integer(a), Value::integer(b));
  return Value::integer(r);
}

Value unsupported(const Vm& vm) { return vm.not_implemented(); }

Value int_binary(Vm& vm, BinaryOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  const auto beyond = [&] { return big_binary(vm, op, Value::integer(a), Value::integer(b)); };
  switch (op) {
    case BinaryOp::Add:
      if (__builtin_add_overflow(a, b, &r)) return beyond();
      return Value::integer(r);
    case BinaryOp::Sub:
      if (__builtin_sub_overflow(a, b, &r)) return beyond();
      return Value::integer(r);
    case BinaryOp::Mul:
      if (__builtin_mul_overflow(a, b, &r)) return beyond();
      return Value::integer(r);
    case BinaryOp::TrueDiv:
      if (b == 0) zero_division(vm, op, false);
      // Both exact in a long double: one rounding, as Python's integer division promises.
      return Value::real(static_cast<double>(static_cast<long double>(a) / b));
    case BinaryOp::FloorDiv:
      if (b == 0) zero_division(vm, op, false);
      if (b == -1 && a == INT64_MIN) return beyond();
      return Value::integer(floor_divide(a, b));
    case BinaryOp::Mod:
      if (b == 0) zero_division(vm, op, false);
      return Value::integer(floor_modulo(a, b));
    case BinaryOp::Pow: return int_power(vm, a, b);
    case BinaryOp::LShift:
    case BinaryOp::RShift: return int_shift(vm, op, a, b);
    case BinaryOp::BitAnd: return Value::integer(a & b);
    case BinaryOp::BitOr: return Value::integer(a | b);
    case BinaryOp::BitXor: return Value::integer(a ^ b);
    default: return unsupported(vm);
  }
}

Value float_binary(Vm& vm, BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add: return Value::real(a + b);
    case BinaryOp::Sub: return Value::real(a - b);
    case BinaryOp::Mul: return Value::real(a * b);
    case BinaryOp::TrueDiv:
      if (b == 0) zero_division(vm, op, true);
      return Value::real(a / b);
    case BinaryOp::FloorDiv:
      if (b == 0) zero_division(vm, op, true);
      return Value::real(float_floor_divide(a, b));
    case BinaryOp::Mod:
      if (b == 0) zero_division(vm, op, true);
      return Value::real(float_modulo(a, b));
    case BinaryOp::Pow: return float_power(vm, a, b);
    default: return unsupported(vm);
  }
}

double as_double(const Value& v) { return v.is_float() ? v.as_float() : static_cast<double>(v.as_int()); }

// Exact comparison of an int with a float: -1, 0, 1; the float is not NaN.
int compare_int_float(int64_t i, double d) {
  if (d >= 9223372036854775808.0) return -1;
  if (d < -9223372036854775808.0) return 1;
  double whole = std::trunc(d);
  int64_t w = static_cast<int64_t>(whole);
  if (i != w) return i < w ? -1 : 1;
  return whole < d ? -1 : whole > d ? 1 : 0;
}

template <class T>
bool apply_compare(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::Lt: return a < b;
    case CompareOp::Le: return a <= b;
    case CompareOp::Eq: return a == b;
    case CompareOp::Ne: return a != b;
    case CompareOp::Gt: return a > b;
    default: return a >= b;
  }
}

}  // namespace

Value number_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b) {
  if (a.is_float() || b.is_float()) return float_binary(vm, op, as_double(a), as_double(b));
  if (a.is_bool() && b.is_bool() && op >= BinaryOp::BitAnd) {
    bool x = a.as_bool(), y = b.as_bool();
    return Value::boolean(op == BinaryOp::BitAnd ? x && y : op == BinaryOp::BitOr ? x || y : x != y);
  }
  return int_binary(vm, op, a.as_int(), b.as_int());
}

Value number_unary(Vm& vm, UnaryOp op, const Value& v) {
  if (v.is_float()) {
    double d = v.as_float();
    if (op == UnaryOp::Invert) return vm.not_implemented();
    return Value::real(op == UnaryOp::Negative ? -d : op == UnaryOp::Absolute ? std::fabs(d) : d);
  }
  int64_t i = v.as_int();
  if (op == UnaryOp::Invert) return Value::integer(~i);
  if (op == UnaryOp::Positive) return Value::integer(i);
  if (op == UnaryOp::Absolute && i >= 0) return Value::integer(i);
  if (i == INT64_MIN) return big_unary(vm, op, v);
  return Value::integer(-i);
}

bool number_compare(CompareOp op, const Value& a, const Value& b) {
  if (a.is_float() && b.is_float()) return apply_compare(op, a.as_float(), b.as_float());
  if (a.is_float() || b.is_float()) {
    double d = a.is_float() ? a.as_float() : b.as_float();
    if (std::isnan(d)) return op == CompareOp::Ne;
    int order = a.is_float() ? -compare_int_float(b.as_int(), d) : compare_int_float(a.as_int(), d);
    return apply_compare(op, order, 0);
  }
  return apply_compare(op, a.as_int(), b.as_int());
}

// Python's: modulo 2^61 - 1, so that equal ints and floats hash alike.
namespace {

constexpr int64_t kModulus = (int64_t{1} << 61) - 1;

uint64_t float_hash(double d) {
  if (std::isnan(d)) return 0;
  if (std::isinf(d)) return static_cast<uint64_t>(d > 0 ? 314159 : -314159);
  int exponent;
  double mantissa = std::frexp(d, &exponent);
  bool negative = mantissa < 0;
  mantissa = std::fabs(mantissa);
  uint64_t x = 0;
  while (mantissa != 0) {
    x = (x << 28 & static_cast<uint64_t>(kModulus)) | x >> (61 - 28);
    mantissa *= 268435456.0;
    exponent -= 28;
    uint64_t y = static_cast<uint64_t>(mantissa);
    mantissa -= static_cast<double>(y);
    x += y;
    if (x >= static_cast<uint64_t>(kModulus)) x -= static_cast<uint64_t>(kModulus);
  }
  int shift = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
  if (shift) x = (x << shift & static_cast<uint64_t>(kModulus)) | x >> (61 - shift);
  int64_t h = negative ? -static_cast<int64_t>(x) : static_cast<int64_t>(x);
  return static_cast<uint64_t>(h == -1 ? -2 : h);
}

}  // namespace

uint64_t number_hash(const Value& v) {
  if (v.is_float()) return float_hash(v.as_float());
  const int64_t h = v.as_int() % kModulus;
  return static_cast<uint64_t>(h == -1 ? -2 : h);
}

Value float_to_int(Vm& vm, double d) {
  if (std::isnan(d)) raise_value_error(vm, "cannot convert float NaN to integer");
  if (std::isinf(d)) raise(vm, vm.exceptions().OverflowError, "cannot convert float infinity to integer");
  d = std::trunc(d);
  if (d >= 9223372036854775808.0 || d < -9223372036854775808.0) return int_of_double(vm, d);
  return Value::integer(static_cast<int64_t>(d));
}

std::string float_repr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d > 0 ? "inf" : "-inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;  // to_chars writes e+16 and e-05 as Python does
  end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::fixed).ptr;
  text.assign(buffer, end);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

double round_float(double d, int64_t digits) {
  if (!std::isfinite(d) || digits > 323) return d;
  if (digits < -308) return std::copysign(0.0, d);
  // Correctly rounded through the decimal text, as CPython does.
  char buffer[700];
  if (digits >= 0) {
    std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), d);
    double r = 0;
    std::from_chars(buffer, buffer + std::strlen(buffer), r);
    return r;
  }
  double scale = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(d / scale) * scale;
}

}  // namespace tsc::interp
