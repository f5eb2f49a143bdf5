// Text encodings: str to bytes and back, with the error handlers of Python.
#include <algorithm>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"

namespace tsc::interp {
namespace {

enum class Encoding { Utf8, Utf8Sig, Ascii, Latin1, Utf16, Utf16Le, Utf16Be, Utf32, Utf32Le, Utf32Be };

constexpr std::string_view kMark = "\xef\xbb\xbf";  // of byte order; at the beginning of a text

struct EncodingRow {
  const char* alias;  // lower case, '_' written as '-'
  Encoding encoding;
  const char* name;  // in messages
};
constexpr EncodingRow kEncodings[] = {
    {"utf-8", Encoding::Utf8, "utf-8"},       {"utf8", Encoding::Utf8, "utf-8"},
    {"utf-8-sig", Encoding::Utf8Sig, "utf-8"}, {"utf8-sig", Encoding::Utf8Sig, "utf-8"},
    {"u8", Encoding::Utf8, "utf-8"},          {"ascii", Encoding::Ascii, "ascii"},
    {"us-ascii", Encoding::Ascii, "ascii"},   {"latin-1", Encoding::Latin1, "latin-1"},
    {"latin1", Encoding::Latin1, "latin-1"},  {"iso-8859-1", Encoding::Latin1, "latin-1"},
    {"l1", Encoding::Latin1, "latin-1"},      {"utf-16", Encoding::Utf16, "utf-16"},
    {"utf16", Encoding::Utf16, "utf-16"},     {"utf-16-le", Encoding::Utf16Le, "utf-16-le"},
    {"utf-16-be", Encoding::Utf16Be, "utf-16-be"}, {"utf-32", Encoding::Utf32, "utf-32"},
    {"utf32", Encoding::Utf32, "utf-32"},     {"utf-32-le", Encoding::Utf32Le, "utf-32-le"},
    {"utf-32-be", Encoding::Utf32Be, "utf-32-be"},
};

const EncodingRow& encoding_named(Vm& vm, std::string_view given) {
  if (given == kEncodings[0].alias) return kEncodings[0];
  std::string name(given);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (const EncodingRow& row : kEncodings)
    if (name == row.alias) return row;
  raise(vm, vm.exceptions().LookupError, "unknown encoding: " + std::string(given));
}

[[noreturn]] void raise_unicode(Vm& vm, Type* type, const char* encoding, const Value& object,
                                size_t start, size_t end, const char* reason) {
  Value args[] = {str_value(vm, encoding), object, Value::integer(static_cast<int64_t>(start)),
                  Value::integer(static_cast<int64_t>(end)), str_value(vm, reason)};
  throw ScriptException(make_exception(vm, type, args));
}

[[noreturn]] void unknown_handler(Vm& vm, std::string_view errors) {
  raise(vm, vm.exceptions().LookupError,
        "unknown error handler name '" + std::string(errors) + "'");
}

// Four hex digits or more, as Python escapes a code point.
std::string escaped(uint32_t c) {
  char text[16];
  std::snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
  return text;
}

// What stands for a character that the encoding has not; false: the handler is `strict`.
bool replace_unencodable(Vm& vm, std::string_view errors, uint32_t c, std::string& out) {
  if (errors == "strict") return false;
  if (errors == "ignore") return true;
  if (errors == "replace") out += '?';
  else if (errors == "backslashreplace") out += escaped(c);
  else if (errors == "xmlcharrefreplace") out += "&#" + std::to_string(c) + ";";
  else unknown_handler(vm, errors);
  return true;
}

std::string encode_bytewise(Vm& vm, const Value& text, uint32_t limit, const char* name,
                            std::string_view errors) {
  std::string_view view = cast<StrObject>(text)->view();
  std::string out;
  size_t index = 0;
  Patience patience;
  for (size_t i = 0; i < view.size(); ++index) {
    patience.step();
    uint32_t c = decode_utf8(view, i);
    if (c < limit) {
      out += static_cast<char>(c);
    } else if (!replace_unencodable(vm, errors, c, out)) {
      size_t end = index + 1;
      while (i < view.size() && decode_utf8(view, i) >= limit) ++end;
      raise_unicode(vm, vm.exceptions().UnicodeEncodeError, name, text, index, end,
                    limit == 128 ? "ordinal not in range(128)" : "ordinal not in range(256)");
    }
  }
  return out;
}

void append_unit(std::string& out, uint32_t unit, int bytes, bool big) {
  for (int k = 0; k < bytes; ++k)
    out += static_cast<char>(unit >> (8 * (big ? bytes - 1 - k : k)));
}

std::string encode_wide(std::string_view view, int bytes, bool mark, bool big) {
  std::string out;
  if (mark) append_unit(out, 0xFEFF, bytes, false);
  check_text_room(view.size() * static_cast<size_t>(bytes) / 2);
  Patience patience;
  for (size_t i = 0; i < view.size();) {
    patience.step();
    uint32_t c = decode_utf8(view, i);
    if (bytes == 2 && c >= 0x10000) {
      append_unit(out, 0xD800 + ((c - 0x10000) >> 10), 2, big);
      append_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF), 2, big);
    } else {
      append_unit(out, c, bytes, big);
    }
  }
  return out;
}

