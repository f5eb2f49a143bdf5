// Text encodings: str to bytes and back, with the error handlers of Python.
#include <algorithm>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/escape_codec.h"
#include "interpreter/builtins/host_codecs.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/surrogates.h"
#include "lang/character_names.h"

namespace tsc::interp {
namespace {

enum class Encoding {
  Utf8,
  Utf8Sig,
  Ascii,
  Latin1,
  Utf16,
  Utf16Le,
  Utf16Be,
  Utf32,
  Utf32Le,
  Utf32Be,
  Escape,
  RawEscape
};

constexpr const char* kUtf8 = "utf-8";              // in messages
constexpr std::string_view kMark = "\xef\xbb\xbf";  // of byte order; at the beginning of a text

struct EncodingRow {
  const char* alias;  // lower case, '_' written as '-'
  Encoding encoding;
  const char* name;  // in messages
};
constexpr EncodingRow kEncodings[] = {
    {"utf-8", Encoding::Utf8, "utf-8"},
    {"utf8", Encoding::Utf8, "utf-8"},
    {"utf-8-sig", Encoding::Utf8Sig, "utf-8"},
    {"utf8-sig", Encoding::Utf8Sig, "utf-8"},
    {"u8", Encoding::Utf8, "utf-8"},
    {"ascii", Encoding::Ascii, "ascii"},
    {"us-ascii", Encoding::Ascii, "ascii"},
    {"latin-1", Encoding::Latin1, "latin-1"},
    {"latin1", Encoding::Latin1, "latin-1"},
    {"iso-8859-1", Encoding::Latin1, "latin-1"},
    {"l1", Encoding::Latin1, "latin-1"},
    {"utf-16", Encoding::Utf16, "utf-16"},
    {"utf16", Encoding::Utf16, "utf-16"},
    {"utf-16-le", Encoding::Utf16Le, "utf-16-le"},
    {"utf-16-be", Encoding::Utf16Be, "utf-16-be"},
    {"utf-32", Encoding::Utf32, "utf-32"},
    {"utf32", Encoding::Utf32, "utf-32"},
    {"utf-32-le", Encoding::Utf32Le, "utf-32-le"},
    {"utf-32-be", Encoding::Utf32Be, "utf-32-be"},
    {"unicode-escape", Encoding::Escape, "unicodeescape"},
    {"unicodeescape", Encoding::Escape, "unicodeescape"},
    {"raw-unicode-escape", Encoding::RawEscape, "rawunicodeescape"},
    {"rawunicodeescape", Encoding::RawEscape, "rawunicodeescape"},
};

// Null: it is none of these.
const EncodingRow* own_encoding(std::string_view given) {
  if (given == kEncodings[0].alias) return &kEncodings[0];
  std::string name(given);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (const EncodingRow& row : kEncodings)
    if (name == row.alias) return &row;
  return nullptr;
}

std::unique_ptr<HostCodec> host_encoding(Vm& vm, std::string_view given) {
  std::unique_ptr<HostCodec> codec = HostCodec::find(given);
  if (!codec) raise(vm, vm.exceptions().LookupError, "unknown encoding: " + std::string(given));
  return codec;
}

[[noreturn]] void raise_unicode(Vm& vm, Type* type, const char* encoding, const Value& object, size_t start, size_t end,
                                const char* reason) {
  Value args[] = {str_value(vm, encoding), object, Value::integer(static_cast<int64_t>(start)),
                  Value::integer(static_cast<int64_t>(end)), str_value(vm, reason)};
  throw ScriptException(make_exception(vm, type, args));
}

[[noreturn]] void unknown_handler(Vm& vm, std::string_view errors) {
  raise(vm, vm.exceptions().LookupError, "unknown error handler name '" + std::string(errors) + "'");
}

std::string by_name(uint32_t c) {
  const std::string name = lang::name_of_character(c);
  return name.empty() ? escaped(c) : "\\N{" + name + "}";
}

// What stands for a character that the encoding has not; false: the handler is `strict`.
bool replace_unencodable(Vm& vm, std::string_view errors, uint32_t c, std::string& out) {
  if (errors == "strict" || errors == "surrogateescape" || errors == "surrogatepass") return false;
  if (errors == "ignore") return true;
  if (errors == "replace") out += '?';
  else if (errors == "backslashreplace") out += escaped(c);
  else if (errors == "namereplace") out += by_name(c);
  else if (errors == "xmlcharrefreplace") out += "&#" + std::to_string(c) + ";";
  else unknown_handler(vm, errors);
  return true;
}

// Characters that an encoding of single bytes, or UTF-8, has not: those from `index` on up to `end`, at the offset
// `at`. Raises for all that are left where the handler refuses one.
void encode_run(Vm& vm, const Value& text, size_t at, size_t index, size_t end, const char* name, const char* reason,
                std::string_view errors, std::string& out) {
  const std::string_view view = cast<StrObject>(text)->view();
  for (; index < end; ++index) {
    const size_t begin = at;
    const uint32_t c = decode_utf8(view, at);
    if (errors == "surrogateescape" && is_escaped_byte(c)) out += static_cast<char>(c - 0xDC00);
    else if (errors == "surrogatepass" && name == kUtf8 && is_surrogate(c)) out += view.substr(begin, at - begin);
    else if (!replace_unencodable(vm, errors, c, out))
      raise_unicode(vm, vm.exceptions().UnicodeEncodeError, name, text, index, end, reason);
  }
}

// What messages say of characters that an encoding has not: all beside each other `together`, or each by itself.
struct Refusal {
  const char* name;  // of the encoding
  const char* reason;
  bool together;
};

// Of an encoding without a mark at the beginning. `append` appends the bytes of the code point `c`, which stands in
// `character` as UTF-8; false: the encoding has not got it.
template <class Append>
std::string encode_each(Vm& vm, const Value& text, const Refusal& refusal, std::string_view errors, Append append) {
  const std::string_view view = cast<StrObject>(text)->view();
  std::string out;
  size_t index = 0;
  Patience patience;
  for (size_t i = 0; i < view.size(); ++index) {
    patience.step();
    const size_t begin = i;
    if (const uint32_t c = decode_utf8(view, i); append(c, view.substr(begin, i - begin), out)) continue;
    size_t end = index + 1;
    for (std::string ignored; refusal.together && i < view.size(); ++end) {
      size_t next = i;
      const uint32_t other = decode_utf8(view, next);
      if (append(other, view.substr(i, next - i), ignored)) break;
      i = next;
    }
    encode_run(vm, text, begin, index, end, refusal.name, refusal.reason, errors, out);
    index = end - 1;
  }
  return out;
}

// Latin-1, and ASCII with the limit 128.
std::string encode_bytewise(Vm& vm, const Value& text, uint32_t limit, const char* name, std::string_view errors) {
  const char* reason = limit == 128 ? "ordinal not in range(128)" : "ordinal not in range(256)";
  return encode_each(vm, text, {name, reason, true}, errors, [limit](uint32_t c, std::string_view, std::string& out) {
    if (c >= limit) return false;
    out += static_cast<char>(c);
    return true;
  });
}

std::string encode_by_host(Vm& vm, const Value& text, HostCodec& codec, std::string_view errors) {
  const Refusal refusal{codec.name(), codec.unknown_text(), codec.is_charmap()};
  return encode_each(vm, text, refusal, errors, [&](uint32_t c, std::string_view character, std::string& out) {
    if (c >= 128) return !is_surrogate(c) && codec.encode_one(character, out);
    out += static_cast<char>(c);
    return true;
  });
}

std::string encode_utf8(Vm& vm, const Value& text, std::string_view errors) {
  const auto* s = cast<StrObject>(text);
  const std::string_view view = s->view();
  size_t at = s->ascii ? view.npos : find_surrogate(view);
  if (at == view.npos) return copy_text(view);
  std::string out;
  for (size_t done = 0;;) {
    out += view.substr(done, at - done);
    if (at == view.npos) return out;
    const auto index = static_cast<size_t>(code_point_index(s, at));
    size_t end = index;
    for (done = at; done < view.size(); ++end) {
      size_t next = done;
      if (!is_surrogate(decode_utf8(view, next))) break;
      done = next;
    }
    encode_run(vm, text, at, index, end, kUtf8, "surrogates not allowed", errors, out);
    const size_t next = find_surrogate(view.substr(done));
    at = next == view.npos ? next : done + next;
  }
}

void append_unit(std::string& out, uint32_t unit, int bytes, bool big) {
  for (int k = 0; k < bytes; ++k) out += static_cast<char>(unit >> (8 * (big ? bytes - 1 - k : k)));
}

struct WideForm {
  const char* name;
  int bytes;
  bool mark, big;
};

std::string encode_wide(Vm& vm, const Value& text, const WideForm& form, std::string_view errors) {
  const std::string_view view = cast<StrObject>(text)->view();
  std::string out, instead;
  if (form.mark) append_unit(out, 0xFEFF, form.bytes, false);
  check_text_room(view.size() * static_cast<size_t>(form.bytes) / 2);
  Patience patience;
  size_t index = 0;
  for (size_t i = 0; i < view.size(); ++index) {
    patience.step();
    uint32_t c = decode_utf8(view, i);
    if (form.bytes == 2 && c >= 0x10000) {
      append_unit(out, 0xD800 + ((c - 0x10000) >> 10), 2, form.big);
      append_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF), 2, form.big);
    } else if (!is_surrogate(c) || errors == "surrogatepass") {
      append_unit(out, c, form.bytes, form.big);
    } else {
      instead.clear();
      if (!replace_unencodable(vm, errors, c, instead))
        raise_unicode(vm, vm.exceptions().UnicodeEncodeError, form.name, text, index, index + 1,
                      "surrogates not allowed");
      for (const char letter : instead) append_unit(out, static_cast<uint8_t>(letter), form.bytes, form.big);
    }
  }
  return out;
}

