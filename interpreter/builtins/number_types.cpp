// int, float, bool, None, NotImplemented, Ellipsis. Script subclasses of int and float are boxed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "interpreter/builtins/builtins.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/system_hooks.h"

namespace tsc::interp {
namespace {

// An instance of a script subclass of int or float: the slots unwrap it.
struct BoxedNumber : Instance {
  Value number;
  BoxedNumber() : Instance(Kind::BoxedNumber) {}
};

}  // namespace

Value unboxed_number(const Value& v) { return static_cast<BoxedNumber*>(v.object())->number; }

namespace {

Value unbox(const Value& v) { return is_kind(v, Kind::BoxedNumber) ? unboxed_number(v) : v; }
bool numeric(const Value& v) { return is_number(v) || is_big(v) || is_kind(v, Kind::BoxedNumber); }

Value box(Vm& vm, Type* type, const Value& number) {
  if (!(type->type_flags & kScriptClass) || number.is_undefined()) return number;
  Local<BoxedNumber> b = vm.heap().make<BoxedNumber>(type);
  b->number = number;
  return b.take();
}

Value number_binary_slot(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  if (!numeric(a) || !numeric(b)) return vm.not_implemented();
  const Value x = unbox(a), y = unbox(b);
  if (!is_big(x) && !is_big(y)) return number_binary(vm, op, x, y);
  if (!x.is_float() && !y.is_float()) return big_binary(vm, op, x, y);
  return number_binary(vm, op, is_big(x) ? Value::real(big_to_double(vm, x)) : x,
                       is_big(y) ? Value::real(big_to_double(vm, y)) : y);
}
Value number_unary_slot(Vm& vm, UnaryOp op, const Value& v) {
  const Value n = unbox(v);
  return is_big(n) ? big_unary(vm, op, n) : number_unary(vm, op, n);
}
bool holds(CompareOp op, int order) {
  switch (op) {
    case CompareOp::Lt: return order < 0;
    case CompareOp::Le: return order <= 0;
    case CompareOp::Eq: return order == 0;
    case CompareOp::Ne: return order != 0;
    case CompareOp::Gt: return order > 0;
    default: return order >= 0;
  }
}
Value number_compare_slot(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!numeric(a) || !numeric(b)) return vm.not_implemented();
  const Value x = unbox(a), y = unbox(b);
  if (!is_big(x) && !is_big(y)) return Value::boolean(number_compare(op, x, y));
  if (!x.is_float() && !y.is_float()) return Value::boolean(holds(op, compare_ints(x, y)));
  const double d = x.is_float() ? x.as_float() : y.as_float();
  if (std::isnan(d)) return Value::boolean(op == CompareOp::Ne);
  return Value::boolean(holds(op, x.is_float() ? -compare_big_float(y, d) : compare_big_float(x, d)));
}
int64_t number_hash_slot(Vm&, const Value& v) {
  const Value n = unbox(v);
  return static_cast<int64_t>(is_big(n) ? big_hash(n) : number_hash(n));
}
bool number_truth(Vm& vm, const Value& v) {
  const Value n = unbox(v);
  return is_big(n) || truth(vm, n);
}
Value number_repr(Vm& vm, const Value& v) {
  const Value n = unbox(v);
  return str_value(vm, is_big(n) ? digits_of(vm, n, 10) : repr(vm, n));
}
// An int as it is, a bool as an int.
Value plain_int(const Value& n) { return n.is_bool() ? Value::integer(n.as_int()) : n; }
Value number_to_int(Vm& vm, const Value& v) {
  Value n = unbox(v);
  return n.is_float() ? float_to_int(vm, n.as_float()) : plain_int(n);
}
Value number_to_float(Vm& vm, const Value& v) {
  const Value n = unbox(v);
  return Value::real(is_big(n) ? big_to_double(vm, n) : to_double(vm, n));
}
Value number_to_index(Vm&, const Value& v) { return plain_int(unbox(v)); }
Value number_format(Vm& vm, const Value& v, StrObject* spec) {
  if (spec->view().empty()) return str_value(vm, to_string(vm, v));
  const Value n = unbox(v);
  return str_value(vm, is_big(n) ? format_big(vm, n, spec->view()) : format(vm, n, spec->view()));
}
void number_destroy(Vm& vm, Object* o) {
  if (o->kind == Kind::BigInt) destroy_big(vm, o);
  else destroy_as<BoxedNumber>(vm, o);
}
void number_traverse(Object* o, Visitor& visit) {
  if (o->kind != Kind::BigInt) traverse_instance(o, visit);
}

// Numbers may be written with the decimals of any script, and with any blanks around them.
std::string ascii_digits(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    uint32_t c = decode_utf8(text, i);
    int digit = c < 0x80 ? -1 : decimal_digit(c);
    if (digit >= 0) out += static_cast<char>('0' + digit);
    else if (c >= 0x80 && is_space(c)) out += ' ';
    else append_utf8(out, c);
  }
  return out;
}
// The text of a str or a bytes-like argument.
std::string number_text(Vm& vm, const Value& v) {
  if (Buffer::is_bytes_like(v)) return copied_bytes(vm, v);
  StrObject* text = cast<StrObject>(v);
  return text->ascii ? std::string(text->view()) : ascii_digits(text->view());
}
bool is_number_text(const Value& v) { return is_kind(v, Kind::Str) || Buffer::is_bytes_like(v); }

