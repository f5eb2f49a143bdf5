// The format mini-language: [[fill]align][sign][z][#][0][width][,_][.precision][type].
#include <bit>
#include <charconv>
#include <cmath>
#include <span>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/copy_few.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

struct FormatSpec {
  std::string_view fill = " ";  // of the text of the specification
  char align = 0, sign = 0, grouping = 0, type = 0;
  bool alternate = false, zero = false, no_negative_zero = false;
  int64_t width = 0, precision = -1;
};

[[noreturn]] void bad_spec(const std::string& message) { throw Error(ErrorKind::ValueError, message); }

int64_t parse_number(std::string_view s, size_t& i) {
  int64_t n = 0;
  while (i < s.size() && s[i] >= '0' && s[i] <= '9') {
    n = n * 10 + (s[i++] - '0');
    if (n > (int64_t{1} << 31)) bad_spec("Too many decimal digits in format string");
  }
  return n;
}

bool among(char c, std::string_view codes) {
  for (char code : codes)
    if (c == code) return true;
  return false;
}

// Which presentation types take , or _ (text has the type s when none is given).
void check_grouping(const FormatSpec& spec, std::string_view type_name) {
  const char type = spec.type ? spec.type : type_name == "str" ? 's' : 'd';
  bool any = among(type, "defgEFG%");
  bool underscore = spec.grouping == '_' && among(type, "boxX");
  if (!any && !underscore) bad_spec(std::string("Cannot specify '") + spec.grouping + "' with '" + type + "'.");
}

FormatSpec parse_spec(std::string_view s, const char* type_name) {
  FormatSpec spec;
  size_t i = 0;
  auto is_align = [&](size_t at) { return at < s.size() && among(s[at], "<>=^"); };
  if (!s.empty()) {
    size_t after = 0;
    if (s[0] & 0x80) decode_utf8(s, after);
    else after = 1;
    if (is_align(after)) {
      spec.fill = s.substr(0, after);
      spec.align = s[after];
      i = after + 1;
    } else if (is_align(0)) {
      spec.align = s[i++];
    }
  }
  if (i < s.size() && (s[i] == '+' || s[i] == '-' || s[i] == ' ')) spec.sign = s[i++];
  if (i < s.size() && s[i] == 'z') spec.no_negative_zero = true, ++i;
  if (i < s.size() && s[i] == '#') spec.alternate = true, ++i;
  if (i < s.size() && s[i] == '0') {
    spec.zero = true;
    ++i;
    if (!spec.align) spec.align = '=', spec.fill = "0";
    else if (spec.fill == " ") spec.fill = "0";
  }
  spec.width = parse_number(s, i);
  if (i < s.size() && (s[i] == ',' || s[i] == '_')) spec.grouping = s[i++];
  if (spec.grouping && i < s.size() && (s[i] == ',' || s[i] == '_'))
    bad_spec(s[i] == spec.grouping ? std::string("Cannot specify '") + s[i] + "' with '" + s[i] + "'."
                                   : "Cannot specify both ',' and '_'.");
  if (i < s.size() && s[i] == '.') {
    size_t begin = ++i;
    spec.precision = parse_number(s, i);
    if (i == begin) bad_spec("Format specifier missing precision");
  }
  if (i < s.size()) spec.type = s[i++];
  if (i < s.size()) {
    bad_spec("Invalid format specifier '" + std::string(s) + "' for object of type '" + type_name + "'");
  }
  if (spec.grouping) check_grouping(spec, type_name);
  return spec;
}

[[noreturn]] void unknown_code(char code, const char* type_name) {
  bad_spec(std::string("Unknown format code '") + code + "' for object of type '" + type_name + "'");
}

// Inserts separators into digits.
std::string group_digits(std::string_view digits, char separator, size_t every) {
  const size_t end = digits.size();
  std::string out;
  for (size_t i = 0; i < end; ++i) {
    if (i && (end - i) % every == 0) out += separator;
    out += digits[i];
  }
  return out;
}

void add_fill(std::string& out, std::string_view fill, int64_t count) {
  if (fill.size() == 1) {
    in_pieces(static_cast<size_t>(count), [&](size_t begin, size_t end) { out.append(end - begin, fill[0]); });
    return;
  }
  Patience patience;
  for (; count > 0; --count) patience.step(), out += fill;
}

std::string pad_text(std::string body, int64_t body_width, const FormatSpec& spec, char default_align) {
  int64_t total = spec.width - body_width;
  if (total <= 0) return body;
  char align = spec.align ? spec.align : default_align;
  int64_t left = align == '<' ? 0 : align == '^' ? total / 2 : total;
  check_text_room(static_cast<size_t>(spec.width) * spec.fill.size());
  std::string out;
  out.reserve(static_cast<size_t>(total) * spec.fill.size() + body.size());
  add_fill(out, spec.fill, left);
  out += body;
  add_fill(out, spec.fill, total - left);
  return out;
}

