// datetime.timedelta.
#include <cmath>
#include <cstring>
#include <tuple>

#include "interpreter/modules/calendar.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {

Duration* duration_of(const Value& v) { return static_cast<Duration*>(v.object()); }

namespace {

bool is_duration(Vm& vm, const Value& v) { return is_of(v, calendar_types(vm).timedelta); }
bool is_whole(const Value& v) { return v.is_int() || v.is_bool() || is_big(v) || is_kind(v, Kind::BoxedNumber); }

Wide floor_divide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

// To the nearest; of two that are as near the even one. The divisor is positive and below 2 to the 126.
Wide divide_half_even(Wide a, Wide b) {
  const Wide quotient = floor_divide(a, b), rest = a - quotient * b;
  return rest > b - rest || (rest == b - rest && (quotient & 1)) ? quotient + 1 : quotient;
}

[[noreturn]] void too_large(Vm& vm) { raise_too_large(vm, "C int"); }

// An int that fits into 128 bits; false: it does not.
bool to_wide(const Value& v, Wide& out) {
  if (!is_big(v)) return out = int_value(v), true;
  std::string bytes;
  if (!bytes_of_int(v, sizeof out, true, bytes)) return false;
  std::memcpy(&out, bytes.data(), sizeof out);
  return true;
}

Value wide_value(Vm& vm, Wide n) {
  if (n == static_cast<int64_t>(n)) return Value::integer(static_cast<int64_t>(n));
  return int_of_bytes(vm, std::string_view(reinterpret_cast<const char*>(&n), sizeof n), true);
}

// a / b, rounded once: of what a float holds that is one division.
Value ratio(Vm& vm, Wide a, Wide b) {
  constexpr Wide kExact = Wide{1} << 53;
  if (a < kExact && a > -kExact && b < kExact && b > -kExact)
    return Value::real(static_cast<double>(static_cast<int64_t>(a)) / static_cast<double>(static_cast<int64_t>(b)));
  return ratio_of_ints(vm, wide_value(vm, a), wide_value(vm, b));
}

Value times_whole(Vm& vm, Wide total, const Value& factor) {
  Wide n, product;
  if (total == 0) return make_duration(vm, 0);
  if (!to_wide(factor, n) || __builtin_mul_overflow(total, n, &product)) too_large(vm);
  return make_duration(vm, product);
}

// A float as mantissa times a power of two.
void check_ratio(Vm& vm, double d) {
  if (std::isnan(d)) raise_value_error(vm, "cannot convert NaN to integer ratio");
  if (std::isinf(d)) raise(vm, vm.exceptions().OverflowError, "cannot convert Infinity to integer ratio");
}
struct Ratio {
  Wide mantissa;
  int exponent;
};
Ratio ratio_of(double d) {
  int exponent;
  const double part = std::frexp(d, &exponent);
  return {static_cast<int64_t>(std::ldexp(part, 53)), exponent - 53};
}

// n * 2 ** exponent, the exponent not negative; false: it has more than 127 bits.
bool shift_left(Wide& n, int exponent) {
  for (; exponent > 0 && n != 0; exponent -= 60)
    if (__builtin_mul_overflow(n, Wide{1} << std::min(exponent, 60), &n)) return false;
  return true;
}

// The mantissa has 53 bits and the total 67: their product fits.
Value times_float(Vm& vm, Wide total, double factor) {
  check_ratio(vm, factor);
  const Ratio ratio = ratio_of(factor);
  Wide product = total * ratio.mantissa;
  if (ratio.exponent < -125) return make_duration(vm, 0);
  if (ratio.exponent < 0) return make_duration(vm, divide_half_even(product, Wide{1} << -ratio.exponent));
  if (!shift_left(product, ratio.exponent)) too_large(vm);
  return make_duration(vm, product);
}

Value over_float(Vm& vm, Wide total, double divisor) {
  check_ratio(vm, divisor);
  Ratio ratio = ratio_of(divisor);
  if (ratio.mantissa < 0) total = -total, ratio.mantissa = -ratio.mantissa;
  if (ratio.mantissa == 0) raise(vm, vm.exceptions().ZeroDivisionError, "integer division or modulo by zero");
  if (ratio.exponent < 0 ? !shift_left(total, -ratio.exponent) : false) too_large(vm);
  if (ratio.exponent > 0 && (ratio.exponent > 70 || !shift_left(ratio.mantissa, ratio.exponent)))
    return make_duration(vm, 0);
  return make_duration(vm, divide_half_even(total, ratio.mantissa));
}

Value over_whole(Vm& vm, Wide total, const Value& divisor, bool floors) {
  Wide n;
  const bool negative = compare_ints(divisor, Value::integer(0)) < 0;
  if (!to_wide(divisor, n) || n > Wide{1} << 100 || n < -(Wide{1} << 100))
    return make_duration(vm, floors && total != 0 && (total < 0) != negative ? -1 : 0);
  if (n == 0) raise(vm, vm.exceptions().ZeroDivisionError, "integer division or modulo by zero");
  if (floors) return make_duration(vm, floor_divide(total, n));
  return make_duration(vm, n < 0 ? divide_half_even(-total, -n) : divide_half_even(total, n));
}

Value between_durations(Vm& vm, BinaryOp op, const Value& left, const Value& right) {
  const Wide a = duration_of(left)->total(), b = duration_of(right)->total();
  if (op == BinaryOp::Add) return make_duration(vm, a + b);
  if (op == BinaryOp::Sub) return make_duration(vm, a - b);
  if (op != BinaryOp::TrueDiv && op != BinaryOp::FloorDiv && op != BinaryOp::Mod) return vm.not_implemented();
  if (b == 0)
    raise(vm, vm.exceptions().ZeroDivisionError,
          op == BinaryOp::TrueDiv ? "division by zero"
          : op == BinaryOp::Mod   ? "integer modulo by zero"
                                  : "integer division or modulo by zero");
  if (op == BinaryOp::TrueDiv) return ratio(vm, a, b);
  const Wide quotient = floor_divide(a, b);
  return op == BinaryOp::Mod ? make_duration(vm, a - quotient * b) : wide_value(vm, quotient);
}

Value delta_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
  const bool is_left = is_duration(vm, left), is_right = is_duration(vm, right);
  if (is_left && is_right) return between_durations(vm, op, left, right);
  const Wide total = duration_of(is_left ? left : right)->total();
  const Value& other = is_left ? right : left;
  const bool is_number = is_whole(other) || other.is_float();
  if (!is_number || (!is_left && op != BinaryOp::Mul)) return vm.not_implemented();
  const Value number = is_kind(other, Kind::BoxedNumber) ? unboxed_number(other) : other;
  switch (op) {
    case BinaryOp::Mul:
      return number.is_float() ? times_float(vm, total, number.as_float()) : times_whole(vm, total, number);
    case BinaryOp::TrueDiv:
      return number.is_float() ? over_float(vm, total, number.as_float()) : over_whole(vm, total, number, false);
    case BinaryOp::FloorDiv: return number.is_float() ? vm.not_implemented() : over_whole(vm, total, number, true);
    default: return vm.not_implemented();
  }
}

