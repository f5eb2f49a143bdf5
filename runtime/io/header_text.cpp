#include "runtime/io/header_text.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tsc::io {
namespace {

void append_utf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

}  // namespace

void HeaderText::refuse(const std::string& what) const {
  refuse_(what + " at byte " + std::to_string(at_) + " of its header");
  std::abort();  // refuse_ throws
}

void HeaderText::skip_blanks() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

bool HeaderText::take(char c) {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool HeaderText::take(std::string_view word) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void HeaderText::expect(char c) {
  if (!take(c)) refuse(std::string("a '") + c + "' is missing");
}

void HeaderText::expect_spaces_to_end() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  if (at_ != text_.size()) refuse("there is more than its end");
}

void HeaderText::expect_end() {
  skip_blanks();
  if (at_ != text_.size()) refuse("there is more than its end");
}

int64_t HeaderText::natural() {
  skip_blanks();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const char* end = text_.data() + text_.size();
  if (begin == end || *begin < '0' || *begin > '9') refuse("a number is missing");
  const auto [next, error] = std::from_chars(begin, end, value);
  if (error != std::errc()) refuse("a number is too large");
  if (*begin == '0' && next != begin + 1) refuse("a number begins with 0");
  at_ += static_cast<size_t>(next - begin);
  if (at_ < text_.size() && std::string_view(".eE").find(text_[at_]) != std::string_view::npos)
    refuse("a number is not whole");
  return value;
}

std::string HeaderText::plain_string() {
  skip_blanks();
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  if (quote != '\'' && quote != '"') refuse("a text in quotes is missing");
  const size_t end = text_.find(quote, at_ + 1);
  if (end == std::string_view::npos) refuse("a text does not end");
  std::string out(text_.substr(at_ + 1, end - at_ - 1));
  if (out.find_first_of("\\\n") != out.npos) refuse("a text with escapes");
  at_ = end + 1;
  return out;
}

std::string HeaderText::string() {
  expect('"');
  std::string out;
  for (;;) {
    if (at_ == text_.size()) refuse("a text does not end");
    const char c = text_[at_];
    if (c == '"') break;
    if (static_cast<unsigned char>(c) < 0x20) refuse("a text holds a control character");
    if (c == '\\') escape(out);
    else utf8(out);
  }
  ++at_;
  return out;
}

uint32_t HeaderText::four_digits() {
  uint32_t value = 0;
  const std::string_view digits = text_.substr(at_, 4);
  const auto [next, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || error != std::errc() || next != digits.data() + 4) refuse("\\u without four digits");
  at_ += 4;
  return value;
}

void HeaderText::escape(std::string& out) {
  static constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  const char kind = ++at_ < text_.size() ? text_[at_++] : '\0';
  if (const size_t place = kNames.find(kind); kind != '\0' && place != std::string_view::npos) {
    out += kMeant[place];
    return;
  }
  if (kind != 'u') refuse("an unknown escape");
  uint32_t point = four_digits();
  if (point >= 0xDC00 && point < 0xE000) refuse("half of a surrogate pair");
  if (point >= 0xD800 && point < 0xDC00) {
    if (text_.substr(at_, 2) != "\\u") refuse("half of a surrogate pair");
    at_ += 2;
    const uint32_t low = four_digits();
    if (low < 0xDC00 || low >= 0xE000) refuse("half of a surrogate pair");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(out, point);
}

// One code point, checked: neither overlong, nor a surrogate, nor beyond Unicode.
void HeaderText::utf8(std::string& out) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0;
  };
  const uint32_t first = byte(0);
  const size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0) refuse("a text is not UTF-8");
  uint32_t point = size == 1 ? first : first & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) refuse("a text is not UTF-8");
    point = point << 6 | (byte(i) & 0x3F);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[size] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) refuse("a text is not UTF-8");
  out += text_.substr(at_, size);
  at_ += size;
}

}  // namespace tsc::io
