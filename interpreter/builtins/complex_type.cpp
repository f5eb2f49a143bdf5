// complex: arithmetic, comparison, text and formatting, as CPython 3.11 has them.
#include <charconv>
#include <cmath>
#include <cstdint>

#include "interpreter/builtins/builtins.h"
#include "interpreter/value/complex.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

ComplexNumber self_of(const Value& v) { return cast<ComplexObject>(v)->number; }

// Squares along the bits of the exponent.
ComplexNumber positive_power(ComplexNumber x, int64_t n) {
  ComplexNumber result{1, 0}, square = x;
  for (int64_t mask = 1; n >= mask; mask <<= 1) {
    if (n & mask) result = complex_product(result, square);
    square = complex_product(square, square);
  }
  return result;
}

ComplexNumber polar_power(Vm& vm, ComplexNumber a, ComplexNumber b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.im != 0 || b.re < 0) raise(vm, vm.exceptions().ZeroDivisionError, "0.0 to a negative or complex power");
    return {0, 0};
  }
  const double magnitude = std::hypot(a.re, a.im), angle = std::atan2(a.im, a.re);
  double length = std::pow(magnitude, b.re), phase = angle * b.re;
  if (b.im != 0) {
    length /= std::exp(angle * b.im);
    phase += b.im * std::log(magnitude);
  }
  return {length * std::cos(phase), length * std::sin(phase)};
}

// Objects of subclasses of int and float count as their numbers, whatever methods they have.
Value plain_operand(const Value& v) { return is_kind(v, Kind::BoxedNumber) ? unboxed_number(v) : v; }

bool is_equal(const Value& self, const Value& other) {
  const ComplexNumber z = self_of(self);
  if (const auto* right = try_cast<ComplexObject>(other)) return z.re == right->number.re && z.im == right->number.im;
  if (is_big(other)) return z.im == 0 && !std::isnan(z.re) && compare_big_float(other, z.re) == 0;
  return z.im == 0 && number_compare(CompareOp::Eq, Value::real(z.re), other);
}

Value complex_compare(Vm& vm, CompareOp op, const Value& self, const Value& given) {
  const Value other = plain_operand(given);
  const bool known = is_kind(other, Kind::Complex) || is_number(other) || is_big(other);
  if (!known || (op != CompareOp::Eq && op != CompareOp::Ne)) return vm.not_implemented();
  return Value::boolean(is_equal(self, other) == (op == CompareOp::Eq));
}

Value complex_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
  const std::optional<ComplexNumber> a = as_complex(plain_operand(left)), b = as_complex(plain_operand(right));
  if (!a || !b) return vm.not_implemented();
  switch (op) {
    case BinaryOp::Add: return make_complex(vm, {a->re + b->re, a->im + b->im});
    case BinaryOp::Sub: return make_complex(vm, {a->re - b->re, a->im - b->im});
    case BinaryOp::Mul: return make_complex(vm, complex_product(*a, *b));
    case BinaryOp::TrueDiv: return make_complex(vm, complex_quotient(vm, *a, *b));
    case BinaryOp::Pow: return make_complex(vm, complex_power(vm, *a, *b));
    default: return vm.not_implemented();
  }
}

Value complex_unary(Vm& vm, UnaryOp op, const Value& self) {
  const ComplexNumber z = self_of(self);
  if (op == UnaryOp::Negative) return make_complex(vm, {-z.re, -z.im});
  if (op == UnaryOp::Positive) return self.object()->type == vm.types().complex ? self : make_complex(vm, z);
  if (op != UnaryOp::Absolute) return vm.not_implemented();
  const double magnitude = std::hypot(z.re, z.im);
  if (std::isinf(magnitude) && std::isfinite(z.re) && std::isfinite(z.im))
    raise(vm, vm.exceptions().OverflowError, "absolute value too large");
  return Value::real(magnitude);
}

int64_t complex_hash(Vm&, const Value& self) {
  const ComplexNumber z = self_of(self);
  const uint64_t h = number_hash(Value::real(z.re)) + 1000003 * number_hash(Value::real(z.im));
  return static_cast<int64_t>(h == static_cast<uint64_t>(-1) ? static_cast<uint64_t>(-2) : h);
}

// repr without the ".0" of whole numbers.
std::string short_text(double d) {
  std::string text = float_repr(d);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}
std::string signed_text(const std::string& text) { return (text[0] == '-' ? "" : "+") + text; }
bool is_plus_zero(double d) { return d == 0 && !std::signbit(d); }

// ---- from text

