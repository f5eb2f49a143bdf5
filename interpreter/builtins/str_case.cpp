// str: case, classes of characters, stripping and padding. Beyond ASCII, case and classes follow
// utf8proc's Unicode tables.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {
namespace {

#include "interpreter/builtins/unicode_tables.inc"

std::string_view self_text(Args& a) { return cast<StrObject>(a[0])->view(); }

uint32_t next_point(std::string_view text, size_t& i) {
  const auto first = static_cast<uint8_t>(text[i]);
  return first < 0x80 ? ++i, first : decode_utf8(text, i);
}
template <class F>
void each_point(std::string_view text, F f) {
  Patience patience;
  for (size_t i = 0; i < text.size();) {
    patience.step();
    f(next_point(text, i));
  }
}
uint32_t to_upper(uint32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  return static_cast<uint32_t>(utf8proc_toupper(static_cast<int32_t>(c)));
}
uint32_t to_lower(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(c)));
}
utf8proc_category_t category(uint32_t c) {
  static const std::array<utf8proc_category_t, 128> kAscii = [] {
    std::array<utf8proc_category_t, 128> known{};
    for (int32_t i = 0; i < 128; ++i) known[static_cast<size_t>(i)] = utf8proc_category(i);
    return known;
  }();
  return c < 128 ? kAscii[c] : utf8proc_category(static_cast<int32_t>(c));
}
bool is_alpha(uint32_t c) {
  auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
template <size_t n>
bool in_ranges(const CodeRange (&ranges)[n], uint32_t c) {
  for (const CodeRange& range : ranges)
    if (c >= range.first && c <= range.last) return true;
  return false;
}
bool is_decimal(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(uint32_t c) { return is_decimal(c) || (c >= 0x80 && in_ranges(kOtherDigits, c)); }
bool is_numeric(uint32_t c) {
  auto k = category(c);
  bool number = k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
  return number || (c >= 0x80 && in_ranges(kNumericLetters, c));
}
bool is_blank(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}
bool is_upper(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x80 && in_ranges(kOtherUpper, c)); }
bool is_lower(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || (c >= 0x80 && in_ranges(kOtherLower, c)); }
bool is_title(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_not_lower(uint32_t c) { return is_upper(c) || is_title(c); }
bool is_not_upper(uint32_t c) { return is_lower(c) || is_title(c); }
bool is_cased(uint32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

const SpecialCase* special_case(uint32_t c) {
  auto row = std::lower_bound(std::begin(kSpecialCases), std::end(kSpecialCases), c,
                              [](const SpecialCase& r, uint32_t code) { return r.code < code; });
  return row != std::end(kSpecialCases) && row->code == c ? row : nullptr;
}
void append_upper(std::string& out, uint32_t c) {
  if (const SpecialCase* special = c < 0x80 ? nullptr : special_case(c)) out += special->upper;
  else append_utf8(out, to_upper(c));
}
void append_title(std::string& out, uint32_t c) {
  if (const SpecialCase* special = c < 0x80 ? nullptr : special_case(c)) out += special->title;
  else append_utf8(out, static_cast<uint32_t>(utf8proc_totitle(static_cast<int32_t>(c))));
}
// A capital sigma at the end of a word has a form of its own; `text` around byte `at` decides.
bool is_final_sigma(std::string_view text, size_t at) {
  bool before = false, after = false;
  size_t i = at;
  while (i > 0 && (static_cast<uint8_t>(text[--i]) & 0xC0) == 0x80) {
  }
  if (i < at) before = is_cased(decode_utf8(text, i));
  i = at;
  decode_utf8(text, i);
  if (i < text.size()) after = is_cased(decode_utf8(text, i));
  return before && !after;
}
void append_lower(std::string& out, uint32_t c, std::string_view text, size_t at) {
  if (c == 0x130) out += "i\xcc\x87";
  else if (c == 0x3A3 && is_final_sigma(text, at)) append_utf8(out, 0x3C2);
  else append_utf8(out, to_lower(c));
}

// Calls f(out, code point, its place in the text).
template <class F>
Value map_points(Vm& vm, Args& a, F f) {
  constexpr size_t kPiece = 16 << 10;
  TextBuilder all(vm);
  std::string out;
  std::string_view text = self_text(a);
  for (size_t i = 0; i < text.size();) {
    size_t at = i;
    f(out, next_point(text, i), at);
    if (out.size() < kPiece) continue;
    vm.hear_stop();
    all += out;
    out.clear();
  }
  all += out;
  return all.str();
}
// An ASCII text, letter by letter.
template <uint32_t (*change)(uint32_t)>
Value map_ascii(Vm& vm, std::string_view text) {
  char* out;
  Local<StrObject> made = make_blank_str(vm, text.size(), out);
  in_pieces(text.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = static_cast<char>(change(static_cast<uint8_t>(text[i])));
  });
  return made.take();
}
bool is_ascii(const Args& a) { return cast<StrObject>(a[0])->ascii; }

Value upper(Vm& vm, Args& a) {
  if (is_ascii(a)) return map_ascii<to_upper>(vm, self_text(a));
  return map_points(vm, a, [](std::string& out, uint32_t c, size_t) { append_upper(out, c); });
}
Value lower(Vm& vm, Args& a) {
  if (is_ascii(a)) return map_ascii<to_lower>(vm, self_text(a));
  return map_points(vm, a, [&](std::string& out, uint32_t c, size_t at) { append_lower(out, c, self_text(a), at); });
}
// Each character folds by itself, so a long text is folded piece by piece.
void fold(Vm& vm, TextBuilder& out, std::string_view text) {
  constexpr size_t kPiece = 32 << 10;
  while (!text.empty()) {
    size_t end = std::min(kPiece, text.size());
    while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) ++end;
    utf8proc_uint8_t* folded = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(end), &folded, UTF8PROC_CASEFOLD);
    if (size < 0) raise_value_error(vm, utf8proc_errmsg(size));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(folded, std::free);
    out += std::string_view(reinterpret_cast<char*>(folded), static_cast<size_t>(size));
    text.remove_prefix(end);
    vm.hear_stop();
  }
}
Value casefold(Vm& vm, Args& a) {
  if (is_ascii(a)) return map_ascii<to_lower>(vm, self_text(a));
  TextBuilder out(vm);
  std::string half;
  each_half(
      self_text(a), [&](uint32_t c) { half.clear(), append_utf8(half, c), out += half; },
      [&](std::string_view piece) { fold(vm, out, piece); });
  return out.str();
}
Value swapcase(Vm& vm, Args& a) {
  return map_points(vm, a, [&](std::string& out, uint32_t c, size_t at) {
    if (is_upper(c)) append_lower(out, c, self_text(a), at);
    else if (is_lower(c)) append_upper(out, c);
    else append_utf8(out, c);
  });
}
Value capitalize(Vm& vm, Args& a) {
  return map_points(vm, a, [&](std::string& out, uint32_t c, size_t at) {
    at == 0 ? append_title(out, c) : append_lower(out, c, self_text(a), at);
  });
}
Value title(Vm& vm, Args& a) {
  bool inside = false;
  return map_points(vm, a, [&](std::string& out, uint32_t c, size_t at) {
    inside ? append_lower(out, c, self_text(a), at) : append_title(out, c);
    inside = is_cased(c);
  });
}