// What stands for bytes that do not decode; false: the handler is `strict`.
bool replace_undecodable(Vm& vm, std::string_view errors, std::string_view bytes, std::string& out) {
  if (errors == "strict") return false;
  if (errors == "ignore") return true;
  if (errors == "replace") {
    append_utf8(out, 0xFFFD);
  } else if (errors == "backslashreplace") {
    for (char b : bytes) out += escaped(static_cast<uint8_t>(b));
  } else {
    unknown_handler(vm, errors);
  }
  return true;
}

// How many bytes from the front on are ASCII.
size_t ascii_run(std::string_view s) {
  size_t n = 0;
  for (uint64_t word; n + sizeof word <= s.size(); n += sizeof word) {
    std::memcpy(&word, s.data() + n, sizeof word);
    if (word & 0x8080808080808080u) break;
  }
  while (n < s.size() && static_cast<uint8_t>(s[n]) < 0x80) ++n;
  return n;
}

std::string decode_utf8_bytes(Vm& vm, std::string_view s, const Value& object,
                              std::string_view errors) {
  std::string out;
  check_text_room(s.size());
  out.reserve(s.size());
  Patience patience;
  for (size_t i = 0; i < s.size();) {
    const size_t plain = ascii_run(s.substr(i, 4096));
    patience.step(1 + plain / 4);
    out += s.substr(i, plain);
    i += plain;
    if (i == s.size()) break;
    Utf8Fault fault{};
    if (size_t n = utf8_sequence(s, i, fault)) {
      out += s.substr(i, n);
      i += n;
    } else if (replace_undecodable(vm, errors, s.substr(i, fault.end - i), out)) {
      i = fault.end;
    } else {
      raise_unicode(vm, vm.exceptions().UnicodeDecodeError, "utf-8", object, i, fault.end,
                    fault.reason);
    }
  }
  return out;
}

std::string decode_bytewise(Vm& vm, std::string_view s, const Value& object, bool ascii,
                            std::string_view errors) {
  std::string out;
  check_text_room(s.size());
  Patience patience;
  for (size_t i = 0; i < s.size(); ++i) {
    patience.step();
    uint8_t b = static_cast<uint8_t>(s[i]);
    if (!ascii || b < 128) append_utf8(out, b);
    else if (!replace_undecodable(vm, errors, s.substr(i, 1), out))
      raise_unicode(vm, vm.exceptions().UnicodeDecodeError, "ascii", object, i, i + 1,
                    "ordinal not in range(128)");
  }
  return out;
}