// One float at the front of text, or 0 characters.
size_t read_float(std::string_view text, double* out) {
  size_t at = !text.empty() && (text[0] == '+' || text[0] == '-');
  const bool negative = at && text[0] == '-';
  std::string rest;
  for (char c : text.substr(at)) rest += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* name : {"infinity", "inf", "nan"}) {
    if (!rest.starts_with(name)) continue;
    *out = std::copysign(name[0] == 'n' ? std::nan("") : HUGE_VAL, negative ? -1.0 : 1.0);
    return at + std::string_view(name).size();
  }
  if (rest.empty() || !(std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '.')) return 0;
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error == std::errc::invalid_argument) return 0;
  if (error == std::errc::result_out_of_range) number = std::strtod(rest.c_str(), nullptr);
  *out = negative ? -number : number;
  return at + static_cast<size_t>(end - rest.data());
}

bool is_unit(std::string_view text) { return !text.empty() && (text[0] == 'j' || text[0] == 'J'); }

// "1+2j", "2j", "+j", "1": a part with or without j, or both; one pair of brackets around it.
bool read_complex(std::string_view text, ComplexNumber* out) {
  double first = 0;
  size_t used = read_float(text, &first);
  if (used == 0) {  // j, +j, -j
    const size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-');
    if (!is_unit(text.substr(sign)) || text.size() != sign + 1) return false;
    *out = {0, text[0] == '-' ? -1.0 : 1.0};
    return true;
  }
  text.remove_prefix(used);
  if (text.empty()) return *out = {first, 0}, true;
  if (is_unit(text)) return *out = {0, first}, text.size() == 1;
  if (text[0] != '+' && text[0] != '-') return false;
  double second = text[0] == '-' ? -1 : 1;
  used = read_float(text, &second);
  text.remove_prefix(used == 0 ? 1 : used);
  *out = {first, second};
  return is_unit(text) && text.size() == 1;
}

std::string_view strip(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

Value parse_complex(Vm& vm, const Value& v) {
  std::string_view text = strip(cast<StrObject>(v)->view());
  if (text.size() > 1 && text.front() == '(' && text.back() == ')') text = strip(text.substr(1, text.size() - 2));
  std::string digits;
  bool ok = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') digits += text[i];
    else
      ok = ok && i > 0 && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i - 1])) &&
           std::isdigit(static_cast<unsigned char>(text[i + 1]));
  }
  ComplexNumber z;
  if (!ok) raise_value_error(vm, "could not convert string to complex: " + repr(vm, v));
  if (!read_complex(digits, &z)) raise_value_error(vm, "complex() arg is a malformed string");
  return make_complex(vm, z);
}

ComplexNumber argument(Vm& vm, const Value& v, const char* which, const char* kinds) {
  if (const std::optional<ComplexNumber> z = to_complex(vm, v)) return *z;
  raise_type_error(
      vm, std::string("complex() ") + which + " argument must be a " + kinds + ", not '" + type_name(vm, v) + "'");
}

// Of a script class.
struct ComplexInstance : ComplexObject {
  InstanceState state;
};

Value complex_construct(Vm& vm, Type* type, Args& args) {
  if (type->type_flags & kScriptClass) {
    const Value plain = complex_construct(vm, vm.types().complex, args);
    Local<ComplexInstance> made = vm.heap().make<ComplexInstance>(type);
    made->number = cast<ComplexObject>(plain)->number;
    made->state.shape = type->root();
    return made.take();
  }
  static const Signature kSignature("real=0, imag=?");
  std::vector<Value> v;
  kSignature.bind(vm, "complex", args, v);
  const bool both = static_cast<bool>(v[1]);
  if (is_kind(v[0], Kind::Str)) {
    if (both) raise_type_error(vm, "complex() can't take second arg if first is a string");
    return parse_complex(vm, v[0]);
  }
  if (both && is_kind(v[1], Kind::Str)) raise_type_error(vm, "complex() second arg can't be a string");
  if (!both && is_kind(v[0], Kind::Complex) && v[0].object()->type == vm.types().complex) return v[0];
  const ComplexNumber a = argument(vm, v[0], "first", "string or a number");
  if (!both) return make_complex(vm, a);
  const ComplexNumber b = argument(vm, v[1], "second", "number");
  // a + b j; a part that nobody gave adds nothing, not even a zero's sign.
  const bool a_is_complex = !is_number(v[0]) && a.im != 0, b_is_complex = !is_number(v[1]) && b.im != 0;
  return make_complex(vm, {b_is_complex ? a.re - b.im : a.re, a_is_complex ? b.re + a.im : b.re});
}