template <bool (*test)(uint32_t)>
Value every(Vm&, Args& a) {
  const std::string_view text = self_text(a);
  bool all = !text.empty();
  Patience patience;
  for (size_t i = 0; all && i < text.size(); all = test(next_point(text, i))) patience.step();
  return Value::boolean(all);
}
bool alnum(uint32_t c) { return is_alpha(c) || is_numeric(c); }
Value isprintable(Vm&, Args& a) {
  bool all = true;
  each_point(self_text(a), [&](uint32_t c) { all = all && is_printable(c); });
  return Value::boolean(all);
}
Value isascii(Vm&, Args& a) { return Value::boolean(is_ascii(a)); }
template <bool (*wanted)(uint32_t), bool (*other)(uint32_t)>
Value all_cased(Vm&, Args& a) {
  bool some = false, ok = true;
  each_point(self_text(a), [&](uint32_t c) {
    if (wanted(c)) some = true;
    else if (other(c)) ok = false;
  });
  return Value::boolean(some && ok);
}
Value istitle(Vm&, Args& a) {
  bool some = false, ok = true, inside = false;
  each_point(self_text(a), [&](uint32_t c) {
    if (is_not_lower(c)) ok = ok && !inside, some = inside = true;
    else if (is_lower(c)) ok = ok && inside, some = inside = true;
    else inside = false;
  });
  return Value::boolean(some && ok);
}
Value isidentifier(Vm&, Args& a) {
  bool first = true, ok = !self_text(a).empty();
  each_point(self_text(a), [&](uint32_t c) {
    auto k = category(c);
    bool begins = c == '_' || is_alpha(c) || k == UTF8PROC_CATEGORY_NL;
    bool goes_on = k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC ||
                   k == UTF8PROC_CATEGORY_PC;
    ok = ok && (begins || (!first && goes_on));
    first = false;
  });
  return Value::boolean(ok);
}