// Bytes that do not decode: where in `bytes`, and why.
struct Undecodable {
  const char* encoding;
  size_t begin, end;
  const char* reason;
};

uint32_t unit_at(std::string_view s, size_t at, int bytes, bool big) {
  uint32_t u = 0;
  for (int k = 0; k < bytes; ++k)
    u |= uint32_t{static_cast<uint8_t>(s[at + static_cast<size_t>(k)])} << (8 * (big ? bytes - 1 - k : k));
  return u;
}

// A half of a surrogate pair, written as any other character is; 0: it is none.
size_t pass_surrogate(std::string_view s, const Undecodable& fault, std::string& out) {
  const std::string_view name = fault.encoding;
  if (!name.starts_with("utf-")) return 0;
  const bool narrow = name == "utf-8";
  const int bytes = narrow ? 3 : name.substr(0, 6) == "utf-16" ? 2 : 4;
  const size_t end = fault.begin + static_cast<size_t>(bytes);
  if (end > s.size()) return 0;
  size_t at = fault.begin;
  if (narrow && (static_cast<uint8_t>(s[at]) != 0xED || (s[at + 1] & 0xC0) != 0x80 || (s[at + 2] & 0xC0) != 0x80))
    return 0;
  const bool big = name.find("-be") != name.npos;
  const uint32_t c = narrow ? decode_utf8(s, at) : unit_at(s, at, bytes, big);
  if (!is_surrogate(c)) return 0;
  append_utf8(out, c);
  return end;
}