std::string_view strip(std::string_view s) {
  auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

// Digits with single underscores between them, without the underscores; false when malformed.
bool remove_underscores(std::string_view s, std::string& out) {
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '_') {
      out += s[i];
    } else if (i == 0 || i + 1 == s.size() || !std::isalnum(static_cast<unsigned char>(s[i - 1])) ||
               !std::isalnum(static_cast<unsigned char>(s[i + 1]))) {
      return false;
    }
  }
  return true;
}

Value parse_int(Vm& vm, const Value& text, int64_t base) {
  const std::string whole = number_text(vm, text);
  std::string_view s = strip(whole);
  bool negative = false;
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  auto prefix = [&](char letter, int value) {
    bool has = s.size() > 1 && s[0] == '0' && (s[1] | 32) == letter;
    if (!has || (base != 0 && base != value)) return;
    base = value;
    s.remove_prefix(2);
    if (!s.empty() && s[0] == '_') s.remove_prefix(1);
  };
  int64_t stated = base;
  prefix('x', 16);
  prefix('o', 8);
  prefix('b', 2);
  bool zero_first =
      stated == 0 && base == 0 && s.find_first_not_of("0_") != std::string_view::npos && s.size() > 1 && s[0] == '0';
  if (base == 0) base = 10;
  std::string digits;
  uint64_t magnitude = 0;
  bool ok = remove_underscores(s, digits) && !digits.empty() && !zero_first;
  if (ok) {
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, static_cast<int>(base));
    ok = end == digits.data() + digits.size();
    bool too_large = error == std::errc::result_out_of_range || magnitude > static_cast<uint64_t>(INT64_MAX) + negative;
    if (ok && too_large) {
      const size_t first = digits.find_first_not_of('0');
      return int_of_digits(vm, std::string_view(digits).substr(first), static_cast<int>(base), negative);
    }
  }
  if (!ok)
    return return_error(vm, vm.exceptions().ValueError,
                        "invalid literal for int() with base " + std::to_string(stated) + ": " +
                            repr(vm, is_kind(text, Kind::Str) ? text : as_bytes(vm, text)));
  return Value::integer(static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude));
}