// --- stripping ---------------------------------------------------------------------------------------------

Value strip_with(Vm& vm, Args& a, bool left, bool right) {
  std::string_view text = self_text(a);
  std::vector<uint32_t> set;
  bool blanks = a[1].is_none();
  if (!blanks && !is_kind(a[1], Kind::Str)) raise_type_error(vm, a.callee->name + " arg must be None or str");
  if (!blanks) each_point(text_of(vm, a[1]), [&](uint32_t c) { set.push_back(c); });
  auto drop = [&](uint32_t c) { return blanks ? is_blank(c) : std::find(set.begin(), set.end(), c) != set.end(); };
  size_t begin = 0, end = text.size();
  Patience patience;
  while (left && begin < end) {
    patience.step(1 + set.size());
    size_t i = begin;
    if (!drop(next_point(text, i))) break;
    begin = i;
  }
  while (right && end > begin) {
    patience.step(1 + set.size());
    size_t i = end - 1;
    while (i > begin && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80) --i;
    size_t j = i;
    if (!drop(next_point(text, j))) break;
    end = i;
  }
  if (end - begin == text.size() && a[0].object()->type == vm.types().str) return a[0];
  const std::string_view rest = text.substr(begin, end - begin);
  return is_ascii(a) && rest.size() != 1 ? make_ascii_str(vm, rest).take() : str_value(vm, rest);
}
Value strip(Vm& vm, Args& a) { return strip_with(vm, a, true, true); }
Value lstrip(Vm& vm, Args& a) { return strip_with(vm, a, true, false); }
Value rstrip(Vm& vm, Args& a) { return strip_with(vm, a, false, true); }
Value removeprefix(Vm& vm, Args& a) {
  std::string_view text = self_text(a), piece = text_of(vm, a[1], "removeprefix() argument");
  return str_value(vm, text.substr(0, piece.size()) == piece ? text.substr(piece.size()) : text);
}
Value removesuffix(Vm& vm, Args& a) {
  std::string_view text = self_text(a), piece = text_of(vm, a[1], "removesuffix() argument");
  bool ends = !piece.empty() && text.size() >= piece.size() && text.substr(text.size() - piece.size()) == piece;
  return str_value(vm, ends ? text.substr(0, text.size() - piece.size()) : text);
}

// --- padding ---------------------------------------------------------------------------------------------------