// sign + prefix + digits + rest, with '=' padding behind the prefix. `rest` begins at the point or the
// exponent: separators go into the digits only.
std::string finish_number(bool negative, std::string_view prefix, std::string_view digits, std::string_view rest,
                          const FormatSpec& spec, size_t group_every) {
  char head[4];
  size_t head_size = 0;
  if (negative) head[head_size++] = '-';
  else if (spec.sign == '+' || spec.sign == ' ') head[head_size++] = spec.sign;
  for (char c : prefix) head[head_size++] = c;
  const std::string_view before(head, head_size);
  std::string groups;
  if (spec.grouping && !digits.empty() && std::isxdigit(static_cast<unsigned char>(digits[0]))) {
    if (spec.align == '=' && spec.fill == "0") {
      // Zero padding takes part in the grouping.
      for (std::string padded(digits);; padded.insert(0, 1, '0')) {
        std::string body = group_digits(padded, spec.grouping, group_every).append(rest);
        if (static_cast<int64_t>(head_size + body.size()) >= spec.width) return std::string(before) + body;
      }
    }
    groups = group_digits(digits, spec.grouping, group_every);
    digits = groups;
  }
  const size_t size = head_size + digits.size() + rest.size();
  const int64_t padding = std::max<int64_t>(spec.width - static_cast<int64_t>(size), 0);
  const int64_t left = spec.align == '<' || spec.align == '=' ? 0 : spec.align == '^' ? padding / 2 : padding;
  const int64_t inside = spec.align == '=' ? padding : 0;
  constexpr size_t kFew = 64;
  if (size <= kFew && padding <= static_cast<int64_t>(kFew - size) && spec.fill.size() == 1) [[likely]] {
    char few[kFew];
    char* to = few;
    const auto add = [&](std::string_view text) { copy_few(to, text.data(), text.size()), to += text.size(); };
    const auto fill = [&](int64_t count) {
      for (; count > 0; --count) *to++ = spec.fill[0];
    };
    fill(left);
    add(before);
    fill(inside);
    add(digits);
    add(rest);
    fill(padding - left - inside);
    return std::string(few, to);
  }
  if (padding > 0) check_text_room(static_cast<size_t>(spec.width) * spec.fill.size());
  std::string out;
  out.reserve(static_cast<size_t>(padding) * spec.fill.size() + size);
  add_fill(out, spec.fill, left);
  out += before;
  add_fill(out, spec.fill, inside);
  out += digits;
  out += rest;
  add_fill(out, spec.fill, padding - left - inside);
  return out;
}

// The digits of `d` (not negative, finite) in fixed notation where 128 bits hold them all: exact, with ties to even, as
// to_chars gives them. The end of the text, or null.
char* few_fixed_digits(char* out, double d, int precision) {
  constexpr int kMost = 9;  // 53 bits of the number and 30 of the power of ten
  constexpr uint32_t kPowers[kMost + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
  if (precision > kMost || std::signbit(d) || !(d < 1e9)) return nullptr;
  const uint64_t bits = std::bit_cast<uint64_t>(d);
  const int exponent = static_cast<int>(bits >> 52);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t mantissa = exponent ? fraction | uint64_t{1} << 52 : fraction;
  const int shift = 1075 - std::max(exponent, 1);  // d = mantissa / 2 ** shift; at least 23, as d < 1e9
  const auto scaled = static_cast<unsigned __int128>(mantissa) * kPowers[precision];
  uint64_t whole = 0;
  if (shift < 120) {
    whole = static_cast<uint64_t>(scaled >> shift);
    const auto rest = scaled & ((static_cast<unsigned __int128>(1) << shift) - 1);
    const auto half = static_cast<unsigned __int128>(1) << (shift - 1);
    if (rest > half || (rest == half && (whole & 1))) ++whole;
  }
  const uint64_t integral = whole / kPowers[precision];
  out = std::to_chars(out, out + 20, integral).ptr;
  if (precision == 0) return out;
  *out++ = '.';
  uint64_t decimals = whole - integral * kPowers[precision];
  for (int i = precision - 1; i >= 0; --i, decimals /= 10) out[i] = static_cast<char>('0' + decimals % 10);
  return out + precision;
}

std::string to_chars_text(double d, std::chars_format format, int precision) {
  char few[64];
  if (format == std::chars_format::fixed)
    if (char* end = few_fixed_digits(few, d, precision)) return std::string(few, end);
  if (const auto written = std::to_chars(few, few + sizeof few, d, format, precision); written.ec == std::errc())
    return std::string(few, written.ptr);
  std::string buffer(static_cast<size_t>(precision) + 400, '\0');
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d, format, precision).ptr;
  buffer.resize(static_cast<size_t>(end - buffer.data()));
  return buffer;
}