// Puts what stands for them at the end of `out`; gives where decoding goes on. Raises where the handler is `strict`.
size_t replace_undecodable(Vm& vm, std::string_view errors, const Value& object, const Undecodable& fault,
                           std::string& out) {
  const std::string_view bytes = cast<BytesObject>(object)->data;
  if (errors == "ignore") return fault.end;
  if (errors == "replace") {
    append_utf8(out, 0xFFFD);
    return fault.end;
  }
  if (errors == "backslashreplace") {
    for (char b : bytes.substr(fault.begin, fault.end - fault.begin)) out += escaped(static_cast<uint8_t>(b));
    return fault.end;
  }
  if (errors == "surrogateescape") {
    size_t at = fault.begin;
    for (; at < fault.end && static_cast<uint8_t>(bytes[at]) >= 0x80; ++at)
      append_utf8(out, 0xDC00 + static_cast<uint8_t>(bytes[at]));
    if (at > fault.begin) return at;
  } else if (errors == "surrogatepass") {
    if (const size_t next = pass_surrogate(bytes, fault, out)) return next;
  } else if (errors != "strict") {
    unknown_handler(vm, errors);
  }
  raise_unicode(vm, vm.exceptions().UnicodeDecodeError, fault.encoding, object, fault.begin, fault.end, fault.reason);
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

std::string decode_utf8_bytes(Vm& vm, std::string_view s, const Value& object, std::string_view errors) {
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
    } else {
      i = replace_undecodable(vm, errors, object, {kUtf8, i, fault.end, fault.reason}, out);
    }
  }
  return out;
}

