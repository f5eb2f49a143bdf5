// The methods that bytes and bytearray share: those of a bytearray make bytearrays.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/search.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {
namespace {

// What reads it looks at the arguments first: their __index__ may change the bytearray.
std::string_view self_of(Args& a) { return byte_string(a[0]); }
// Bytes of the kind that the method belongs to.
Value like_self(Vm& vm, Args& a, std::string data) {
  if (is_kind(a[0], Kind::ByteArray)) return make_byte_array(vm, data).take();
  return make_bytes(vm, std::move(data)).take();
}
Value like_self(Vm& vm, Args& a, TextBuilder& data) { return like_self(vm, a, data.text()); }

// What is searched for: bytes, or one byte as an int.
std::string needle_of(Vm& vm, const Value& v) {
  if (Buffer::is_bytes_like(v)) return std::string(Buffer(vm, v).bytes());
  if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index)
    raise_type_error(vm, "argument should be integer or bytes-like object, not '" + type_name(vm, v) + "'");
  return std::string(1, byte_of(vm, v));
}

// The part [start, end) that arguments ask for; start may lie behind the end of all, where nothing is found.
struct Bounds {
  int64_t start, end;
  // False when start > size.
  bool part_of(std::string_view all, size_t& begin, std::string_view& part) const {
    const int64_t size = static_cast<int64_t>(all.size());
    const int64_t from = std::max<int64_t>(start < 0 ? start + size : start, 0);
    const int64_t to = std::min(std::max<int64_t>(end < 0 ? end + size : end, 0), size);
    if (from > to) return false;
    begin = static_cast<size_t>(from);
    part = all.substr(begin, static_cast<size_t>(to - from));
    return true;
  }
};
Bounds bounds_of(Vm& vm, Args& a, size_t first) {
  const auto bound = [&](size_t i, int64_t fallback) {
    return a.has(i) && !a[i].is_none() ? slice_bound(vm, a[i]) : fallback;
  };
  const int64_t start = bound(first, 0);
  return {start, bound(first + 1, INT64_MAX)};
}

int64_t find_in(Vm& vm, Args& a, bool from_right) {
  const Bounds bounds = bounds_of(vm, a, 2);
  const std::string needle = needle_of(vm, a[1]);
  size_t begin;
  std::string_view part;
  if (!bounds.part_of(self_of(a), begin, part)) return -1;
  size_t at = from_right ? rfind_text(part, needle) : find_text(part, needle);
  return at == std::string_view::npos ? -1 : static_cast<int64_t>(begin + at);
}
template <bool from_right>
Value find(Vm& vm, Args& a) {
  return Value::integer(find_in(vm, a, from_right));
}
template <bool from_right>
Value index(Vm& vm, Args& a) {
  int64_t i = find_in(vm, a, from_right);
  if (i < 0) raise_value_error(vm, "subsection not found");
  return Value::integer(i);
}
Value count(Vm& vm, Args& a) {
  const Bounds bounds = bounds_of(vm, a, 2);
  const std::string needle = needle_of(vm, a[1]);
  size_t begin;
  std::string_view part;
  if (!bounds.part_of(self_of(a), begin, part)) return Value::integer(0);
  if (needle.empty()) return Value::integer(static_cast<int64_t>(part.size()) + 1);
  return Value::integer(static_cast<int64_t>(count_text(part, needle)));
}
template <bool at_end>
Value matches(Vm& vm, Args& a) {
  size_t begin;
  std::string_view part;
  const bool valid = bounds_of(vm, a, 2).part_of(self_of(a), begin, part);
  auto one = [&](const Value& v) {
    if (!Buffer::is_bytes_like(v) && !is_kind(a[1], Kind::Tuple))
      raise_type_error(vm, std::string(at_end ? "endswith" : "startswith") +
                               " first arg must be bytes or a tuple of bytes, not " + type_name(vm, v));
    const Buffer piece(vm, v);
    return valid && (at_end ? part.ends_with(piece.bytes()) : part.starts_with(piece.bytes()));
  };
  bool found = false;
  if (auto* tuple = try_cast<TupleObject>(a[1])) {
    for (const Value& v : tuple->span()) found = found || one(v);
  } else {
    found = one(a[1]);
  }
  return Value::boolean(found);
}

