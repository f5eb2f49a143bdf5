// _binary: packing of struct, base64, digests, crc32.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "interpreter/heap/patience.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/modules/digests.h"
#include "interpreter/modules/native_modules.h"
#include "runtime/io/crc32.h"

namespace tsc::interp {
namespace {

std::string_view bytes_of(Vm& vm, const Value& v) {
  if (auto* b = try_cast<BytesObject>(v)) return b->data;
  if (is_kind(v, Kind::Str)) raise_type_error(vm, "a bytes-like object is required, not 'str'");
  raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, v) + "'");
}

// --- struct -----------------------------------------------------------------------------------------

struct Item {
  char code;
  int64_t count;  // of 's': the length
  size_t size;
  size_t align;
};
struct Layout {
  bool big = false, native = true;
  std::vector<Item> items;
};
[[noreturn]] void struct_error(Vm& vm, const std::string& message) {
  Value type = get_attribute(vm, dict_get(vm, vm.modules(), "struct"), "error");
  Value made = call(vm, type, {str_value(vm, message)});
  throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
}
size_t size_of_code(char code, bool native) {
  switch (code) {
    case 'x': case 'c': case 'b': case 'B': case '?': case 's': case 'p': return 1;
    case 'h': case 'H': case 'e': return 2;
    case 'i': case 'I': case 'f': return 4;
    case 'l': case 'L': return native ? 8 : 4;
    case 'q': case 'Q': case 'd': return 8;
    case 'n': case 'N': case 'P': return native ? 8 : 0;
    default: return 0;
  }
}
Layout parse_layout(Vm& vm, const Value& v) {
  std::string_view text = is_kind(v, Kind::Bytes) ? std::string_view(cast<BytesObject>(v)->data)
                                                   : text_of(vm, v, "Struct() argument 1");
  Layout layout;
  bool align = true;
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) {
    align = layout.native = text[0] == '@';
    layout.big = text[0] == '>' || text[0] == '!';
    text.remove_prefix(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::strchr(" \t\n\r", text[i])) continue;
    int64_t count = 1;
    if (text[i] >= '0' && text[i] <= '9') {
      for (count = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        count = count * 10 + (text[i] - '0');
        if (count > (int64_t{1} << 40)) struct_error(vm, "total struct size too long");
      }
      if (i >= text.size()) struct_error(vm, "repeat count given without format specifier");
    }
    size_t size = size_of_code(text[i], layout.native);
    if (!size) struct_error(vm, "bad char in struct format");
    layout.items.push_back({text[i], count, size, align ? size : 1});
  }
  return layout;
}
size_t aligned(size_t at, size_t align) { return (at + align - 1) / align * align; }
size_t layout_size(const Layout& layout) {
  size_t at = 0;
  for (const Item& item : layout.items) at = aligned(at, item.align) + item.size * static_cast<size_t>(item.count);
  return at;
}
size_t value_count(const Layout& layout) {
  size_t n = 0;
  for (const Item& item : layout.items)
    n += item.code == 'x' ? 0 : item.code == 's' || item.code == 'p' ? 1 : static_cast<size_t>(item.count);
  return n;
}
void put_bits(std::string& out, uint64_t bits, size_t size, bool big) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(bits >> (8 * (big ? size - 1 - i : i)));
}
uint64_t get_bits(const char* p, size_t size, bool big) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i) bits |= uint64_t{static_cast<uint8_t>(p[i])} << (8 * (big ? size - 1 - i : i));
  return bits;
}
// IEEE half precision, rounded to even.
uint16_t to_half(Vm& vm, double d) {
  if (std::isnan(d)) return 0x7e00;
  uint16_t sign = std::signbit(d) ? 0x8000 : 0;
  double x = std::fabs(d);
  if (std::isinf(x)) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent;
  std::frexp(x, &exponent);
  int scale = std::max(exponent - 11, -24);  // of the last bit kept
  double kept = std::nearbyint(std::ldexp(x, -scale));
  if (kept >= 2048) kept /= 2, ++scale;
  if (scale > 5) raise(vm, vm.exceptions().OverflowError, "float too large to pack with e format");
  uint32_t mantissa = static_cast<uint32_t>(kept);
  if (mantissa < 1024) return static_cast<uint16_t>(sign | mantissa);
  return static_cast<uint16_t>(sign | static_cast<uint32_t>(scale + 25) << 10 | (mantissa & 1023));
}
double from_half(uint64_t bits) {
  int exponent = static_cast<int>(bits >> 10 & 31);
  double mantissa = static_cast<double>(bits & 1023);
  double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                 : exponent     ? std::ldexp(mantissa + 1024, exponent - 25)
                                : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -value : value;
}
bool is_signed(char code) { return std::strchr("bhilqn", code) != nullptr; }
void pack_integer(Vm& vm, std::string& out, const Item& item, const Value& v, bool big) {
  if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index)
    struct_error(vm, "required argument is not an integer");
  const Value whole = whole_of(vm, v);
  size_t bits = item.size * 8;
  if (bits == 64) {
    std::string data;
    const bool is_below = compare_ints(whole, Value::integer(0)) < 0 && !is_signed(item.code);
    if (is_below || !bytes_of_int(whole, 8, is_signed(item.code), data)) struct_error(vm, "argument out of range");
    if (big) std::reverse(data.begin(), data.end());
    out += data;
    return;
  }
  if (is_big(whole)) struct_error(vm, "argument out of range");
  const int64_t i = whole.as_int();
  int64_t low = is_signed(item.code) ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = (int64_t{1} << (bits - is_signed(item.code))) - 1;
  if (i < low || i > high) {
    if (item.size < 4) {
      const char* names[] = {"byte", "short"};
      struct_error(vm, is_signed(item.code)
                           ? std::string(names[item.size / 2]) + " format requires " + std::to_string(low) +
                                 " <= number <= " + std::to_string(high)
                           : std::string(item.size == 1 ? "ubyte" : "ushort") + " format requires 0 <= number <= " +
                                 std::to_string(high));
    }
    if (low == 0 && i < 0) struct_error(vm, "argument out of range");
    struct_error(vm, std::string("'") + item.code + "' format requires " + std::to_string(low) + " <= number <= " +
                         std::to_string(high));
  }
  put_bits(out, static_cast<uint64_t>(i), item.size, big);
}
void pack_one(Vm& vm, std::string& out, const Item& item, const Value& v, bool big) {
  switch (item.code) {
    case 'c': {
      auto* b = try_cast<BytesObject>(v);
      if (!b || b->data.size() != 1) struct_error(vm, "char format requires a bytes object of length 1");
      out += b->data;
      break;
    }
    case '?': out += truth(vm, v) ? '\1' : '\0'; break;
    case 's': case 'p': {
      auto* b = try_cast<BytesObject>(v);
      if (!b) struct_error(vm, std::string("argument for '") + item.code + "' must be a bytes object");
      std::string data = b->data;
      if (item.code == 'p') data = static_cast<char>(std::min<size_t>(data.size(), std::min<size_t>(255, static_cast<size_t>(item.count) - 1))) + data;
      data.resize(static_cast<size_t>(item.count), '\0');
      out += data;
      break;
    }
    case 'e': case 'f': case 'd': {
      if (!v.is_float() && !is_integer_like(v) && !type_of(vm, v)->slots.to_float) struct_error(vm, "required argument is not a float");
      double d = to_double(vm, v);
      if (item.code == 'd') put_bits(out, std::bit_cast<uint64_t>(d), 8, big);
      else if (item.code == 'e') put_bits(out, to_half(vm, d), 2, big);
      else {
        float f = static_cast<float>(d);
        if (item.align == 1 && std::isinf(f) && std::isfinite(d)) raise(vm, vm.exceptions().OverflowError, "float too large to pack with f format");
        put_bits(out, std::bit_cast<uint32_t>(f), 4, big);
      }
      break;
    }
    default: pack_integer(vm, out, item, v, big);
  }
}
Value struct_pack(Vm& vm, Args& a) {
  Layout layout = parse_layout(vm, a[0]);
  auto values = cast<TupleObject>(a[1])->span();
  size_t wanted = value_count(layout);
  if (values.size() != wanted)
    struct_error(vm, "pack expected " + std::to_string(wanted) + " items for packing (got " +
                         std::to_string(values.size()) + ")");
  std::string out;
  size_t next = 0;
  for (const Item& item : layout.items) {
    out.resize(aligned(out.size(), item.align), '\0');
    if (item.code == 'x') out.resize(out.size() + static_cast<size_t>(item.count), '\0');
    else if (item.code == 's' || item.code == 'p') pack_one(vm, out, item, values[next++], layout.big);
    else
      for (int64_t i = 0; i < item.count; ++i) pack_one(vm, out, item, values[next++], layout.big);
  }
  return make_bytes(vm, std::move(out)).take();
}
Value unpack_one(Vm& vm, const Item& item, const char* p, bool big) {
  switch (item.code) {
    case 'c': return make_bytes(vm, std::string(p, 1)).take();
    case '?': return Value::boolean(*p != 0);
    case 's': return make_bytes(vm, std::string(p, static_cast<size_t>(item.count))).take();
    case 'p': {
      size_t n = item.count ? std::min<size_t>(static_cast<uint8_t>(*p), static_cast<size_t>(item.count) - 1) : 0;
      return make_bytes(vm, std::string(p + (item.count ? 1 : 0), n)).take();
    }
    case 'd': return Value::real(std::bit_cast<double>(get_bits(p, 8, big)));
    case 'f': return Value::real(std::bit_cast<float>(static_cast<uint32_t>(get_bits(p, 4, big))));
    case 'e': return Value::real(from_half(get_bits(p, 2, big)));
    default: break;
  }
  uint64_t bits = get_bits(p, item.size, big);
  size_t unused = 64 - item.size * 8;
  if (is_signed(item.code)) return Value::integer(static_cast<int64_t>(bits << unused) >> unused);
  return int_of_unsigned(vm, bits);
}
// unpack(format, data, offset): the values at that offset.
Value struct_unpack(Vm& vm, Args& a) {
  Layout layout = parse_layout(vm, a[0]);
  std::string_view data = bytes_of(vm, a[1]);
  size_t offset = static_cast<size_t>(to_index(vm, a[2]));
  std::vector<Value> values;
  size_t at = 0;
  for (const Item& item : layout.items) {
    at = aligned(at, item.align);
    bool text = item.code == 's' || item.code == 'p';
    for (int64_t i = 0; item.code != 'x' && i < (text ? 1 : item.count); ++i)
      values.push_back(unpack_one(vm, item, data.data() + offset + at + static_cast<size_t>(i) * item.size, layout.big));
    at += item.size * static_cast<size_t>(item.count);
  }
  return make_tuple(vm, values).take();
}
Value struct_size(Vm& vm, Args& a) {
  return Value::integer(static_cast<int64_t>(layout_size(parse_layout(vm, a[0]))));
}