Value divmod_(Vm& vm, Args& a) {
  if (!is_duration(vm, a[1])) return vm.not_implemented();
  const Value parts[] = {between_durations(vm, BinaryOp::FloorDiv, a[0], a[1]),
                         between_durations(vm, BinaryOp::Mod, a[0], a[1])};
  return make_tuple(vm, parts).take();
}

Value delta_unary(Vm& vm, UnaryOp op, const Value& self) {
  const Wide total = duration_of(self)->total();
  if (op == UnaryOp::Invert) return vm.not_implemented();
  const bool turns = op == UnaryOp::Negative || (op == UnaryOp::Absolute && total < 0);
  return make_duration(vm, turns ? -total : total);
}

Value delta_compare(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (!is_duration(vm, other)) return vm.not_implemented();
  const Duration *a = duration_of(self), *b = duration_of(other);
  auto parts = [](const Duration* d) { return std::tuple(d->days, d->seconds, d->microseconds); };
  switch (op) {
    case CompareOp::Lt: return Value::boolean(parts(a) < parts(b));
    case CompareOp::Le: return Value::boolean(parts(a) <= parts(b));
    case CompareOp::Eq: return Value::boolean(parts(a) == parts(b));
    case CompareOp::Ne: return Value::boolean(parts(a) != parts(b));
    case CompareOp::Gt: return Value::boolean(parts(a) > parts(b));
    default: return Value::boolean(parts(a) >= parts(b));
  }
}

int64_t hash_of(Vm&, const Value& self) {
  const auto total = static_cast<uint64_t>(duration_of(self)->total());
  return static_cast<int64_t>((total ^ total >> 29) * 0xbf58476d1ce4e5b9u >> 1);
}

// --- construction ---------------------------------------------------------------------------------------------