Value decode(Vm& vm, Args& a) {
  return str_value(vm,
                   decode_bytes(vm, as_bytes(vm, a[0]), text_of(vm, a[1], "encoding"), text_of(vm, a[2], "errors")));
}
Value hex(Vm& vm, Args& a) {
  const int64_t group = to_index(vm, a[2]);
  const std::string separator = hex_separator(vm, a.has(1) ? a[1] : Value());
  return hex_text(vm, self_of(a), separator, group);
}
int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}
Value fromhex(Vm& vm, Args& a) {
  std::string_view text = text_of(vm, a[1], "fromhex() argument");
  std::string out;
  check_text_room(text.size() / 2);
  Patience patience;
  for (size_t i = 0; i < text.size(); ++i) {
    patience.step();
    if (std::isspace(static_cast<unsigned char>(text[i]))) continue;
    int high = hex_digit(text[i]), low = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    if (high < 0 || low < 0)
      raise_value_error(
          vm, "non-hexadecimal number found in fromhex() arg at position " + std::to_string(high < 0 ? i : i + 1));
    out += static_cast<char>(high * 16 + low);
    ++i;
  }
  const Value made = make_bytes(vm, std::move(out)).take();
  return a[0].is(Value(vm.types().bytes)) ? made : call(vm, a[0], {made});
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
template <bool left, bool right>
Value strip(Vm& vm, Args& a) {
  const std::string drop = a[1].is_none() ? " \t\n\r\v\f" : std::string(Buffer(vm, a[1]).bytes());
  std::string_view data = self_of(a);
  Patience patience;
  auto dropped = [&](char c) { return patience.step(drop.size()), drop.find(c) != std::string::npos; };
  while (left && !data.empty() && dropped(data.front())) data.remove_prefix(1);
  while (right && !data.empty() && dropped(data.back())) data.remove_suffix(1);
  return like_self(vm, a, std::string(data));
}

// Fields between separators, or between runs of blanks when there is none.
template <bool from_right>
Value split(Vm& vm, Args& a) {
  int64_t limit = to_index(vm, a[2]);
  std::string_view rest = self_of(a);
  Local<ListObject> list = make_list(vm);
  Patience patience;
  auto add = [&](std::string_view field) {
    patience.step(16 + field.size() / 16);
    list->items.push_back(like_self(vm, a, std::string(field)));
  };
  if (!a[1].is_none()) {
    const Buffer given(vm, a[1]);
    const std::string_view separator = given;
    if (separator.empty()) raise_value_error(vm, "empty separator");
    for (;;) {
      size_t at = from_right ? rfind_text(rest, separator) : find_text(rest, separator);
      if (at == std::string_view::npos || limit-- == 0) break;
      add(from_right ? rest.substr(at + separator.size()) : rest.substr(0, at));
      rest = from_right ? rest.substr(0, at) : rest.substr(at + separator.size());
    }
    add(rest);
  } else {
    auto trim_near = [&] {
      while (!rest.empty() && is_blank(from_right ? rest.back() : rest.front()))
        patience.step(), from_right ? rest.remove_suffix(1) : rest.remove_prefix(1);
    };
    for (trim_near(); !rest.empty() && limit-- != 0; trim_near()) {
      size_t n = 0;
      while (n < rest.size() && !is_blank(from_right ? rest[rest.size() - 1 - n] : rest[n])) patience.step(), ++n;
      add(from_right ? rest.substr(rest.size() - n) : rest.substr(0, n));
      from_right ? rest.remove_suffix(n) : rest.remove_prefix(n);
    }
    trim_near();
    if (!rest.empty()) add(rest);
  }
  if (from_right) std::reverse(list->items.begin(), list->items.end());
  return list.take();
}
Value splitlines(Vm& vm, Args& a) {
  bool keep = to_index(vm, a[1]) != 0;
  const std::string_view data = self_of(a);
  Local<ListObject> list = make_list(vm);
  Patience patience;
  for (size_t i = 0; i < data.size();) {
    patience.step(16);
    size_t end = data.find_first_of("\r\n", i);
    if (end == std::string::npos) end = data.size();
    size_t next = end + (end + 1 < data.size() && data[end] == '\r' && data[end + 1] == '\n' ? 2 : 1);
    next = std::min(next, data.size());
    list->items.push_back(like_self(vm, a, std::string(data.substr(i, (keep ? next : end) - i))));
    i = next;
  }
  return list.take();
}
template <bool from_right>
Value partition(Vm& vm, Args& a) {
  const Buffer separator(vm, a[1]);
  const std::string_view data = self_of(a), wanted = separator;
  if (wanted.empty()) raise_value_error(vm, "empty separator");
  size_t at = from_right ? rfind_text(data, wanted) : find_text(data, wanted);
  std::string_view before = data, middle, after;
  if (at != std::string_view::npos) {
    before = data.substr(0, at);
    middle = wanted;
    after = data.substr(at + wanted.size());
  } else if (from_right) {
    std::swap(before, after);
  }
  std::vector<Value> parts;
  for (const std::string_view part : {before, middle, after}) parts.push_back(like_self(vm, a, std::string(part)));
  return make_tuple(vm, parts).take();
}
Value join(Vm& vm, Args& a) {
  const TypeSlots& slots = type_of(vm, a[1])->slots;
  if (!slots.iterate && !slots.get_item) raise_type_error(vm, "can only join an iterable");
  const Buffer self(vm, a[0]);  // held: the iterable may be code of the script
  TextBuilder out(vm);
  int64_t n = 0;
  for_each(vm, a[1], [&](const Value& v) {
    if (!Buffer::is_plain_bytes(v))
      raise_type_error(
          vm, "sequence item " + std::to_string(n) + ": expected a bytes-like object, " + type_name(vm, v) + " found");
    if (n++) out += self.bytes();
    out += Buffer(vm, v).bytes();
    return true;
  });
  return like_self(vm, a, out);
}
Value replace(Vm& vm, Args& a) {
  const Buffer old_piece(vm, a[1]), new_piece(vm, a[2]);
  int64_t limit = to_index(vm, a[3]);
  const std::string_view data = self_of(a), from = old_piece, to = new_piece;
  TextBuilder out(vm);
  Patience patience;
  size_t i = 0;
  while (limit-- != 0) {
    patience.step(16);
    size_t at = find_text(data, from, i);
    if (at == std::string_view::npos) break;
    out += data.substr(i, at - i);
    out += to;
    i = at + from.size();
    if (!from.empty()) continue;
    if (at >= data.size()) return like_self(vm, a, out);
    out += data[i++];
  }
  out += data.substr(std::min(i, data.size()));
  return like_self(vm, a, out);
}
Value removeprefix(Vm& vm, Args& a) {
  const Buffer piece(vm, a[1]);
  const std::string_view data = self_of(a);
  return like_self(vm, a, std::string(data.substr(data.starts_with(piece.bytes()) ? piece.bytes().size() : 0)));
}
Value removesuffix(Vm& vm, Args& a) {
  const Buffer piece(vm, a[1]);
  const std::string_view data = self_of(a);
  const size_t dropped = data.ends_with(piece.bytes()) ? piece.bytes().size() : 0;
  return like_self(vm, a, std::string(data.substr(0, data.size() - dropped)));
}

template <char (*f)(char)>
Value each_byte(Vm& vm, Args& a) {
  check_text_room(self_of(a).size() / 2);
  std::string out;
  out.reserve(self_of(a).size());
  in_pieces(self_of(a).size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out += f(self_of(a)[i]);
  });
  return like_self(vm, a, std::move(out));
}
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }
char swap_case(char c) { return is_lower(c) ? to_upper(c) : to_lower(c); }
template <bool words>
Value capitalize(Vm& vm, Args& a) {
  std::string out(self_of(a));
  bool first = true;
  Patience patience;
  for (char& c : out) {
    patience.step();
    bool letter = is_letter(c);
    c = first ? to_upper(c) : to_lower(c);
    first = words && !letter;
  }
  return like_self(vm, a, std::move(out));
}
template <bool (*f)(char)>
Value every(Vm&, Args& a) {
  const std::string_view data = self_of(a);
  return Value::boolean(!data.empty() && std::all_of(data.begin(), data.end(), f));
}
template <bool (*yes)(char), bool (*no)(char)>
Value cased(Vm&, Args& a) {
  const std::string_view data = self_of(a);
  return Value::boolean(std::any_of(data.begin(), data.end(), yes) && std::none_of(data.begin(), data.end(), no));
}
// Upper case begins a word, lower case goes on with it.
Value istitle(Vm&, Args& a) {
  bool in_word = false, any = false;
  for (const char c : self_of(a)) {
    if (is_letter(c)) {
      if (is_upper(c) == in_word) return Value::boolean(false);
      any = true;
    }
    in_word = is_letter(c);
  }
  return Value::boolean(any);
}
Value isascii(Vm&, Args& a) {
  const std::string_view data = self_of(a);
  return Value::boolean(std::all_of(data.begin(), data.end(), [](char c) { return c >= 0; }));
}
Value expandtabs(Vm& vm, Args& a) {
  const int64_t size = to_index(vm, a[1]);
  int64_t column = 0;
  TextBuilder out(vm);
  for (const char c : self_of(a)) {
    if (c != '\t') {
      out += c;
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    } else if (size > 0) {
      const int64_t end = column + size - column % size;
      for (; column < end; ++column) out += ' ';
    }
  }
  return like_self(vm, a, out);
}
constexpr int64_t kLongest = int64_t{1} << 38;
Value padded(Vm& vm, Args& a, int place) {
  const int64_t width = to_index(vm, a[1]);
  if (a.has(2) && (!is_byte_string(a[2]) || byte_string(a[2]).size() != 1)) {
    const char* name = place < 0 ? "ljust" : place > 0 ? "rjust" : "center";
    raise_type_error(vm,
                     std::string(name) + "() argument 2 must be a byte string of length 1, not " + type_name(vm, a[2]));
  }
  const char fill = a.has(2) ? byte_string(a[2])[0] : ' ';
  const std::string_view data = self_of(a);
  const int64_t missing = std::max<int64_t>(width - static_cast<int64_t>(data.size()), 0);
  if (missing == 0 && is_kind(a[0], Kind::Bytes)) return a[0];
  int64_t left = place < 0 ? 0 : place > 0 ? missing : missing / 2 + (missing & width & 1);
  if (width > kLongest) throw std::bad_alloc();
  check_text_room((data.size() + static_cast<size_t>(missing)) / 2);
  std::string out;
  out.reserve(data.size() + static_cast<size_t>(missing));
  auto add = [&](int64_t count) {
    in_pieces(static_cast<size_t>(count), [&](size_t begin, size_t end) { out.append(end - begin, fill); });
  };
  add(left);
  out += data;
  add(missing - left);
  return like_self(vm, a, std::move(out));
}
template <int place>
Value pad(Vm& vm, Args& a) {
  return padded(vm, a, place);
}
Value zfill(Vm& vm, Args& a) {
  const int64_t width = to_index(vm, a[1]);
  std::string data(self_of(a));
  const int64_t missing = width - static_cast<int64_t>(data.size());
  bool sign = !data.empty() && (data[0] == '-' || data[0] == '+');
  if (missing > kLongest) throw std::bad_alloc();
  if (missing > 0) check_text_room(static_cast<size_t>(missing));
  if (missing > 0) data.insert(sign ? 1 : 0, static_cast<size_t>(missing), '0');
  return like_self(vm, a, std::move(data));
}
Value translate(Vm& vm, Args& a) {
  const std::string table = a[1].is_none() ? "" : std::string(Buffer(vm, a[1]).bytes());
  if (!a[1].is_none() && table.size() != 256) raise_value_error(vm, "translation table must be 256 characters long");
  const std::string drop = a.has(2) ? std::string(Buffer(vm, a[2]).bytes()) : "";
  std::string out;
  check_text_room(self_of(a).size() / 2);
  Patience patience;
  for (char c : self_of(a))
    if (patience.step(); drop.find(c) == std::string::npos) out += table.empty() ? c : table[static_cast<uint8_t>(c)];
  return like_self(vm, a, std::move(out));
}
Value maketrans(Vm& vm, Args& a) {
  const Buffer from(vm, a[0]), to(vm, a[1]);
  if (from.bytes().size() != to.bytes().size()) raise_value_error(vm, "maketrans arguments must have same length");
  std::string table;
  for (int c = 0; c < 256; ++c) table += static_cast<char>(c);
  for (size_t i = 0; i < from.bytes().size(); ++i) table[static_cast<uint8_t>(from.bytes()[i])] = to.bytes()[i];
  return make_bytes(vm, std::move(table)).take();
}

}  // namespace