Value int_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("x=0, /, base=?");
  std::vector<Value> v;
  if (args.count > 2)
    raise_type_error(vm, "int() takes at most 2 arguments (" + std::to_string(args.count) + " given)");
  kSignature.bind(vm, "int", args, v);
  const Value& x = v[0];
  if (v[1]) {
    int64_t base = to_index(vm, v[1]);
    if (args.count == 0) raise_type_error(vm, "int() missing string argument");
    if (!is_kind(x, Kind::Str) && !is_byte_string(x))
      raise_type_error(vm, "int() can't convert non-string with explicit base");
    if (base != 0 && (base < 2 || base > 36)) raise_value_error(vm, "int() base must be >= 2 and <= 36, or 0");
    return box(vm, type, parse_int(vm, x, base));
  }
  if (is_integer_like(x)) return box(vm, type, Value::integer(x.as_int()));
  if (x.is_float()) return box(vm, type, float_to_int(vm, x.as_float()));
  const TypeSlots& slots = type_of(vm, x)->slots;
  if (slots.to_int) return box(vm, type, slots.to_int(vm, x));
  if (slots.to_index) return box(vm, type, whole_of(vm, x));
  if (is_number_text(x)) return box(vm, type, parse_int(vm, x, 10));
  return return_error(
      vm, vm.exceptions().TypeError,
      "int() argument must be a string, a bytes-like object or a real number, not '" + type_name(vm, x) + "'");
}

Value parse_float(Vm& vm, const Value& text) {
  const std::string whole = number_text(vm, text);
  std::string_view s = strip(whole);
  std::string digits;
  bool ok = remove_underscores(s, digits);
  const auto is_digit = [&](size_t i) { return i < s.size() && std::isdigit(static_cast<unsigned char>(s[i])); };
  for (size_t i = s.find('_'); i != std::string_view::npos; i = s.find('_', i + 1))
    ok = ok && i > 0 && is_digit(i - 1) && is_digit(i + 1);
  std::string lower;
  for (char c : digits) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  bool negative = !lower.empty() && lower[0] == '-';
  std::string body = lower.substr(!lower.empty() && (lower[0] == '+' || lower[0] == '-') ? 1 : 0);
  double d = 0;
  if (body == "inf" || body == "infinity") {
    d = std::numeric_limits<double>::infinity();
  } else if (body == "nan") {
    d = std::numeric_limits<double>::quiet_NaN();
  } else {
    ok = ok && !body.empty() && (std::isdigit(static_cast<unsigned char>(body[0])) || body[0] == '.');
    auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), d);
    ok = ok && end == body.data() + body.size() && error != std::errc::invalid_argument;
    if (ok && error == std::errc::result_out_of_range) d = std::strtod(body.c_str(), nullptr);
  }
  if (!ok) return return_error(vm, vm.exceptions().ValueError, "could not convert string to float: " + repr(vm, text));
  return Value::real(negative ? -d : d);
}

Value float_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("x=0.0, /");
  std::vector<Value> v;
  kSignature.bind(vm, "float", without_keywords_for(type, vm.names().init, args), v);
  const Value& x = v[0];
  if (is_number(x)) return box(vm, type, Value::real(to_double(vm, x)));
  const TypeSlots& slots = type_of(vm, x)->slots;
  const bool converts = slots.to_float || slots.to_index;
  if (!converts && is_number_text(x)) return box(vm, type, parse_float(vm, x));
  if (!converts)
    return return_error(vm, vm.exceptions().TypeError,
                        "float() argument must be a string or a real number, not '" + type_name(vm, x) + "'");
  return box(vm, type, Value::real(to_double(vm, x)));
}

Value bool_construct(Vm& vm, Type*, Args& args) {
  static const Signature kSignature("x=False, /");
  std::vector<Value> v;
  kSignature.bind(vm, "bool", args, v);
  return Value::boolean(truth(vm, v[0]));
}