std::string decode_bytewise(Vm& vm, std::string_view s, const Value& object, bool ascii, std::string_view errors) {
  std::string out;
  check_text_room(s.size());
  Patience patience;
  for (size_t i = 0; i < s.size();) {
    patience.step();
    uint8_t b = static_cast<uint8_t>(s[i]);
    if (!ascii || b < 128) append_utf8(out, b), ++i;
    else i = replace_undecodable(vm, errors, object, {"ascii", i, i + 1, "ordinal not in range(128)"}, out);
  }
  return out;
}

std::string decode_by_host(Vm& vm, std::string_view s, const Value& object, HostCodec& codec, std::string_view errors) {
  std::string out;
  check_text_room(s.size());
  Patience patience;
  for (size_t i = 0; i < s.size();) {
    const size_t plain = ascii_run(s.substr(i, 4096));
    patience.step(1 + plain / 4);
    out += s.substr(i, plain);
    i += plain;
    if (plain || i == s.size()) continue;
    bool cut_off = false;
    if (const size_t size = codec.decode_one(s.substr(i), out, cut_off)) i += size;
    else if (cut_off)
      i = replace_undecodable(vm, errors, object, {codec.name(), i, s.size(), "incomplete multibyte sequence"}, out);
    else i = replace_undecodable(vm, errors, object, {codec.name(), i, i + 1, codec.unknown_text()}, out);
  }
  return out;
}

// The code point at an offset, which moves behind it; or its fault, with a null reason where there is none.
uint32_t wide_character(std::string_view s, size_t& i, const WideForm& form, Undecodable& fault) {
  const size_t step = static_cast<size_t>(form.bytes), left = s.size() - i;
  fault = {form.name, i, std::min(i + step, s.size()), nullptr};
  if (left < step) return fault.reason = "truncated data", 0;
  const uint32_t c = unit_at(s, i, form.bytes, form.big);
  if (form.bytes == 4) {
    if (is_surrogate(c)) fault.reason = "code point in surrogate code point range(0xd800, 0xe000)";
    else if (c > 0x10FFFF) fault.reason = "code point not in range(0x110000)";
  } else if (c >= 0xDC00 && c < 0xE000) {
    fault.reason = "illegal encoding";
  } else if (is_surrogate(c)) {
    if (left < 4) return fault.end = s.size(), fault.reason = "unexpected end of data", 0;
    const uint32_t low = unit_at(s, i + 2, 2, form.big);
    if (low < 0xDC00 || low >= 0xE000) return fault.reason = "illegal UTF-16 surrogate", 0;
    i += 4;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  }
  if (!fault.reason) i += step;
  return c;
}