// ---- formatting

// What stands in front of the width in a format specification, the width, and what goes to the parts.
struct ComplexSpec {
  std::string fill = " ";
  char align = '>', type = 0;
  std::string sign, parts;  // parts: "#", ",", ".3" and the type
  int64_t width = 0;
  bool has_precision = false;
};

[[noreturn]] void bad_format(Vm& vm, const std::string& message) { raise_value_error(vm, message); }

ComplexSpec read_spec(Vm& vm, std::string_view text) {
  ComplexSpec spec;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  size_t at = 0, fill = 0;
  if (!text.empty()) decode_utf8(text, fill);
  if (fill > 0 && fill < text.size() && is_align(text[fill])) {
    spec.fill = std::string(text.substr(0, fill));
    spec.align = text[fill];
    at = fill + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    at = 1;
  }
  const auto next = [&] { return at < text.size() ? text[at] : '\0'; };
  if (next() == '+' || next() == '-' || next() == ' ') spec.sign = text[at++];
  if (next() == 'z') spec.parts += text[at++];
  if (next() == '#') spec.parts += text[at++];
  if (next() == '0') bad_format(vm, "Zero padding is not allowed in complex format specifier");
  while (std::isdigit(static_cast<unsigned char>(next()))) {
    spec.width = spec.width * 10 + (text[at++] - '0');
    if (spec.width > INT32_MAX) bad_format(vm, "Too many decimal digits in format string");
  }
  if (next() == ',' || next() == '_') spec.parts += text[at++];
  if (next() == '.') {
    spec.parts += text[at++];
    spec.has_precision = true;
    if (!std::isdigit(static_cast<unsigned char>(next()))) bad_format(vm, "Format specifier missing precision");
    while (std::isdigit(static_cast<unsigned char>(next()))) spec.parts += text[at++];
  }
  if (at + 1 < text.size()) bad_format(vm, "Invalid format specifier");
  spec.type = next();
  if (spec.type && std::string_view("eEfFgGn").find(spec.type) == std::string_view::npos)
    bad_format(vm, std::string("Unknown format code '") + spec.type + "' for object of type 'complex'");
  if (spec.align == '=') bad_format(vm, "'=' alignment flag is not allowed in complex format specifier");
  return spec;
}

std::string part_text(Vm& vm, double d, const ComplexSpec& spec, const std::string& sign) {
  if (spec.type || spec.has_precision)
    return format(vm, Value::real(d), sign + spec.parts + (spec.type ? spec.type : 'g'));
  std::string text = short_text(d);
  const bool pointless =
      spec.parts.find('#') != std::string::npos && std::isfinite(d) && text.find('.') == std::string::npos;
  if (pointless) text.insert(std::min(text.find('e'), text.size()), ".");
  return text[0] == '-' || sign.empty() || sign == "-" ? text : sign + text;
}

Value complex_format(Vm& vm, const Value& self, StrObject* format_spec) {
  if (format_spec->view().empty()) return str_value(vm, complex_repr(self_of(self)));
  const ComplexSpec spec = read_spec(vm, format_spec->view());
  const ComplexNumber z = self_of(self);
  std::string text = part_text(vm, z.im, spec, spec.type || !is_plus_zero(z.re) ? "+" : spec.sign) + "j";
  if (spec.type) text = part_text(vm, z.re, spec, spec.sign) + text;
  else if (!is_plus_zero(z.re)) text = "(" + part_text(vm, z.re, spec, spec.sign) + text + ")";
  const int64_t room = std::max<int64_t>(spec.width - static_cast<int64_t>(text.size()), 0);
  const int64_t left = spec.align == '>' ? room : spec.align == '^' ? room / 2 : 0;
  check_text_room(static_cast<size_t>(room) * std::max<size_t>(spec.fill.size(), 1));
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += spec.fill;
  out += text;
  for (int64_t i = left; i < room; ++i) out += spec.fill;
  return str_value(vm, out);
}

Value complex_conjugate(Vm& vm, Args& args) {
  const ComplexNumber z = self_of(args[0]);
  return make_complex(vm, {z.re, -z.im});
}
Value complex_itself(Vm& vm, Args& args) { return complex_unary(vm, UnaryOp::Positive, args[0]); }
Value complex_new_arguments(Vm& vm, Args& args) {
  const ComplexNumber z = self_of(args[0]);
  return make_tuple(vm, std::vector<Value>{Value::real(z.re), Value::real(z.im)}).take();
}

}  // namespace