Value int_bit_length(Vm&, Args& a) {
  if (const Value n = unbox(a[0]); is_big(n)) return Value::integer(bit_length_of(n));
  int64_t i = unbox(a[0]).as_int();
  uint64_t u = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  return Value::integer(u ? 64 - __builtin_clzll(u) : 0);
}
Value int_bit_count(Vm&, Args& a) {
  if (const Value n = unbox(a[0]); is_big(n)) return Value::integer(bit_count_of(n));
  int64_t i = unbox(a[0]).as_int();
  return Value::integer(__builtin_popcountll(i < 0 ? 0 - static_cast<uint64_t>(i) : i));
}
Value number_conjugate(Vm&, Args& a) { return unbox(a[0]); }
Value number_real(Vm&, const Value& v) {
  Value n = unbox(v);
  return n.is_bool() ? Value::integer(n.as_int()) : n;
}
Value int_numerator(Vm&, const Value& v) { return plain_int(unbox(v)); }
Value int_denominator(Vm&, const Value&) { return Value::integer(1); }
Value number_imag(Vm&, const Value& v) { return unbox(v).is_float() ? Value::real(0) : Value::integer(0); }
Value int_is_integer(Vm&, Args&) { return Value::boolean(true); }
Value float_is_integer(Vm&, Args& a) {
  double d = unbox(a[0]).as_float();
  return Value::boolean(std::isfinite(d) && d == std::floor(d));
}
Value integer_ratio(Vm& vm, Args& a) {
  const Value n = unbox(a[0]);
  const auto pair = [&](const Value& up, const Value& down) {
    return make_tuple(vm, std::vector<Value>{up, down}).take();
  };
  if (!n.is_float()) return pair(plain_int(n), Value::integer(1));
  const double d = n.as_float();
  if (std::isnan(d)) raise_value_error(vm, "cannot convert NaN to integer ratio");
  if (std::isinf(d)) raise(vm, vm.exceptions().OverflowError, "cannot convert Infinity to integer ratio");
  int exponent;
  double m = std::frexp(d, &exponent);
  while (m != std::floor(m)) {
    m *= 2;
    --exponent;
  }
  const Value whole = Value::integer(static_cast<int64_t>(m)), one = Value::integer(1);
  const Value shift = Value::integer(std::abs(exponent));
  if (exponent >= 0) return pair(binary(vm, BinaryOp::LShift, whole, shift), one);
  return pair(whole, binary(vm, BinaryOp::LShift, one, shift));
}
Value float_hex(Vm& vm, Args& a) {
  double d = unbox(a[0]).as_float();
  if (!std::isfinite(d)) return str_value(vm, float_repr(d));
  if (d == 0) return str_value(vm, std::signbit(d) ? "-0x0.0p+0" : "0x0.0p+0");
  int exponent;
  double m = std::frexp(std::fabs(d), &exponent) * 2;  // 1 <= m < 2, below the smallest normal less
  --exponent;
  if (exponent < -1022) {
    m = std::ldexp(m, exponent + 1022);
    exponent = -1022;
  }
  char text[64];
  auto bits = static_cast<uint64_t>(std::ldexp(m - std::floor(m), 52));
  std::snprintf(text, sizeof text, "%s0x%d.%013llxp%+d", d < 0 ? "-" : "", static_cast<int>(m),
                static_cast<unsigned long long>(bits), exponent);
  return str_value(vm, text);
}
Value float_fromhex(Vm& vm, Args& a) {
  std::string text(strip(text_of(vm, a[1], "fromhex() argument")));
  size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::string body = text.substr(sign), lower;
  for (char c : body) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  bool named = lower == "inf" || lower == "infinity" || lower == "nan";
  if (!named && !lower.starts_with("0x")) lower = "0x" + lower;
  char* end = nullptr;
  double d = std::strtod(lower.c_str(), &end);
  if (lower.size() < 3 || end != lower.c_str() + lower.size())
    raise_value_error(vm, "invalid hexadecimal floating-point string");
  if (std::isinf(d) && !named)
    raise(vm, vm.exceptions().OverflowError, "hexadecimal value too large to represent as a float");
  return call(vm, a[0], {Value::real(sign && text[0] == '-' ? -d : d)});
}

// --- bytes -------------------------------------------------------------------------------------------------