Value pad(Vm& vm, Args& a, int where) {
  int64_t width = to_index(vm, a[1]), length = cast<StrObject>(a[0])->length;
  if (!is_kind(a[2], Kind::Str))
    raise_type_error(vm, "The fill character must be a unicode character, not " + type_name(vm, a[2]));
  std::string_view fill = text_of(vm, a[2]);
  bool ascii;
  if (count_code_points(fill, ascii) != 1)
    raise_type_error(vm, "The fill character must be exactly one character long");
  if (width <= length) return a[0];
  if (width > (int64_t{1} << 38))
    raise(vm, vm.exceptions().MemoryError, "a string of this size does not fit in memory");
  int64_t total = width - length;
  int64_t left = where < 0 ? 0 : where > 0 ? total : total / 2 + (total & width & 1);
  const size_t before = static_cast<size_t>(left) * fill.size(), size = self_text(a).size(),
               after = static_cast<size_t>(total - left) * fill.size();
  char* text;
  Local<StrObject> s = make_blank_str(vm, before + size + after, text);
  repeat_bytes(text, fill.data(), fill.size(), before);
  copy_bytes(text + before, self_text(a).data(), size);
  repeat_bytes(text + before + size, fill.data(), fill.size(), after);
  s->ascii = ascii && cast<StrObject>(a[0])->ascii;
  s->length = width;
  return s.take();
}
Value ljust(Vm& vm, Args& a) { return pad(vm, a, -1); }
Value rjust(Vm& vm, Args& a) { return pad(vm, a, 1); }
Value center(Vm& vm, Args& a) { return pad(vm, a, 0); }
Value zfill(Vm& vm, Args& a) {
  int64_t width = to_index(vm, a[1]), length = cast<StrObject>(a[0])->length;
  if (width <= length) return a[0];
  std::string_view text = self_text(a);
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  if (width > (int64_t{1} << 38))
    raise(vm, vm.exceptions().MemoryError, "a string of this size does not fit in memory");
  const size_t zeros = static_cast<size_t>(width - length);
  char* to;
  Local<StrObject> s = make_blank_str(vm, text.size() + zeros, to);
  if (sign) *to++ = text[0];
  repeat_bytes(to, "0", 1, zeros);
  copy_bytes(to + zeros, text.data() + sign, text.size() - sign);
  s->ascii = cast<StrObject>(a[0])->ascii;
  s->length = width;
  return s.take();
}
constexpr char kBlanks[] = "                                                                ";
Value expandtabs(Vm& vm, Args& a) {
  int64_t size = to_index(vm, a[1]), column = 0;
  TextBuilder out(vm);
  std::string one;
  each_point(self_text(a), [&](uint32_t c) {
    if (c == '\t') {
      int64_t n = size > 0 ? size - column % size : 0;
      for (int64_t left = n; left > 0; left -= 64)
        out += std::string_view(kBlanks, std::min<size_t>(64, static_cast<size_t>(left)));
      column += n;
    } else {
      one.clear();
      append_utf8(one, c);
      out += one;
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  });
  return out.str();
}

// --- translation, encoding -----------------------------------------------------------------------------------

Value maketrans(Vm& vm, Args& a) {
  Local<DictObject> table = make_dict(vm);
  if (auto* dict = try_cast<DictObject>(a[0]); dict && !a.has(1)) {
    for (uint32_t i = 0; i < dict->table.used(); ++i) {
      const Table::Entry& e = dict->table.entry(i);
      if (!e.key) continue;
      if (is_kind(e.key, Kind::Str) && cast<StrObject>(e.key)->length != 1)
        raise_value_error(vm, "string keys in translate table must be of length 1");
      size_t offset = 0;
      Value key =
          is_kind(e.key, Kind::Str) ? Value::integer(decode_utf8(cast<StrObject>(e.key)->view(), offset)) : e.key;
      dict_set(vm, table, key, e.value);
    }
    return table.take();
  }
  if (!a.has(1)) raise_type_error(vm, "if you give only one argument to maketrans it must be a dict");
  std::vector<uint32_t> from, to;
  each_point(text_of(vm, a[0]), [&](uint32_t c) { from.push_back(c); });
  each_point(text_of(vm, a[1]), [&](uint32_t c) { to.push_back(c); });
  if (from.size() != to.size()) raise_value_error(vm, "the first two maketrans arguments must have equal length");
  for (size_t i = 0; i < from.size(); ++i) dict_set(vm, table, Value::integer(from[i]), Value::integer(to[i]));
  if (a.has(2))
    each_point(text_of(vm, a[2]), [&](uint32_t c) { dict_set(vm, table, Value::integer(c), Value::none()); });
  return table.take();
}
// What a table that is no dict says; a LookupError means: leave the character.
Value translated(Vm& vm, const Value& table, uint32_t c) {
  try {
    return get_item(vm, table, Value::integer(c));
  } catch (const ScriptException& e) {
    if (!e.exception()->type->is_subtype_of(vm.exceptions().LookupError)) throw;
    return Value();
  }
}
uint32_t translated_point(Vm& vm, int64_t c) {
  if (c < 0 || c >= 0x110000) raise_value_error(vm, "character mapping must be in range(0x110000)");
  return static_cast<uint32_t>(c);
}
Value translate(Vm& vm, Args& a) {
  TextBuilder out(vm);
  const auto replacement = [&](uint32_t c) {
    std::string text;
    Value v;
    if (auto* dict = try_cast<DictObject>(a[1])) v = dict_get(vm, dict, Value::integer(c));
    else v = translated(vm, a[1], c);
    if (!v) append_utf8(text, c);
    else if (is_integer_like(v)) append_utf8(text, translated_point(vm, v.as_int()));
    else if (is_kind(v, Kind::Str)) text = text_of(vm, v);
    else if (!v.is_none()) raise_type_error(vm, "character mapping must return integer, None or str");
    return text;
  };
  // What a dict says of a character of ASCII it says again.
  std::array<std::optional<std::string>, 128> known;
  const bool is_dict = type_of(vm, a[1]) == vm.types().dict;
  each_point(self_text(a), [&](uint32_t c) {
    if (!is_dict || c >= known.size()) {
      out += replacement(c);
      return;
    }
    if (!known[c]) known[c] = replacement(c);
    out += *known[c];
  });
  return out.str();
}
Value encode(Vm& vm, Args& a) {
  return make_bytes(vm, encode_text(vm, a[0], text_of(vm, a[1], "encode() argument 'encoding'"),
                                    text_of(vm, a[2], "encode() argument 'errors'")))
      .take();
}

}  // namespace