char byte_of(Vm& vm, const Value& v) {
  const Value whole = whole_of(vm, v);
  if (is_big(whole) || whole.as_int() < 0 || whole.as_int() > 255)
    raise_value_error(vm, "byte must be in range(0, 256)");
  return static_cast<char>(whole.as_int());
}

std::string hex_separator(Vm& vm, const Value& v) {
  if (!v) return "";
  if (length(vm, v) != 1) raise_value_error(vm, "sep must be length 1.");
  const bool text = is_kind(v, Kind::Str);
  if (!text && !is_kind(v, Kind::Bytes)) raise_type_error(vm, "sep must be str or bytes.");
  std::string separator = text ? std::string(cast<StrObject>(v)->view()) : cast<BytesObject>(v)->data;
  if (static_cast<unsigned char>(separator[0]) > 127) raise_value_error(vm, "sep must be ASCII.");
  return separator;
}

Value hex_text(Vm& vm, std::string_view data, std::string_view separator, int64_t group) {
  static constexpr char kDigits[] = "0123456789abcdef";
  TextBuilder out(vm);
  Patience patience;
  for (size_t i = 0; i < data.size(); ++i) {
    patience.step();
    // Groups are counted from the right, from the left when negative.
    int64_t place = static_cast<int64_t>(group > 0 ? data.size() - i : i);
    if (i && group && place % std::abs(group) == 0) out += separator;
    const uint8_t byte = static_cast<uint8_t>(data[i]);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out.str();
}

void add_bytes_methods(TypeBuilder& type) {
  type.method("decode", "self, encoding='utf-8', errors='strict'", decode)
      .method("hex", "self, sep=?, bytes_per_sep=1", hex)
      .method("find", "@self, sub, start=?, end=?, /", find<false>)
      .method("rfind", "@self, sub, start=?, end=?, /", find<true>)
      .method("index", "@self, sub, start=?, end=?, /", index<false>)
      .method("rindex", "@self, sub, start=?, end=?, /", index<true>)
      .method("count", "@self, sub, start=?, end=?, /", count)
      .method("startswith", "@self, prefix, start=?, end=?, /", matches<false>)
      .method("endswith", "@self, suffix, start=?, end=?, /", matches<true>)
      .method("strip", "self, bytes=None, /", strip<true, true>)
      .method("lstrip", "self, bytes=None, /", strip<true, false>)
      .method("rstrip", "self, bytes=None, /", strip<false, true>)
      .method("split", "self, sep=None, maxsplit=-1", split<false>)
      .method("rsplit", "self, sep=None, maxsplit=-1", split<true>)
      .method("splitlines", "self, keepends=False", splitlines)
      .method("partition", "self, sep, /", partition<false>)
      .method("rpartition", "self, sep, /", partition<true>)
      .method("join", "self, iterable_of_bytes, /", join)
      .method("replace", "self, old, new, count=-1, /", replace)
      .method("removeprefix", "self, prefix, /", removeprefix)
      .method("removesuffix", "self, suffix, /", removesuffix)
      .method("upper", "self", each_byte<to_upper>)
      .method("lower", "self", each_byte<to_lower>)
      .method("swapcase", "self", each_byte<swap_case>)
      .method("capitalize", "self", capitalize<false>)
      .method("title", "self", capitalize<true>)
      .method("isalpha", "self", every<is_letter>)
      .method("isdigit", "self", every<is_digit>)
      .method("isalnum", "self", every<is_alnum>)
      .method("isspace", "self", every<is_blank>)
      .method("isupper", "self", cased<is_upper, is_lower>)
      .method("islower", "self", cased<is_lower, is_upper>)
      .method("istitle", "self", istitle)
      .method("isascii", "self", isascii)
      .method("ljust", "self, width, fillchar=?, /", pad<-1>)
      .method("rjust", "self, width, fillchar=?, /", pad<1>)
      .method("center", "self, width, fillchar=?, /", pad<0>)
      .method("zfill", "self, width, /", zfill)
      .method("expandtabs", "self, tabsize=8", expandtabs)
      .method("translate", "self, table, /, delete=?", translate)
      .static_method("maketrans", "frm, to, /", maketrans)
      .class_method("fromhex", "cls, string, /", fromhex);
}

}  // namespace tsc::interp