bool is_big_endian(Vm& vm, const Value& order) {
  std::string_view text = text_of(vm, order, "byteorder");
  if (text != "big" && text != "little") raise_value_error(vm, "byteorder must be either 'little' or 'big'");
  return text == "big";
}
Value int_to_bytes(Vm& vm, Args& a) {
  const Value value = plain_int(unbox(a[0]));
  const int64_t length = to_index(vm, a[1]);
  bool big = is_big_endian(vm, a[2]), has_sign = truth(vm, a[3]);
  if (length < 0) raise_value_error(vm, "length argument must be non-negative");
  if (compare_ints(value, Value::integer(0)) < 0 && !has_sign)
    raise(vm, vm.exceptions().OverflowError, "can't convert negative int to unsigned");
  std::string data;
  check_text_room(static_cast<size_t>(length));
  if (!bytes_of_int(value, length, has_sign, data)) raise(vm, vm.exceptions().OverflowError, "int too big to convert");
  if (big) std::reverse(data.begin(), data.end());
  return make_bytes(vm, std::move(data)).take();
}
Value int_from_bytes(Vm& vm, Args& a) {
  if (is_kind(a[1], Kind::Str) || (is_integer_like(a[1]) && !Buffer::is_bytes_like(a[1])))
    raise_type_error(vm, "cannot convert '" + type_name(vm, a[1]) + "' object to bytes");
  Value bytes = call(vm, Value(vm.types().bytes), {a[1]});
  std::string data = cast<BytesObject>(bytes)->data;
  if (is_big_endian(vm, a[2])) std::reverse(data.begin(), data.end());
  return call(vm, a[0], {int_of_bytes(vm, data, truth(vm, a[3]))});
}

// --- methods that are operators under another name ----------------------------------------------------

Value builtin(Vm& vm, const char* name) { return dict_get(vm, vm.builtins()->globals, name); }
// An int does not know floats: the float's reflected method answers.
bool answers(const Value& self, const Value& other) {
  return numeric(other) && (self.is_float() || !unbox(other).is_float());
}
Value number_divmod(Vm& vm, Args& a) {
  if (!answers(unbox(a[0]), a[1])) return vm.not_implemented();
  return call(vm, builtin(vm, "divmod"), {unbox(a[0]), unbox(a[1])});
}
Value number_rdivmod(Vm& vm, Args& a) {
  if (!answers(unbox(a[0]), a[1])) return vm.not_implemented();
  return call(vm, builtin(vm, "divmod"), {unbox(a[1]), unbox(a[0])});
}
Value number_round(Vm& vm, Args& a) {
  if (!a.has(1) || a[1].is_none()) return call(vm, builtin(vm, "round"), {unbox(a[0])});
  return call(vm, builtin(vm, "round"), {unbox(a[0]), a[1]});
}
template <double (*f)(double)>
Value number_rounded(Vm& vm, Args& a) {
  Value n = unbox(a[0]);
  return n.is_float() ? float_to_int(vm, f(n.as_float())) : plain_int(n);
}
void add_number_methods(TypeBuilder& b) {
  b.method("__divmod__", "self, value, /", number_divmod)
      .method("__rdivmod__", "self, value, /", number_rdivmod)
      .method("__round__", "self, ndigits=?, /", number_round)
      .method("__trunc__", "self", number_rounded<std::trunc>)
      .method("__floor__", "self", number_rounded<std::floor>)
      .method("__ceil__", "self", number_rounded<std::ceil>);
}

void add_number_slots(TypeSlots& s) {
  s.binary = number_binary_slot;
  s.unary = number_unary_slot;
  s.compare = number_compare_slot;
  s.hash = number_hash_slot;
  s.truth = number_truth;
  s.repr = number_repr;
  s.to_int = number_to_int;
  s.to_float = number_to_float;
  s.format = number_format;
  s.destroy = number_destroy;
  s.traverse = number_traverse;
  s.clear = clear_instance;
}

template <const char* kText>
Value constant_repr(Vm& vm, const Value&) {
  return str_value(vm, kText);
}
constexpr char kNone[] = "None";
constexpr char kNotImplemented[] = "NotImplemented";
constexpr char kEllipsis[] = "Ellipsis";

// The class of a constant gives the constant.
Value only_constant(Vm& vm, const Args& args, const char* name, const Value& constant) {
  if (args.count || args.keyword_count) raise_type_error(vm, std::string(name) + " takes no arguments");
  return constant;
}
// It is no mistake yet to take it for a truth.
bool not_implemented_truth(Vm& vm, const Value&) {
  warn(vm, "DeprecationWarning", "NotImplemented should not be used in a boolean context");
  return true;
}