bool is_printable(uint32_t c) {
  auto k = category(c);
  return c == ' ' || !(k >= UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_CN);
}
bool is_space(uint32_t c) { return is_blank(c); }
int decimal_digit(uint32_t c) {
  if (!is_decimal(c)) return -1;
  // Decimals come in runs whose length is a multiple of ten, zero first.
  uint32_t first = c;
  while (first > 0 && is_decimal(first - 1)) --first;
  return static_cast<int>((c - first) % 10);
}

void add_str_case_methods(TypeBuilder& type) {
  type.method("upper", "self", upper)
      .method("lower", "self", lower)
      .method("casefold", "self", casefold)
      .method("swapcase", "self", swapcase)
      .method("capitalize", "self", capitalize)
      .method("title", "self", title)
      .method("isalpha", "self", every<is_alpha>)
      .method("isdigit", "self", every<is_digit>)
      .method("isdecimal", "self", every<is_decimal>)
      .method("isnumeric", "self", every<is_numeric>)
      .method("isalnum", "self", every<alnum>)
      .method("isspace", "self", every<is_blank>)
      .method("isprintable", "self", isprintable)
      .method("isascii", "self", isascii)
      .method("isupper", "self", all_cased<is_upper, is_not_upper>)
      .method("islower", "self", all_cased<is_lower, is_not_lower>)
      .method("istitle", "self", istitle)
      .method("isidentifier", "self", isidentifier)
      .method("strip", "self, chars=None, /", strip)
      .method("lstrip", "self, chars=None, /", lstrip)
      .method("rstrip", "self, chars=None, /", rstrip)
      .method("removeprefix", "self, prefix, /", removeprefix)
      .method("removesuffix", "self, suffix, /", removesuffix)
      .method("ljust", "self, width, fillchar=' ', /", ljust)
      .method("rjust", "self, width, fillchar=' ', /", rjust)
      .method("center", "self, width, fillchar=' ', /", center)
      .method("zfill", "self, width, /", zfill)
      .method("expandtabs", "self, tabsize=8", expandtabs)
      .static_method("maketrans", "x, y=?, z=?, /", maketrans)
      .method("translate", "self, table, /", translate)
      .method("encode", "self, encoding='utf-8', errors='strict'", encode);
}

}  // namespace tsc::interp
