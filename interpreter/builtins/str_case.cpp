// str: case, classes of characters, stripping and padding. Beyond ASCII, case and classes follow
// utf8proc's Unicode tables.
#include <utf8proc.h>

#include <algorithm>

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {
namespace {

std::string_view self_text(Args& a) { return cast<StrObject>(a[0])->view(); }

template <class F>
void each_point(std::string_view text, F f) {
  for (size_t i = 0; i < text.size();) f(decode_utf8(text, i));
}
uint32_t to_upper(uint32_t c) { return static_cast<uint32_t>(utf8proc_toupper(static_cast<int32_t>(c))); }
uint32_t to_lower(uint32_t c) { return static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(c))); }
utf8proc_category_t category(uint32_t c) { return utf8proc_category(static_cast<int32_t>(c)); }
bool is_cased(uint32_t c) { return to_upper(c) != c || to_lower(c) != c; }
bool is_alpha(uint32_t c) {
  auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_numeric(uint32_t c) {
  auto k = category(c);
  return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}
bool is_space(uint32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f) || c == 0x85 ||
         category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}
bool is_upper(uint32_t c) { return to_lower(c) != c; }
bool is_lower(uint32_t c) { return to_upper(c) != c || c == 0xDF; }

template <class F>
Value map_points(Vm& vm, Args& a, F f) {
  std::string out;
  each_point(self_text(a), [&](uint32_t c) { append_utf8(out, f(c)); });
  return str_value(vm, out);
}
Value upper(Vm& vm, Args& a) {
  std::string out;
  each_point(self_text(a), [&](uint32_t c) {
    if (c == 0xDF) out += "SS";
    else append_utf8(out, to_upper(c));
  });
  return str_value(vm, out);
}
Value lower(Vm& vm, Args& a) { return map_points(vm, a, to_lower); }
Value casefold(Vm& vm, Args& a) {
  std::string out;
  each_point(self_text(a), [&](uint32_t c) {
    if (c == 0xDF) out += "ss";
    else append_utf8(out, to_lower(c));
  });
  return str_value(vm, out);
}
Value swapcase(Vm& vm, Args& a) {
  return map_points(vm, a, [](uint32_t c) { return to_lower(c) != c ? to_lower(c) : to_upper(c); });
}
Value capitalize(Vm& vm, Args& a) {
  bool first = true;
  return map_points(vm, a, [&](uint32_t c) {
    uint32_t r = first ? to_upper(c) : to_lower(c);
    first = false;
    return r;
  });
}
Value title(Vm& vm, Args& a) {
  bool inside = false;
  return map_points(vm, a, [&](uint32_t c) {
    uint32_t r = inside ? to_lower(c) : to_upper(c);
    inside = is_cased(c);
    return r;
  });
}

template <bool (*test)(uint32_t)>
Value every(Vm&, Args& a) {
  bool all = !self_text(a).empty();
  each_point(self_text(a), [&](uint32_t c) { all = all && test(c); });
  return Value::boolean(all);
}
bool alnum(uint32_t c) { return is_alpha(c) || is_numeric(c); }
bool plain_ascii(uint32_t c) { return c < 0x80; }
bool printable(uint32_t c) {
  auto k = category(c);
  return c == ' ' || !(k >= UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_CN);
}
Value isascii(Vm&, Args& a) {
  bool all = true;
  each_point(self_text(a), [&](uint32_t c) { all = all && plain_ascii(c); });
  return Value::boolean(all);
}
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
    if (is_upper(c)) ok = ok && !inside, some = inside = true;
    else if (is_lower(c)) ok = ok && inside, some = inside = true;
    else inside = false;
  });
  return Value::boolean(some && ok);
}
Value isidentifier(Vm&, Args& a) {
  bool first = true, ok = !self_text(a).empty();
  each_point(self_text(a), [&](uint32_t c) {
    ok = ok && (c == '_' || is_alpha(c) || (!first && is_digit(c)));
    first = false;
  });
  return Value::boolean(ok);
}

// --- stripping ---------------------------------------------------------------------------------------------

Value strip_with(Vm& vm, Args& a, bool left, bool right) {
  std::string_view text = self_text(a);
  std::vector<uint32_t> set;
  bool blanks = a[1].is_none();
  if (!blanks)
    each_point(text_of(vm, a[1], "strip arg"), [&](uint32_t c) { set.push_back(c); });
  auto drop = [&](uint32_t c) {
    return blanks ? is_space(c) : std::find(set.begin(), set.end(), c) != set.end();
  };
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    size_t i = begin;
    if (!drop(decode_utf8(text, i))) break;
    begin = i;
  }
  while (right && end > begin) {
    size_t i = end - 1;
    while (i > begin && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80) --i;
    size_t j = i;
    if (!drop(decode_utf8(text, j))) break;
    end = i;
  }
  return begin == 0 && end == text.size() ? str_value(vm, text)
                                          : str_value(vm, text.substr(begin, end - begin));
}
Value strip(Vm& vm, Args& a) { return strip_with(vm, a, true, true); }
Value lstrip(Vm& vm, Args& a) { return strip_with(vm, a, true, false); }
Value rstrip(Vm& vm, Args& a) { return strip_with(vm, a, false, true); }
Value removeprefix(Vm& vm, Args& a) {
  std::string_view text = self_text(a), piece = text_of(vm, a[1]);
  return str_value(vm, text.substr(0, piece.size()) == piece ? text.substr(piece.size()) : text);
}
Value removesuffix(Vm& vm, Args& a) {
  std::string_view text = self_text(a), piece = text_of(vm, a[1]);
  bool ends = !piece.empty() && text.size() >= piece.size() &&
              text.substr(text.size() - piece.size()) == piece;
  return str_value(vm, ends ? text.substr(0, text.size() - piece.size()) : text);
}