constexpr const char* kNames[] = {"days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"};
constexpr int64_t kUnits[] = {kDay, 1'000'000, 1, 1000, 60'000'000, 3'600'000'000, 7 * kDay};

struct Sum {
  Wide total = 0;
  double left = 0;  // parts of microseconds
};

void add_float(Vm& vm, Sum& sum, double value, int64_t unit) {
  if (std::isnan(value)) raise_value_error(vm, "cannot convert float NaN to integer");
  if (std::isinf(value)) raise(vm, vm.exceptions().OverflowError, "cannot convert float infinity to integer");
  double whole;
  const double part = std::modf(value, &whole);
  if (std::abs(whole) > 1e25) too_large(vm);
  sum.total += static_cast<Wide>(whole) * unit;
  double more;
  sum.left += std::modf(static_cast<double>(unit) * part, &more);
  sum.total += static_cast<Wide>(more);
}

void add_part(Vm& vm, Sum& sum, const Value& given, int i) {
  const Value value = is_kind(given, Kind::BoxedNumber) ? unboxed_number(given) : given;
  if (value.is_float()) return add_float(vm, sum, value.as_float(), kUnits[i]);
  if (!is_whole(value))
    raise_type_error(
        vm, std::string("unsupported type for timedelta ") + kNames[i] + " component: " + type_name(vm, given));
  Wide n;
  if (!to_wide(value, n) || n > Wide{1} << 80 || n < -(Wide{1} << 80)) too_large(vm);
  sum.total += n * kUnits[i];
}

Value construct_delta(Vm& vm, Type* type, Args& args) {
  Value parts[7];
  if (args.keyword_count == 0 && args.count <= 7) std::copy(args.positional, args.positional + args.count, parts);
  else bind_names(vm, {kNames, 0, 7, true}, args, parts);
  Sum sum;
  for (const int i : {2, 3, 1, 4, 5, 0, 6})
    if (!parts[i].is_undefined()) add_part(vm, sum, parts[i], i);
  if (sum.left != 0) {
    double rounded = std::round(sum.left);
    if (std::abs(rounded - sum.left) == 0.5) {  // to the even sum, not the even part
      const double odd = sum.total & 1 ? 1 : 0;
      rounded = 2 * std::round((sum.left + odd) * 0.5) - odd;
    }
    sum.total += static_cast<Wide>(rounded);
  }
  return make_duration(vm, sum.total, type);
}

// --- text and attributes --------------------------------------------------------------------------------------

Value repr_of(Vm& vm, const Value& self) {
  const Duration* d = duration_of(self);
  std::string parts;
  auto add = [&](const char* name, int32_t value) {
    if (value) parts += (parts.empty() ? "" : ", ") + std::string(name) + "=" + std::to_string(value);
  };
  add("days", d->days), add("seconds", d->seconds), add("microseconds", d->microseconds);
  const Type* type = self.object()->type;
  const bool own = type == calendar_types(vm).timedelta;
  return str_value(vm, (own ? "datetime." : "") + own_name(type) + "(" + (parts.empty() ? "0" : parts) + ")");
}

Value str_of(Vm& vm, const Value& self) {
  const Duration* d = duration_of(self);
  std::string out;
  if (d->days) out = std::to_string(d->days) + (std::abs(d->days) == 1 ? " day, " : " days, ");
  char time[32];
  std::snprintf(time, sizeof time, "%d:%02d:%02d", d->seconds / 3600, d->seconds / 60 % 60, d->seconds % 60);
  out += time;
  if (d->microseconds) std::snprintf(time, sizeof time, ".%06d", d->microseconds), out += time;
  return str_value(vm, out);
}

Value get_days(Vm&, const Value& v) { return Value::integer(duration_of(v)->days); }
Value get_seconds(Vm&, const Value& v) { return Value::integer(duration_of(v)->seconds); }
Value get_microseconds(Vm&, const Value& v) { return Value::integer(duration_of(v)->microseconds); }
Value get_total(Vm& vm, const Value& v) { return wide_value(vm, duration_of(v)->total()); }
Value total_seconds(Vm& vm, Args& a) { return ratio(vm, duration_of(a[0])->total(), 1'000'000); }
Value reduce(Vm& vm, Args& a) {
  const Duration* d = duration_of(a[0]);
  const Value parts[] = {Value::integer(d->days), Value::integer(d->seconds), Value::integer(d->microseconds)};
  const Value made[] = {Value(a[0].object()->type), make_tuple(vm, parts).take()};
  return make_tuple(vm, made).take();
}

}  // namespace

Value make_duration(Vm& vm, Wide microseconds, Type* type) {
  const Wide days = floor_divide(microseconds, kDay);
  if (days > kMostDays || days < -kMostDays) {
    if (days != static_cast<int32_t>(days)) too_large(vm);
    raise(vm, vm.exceptions().OverflowError,
          "days=" + std::to_string(static_cast<int32_t>(days)) + "; must have magnitude <= 999999999");
  }
  const auto rest = static_cast<int64_t>(microseconds - days * kDay);
  Local<Duration> made = vm.heap().make<Duration>(type ? type : calendar_types(vm).timedelta);
  made->days = static_cast<int32_t>(days);
  made->seconds = static_cast<int32_t>(rest / 1'000'000);
  made->microseconds = static_cast<int32_t>(rest % 1'000'000);
  return made.take();
}

Type* make_timedelta_type(Vm& vm) {
  TypeBuilder b(vm, "timedelta", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<Duration>;
  s.traverse = traverse_instance;
  s.clear = clear_instance;
  s.construct = construct_delta;
  s.binary = delta_binary;
  s.unary = delta_unary;
  s.compare = delta_compare;
  s.hash = hash_of;
  s.truth = [](Vm&, const Value& self) { return duration_of(self)->total() != 0; };
  s.repr = repr_of;
  s.to_str = str_of;
  b.allow_subclasses(offset_of(&Duration::state));
  b.module("datetime")
      .getter("days", get_days)
      .getter("seconds", get_seconds)
      .getter("microseconds", get_microseconds)
      .getter("_us", get_total)
      .method("total_seconds", "self", total_seconds)
      .method("__divmod__", "self, other, /", divmod_)
      .method("__reduce__", "self", reduce);
  return b.finish();
}

}  // namespace tsc::interp
