#include "interpreter/builtins/escape_codec.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "interpreter/heap/patience.h"
#include "interpreter/value/string.h"
#include "lang/character_names.h"

namespace tsc::interp {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Decoder {
 public:
  Decoder(std::string_view bytes, bool raw, const EscapeFault& fault) : bytes_(bytes), raw_(raw), fault_(fault) {}

  std::string run() {
    Patience patience;
    while (at_ < bytes_.size()) {
      patience.step();
      const char c = bytes_[at_];
      if (c != '\\') append_utf8(out_, static_cast<uint8_t>(c)), ++at_;
      else if (raw_) raw_escape();
      else escape();
    }
    return std::move(out_);
  }

 private:
  bool ends(size_t at) const { return at >= bytes_.size(); }
  void refuse(size_t end, const char* reason) { at_ = fault_(at_, end, reason, out_); }
  void put(uint32_t c, size_t length) {
    append_utf8(out_, c);
    at_ += length;
  }

  // \xhh, \uhhhh and \Uhhhhhhhh; `truncated` says that digits are missing.
  void number(size_t digits, const char* truncated, const char* too_large) {
    uint32_t value = 0;
    size_t at = at_ + 2;
    const size_t end = at + digits;
    for (; at < end && !ends(at) && hex_digit(bytes_[at]) >= 0; ++at)
      value = value << 4 | static_cast<uint32_t>(hex_digit(bytes_[at]));
    if (at < end) return refuse(at, truncated);
    if (value > 0x10FFFF) return refuse(at, too_large);
    put(value, at - at_);
  }

  void name() {
    size_t at = at_ + 2;
    if (ends(at) || bytes_[at] != '{') return refuse(at, "malformed \\N character escape");
    const size_t begin = at + 1, close = std::min(bytes_.find('}', begin), bytes_.size());
    if (ends(close) || close == begin) return refuse(close, "malformed \\N character escape");
    const std::optional<uint32_t> c = lang::character_named(bytes_.substr(begin, close - begin));
    if (!c) return refuse(close + 1, "unknown Unicode character name");
    put(*c, close + 1 - at_);
  }

  void octal() {
    uint32_t value = 0;
    size_t at = at_ + 1;
    for (; at < at_ + 4 && !ends(at) && bytes_[at] >= '0' && bytes_[at] <= '7'; ++at)
      value = value * 8 + static_cast<uint32_t>(bytes_[at] - '0');
    put(value, at - at_);
  }

  void escape() {
    if (ends(at_ + 1)) return refuse(bytes_.size(), "\\ at end of string");
    const char c = bytes_[at_ + 1];
    static constexpr std::string_view kFrom = "\\'\"bftnrva", kTo = "\\'\"\b\f\t\n\r\v\a";
    if (const size_t known = kFrom.find(c); known != std::string_view::npos)
      return put(static_cast<uint8_t>(kTo[known]), 2);
    if (c >= '0' && c <= '7') return octal();
    switch (c) {
      case '\n': at_ += 2; return;
      case 'x': return number(2, "truncated \\xXX escape", "");
      case 'u': return number(4, "truncated \\uXXXX escape", "");
      case 'U': return number(8, "truncated \\UXXXXXXXX escape", "illegal Unicode character");
      case 'N': return name();
      default: put('\\', 1);
    }
  }

  void raw_escape() {
    const char c = ends(at_ + 1) ? '\0' : bytes_[at_ + 1];
    if (c == 'u') return number(4, "truncated \\uXXXX escape", "");
    if (c == 'U') return number(8, "truncated \\UXXXXXXXX escape", "\\Uxxxxxxxx out of range");
    put('\\', 1);
    if (!ends(at_)) put(static_cast<uint8_t>(bytes_[at_]), 1);  // a second backslash begins nothing
  }

  std::string_view bytes_;
  bool raw_;
  const EscapeFault& fault_;
  std::string out_;
  size_t at_ = 0;
};

}  // namespace

std::string escaped(uint32_t c) {
  char text[16];
  std::snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
  return text;
}

std::string decode_escapes(std::string_view bytes, bool raw, const EscapeFault& fault) {
  return Decoder(bytes, raw, fault).run();
}

std::string encode_escapes(std::string_view utf8, bool raw) {
  std::string out;
  Patience patience;
  for (size_t at = 0; at < utf8.size();) {
    patience.step();
    const uint32_t c = decode_utf8(utf8, at);
    static constexpr std::string_view kFrom = "\\\t\n\r", kTo = "\\tnr";
    const size_t known = !raw && c < 128 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += '\\';
      out += kTo[known];
    } else if (raw ? c < 256 : c >= 32 && c < 127) {
      out += static_cast<char>(c);
    } else {
      out += escaped(c);
    }
  }
  return out;
}

}  // namespace tsc::interp
