#include "jit/region/scalar_eval.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tsc::jit {
namespace {

// The interpreter's words: a program may print them.
[[noreturn]] void overflow(int64_t a, const char* symbol, int64_t b) {
  throw Error(ErrorKind::OverflowError, "integer overflow: " + std::to_string(a) + " " + symbol + " " +
                                            std::to_string(b) +
                                            " does not fit in 64 bits; use floats for values this large");
}

[[noreturn]] void domain_error() { throw Error(ErrorKind::ValueError, "math domain error"); }

double checked_range(double result, double operand) {
  if (std::isinf(result) && !std::isinf(operand)) throw Error(ErrorKind::OverflowError, "math range error");
  return result;
}

int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == 0) throw Error(ErrorKind::ZeroDivisionError, "integer division or modulo by zero");
  if (b == -1) {
    if (a == std::numeric_limits<int64_t>::min()) overflow(a, "//", b);
    return -a;
  }
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

int64_t mod_int(int64_t a, int64_t b) {
  if (b == 0) throw Error(ErrorKind::ZeroDivisionError, "integer modulo by zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// CPython's float_divmod: exact fmod, then the sign of the divisor.
void divmod_float(double x, double y, double* quotient, double* rest) {
  double mod = std::fmod(x, y);
  double div = (x - mod) / y;
  if (mod != 0) {
    if ((y < 0) != (mod < 0)) {
      mod += y;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, y);
  }
  double floored = std::copysign(0.0, x / y);
  if (div != 0) {
    floored = std::floor(div);
    if (div - floored > 0.5) floored += 1.0;
  }
  *quotient = floored;
  *rest = mod;
}

double pow_float(double x, double y) {
  if (x == 0 && y < 0) throw Error(ErrorKind::ZeroDivisionError, "0.0 cannot be raised to a negative power");
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y))
    throw Error(ErrorKind::ValueError, "negative number to a fractional power is complex");
  const double result = std::pow(x, y);
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y))
    throw Error(ErrorKind::OverflowError, "(34, 'Numerical result out of range')");
  return result;
}

int64_t float_to_int(double x) {
  if (std::isnan(x)) throw Error(ErrorKind::ValueError, "cannot convert float NaN to integer");
  if (std::isinf(x)) throw Error(ErrorKind::OverflowError, "cannot convert float infinity to integer");
  const double whole = std::trunc(x);
  if (whole < -9223372036854775808.0 || whole >= 9223372036854775808.0) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, whole, std::chars_format::scientific);
    throw Error(ErrorKind::OverflowError,
                "integer overflow: " + std::string(text, end.ptr) + " does not fit in 64 bits");
  }
  return static_cast<int64_t>(whole);
}

double true_div(const Scalar& a, const Scalar& b) {
  if (a.kind == Scalar::Kind::Float) {
    if (b.f == 0) throw Error(ErrorKind::ZeroDivisionError, "float division by zero");
    return a.f / b.f;
  }
  if (b.i == 0) throw Error(ErrorKind::ZeroDivisionError, "division by zero");
  constexpr int64_t kExact = int64_t{1} << 53;
  const bool exact = a.i >= -kExact && a.i <= kExact && b.i >= -kExact && b.i <= kExact;
  if (exact) return static_cast<double>(a.i) / static_cast<double>(b.i);
  return static_cast<double>(static_cast<long double>(a.i) / static_cast<long double>(b.i));
}

Scalar eval_int(ScalarOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case ScalarOp::add:
      if (__builtin_add_overflow(a, b, &out)) overflow(a, "+", b);
      return Scalar::of_int(out);
    case ScalarOp::sub:
      if (__builtin_sub_overflow(a, b, &out)) overflow(a, "-", b);
      return Scalar::of_int(out);
    case ScalarOp::mul:
      if (__builtin_mul_overflow(a, b, &out)) overflow(a, "*", b);
      return Scalar::of_int(out);
    case ScalarOp::floor_div: return Scalar::of_int(floor_div_int(a, b));
    case ScalarOp::mod: return Scalar::of_int(mod_int(a, b));
    case ScalarOp::neg:
      if (__builtin_sub_overflow(int64_t{0}, a, &out)) overflow(0, "-", a);
      return Scalar::of_int(out);
    case ScalarOp::abs: return a < 0 ? eval_int(ScalarOp::neg, a, 0) : Scalar::of_int(a);
    case ScalarOp::minimum: return Scalar::of_int(b < a ? b : a);
    case ScalarOp::maximum: return Scalar::of_int(b > a ? b : a);
    case ScalarOp::eq: return Scalar::of_bool(a == b);
    case ScalarOp::ne: return Scalar::of_bool(a != b);
    case ScalarOp::lt: return Scalar::of_bool(a < b);
    case ScalarOp::le: return Scalar::of_bool(a <= b);
    case ScalarOp::int_to_float: return Scalar::of_float(static_cast<double>(a));
    case ScalarOp::bool_to_int: return Scalar::of_int(a);
    default: break;
  }
  throw_internal_fault(__FILE__, __LINE__, "scalar operation", scalar_op_name(op));
}