// --- padding ---------------------------------------------------------------------------------------------------

Value pad(Vm& vm, Args& a, int where) {
  int64_t width = to_index(vm, a[1]), length = cast<StrObject>(a[0])->length;
  std::string_view fill = text_of(vm, a[2], "The fill character");
  bool ascii;
  if (count_code_points(fill, ascii) != 1)
    raise_type_error(vm, "The fill character must be exactly one character long");
  if (width <= length) return a[0];
  if (width > (int64_t{1} << 38)) raise(vm, vm.exceptions().MemoryError, "a string of this size does not fit in memory");
  int64_t total = width - length;
  int64_t left = where < 0 ? 0 : where > 0 ? total : total / 2 + (total & width & 1);
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += fill;
  out += self_text(a);
  for (int64_t i = left; i < total; ++i) out += fill;
  return str_value(vm, out);
}
Value ljust(Vm& vm, Args& a) { return pad(vm, a, -1); }
Value rjust(Vm& vm, Args& a) { return pad(vm, a, 1); }
Value center(Vm& vm, Args& a) { return pad(vm, a, 0); }
Value zfill(Vm& vm, Args& a) {
  int64_t width = to_index(vm, a[1]), length = cast<StrObject>(a[0])->length;
  if (width <= length) return a[0];
  std::string_view text = self_text(a);
  bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  std::string out(text.substr(0, sign));
  out.append(static_cast<size_t>(width - length), '0');
  out += text.substr(sign);
  return str_value(vm, out);
}
Value expandtabs(Vm& vm, Args& a) {
  int64_t size = to_index(vm, a[1]), column = 0;
  std::string out;
  each_point(self_text(a), [&](uint32_t c) {
    if (c == '\t') {
      int64_t n = size > 0 ? size - column % size : 0;
      out.append(static_cast<size_t>(n), ' ');
      column += n;
    } else {
      append_utf8(out, c);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  });
  return str_value(vm, out);
}

// --- translation, encoding -----------------------------------------------------------------------------------

Value maketrans(Vm& vm, Args& a) {
  Local<DictObject> table = make_dict(vm);
  if (auto* dict = try_cast<DictObject>(a[0]); dict && !a.has(1)) {
    for (uint32_t i = 0; i < dict->table.used(); ++i) {
      const Table::Entry& e = dict->table.entry(i);
      if (!e.key) continue;
      size_t offset = 0;
      Value key = is_kind(e.key, Kind::Str)
                      ? Value::integer(decode_utf8(cast<StrObject>(e.key)->view(), offset))
                      : e.key;
      dict_set(vm, table, key, e.value);
    }
    return table.take();
  }
  std::vector<uint32_t> from, to;
  each_point(text_of(vm, a[0]), [&](uint32_t c) { from.push_back(c); });
  each_point(text_of(vm, a[1]), [&](uint32_t c) { to.push_back(c); });
  if (from.size() != to.size())
    raise_value_error(vm, "the first two maketrans arguments must have equal length");
  for (size_t i = 0; i < from.size(); ++i)
    dict_set(vm, table, Value::integer(from[i]), Value::integer(to[i]));
  if (a.has(2))
    each_point(text_of(vm, a[2]), [&](uint32_t c) {
      dict_set(vm, table, Value::integer(c), Value::none());
    });
  return table.take();
}
Value translate(Vm& vm, Args& a) {
  std::string out;
  each_point(self_text(a), [&](uint32_t c) {
    Value v;
    if (auto* dict = try_cast<DictObject>(a[1])) v = dict_get(vm, dict, Value::integer(c));
    else v = get_item(vm, a[1], Value::integer(c));
    if (!v) append_utf8(out, c);
    else if (is_integer_like(v)) append_utf8(out, static_cast<uint32_t>(v.as_int()));
    else if (!v.is_none()) out += text_of(vm, v);
  });
  return str_value(vm, out);
}
Value encode(Vm& vm, Args& a) {
  std::string name(text_of(vm, a[1], "encoding"));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (name == "ascii" || name == "latin-1") {
    if (!cast<StrObject>(a[0])->ascii)
      raise(vm, vm.exceptions().UnicodeEncodeError,
            "'" + name + "' codec can't encode characters: not all are ASCII");
  } else if (name != "utf-8" && name != "utf8") {
    raise(vm, vm.exceptions().LookupError, "unknown encoding: " + name);
  }
  return make_bytes(vm, std::string(self_text(a))).take();
}

}  // namespace

void add_str_case_methods(TypeBuilder& type) {
  type.method("upper", "self", upper)
      .method("lower", "self", lower)
      .method("casefold", "self", casefold)
      .method("swapcase", "self", swapcase)
      .method("capitalize", "self", capitalize)
      .method("title", "self", title)
      .method("isalpha", "self", every<is_alpha>)
      .method("isdigit", "self", every<is_digit>)
      .method("isdecimal", "self", every<is_digit>)
      .method("isnumeric", "self", every<is_numeric>)
      .method("isalnum", "self", every<alnum>)
      .method("isspace", "self", every<is_space>)
      .method("isprintable", "self", every<printable>)
      .method("isascii", "self", isascii)
      .method("isupper", "self", all_cased<is_upper, is_lower>)
      .method("islower", "self", all_cased<is_lower, is_upper>)
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