// Without the zeros behind the point that say nothing, and without a point that says nothing then.
std::string without_zeros(const std::string& digits) {
  const size_t end = std::min(digits.find('e'), digits.size());
  if (digits.find('.') >= end) return digits;
  size_t last = digits.find_last_not_of('0', end - 1);
  if (digits[last] != '.') ++last;
  return digits.substr(0, last) + digits.substr(end);
}

// %g: shortest of fixed and scientific at `precision` significant digits.
std::string general(double d, int precision, bool keep_zeros) {
  if (precision == 0) precision = 1;
  std::string scientific = to_chars_text(d, std::chars_format::scientific, precision - 1);
  size_t e = scientific.find('e');
  int exponent = std::atoi(scientific.c_str() + e + 1);
  std::string mantissa, tail;
  if (exponent < -4 || exponent >= precision) {
    mantissa = scientific.substr(0, e);
    tail = scientific.substr(e);
  } else {
    mantissa = to_chars_text(d, std::chars_format::fixed, precision - 1 - exponent);
  }
  return (keep_zeros ? mantissa : without_zeros(mantissa)) + tail;
}

std::string float_digits(double d, const FormatSpec& spec, char type, int precision) {
  const char* percent = type == '%' ? "%" : "";
  if (std::isnan(d)) return std::string("nan") + percent;
  if (std::isinf(d)) return std::string("inf") + percent;
  std::string digits;
  switch (type) {
    case 'f': digits = to_chars_text(d, std::chars_format::fixed, precision); break;
    case '%': digits = to_chars_text(d * 100, std::chars_format::fixed, precision); break;
    case 'e': digits = to_chars_text(d, std::chars_format::scientific, precision); break;
    default: digits = general(d, precision, spec.alternate);
  }
  if (spec.alternate && digits.find('.') == std::string::npos)
    digits.insert(std::min(digits.find('e'), digits.size()), ".");
  digits += percent;
  return digits;
}

}  // namespace

std::string format_float(Vm& vm, double value, std::string_view text) {
  (void)vm;
  FormatSpec spec = parse_spec(text, "float");
  char type = spec.type ? spec.type : 0;
  if (type && !among(type, "eEfFgGn%")) unknown_code(type, "float");
  bool upper = type == 'E' || type == 'F' || type == 'G';
  char lower = type == 'n' ? 'g' : static_cast<char>(std::tolower(type));
  if (spec.precision > 100000) bad_spec("precision too big");
  bool negative = std::signbit(value) && !std::isnan(value);
  double magnitude = std::fabs(value);
  std::string digits;
  if (!type && spec.precision < 0) {
    digits = float_repr(magnitude);
    bool pointless = spec.alternate && std::isfinite(value) && digits.find('.') == std::string::npos;
    if (pointless) digits.insert(std::min(digits.find('e'), digits.size()), ".");
  } else if (!type) {
    // Like g, but with at least one digit behind the point and one digit fewer before switching.
    std::string scientific = to_chars_text(magnitude, std::chars_format::scientific,
                                           static_cast<int>(std::max<int64_t>(spec.precision, 1)) - 1);
    int exponent = std::isfinite(value) ? std::atoi(scientific.c_str() + scientific.find('e') + 1) : 0;
    int precision = static_cast<int>(std::max<int64_t>(spec.precision, 1));
    if (std::isfinite(value) && exponent >= -4 && exponent < precision && exponent + 1 == precision)
      digits = spec.alternate ? float_digits(magnitude, spec, 'e', precision - 1) : without_zeros(scientific);
    else digits = float_digits(magnitude, spec, 'g', precision);
    if (std::isfinite(value) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  } else {
    digits = float_digits(magnitude, spec, lower, static_cast<int>(spec.precision < 0 ? 6 : spec.precision));
  }
  if (spec.no_negative_zero && std::isfinite(value) && digits.find_first_of("123456789") == std::string::npos)
    negative = false;
  if (upper)
    for (char& c : digits) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  size_t end = 0;
  if (std::isfinite(value))
    while (end < digits.size() && digits[end] != '.' && digits[end] != '%' && (digits[end] | 0x20) != 'e') ++end;
  const std::string_view text_of_digits = digits;
  return finish_number(negative, "", text_of_digits.substr(0, end), text_of_digits.substr(end), spec, 3);
}

namespace {

void check_int_spec(const FormatSpec& spec, char type, const char* type_name) {
  if (!among(type, "bcdnoxX")) unknown_code(type, type_name);
  if (spec.precision >= 0) bad_spec("Precision not allowed in integer format specifier");
  if (spec.no_negative_zero) bad_spec("Negative zero coercion (z) not allowed in integer format specifier");
  if (type != 'c') return;
  if (spec.sign) bad_spec("Sign not allowed with integer format specifier 'c'");
  if (spec.alternate) bad_spec("Alternate form (#) not allowed with integer format specifier 'c'");
}

bool shows_as_float(char type) { return among(type, "eEfFgG%"); }
int base_of(char type) { return type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10; }

std::string finish_int(bool negative, std::span<char> digits, const FormatSpec& spec, char type) {
  const int base = base_of(type);
  std::string_view prefix;
  if (spec.alternate && base != 10) prefix = type == 'b' ? "0b" : type == 'o' ? "0o" : "0x";
  if (type == 'X') {
    for (char& c : digits) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!prefix.empty()) prefix = "0X";
  }
  return finish_number(negative, prefix, {digits.data(), digits.size()}, "", spec, base == 10 ? 3 : 4);
}

}  // namespace