std::string decode_wide(Vm& vm, std::string_view s, const Value& object, WideForm form, std::string_view errors) {
  const size_t step = static_cast<size_t>(form.bytes);
  size_t i = 0;
  if (form.mark && s.size() >= step) {
    const uint32_t first = unit_at(s, 0, form.bytes, false);
    if (first == (form.bytes == 2 ? 0xFFFEu : 0xFFFE0000u)) form.big = true, i = step;
    if (first == 0xFEFF) i = step;
  }
  if (form.mark)
    form.name = form.bytes == 2 ? (form.big ? "utf-16-be" : "utf-16-le") : form.big ? "utf-32-be" : "utf-32-le";
  std::string out;
  Patience patience;
  Undecodable fault{};
  while (i < s.size()) {
    patience.step();
    if (const uint32_t c = s.size() - i < step ? 0xFFFF : unit_at(s, i, form.bytes, form.big); c < 0xD800) {
      append_utf8(out, c);
      i += step;
      continue;
    }
    const uint32_t c = wide_character(s, i, form, fault);
    if (fault.reason) i = replace_undecodable(vm, errors, object, fault, out);
    else append_utf8(out, c);
  }
  return out;
}

// Of the encodings of units of two and four bytes.
WideForm wide_form(const EncodingRow& row) {
  switch (row.encoding) {
    case Encoding::Utf16: return {row.name, 2, true, false};
    case Encoding::Utf16Le: return {row.name, 2, false, false};
    case Encoding::Utf16Be: return {row.name, 2, false, true};
    case Encoding::Utf32: return {row.name, 4, true, false};
    case Encoding::Utf32Le: return {row.name, 4, false, false};
    default: return {row.name, 4, false, true};
  }
}

}  // namespace

std::string copy_text(std::string_view view) {
  check_text_room(view.size());
  std::string out;
  out.reserve(view.size());
  in_pieces(view.size(), [&](size_t begin, size_t end) { out += view.substr(begin, end - begin); });
  return out;
}

std::string encode_text(Vm& vm, const Value& text, std::string_view encoding, std::string_view errors) {
  const EncodingRow* found = own_encoding(encoding);
  if (!found) return encode_by_host(vm, text, *host_encoding(vm, encoding), errors);
  const EncodingRow& row = *found;
  switch (row.encoding) {
    case Encoding::Utf8: return encode_utf8(vm, text, errors);
    case Encoding::Utf8Sig: return std::string(kMark).append(encode_utf8(vm, text, errors));
    case Encoding::Ascii: return encode_bytewise(vm, text, 128, row.name, errors);
    case Encoding::Latin1: return encode_bytewise(vm, text, 256, row.name, errors);
    case Encoding::Escape:
    case Encoding::RawEscape: return encode_escapes(cast<StrObject>(text)->view(), row.encoding == Encoding::RawEscape);
    default: return encode_wide(vm, text, wide_form(row), errors);
  }
}

std::string decode_bytes(Vm& vm, const Value& bytes, std::string_view encoding, std::string_view errors) {
  const EncodingRow* found = own_encoding(encoding);
  const std::string& s = cast<BytesObject>(bytes)->data;
  if (!found) return decode_by_host(vm, s, bytes, *host_encoding(vm, encoding), errors);
  const EncodingRow& row = *found;
  switch (row.encoding) {
    case Encoding::Utf8: return decode_utf8_bytes(vm, s, bytes, errors);
    case Encoding::Utf8Sig: {
      std::string text = decode_utf8_bytes(vm, s, bytes, errors);
      return text.compare(0, kMark.size(), kMark) == 0 ? text.substr(kMark.size()) : text;
    }
    case Encoding::Ascii: return decode_bytewise(vm, s, bytes, true, errors);
    case Encoding::Latin1: return decode_bytewise(vm, s, bytes, false, errors);
    case Encoding::Escape:
    case Encoding::RawEscape:
      return decode_escapes(s, row.encoding == Encoding::RawEscape,
                            [&](size_t begin, size_t end, const char* reason, std::string& out) {
                              return replace_undecodable(vm, errors, bytes, {row.name, begin, end, reason}, out);
                            });
    default: return decode_wide(vm, s, bytes, wide_form(row), errors);
  }
}

}  // namespace tsc::interp
