// Characters of regular expressions: classes, case, sets, and the escapes of a pattern.
#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "interpreter/modules/regex_parse.h"
#include "lang/character_names.h"

namespace tsc::interp::regex {

bool is_digit(uint32_t c, bool ascii) {
  if (c < 128 || ascii) return c >= '0' && c <= '9';
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
}

bool is_word(uint32_t c, bool ascii) {
  if (c < 128 || ascii) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    default: return false;
  }
}

bool is_space(uint32_t c, bool ascii) {
  if (c == ' ' || (c >= 9 && c <= 13)) return true;
  if (ascii) return false;
  return (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

namespace {

// Characters that are one where case does not count and are more than a letter and its capital. The first stands for
// all of them.
constexpr uint32_t kAlike[][4] = {{0x69, 0x49, 0x130, 0x131},
                                  {0x6b, 0x4b, 0x212a},
                                  {0x73, 0x53, 0x17f},
                                  {0xb5, 0x39c, 0x3bc},
                                  {0xdf, 0x1e9e},
                                  {0xe5, 0xc5, 0x212b},
                                  {0x1c6, 0x1c4, 0x1c5},
                                  {0x1c9, 0x1c7, 0x1c8},
                                  {0x1cc, 0x1ca, 0x1cb},
                                  {0x1f3, 0x1f1, 0x1f2},
                                  {0x345, 0x399, 0x3b9, 0x1fbe},
                                  {0x390, 0x1fd3},
                                  {0x3b0, 0x1fe3},
                                  {0x3b2, 0x392, 0x3d0},
                                  {0x3b5, 0x395, 0x3f5},
                                  {0x3b8, 0x398, 0x3d1, 0x3f4},
                                  {0x3ba, 0x39a, 0x3f0},
                                  {0x3c0, 0x3a0, 0x3d6},
                                  {0x3c1, 0x3a1, 0x3f1},
                                  {0x3c2, 0x3a3, 0x3c3},
                                  {0x3c6, 0x3a6, 0x3d5},
                                  {0x3c9, 0x3a9, 0x2126},
                                  {0x432, 0x412, 0x1c80},
                                  {0x434, 0x414, 0x1c81},
                                  {0x43e, 0x41e, 0x1c82},
                                  {0x441, 0x421, 0x1c83},
                                  {0x442, 0x422, 0x1c84, 0x1c85},
                                  {0x44a, 0x42a, 0x1c86},
                                  {0x463, 0x462, 0x1c87},
                                  {0x1c88, 0xa64a, 0xa64b},
                                  {0x1e61, 0x1e60, 0x1e9b},
                                  {0xfb05, 0xfb06}};

// The row that a character stands in, or null.
const uint32_t* row_of(uint32_t c) {
  static const std::unordered_map<uint32_t, const uint32_t*> kRows = [] {
    std::unordered_map<uint32_t, const uint32_t*> rows;
    for (const auto& row : kAlike)
      for (uint32_t member : row)
        if (member) rows[member] = row;
    return rows;
  }();
  const auto found = kRows.find(c);
  return found == kRows.end() ? nullptr : found->second;
}

}  // namespace

uint32_t fold(uint32_t c, bool ascii) {
  if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  if (ascii) return c;
  if (const uint32_t* row = row_of(c)) return row[0];
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool CharSet::contains_slow(uint32_t c) const {
  auto in = [&](uint32_t u) {
    for (const Range& range : ranges)
      if (u >= range.low && u <= range.high) return true;
    for (char category : categories) {
      bool found = category == 'd' || category == 'D'   ? is_digit(u, ascii)
                   : category == 'w' || category == 'W' ? is_word(u, ascii)
                                                        : is_space(u, ascii);
      if (found == (category >= 'a')) return true;
    }
    return false;
  };
  bool found = in(c);
  if (!found && ignore_case) {
    uint32_t lower = fold(c, ascii);
    uint32_t upper = c < 128 ? (c >= 'a' && c <= 'z' ? c - 32 : c)
                     : ascii ? c
                             : static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
    found = in(lower) || in(upper);
    if (const uint32_t* row = ascii || found ? nullptr : row_of(lower))
      for (size_t i = 0; i < 4 && row[i]; ++i) found = found || in(row[i]);
  }
  return found != negated;
}

void CharSet::finish() {
  for (uint32_t c = 0; c < 256; ++c) low[c] = contains_slow(c);
}

uint32_t Reader::hexadecimal(int64_t start, size_t count) {
  uint32_t value = 0;
  size_t begin = at_;
  for (size_t i = 0; i < count; ++i) {
    uint32_t c = at_end() ? 0 : peek();
    uint32_t digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 16;
    if (digit == 16) fail("incomplete escape " + text(static_cast<size_t>(start), std::max(at_, begin)), start);
    value = value * 16 + digit;
    ++at_;
  }
  return value;
}

// Behind \N.
uint32_t Reader::named_character(int64_t start) {
  if (at_end() || next() != '{') fail("missing {", static_cast<int64_t>(at_));
  const size_t begin = at_;
  while (!at_end() && peek() != '}') ++at_;
  const std::string name = text(begin, at_);
  if (name.empty()) fail("missing character name", static_cast<int64_t>(begin));
  if (at_end()) fail("missing }, unterminated name", static_cast<int64_t>(begin));
  ++at_;
  if (const std::optional<uint32_t> found = lang::character_named(name)) return *found;
  fail("undefined character name '" + name + "'", start);
}

uint32_t Reader::escaped_unit(uint32_t c, int64_t start, bool in_set) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case 'a': return '\a';
    case 'b':
      if (in_set) return '\b';
      break;
    case 'x': return hexadecimal(start, 2);
    case 'u':
      if (!bytes_) return hexadecimal(start, 4);
      break;
    case 'N':
      if (!bytes_) return named_character(start);
      break;
    case 'U':
      if (bytes_) break;
      if (uint32_t value = hexadecimal(start, 8); value <= 0x10ffff) return value;
      fail("bad escape " + text(static_cast<size_t>(start), at_), start);
    default: break;
  }
  if (c >= '0' && c <= '7' && (c == '0' || in_set)) {
    uint32_t value = c - '0';
    for (int i = 0; i < 2 && !at_end() && peek() >= '0' && peek() <= '7'; ++i) value = value * 8 + (next() - '0');
    if (value > 0377)
      fail("octal escape value " + text(static_cast<size_t>(start), at_) + " outside of range 0-0o377", start);
    return value;
  }
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  if (letter) fail("bad escape " + text(static_cast<size_t>(start), at_), start);
  return c;
}

std::string Reader::group_name(uint32_t end, const char* what, bool number_allowed) {
  size_t begin = at_;
  while (!at_end() && peek() != end) ++at_;
  std::string name = text(begin, at_);
  if (at_end()) {
    if (name.empty()) fail(std::string("missing ") + what, static_cast<int64_t>(begin));
    fail(std::string("missing ") + static_cast<char>(end) + ", unterminated name", static_cast<int64_t>(begin));
  }
  if (name.empty()) fail(std::string("missing ") + what, static_cast<int64_t>(begin));
  bool number = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  bool good = number ? number_allowed : !is_digit(pattern_[begin], true);
  for (size_t i = begin; !number && i < at_; ++i) good = good && is_word(pattern_[i], bytes_);
  if (!good) fail("bad character in group name '" + name + "'", static_cast<int64_t>(begin));
  ++at_;
  return name;
}

}  // namespace tsc::interp::regex