void init_constants(Vm& vm) {
  Types& t = VmAccess::types(vm);
  TypeBuilder none(vm, "NoneType", Kind::Native);
  none.slots().repr = constant_repr<kNone>;
  none.slots().truth = [](Vm&, const Value&) { return false; };
  none.slots().hash = [](Vm& v, const Value& x) { return static_cast<int64_t>(hash(v, x)); };
  none.slots().construct = [](Vm& v, Type*, Args& a) { return only_constant(v, a, "NoneType", Value::none()); };
  t.none = none.finish();
  TypeBuilder not_implemented(vm, "NotImplementedType", Kind::Instance);
  not_implemented.slots() = t.object->slots;
  not_implemented.slots().repr = constant_repr<kNotImplemented>;
  not_implemented.slots().truth = not_implemented_truth;
  not_implemented.slots().construct = [](Vm& v, Type*, Args& a) {
    return only_constant(v, a, "NotImplementedType", v.not_implemented());
  };
  t.not_implemented = not_implemented.finish();
  TypeBuilder ellipsis(vm, "ellipsis", Kind::Instance);
  ellipsis.slots() = t.object->slots;
  ellipsis.slots().repr = constant_repr<kEllipsis>;
  ellipsis.slots().construct = [](Vm& v, Type*, Args& a) { return only_constant(v, a, "EllipsisType", v.ellipsis()); };
  t.ellipsis = ellipsis.finish();
  VmAccess::not_implemented(vm) = vm.heap().make<Instance>(t.not_implemented).take();
  VmAccess::ellipsis(vm) = vm.heap().make<Instance>(t.ellipsis).take();
  add_builtin(vm, "NotImplemented", vm.not_implemented());
  add_builtin(vm, "Ellipsis", vm.ellipsis());
}

}  // namespace

void init_number_types(Vm& vm) {
  Types& t = VmAccess::types(vm);
  init_constants(vm);
  TypeBuilder i(vm, "int", Kind::BoxedNumber);
  add_number_slots(i.slots());
  i.slots().to_index = number_to_index;
  i.slots().construct = int_construct;
  i.allow_subclasses(offset_of(&BoxedNumber::state));
  i.method("bit_length", "self", int_bit_length)
      .method("bit_count", "self", int_bit_count)
      .method("conjugate", "self", number_conjugate)
      .method("is_integer", "self", int_is_integer)
      .method("as_integer_ratio", "self", integer_ratio)
      .getter("real", number_real)
      .getter("imag", number_imag)
      .getter("numerator", int_numerator)
      .getter("denominator", int_denominator);
  i.method("to_bytes", "self, length=1, byteorder='big', *, signed=False", int_to_bytes)
      .class_method("from_bytes", "cls, bytes, byteorder='big', *, signed=False", int_from_bytes);
  add_number_methods(i);
  t.integer = i.finish();

  TypeBuilder f(vm, "float", Kind::BoxedNumber);
  add_number_slots(f.slots());
  f.slots().construct = float_construct;
  f.allow_subclasses(offset_of(&BoxedNumber::state));
  f.method("is_integer", "self", float_is_integer)
      .method("as_integer_ratio", "self", integer_ratio)
      .method("conjugate", "self", number_conjugate)
      .method("hex", "self", float_hex)
      .class_method("fromhex", "cls, string, /", float_fromhex)
      .getter("real", number_real)
      .getter("imag", number_imag);
  add_number_methods(f);
  t.real = f.finish();

  TypeBuilder b(vm, "bool", Kind::BoxedNumber, t.integer);
  b.slots().construct = bool_construct;
  t.boolean = b.finish();
  add_builtin(vm, "int", Value(t.integer));
  add_builtin(vm, "float", Value(t.real));
  add_builtin(vm, "bool", Value(t.boolean));
}

}  // namespace tsc::interp
