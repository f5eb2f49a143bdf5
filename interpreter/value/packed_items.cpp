#include "interpreter/value/packed_items.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {

namespace {

constexpr uint8_t kInAll = kInStruct | kInArray | kInView;
constexpr ItemFormat kFormats[] = {
    {'x', ItemKind::Pad, 1, 1, kInStruct},
    {'c', ItemKind::Byte, 1, 1, kInStruct | kInView},
    {'b', ItemKind::Signed, 1, 1, kInAll},
    {'B', ItemKind::Unsigned, 1, 1, kInAll},
    {'?', ItemKind::Bool, 1, 1, kInStruct | kInView},
    {'h', ItemKind::Signed, 2, 2, kInAll},
    {'H', ItemKind::Unsigned, 2, 2, kInAll},
    {'i', ItemKind::Signed, 4, 4, kInAll},
    {'I', ItemKind::Unsigned, 4, 4, kInAll},
    {'l', ItemKind::Signed, 8, 4, kInAll},
    {'L', ItemKind::Unsigned, 8, 4, kInAll},
    {'q', ItemKind::Signed, 8, 8, kInAll},
    {'Q', ItemKind::Unsigned, 8, 8, kInAll},
    {'n', ItemKind::Signed, 8, 0, kInStruct | kInView},
    {'N', ItemKind::Unsigned, 8, 0, kInStruct | kInView},
    {'P', ItemKind::Unsigned, 8, 0, kInStruct | kInView},
    {'e', ItemKind::Float, 2, 2, kInStruct},
    {'f', ItemKind::Float, 4, 4, kInAll},
    {'d', ItemKind::Float, 8, 8, kInAll},
    {'s', ItemKind::Text, 1, 1, kInStruct},
    {'p', ItemKind::Text, 1, 1, kInStruct},
    {'u', ItemKind::Character, 4, 0, kInArray},
};

uint64_t get_bits(const char* p, size_t size, bool big) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i) bits |= uint64_t{static_cast<uint8_t>(p[i])} << (8 * (big ? size - 1 - i : i));
  return bits;
}
void put_bits(char* to, uint64_t bits, size_t size, bool big) {
  for (size_t i = 0; i < size; ++i) to[i] = static_cast<char>(bits >> (8 * (big ? size - 1 - i : i)));
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

Value unpack_float(uint64_t bits, size_t size) {
  if (size == 8) return Value::real(std::bit_cast<double>(bits));
  if (size == 4) return Value::real(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return Value::real(from_half(bits));
}

Value character(Vm& vm, uint64_t code) {
  if (code > 0x10FFFF)
    raise_value_error(
        vm, "character U+" + digits_of(vm, int_of_unsigned(vm, code), 16) + " is not in range [U+0000; U+10ffff]");
  std::string text;
  append_utf8(text, static_cast<uint32_t>(code));
  return str_value(vm, text);
}

}  // namespace

const ItemFormat* find_item_format(char code, ItemUser user) {
  for (const ItemFormat& row : kFormats)
    if (row.code == code) return row.users & user ? &row : nullptr;
  return nullptr;
}

bool pack_integer(const Value& whole, bool has_sign, size_t size, bool big_endian, char* to) {
  if (!is_big(whole) && (size < 8 || has_sign || whole.as_int() >= 0)) {
    const int64_t i = whole.as_int();
    const size_t bits = size * 8;
    if (bits < 64) {
      const int64_t low = has_sign ? -(int64_t{1} << (bits - 1)) : 0;
      if (i < low || i > (int64_t{1} << (bits - has_sign)) - 1) return false;
    }
    put_bits(to, static_cast<uint64_t>(i), size, big_endian);
    return true;
  }
  std::string data;
  const bool below = compare_ints(whole, Value::integer(0)) < 0 && !has_sign;
  if (below || !bytes_of_int(whole, static_cast<int64_t>(size), has_sign, data)) return false;
  if (big_endian) std::reverse(data.begin(), data.end());
  std::memcpy(to, data.data(), size);
  return true;
}

void pack_float(Vm& vm, double d, size_t size, bool big_endian, char* to) {
  if (size == 8) return put_bits(to, std::bit_cast<uint64_t>(d), 8, big_endian);
  if (size == 4) return put_bits(to, std::bit_cast<uint32_t>(static_cast<float>(d)), 4, big_endian);
  put_bits(to, to_half(vm, d), 2, big_endian);
}

Value unpack_item(Vm& vm, ItemKind kind, size_t size, bool big_endian, const char* from) {
  const uint64_t bits = get_bits(from, size, big_endian);
  switch (kind) {
    case ItemKind::Byte: return make_bytes(vm, std::string(from, 1)).take();
    case ItemKind::Bool: return Value::boolean(bits != 0);
    case ItemKind::Float: return unpack_float(bits, size);
    case ItemKind::Character: return character(vm, bits);
    case ItemKind::Signed: {
      const size_t unused = 64 - size * 8;
      return Value::integer(static_cast<int64_t>(bits << unused) >> unused);
    }
    case ItemKind::Unsigned:
    case ItemKind::Pad:
    case ItemKind::Text: break;
  }
  return int_of_unsigned(vm, bits);
}

}  // namespace tsc::interp