std::string decode_wide(Vm& vm, std::string_view s, const Value& object, const char* name, int bytes,
                        bool marked, bool big) {
  auto unit = [&](size_t at) {
    uint32_t u = 0;
    for (int k = 0; k < bytes; ++k)
      u |= uint32_t{static_cast<uint8_t>(s[at + static_cast<size_t>(k)])}
           << (8 * (big ? bytes - 1 - k : k));
    return u;
  };
  const size_t step = static_cast<size_t>(bytes);
  auto fail = [&](size_t at, const char* reason) {
    raise_unicode(vm, vm.exceptions().UnicodeDecodeError, name, object, at,
                  std::min(at + step, s.size()), reason);
  };
  size_t i = 0;
  if (marked && s.size() >= step) {
    if (unit(0) == (bytes == 2 ? 0xFFFEu : 0xFFFE0000u)) big = true;
    if (unit(0) == 0xFEFF) i = step;
  }
  std::string out;
  Patience patience;
  for (; i < s.size(); i += step) {
    patience.step();
    if (i + step > s.size()) fail(i, "truncated data");
    uint32_t c = unit(i);
    if (bytes == 2 && c >= 0xD800 && c < 0xDC00 && i + 4 <= s.size()) {
      c = 0x10000 + ((c - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    }
    if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) fail(i, "illegal encoding");
    append_utf8(out, c);
  }
  return out;
}

}  // namespace

std::string copy_text(std::string_view view) {
  check_text_room(view.size());
  std::string out;
  out.reserve(view.size());
  in_pieces(view.size(), [&](size_t begin, size_t end) { out += view.substr(begin, end - begin); });
  return out;
}

std::string encode_text(Vm& vm, const Value& text, std::string_view encoding,
                        std::string_view errors) {
  const EncodingRow& row = encoding_named(vm, encoding);
  std::string_view view = cast<StrObject>(text)->view();
  switch (row.encoding) {
    case Encoding::Utf8: return copy_text(view);
    case Encoding::Utf8Sig: return std::string(kMark).append(view);
    case Encoding::Ascii: return encode_bytewise(vm, text, 128, row.name, errors);
    case Encoding::Latin1: return encode_bytewise(vm, text, 256, row.name, errors);
    case Encoding::Utf16: return encode_wide(view, 2, true, false);
    case Encoding::Utf16Le: return encode_wide(view, 2, false, false);
    case Encoding::Utf16Be: return encode_wide(view, 2, false, true);
    case Encoding::Utf32: return encode_wide(view, 4, true, false);
    case Encoding::Utf32Le: return encode_wide(view, 4, false, false);
    case Encoding::Utf32Be: return encode_wide(view, 4, false, true);
  }
  return "";
}

std::string decode_bytes(Vm& vm, const Value& bytes, std::string_view encoding,
                         std::string_view errors) {
  const EncodingRow& row = encoding_named(vm, encoding);
  const std::string& s = cast<BytesObject>(bytes)->data;
  switch (row.encoding) {
    case Encoding::Utf8: return decode_utf8_bytes(vm, s, bytes, errors);
    case Encoding::Utf8Sig: {
      std::string text = decode_utf8_bytes(vm, s, bytes, errors);
      return text.compare(0, kMark.size(), kMark) == 0 ? text.substr(kMark.size()) : text;
    }
    case Encoding::Ascii: return decode_bytewise(vm, s, bytes, true, errors);
    case Encoding::Latin1: return decode_bytewise(vm, s, bytes, false, errors);
    case Encoding::Utf16: return decode_wide(vm, s, bytes, row.name, 2, true, false);
    case Encoding::Utf16Le: return decode_wide(vm, s, bytes, row.name, 2, false, false);
    case Encoding::Utf16Be: return decode_wide(vm, s, bytes, row.name, 2, false, true);
    case Encoding::Utf32: return decode_wide(vm, s, bytes, row.name, 4, true, false);
    case Encoding::Utf32Le: return decode_wide(vm, s, bytes, row.name, 4, false, false);
    case Encoding::Utf32Be: return decode_wide(vm, s, bytes, row.name, 4, false, true);
  }
  return "";
}

}  // namespace tsc::interp