std::string format_int(Vm& vm, int64_t value, std::string_view text, const char* type_name) {
  FormatSpec spec = parse_spec(text, type_name);
  char type = spec.type ? spec.type : 'd';
  if (shows_as_float(type)) return format_float(vm, static_cast<double>(value), text);
  check_int_spec(spec, type, type_name);
  if (type == 'c') {
    if (value < 0 || value >= 0x110000) throw Error(ErrorKind::OverflowError, "%c arg not in range(0x110000)");
    std::string point;
    append_utf8(point, static_cast<uint32_t>(value));
    return pad_text(point, 1, spec, '>');
  }
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  char buffer[72];
  // A call of the general form costs more than the digits.
  char* end = type == 'd' ? std::to_chars(buffer, buffer + sizeof buffer, magnitude).ptr
                          : std::to_chars(buffer, buffer + sizeof buffer, magnitude, base_of(type)).ptr;
  return finish_int(value < 0, {buffer, end}, spec, type);
}

std::string format_big(Vm& vm, const Value& big, std::string_view text) {
  const FormatSpec spec = parse_spec(text, "int");
  const char type = spec.type ? spec.type : 'd';
  if (shows_as_float(type)) return format_float(vm, big_to_double(vm, big), text);
  check_int_spec(spec, type, "int");
  if (type == 'c') raise_too_large(vm, "C long");
  std::string digits = digits_of(vm, big, base_of(type));
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  return finish_int(negative, digits, spec, type);
}

std::string format_text(std::string_view value, std::string_view text) {
  FormatSpec spec = parse_spec(text, "str");
  if (spec.type && spec.type != 's') unknown_code(spec.type, "str");
  if (spec.sign)
    bad_spec(spec.sign == ' ' ? "Space not allowed in string format specifier"
                              : "Sign not allowed in string format specifier");
  if (spec.no_negative_zero) bad_spec("Negative zero coercion (z) not allowed in string format specifier");
  if (spec.alternate) bad_spec("Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=' && !spec.zero) bad_spec("'=' alignment not allowed in string format specifier");
  if (spec.align == '=') spec.align = '<';
  bool ascii;
  int64_t length = count_code_points(value, ascii);
  std::string body(value);
  if (spec.precision >= 0 && spec.precision < length) {
    size_t at = 0;
    for (int64_t i = 0; i < spec.precision; ++i) decode_utf8(value, at);
    body = std::string(value.substr(0, at));
    length = spec.precision;
  }
  return pad_text(std::move(body), length, spec, '<');
}

std::string format(Vm& vm, const Value& v, std::string_view spec) {
  auto guarded = [&](auto f) {
    try {
      return f();
    } catch (const Error&) {
      rethrow_as_script_exception(vm);
    }
  };
  if (v.is_float()) return guarded([&] { return format_float(vm, v.as_float(), spec); });
  if (v.is_int()) return guarded([&] { return format_int(vm, v.as_int(), spec, "int"); });
  if (v.is_bool())
    return spec.empty() ? repr(vm, v) : guarded([&] { return format_int(vm, v.as_int(), spec, "bool"); });
  auto slot = type_of(vm, v)->slots.format;
  if (slot) {
    Value text = guarded([&] { return slot(vm, v, make_str(vm, spec)); });
    if (!is_kind(text, Kind::Str)) raise_type_error(vm, "__format__ must return a str, not " + type_name(vm, text));
    return std::string(cast<StrObject>(text)->view());
  }
  if (!spec.empty()) raise_type_error(vm, "unsupported format string passed to " + type_name(vm, v) + ".__format__");
  return to_string(vm, v);
}

}  // namespace tsc::interp