Scalar eval_float_unary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::neg: return Scalar::of_float(-a);
    case ScalarOp::abs: return Scalar::of_float(std::fabs(a));
    case ScalarOp::float_to_int: return Scalar::of_int(float_to_int(a));
    case ScalarOp::sqrt:
      if (a < 0) domain_error();
      return Scalar::of_float(std::sqrt(a));
    case ScalarOp::exp: return Scalar::of_float(checked_range(std::exp(a), a));
    case ScalarOp::log:
      if (a <= 0) domain_error();
      return Scalar::of_float(std::log(a));
    case ScalarOp::sin:
      if (std::isinf(a)) domain_error();
      return Scalar::of_float(std::sin(a));
    case ScalarOp::cos:
      if (std::isinf(a)) domain_error();
      return Scalar::of_float(std::cos(a));
    case ScalarOp::tanh: return Scalar::of_float(std::tanh(a));
    case ScalarOp::floor: return Scalar::of_float(std::floor(a));
    case ScalarOp::ceil: return Scalar::of_float(std::ceil(a));
    case ScalarOp::round: return Scalar::of_float(std::nearbyint(a));
    default: break;
  }
  throw_internal_fault(__FILE__, __LINE__, "scalar operation", scalar_op_name(op));
}

Scalar eval_float(ScalarOp op, double a, double b) {
  double quotient = 0, rest = 0;
  switch (op) {
    case ScalarOp::add: return Scalar::of_float(a + b);
    case ScalarOp::sub: return Scalar::of_float(a - b);
    case ScalarOp::mul: return Scalar::of_float(a * b);
    case ScalarOp::floor_div:
    case ScalarOp::mod:
      if (b == 0) {
        throw Error(ErrorKind::ZeroDivisionError,
                    op == ScalarOp::mod ? "float modulo" : "float floor division by zero");
      }
      divmod_float(a, b, &quotient, &rest);
      return Scalar::of_float(op == ScalarOp::mod ? rest : quotient);
    case ScalarOp::pow: return Scalar::of_float(pow_float(a, b));
    case ScalarOp::minimum: return Scalar::of_float(b < a ? b : a);
    case ScalarOp::maximum: return Scalar::of_float(b > a ? b : a);
    case ScalarOp::eq: return Scalar::of_bool(a == b);
    case ScalarOp::ne: return Scalar::of_bool(a != b);
    case ScalarOp::lt: return Scalar::of_bool(a < b);
    case ScalarOp::le: return Scalar::of_bool(a <= b);
    default: return eval_float_unary(op, a);
  }
}

}  // namespace

int scalar_operand_count(ScalarOp op) {
  if (op == ScalarOp::select) return 3;
  const bool unary = op == ScalarOp::neg || op == ScalarOp::abs || op >= ScalarOp::logical_not;
  return unary ? 1 : 2;
}

Scalar eval_scalar(ScalarOp op, std::span<const Scalar> operands) {
  const Scalar& a = operands[0];
  switch (op) {
    case ScalarOp::select: return a.i ? operands[1] : operands[2];
    case ScalarOp::logical_and: return Scalar::of_bool(a.i && operands[1].i);
    case ScalarOp::logical_or: return Scalar::of_bool(a.i || operands[1].i);
    case ScalarOp::logical_not: return Scalar::of_bool(!a.i);
    case ScalarOp::true_div: return Scalar::of_float(true_div(a, operands[1]));
    default: break;
  }
  const bool binary = operands.size() > 1;
  if (a.kind == Scalar::Kind::Float) return eval_float(op, a.f, binary ? operands[1].f : 0);
  return eval_int(op, a.i, binary ? operands[1].i : 0);
}

ValueKind scalar_result_kind(ScalarOp op, std::span<const ValueKind> operands) {
  const auto expect = [&](bool ok) { TSC_CHECK(ok, "operand kinds of scalar " + std::string(scalar_op_name(op))); };
  expect(static_cast<int>(operands.size()) == scalar_operand_count(op));
  const ValueKind a = operands[0];
  const bool number = a == ValueKind::Int || a == ValueKind::Float;
  if (op == ScalarOp::select) {
    expect(a == ValueKind::Bool && operands[1] == operands[2] && operands[1] <= ValueKind::Bool &&
           operands[1] != ValueKind::Tensor);
    return operands[1];
  }
  if (operands.size() == 2) expect(operands[1] == a);
  if (op <= ScalarOp::maximum) {
    expect(op == ScalarOp::pow ? a == ValueKind::Float : number);
    return op == ScalarOp::true_div ? ValueKind::Float : a;
  }
  if (op <= ScalarOp::le) {
    expect(number || (a == ValueKind::Bool && op <= ScalarOp::ne));
    return ValueKind::Bool;
  }
  if (op <= ScalarOp::logical_not) {
    expect(a == ValueKind::Bool);
    return ValueKind::Bool;
  }
  if (op == ScalarOp::bool_to_int) {
    expect(a == ValueKind::Bool);
    return ValueKind::Int;
  }
  if (op == ScalarOp::int_to_float) {
    expect(a == ValueKind::Int);
    return ValueKind::Float;
  }
  expect(a == ValueKind::Float);
  return op == ScalarOp::float_to_int ? ValueKind::Int : ValueKind::Float;
}

bool scalar_may_raise(ScalarOp op, ValueKind operand) {
  switch (op) {
    case ScalarOp::true_div:
    case ScalarOp::floor_div:
    case ScalarOp::mod:
    case ScalarOp::pow:
    case ScalarOp::float_to_int:
    case ScalarOp::sqrt:
    case ScalarOp::exp:
    case ScalarOp::log:
    case ScalarOp::sin:
    case ScalarOp::cos: return true;
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::neg:
    case ScalarOp::abs: return operand == ValueKind::Int;
    default: return false;
  }
}

}  // namespace tsc::jit
