// Values as literals, for printed trees and code.
#include <utf8proc.h>

#include <charconv>
#include <cmath>

#include "lang/ast_print.h"

namespace tsc::lang {

namespace {

bool printable(utf8proc_int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

void append_hex(std::string& out, char mark, uint32_t value, int digits) {
  static constexpr char kHex[] = "0123456789abcdef";
  (out += '\\') += mark;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[(value >> shift) & 15];
}

void append_ascii(std::string& out, unsigned char c, char quote) {
  if (c == '\n') out += "\\n";
  else if (c == '\t') out += "\\t";
  else if (c == '\r') out += "\\r";
  else if (c == '\\' || c == quote) (out += '\\') += static_cast<char>(c);
  else if (c < 0x20 || c >= 0x7F) append_hex(out, 'x', c, 2);
  else out += static_cast<char>(c);
}

}  // namespace

std::string quote_text(std::string_view text, bool bytes) {
  char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out = bytes ? "b" : "";
  out += quote;
  for (size_t i = 0; i < text.size();) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    utf8proc_int32_t point = c;
    utf8proc_ssize_t length = 1;
    if (c >= 0x80 && !bytes)
      length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i),
                                static_cast<utf8proc_ssize_t>(text.size() - i), &point);
    if (c < 0x80 || bytes || length <= 0) append_ascii(out, c, quote), length = 1;
    else if (printable(point)) out.append(text.substr(i, static_cast<size_t>(length)));
    else
      append_hex(out,
                 point < 256     ? 'x'
                 : point < 65536 ? 'u'
                                 : 'U',
                 static_cast<uint32_t>(point),
                 point < 256     ? 2
                 : point < 65536 ? 4
                                 : 8);
    i += static_cast<size_t>(length);
  }
  return out + quote;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  double magnitude = std::fabs(value);
  bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                           plain ? std::chars_format::fixed : std::chars_format::scientific)
                 .ptr;
  std::string out(buffer, end);
  if (plain && out.find('.') == out.npos) out += ".0";
  return out;
}

}  // namespace tsc::lang