Value make_complex(Vm& vm, ComplexNumber z) {
  Local<ComplexObject> made = vm.heap().make<ComplexObject>(vm.types().complex);
  made->number = z;
  return made.take();
}

std::optional<ComplexNumber> as_complex(const Value& v) {
  if (const auto* z = try_cast<ComplexObject>(v)) return z->number;
  if (v.is_float()) return ComplexNumber{v.as_float(), 0};
  if (is_number(v)) return ComplexNumber{static_cast<double>(v.as_int()), 0};
  if (is_big(v)) return ComplexNumber{big_to_double(*v.object()->type->vm, v), 0};
  return std::nullopt;
}

std::optional<ComplexNumber> to_complex(Vm& vm, const Value& v) {
  Type* type = type_of(vm, v);
  const bool is_own = is_kind(v, Kind::Complex) && type->type_flags & kScriptClass;  // which may have a __complex__
  if (const std::optional<ComplexNumber> z = is_own ? std::nullopt : as_complex(v)) return z;
  if (const Value* method = lookup_in_type(type, intern(vm, "__complex__"))) {
    const Value made = call(vm, bind_attribute(vm, *method, v, type));
    if (const auto* z = try_cast<ComplexObject>(made)) return z->number;
    raise_type_error(vm, "__complex__ returned non-complex (type " + type_name(vm, made) + ")");
  }
  if (type->slots.to_float || type->slots.to_index) return ComplexNumber{to_double(vm, v), 0};
  return std::nullopt;
}

std::string complex_repr(ComplexNumber z) {
  if (is_plus_zero(z.re)) return short_text(z.im) + "j";
  return "(" + short_text(z.re) + signed_text(short_text(z.im)) + "j)";
}

ComplexNumber complex_product(ComplexNumber a, ComplexNumber b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Scaled by the larger part of the divisor.
ComplexNumber complex_quotient(Vm& vm, ComplexNumber a, ComplexNumber b) {
  const double re = std::fabs(b.re), im = std::fabs(b.im);
  if (re >= im) {
    if (re == 0) raise(vm, vm.exceptions().ZeroDivisionError, "complex division by zero");
    const double ratio = b.im / b.re, divisor = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor};
  }
  if (im >= re) {
    const double ratio = b.re / b.im, divisor = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / divisor, (a.im * ratio - a.re) / divisor};
  }
  return {std::nan(""), std::nan("")};
}

ComplexNumber complex_power(Vm& vm, ComplexNumber a, ComplexNumber b) {
  ComplexNumber power;
  if (b.im == 0 && b.re == std::floor(b.re) && std::fabs(b.re) <= 100) {
    const auto n = static_cast<int64_t>(b.re);
    if (n < 0 && a.re == 0 && a.im == 0)
      raise(vm, vm.exceptions().ZeroDivisionError, "0.0 to a negative or complex power");
    power = positive_power(a, std::abs(n));
    if (n <= 0) power = complex_quotient(vm, {1, 0}, power);
  } else {
    power = polar_power(vm, a, b);
  }
  if (std::isinf(power.re) || std::isinf(power.im)) raise(vm, vm.exceptions().OverflowError, "complex exponentiation");
  return power;
}

void init_complex_type(Vm& vm) {
  TypeBuilder type(vm, "complex", Kind::Complex);
  TypeSlots& slots = type.slots();
  slots.construct = complex_construct;
  slots.destroy = [](Vm& vm, Object* o) {
    o->type->type_flags& kScriptClass ? destroy_as<ComplexInstance>(vm, o) : destroy_as<ComplexObject>(vm, o);
  };
  slots.traverse = traverse_instance;
  slots.clear = clear_instance;
  slots.binary = complex_binary;
  slots.unary = complex_unary;
  slots.compare = complex_compare;
  slots.hash = complex_hash;
  slots.truth = [](Vm&, const Value& v) { return self_of(v).re != 0 || self_of(v).im != 0; };
  slots.repr = [](Vm& v, const Value& z) { return str_value(v, complex_repr(self_of(z))); };
  slots.format = complex_format;
  type.allow_subclasses(offset_of(&ComplexInstance::state));
  type.method("conjugate", "self", complex_conjugate)
      .method("__complex__", "self", complex_itself)
      .method("__getnewargs__", "self", complex_new_arguments)
      .getter("real", [](Vm&, const Value& z) { return Value::real(self_of(z).re); })
      .getter("imag", [](Vm&, const Value& z) { return Value::real(self_of(z).im); });
  VmAccess::types(vm).complex = type.finish();
  add_builtin(vm, "complex", Value(vm.types().complex));
}

}  // namespace tsc::interp