// --- base64, digests --------------------------------------------------------------------------------

// encode(data, alphabet): base64 with padding.
Value base64_encode(Vm& vm, Args& a) {
  std::string_view data = bytes_of(vm, a[0]), alphabet = bytes_of(vm, a[1]);
  std::string out;
  check_text_room(data.size());
  out.reserve(data.size() / 3 * 4 + 4);
  Patience patience;
  for (size_t i = 0; i < data.size(); i += 3) {
    patience.step(2);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < data.size() ? static_cast<uint8_t>(data[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += i + k <= data.size() ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return make_bytes(vm, std::move(out)).take();
}
// decode(data, alphabet, strict): (bytes, error text or None); bytes that are no digits are skipped.
Value base64_decode(Vm& vm, Args& a) {
  std::string_view data = bytes_of(vm, a[0]), alphabet = bytes_of(vm, a[1]);
  bool strict = truth(vm, a[2]);
  std::string out;
  uint32_t bits = 0;
  size_t digits = 0, padding = 0;
  std::string problem;
  check_text_room(data.size() / 2);
  Patience patience;
  for (char c : data) {
    patience.step();
    size_t value = alphabet.find(c);
    if (c == '=') {
      if (digits % 4 >= 2 && digits % 4 + ++padding >= 4) break;
      continue;
    }
    if (value == std::string_view::npos) {
      if (strict) problem = "Only base64 data is allowed";
      continue;
    }
    padding = 0;
    bits = bits << 6 | static_cast<uint32_t>(value);
    ++digits;
    if (digits % 4 != 1) out += static_cast<char>(bits >> (6 - 2 * ((digits + 3) % 4)));
  }
  if (problem.empty() && digits % 4 == 1)
    problem = "Invalid base64-encoded string: number of data characters (" + std::to_string(digits) +
              ") cannot be 1 more than a multiple of 4";
  else if (problem.empty() && digits % 4 && digits % 4 + padding < 4) problem = "Incorrect padding";
  return make_tuple(vm, std::vector<Value>{make_bytes(vm, std::move(out)).take(),
                                           problem.empty() ? Value::none() : str_value(vm, problem)})
      .take();
}
Value digest_(Vm& vm, Args& a) {
  std::string made = digest(text_of(vm, a[0]), bytes_of(vm, a[1]));
  if (made.empty()) raise_value_error(vm, "unsupported hash type " + std::string(text_of(vm, a[0])));
  return make_bytes(vm, std::move(made)).take();
}
Value crc32(Vm& vm, Args& a) {
  constexpr size_t kPiece = size_t{8} << 20;  // between two looks at whether the script is to stop
  uint32_t crc = static_cast<uint32_t>(to_index(vm, a[1]));
  const std::string_view data = bytes_of(vm, a[0]);
  for (size_t at = 0; at < data.size(); at += kPiece) {
    vm.poll();
    crc = io::crc32(crc, data.data() + at, std::min(kPiece, data.size() - at));
  }
  return Value::integer(crc);
}

}  // namespace

Local<ModuleObject> make_binary_module(Vm& vm) {
  ModuleBuilder m(vm, "_binary");
  m.function("pack", "format, /, *values", struct_pack)
      .function("unpack", "format, data, offset, /", struct_unpack)
      .function("calcsize", "format, /", struct_size)
      .function("base64_encode", "data, alphabet, /", base64_encode)
      .function("base64_decode", "data, alphabet, strict, /", base64_decode)
      .function("digest", "name, data, /", digest_)
      .function("crc32", "data, value=0, /", crc32);
  return m.finish();
}

}  // namespace tsc::interp
