// str: the slots, repr, searching and splitting.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/search.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {

void str_destroy(Vm& vm, Object* o) {
  auto* s = static_cast<StrObject*>(o);
  if (s->type == vm.types().str && !s->extra) return vm.heap().free(s, sizeof(StrObject) + s->size + 1);
  const size_t extra = room_of(vm, s);
  if (s->extra) vm.text_places().drop(s->extra);
  if (s->type->type_flags & kScriptClass) vm.heap().finish(static_cast<StrInstance*>(s), extra);
  else vm.heap().finish(s, extra);
}

std::string repr_text(std::string_view text, bool ascii_only) {
  bool single = text.find('\'') != std::string_view::npos;
  bool twice = text.find('"') != std::string_view::npos;
  char quote = single && !twice ? '"' : '\'';
  std::string out(1, quote);
  char escape[16];
  Patience patience;
  for (size_t i = 0; i < text.size();) {
    patience.step();
    size_t begin = i;
    uint32_t c = decode_utf8(text, i);
    if (c == static_cast<uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && (ascii_only || !is_printable(c)))) {
      std::snprintf(escape, sizeof escape, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
      out += escape;
    } else {
      out += text.substr(begin, i - begin);
    }
  }
  return out + quote;
}

std::string ascii(Vm& vm, const Value& v) {
  std::string text = repr(vm, v), out;
  char escape[16];
  Patience patience;
  for (size_t i = 0; i < text.size();) {
    patience.step();
    uint32_t c = decode_utf8(text, i);
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    std::snprintf(escape, sizeof escape, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    out += escape;
  }
  return out;
}

namespace {

StrObject* str_of(const Value& v) { return cast<StrObject>(v); }
std::string_view view_of(const Value& v) { return str_of(v)->view(); }

Value str_construct(Vm& vm, Type* type, Args& args) {
  if (type == vm.types().str && args.count == 1 && args.keyword_count == 0) return to_str(vm, args[0]);
  static const Signature kSignature("object='', encoding=?, errors=?");
  std::vector<Value> v;
  kSignature.bind(vm, "str", args, v);
  const std::string_view encoding = v[1] ? text_of(vm, v[1], "str() argument 'encoding'") : "utf-8";
  const std::string_view errors = v[2] ? text_of(vm, v[2], "str() argument 'errors'") : "strict";
  std::string text;
  if (Buffer::is_bytes_like(v[0]) && (v[1] || v[2])) text = decode_bytes(vm, as_bytes(vm, v[0]), encoding, errors);
  else if (is_kind(v[0], Kind::Str) && (v[1] || v[2])) raise_type_error(vm, "decoding str is not supported");
  else if (v[1] || v[2])
    raise_type_error(vm, "decoding to str: need a bytes-like object, " + type_name(vm, v[0]) + " found");
  else text = to_string(vm, v[0]);
  if (!(type->type_flags & kScriptClass)) return str_value(vm, text);
  const Local<StrObject> plain = make_str(vm, text);
  Local<StrInstance> s = vm.heap().make_sized<StrInstance>(type, plain->size + 1);
  char* memory = reinterpret_cast<char*>(s.get() + 1);
  std::copy(plain->text, plain->text + plain->size + 1, memory);
  s->text = memory;
  s->size = plain->size;
  s->length = plain->length;
  s->ascii = plain->ascii;
  return s.take();
}
Value str_repr(Vm& vm, const Value& v) { return str_value(vm, repr_text(view_of(v), false)); }
Value str_to_str(Vm& vm, const Value& v) { return v.object()->type == vm.types().str ? v : str_value(vm, view_of(v)); }
Value str_format_slot(Vm& vm, const Value& v, StrObject* spec) {
  if (spec->view().empty()) return to_str(vm, v);
  return str_value(vm, format_text(view_of(v), spec->view()));
}
Value str_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  if (op == BinaryOp::Add && is_kind(a, Kind::Str) && is_kind(b, Kind::Str)) {
    return concatenate(vm, str_of(a), str_of(b)).take();
  }
  if (op == BinaryOp::Mul) {
    const Value& s = reflected ? b : a;
    Value n = repeat_count(vm, reflected ? a : b);
    if (!n) return vm.not_implemented();
    std::string_view piece = view_of(s);
    if (!piece.empty() && static_cast<uint64_t>(n.as_int()) > (uint64_t{1} << 38) / piece.size())
      raise(vm, vm.exceptions().MemoryError, "a string of this size does not fit in memory");
    if (piece.empty() || n.as_int() == 0) return vm.names().empty.value();
    return repeat_str(vm, str_of(s), static_cast<size_t>(n.as_int())).take();
  }
  if (op == BinaryOp::Mod && is_kind(a, Kind::Str)) return str_value(vm, percent_format(vm, view_of(a), b));
  return vm.not_implemented();
}
Value str_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Str) || !is_kind(b, Kind::Str)) return vm.not_implemented();
  if (op == CompareOp::Eq || op == CompareOp::Ne)
    return Value::boolean(str_equal(str_of(a), str_of(b)) == (op == CompareOp::Eq));
  int order = view_of(a).compare(view_of(b));  // UTF-8 keeps the order of code points
  bool r = op == CompareOp::Lt   ? order < 0
           : op == CompareOp::Le ? order <= 0
           : op == CompareOp::Gt ? order > 0
                                 : order >= 0;
  return Value::boolean(r);
}
int64_t str_hash_slot(Vm& vm, const Value& v) { return static_cast<int64_t>(str_hash(vm, str_of(v))); }
int64_t str_length(Vm&, const Value& v) { return str_of(v)->length; }
// A slice whose step is not 1.
Value every_nth(Vm& vm, const StrObject* s, const SliceRange& r) {
  TextBuilder out(vm);
  Patience patience;
  if (s->ascii) {
    for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) patience.step(), out += s->text[i];
    return out.str();
  }
  check_text_room(static_cast<size_t>(s->length) * sizeof(uint32_t));
  std::vector<uint32_t> points;
  for (size_t i = 0; i < s->size;) patience.step(), points.push_back(decode_utf8(s->view(), i));
  std::string one;
  for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) {
    patience.step();
    one.clear();
    append_utf8(one, points[static_cast<size_t>(i)]);
    out += one;
  }
  return out.str();
}
Value str_get(Vm& vm, const Value& self, const Value& key) {
  StrObject* s = str_of(self);
  if (auto* slice = try_cast<SliceObject>(key)) {
    SliceRange r = resolve_slice(vm, slice, s->length);
    if (r.count == 0) return vm.names().empty.value();
    if (r.step == 1) return substring(vm, s, r.start, r.start + r.count).take();
    return every_nth(vm, s, r);
  }
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, "string indices must be integers, not '" + type_name(vm, key) + "'");
  if (key.is_int() && (key.as_int() >= s->length || key.as_int() < -s->length))
    return return_error(vm, vm.exceptions().IndexError, "string index out of range");
  int64_t i = sequence_index(vm, key, s->length, "string");
  return substring(vm, s, i, i + 1).take();
}
bool str_contains(Vm& vm, const Value& self, const Value& item) {
  if (!is_kind(item, Kind::Str))
    raise_type_error(vm, "'in <string>' requires string as left operand, not " + type_name(vm, item));
  return find_text(view_of(self), view_of(item)) != std::string_view::npos;
}
bool str_truth(Vm&, const Value& v) { return str_of(v)->size != 0; }

struct StrIterator final : NativeIterator {
  Local<StrObject> text;
  size_t offset = 0;
  bool next(Vm& vm, Value& out) override {
    if (offset >= text->size) return false;
    size_t begin = offset;
    if (const char letter = text->text[begin]; static_cast<unsigned char>(letter) < 0x80) {
      ++offset;
      out = Value(vm.letter(letter));
      return true;
    }
    decode_utf8(text->view(), offset);
    out = str_value(vm, text->view().substr(begin, offset - begin));
    return true;
  }
  auto members() { return std::tie(text, offset); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
const char kStrExtension = 0;
Value str_iterate(Vm& vm, const Value& self) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kStrExtension));
  Local<StrIterator> it = vm.heap().make<StrIterator>(type);
  it->text = Local<StrObject>(str_of(self));
  return it.take();
}

// --- searching ---------------------------------------------------------------------------------------------

// The byte range of code points [start, stop) with Python's clipping; false when start > length.
bool byte_range(Vm& vm, Args& a, size_t first, size_t& begin, size_t& end) {
  StrObject* s = str_of(a[0]);
  int64_t start = a.has(first) && !a[first].is_none() ? to_index(vm, a[first]) : 0;
  int64_t stop = a.has(first + 1) && !a[first + 1].is_none() ? to_index(vm, a[first + 1]) : s->length;
  if (start < 0) start = std::max<int64_t>(0, start + s->length);
  if (stop < 0) stop = std::max<int64_t>(0, stop + s->length);
  stop = std::min(stop, s->length);
  if (start > stop) return false;
  begin = byte_offset(s, start);
  end = byte_offset(s, stop);
  return true;
}
std::string_view needle_of(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Str)) raise_type_error(vm, "must be str, not " + type_name(vm, v));
  return view_of(v);
}
int64_t find_in(Vm& vm, Args& a, bool from_right) {
  std::string_view needle = needle_of(vm, a[1]);
  size_t begin, end;
  if (!byte_range(vm, a, 2, begin, end)) return -1;
  std::string_view part = view_of(a[0]).substr(begin, end - begin);
  size_t at = from_right ? rfind_text(part, needle) : find_text(part, needle);
  return at == std::string_view::npos ? -1 : code_point_index(str_of(a[0]), begin + at);
}
Value find(Vm& vm, Args& a) { return Value::integer(find_in(vm, a, false)); }
Value rfind(Vm& vm, Args& a) { return Value::integer(find_in(vm, a, true)); }
Value index(Vm& vm, Args& a) {
  int64_t i = find_in(vm, a, false);
  if (i < 0) return return_error(vm, vm.exceptions().ValueError, "substring not found");
  return Value::integer(i);
}
Value rindex(Vm& vm, Args& a) {
  int64_t i = find_in(vm, a, true);
  if (i < 0) return return_error(vm, vm.exceptions().ValueError, "substring not found");
  return Value::integer(i);
}
Value count(Vm& vm, Args& a) {
  std::string_view needle = needle_of(vm, a[1]);
  size_t begin, end;
  if (!byte_range(vm, a, 2, begin, end)) return Value::integer(0);
  std::string_view part = view_of(a[0]).substr(begin, end - begin);
  bool ascii;
  if (needle.empty()) return Value::integer(count_code_points(part, ascii) + 1);
  return Value::integer(static_cast<int64_t>(count_text(part, needle)));
}
bool matches_end(Vm& vm, Args& a, bool at_end, const char* name) {
  size_t begin, end;
  bool valid = byte_range(vm, a, 2, begin, end);
  auto one = [&](const Value& v) {
    if (!is_kind(v, Kind::Str))
      raise_type_error(
          vm, (is_kind(a[1], Kind::Tuple) ? std::string("tuple for ") + name + " must only contain str, not "
                                          : std::string(name) + " first arg must be str or a tuple of str, not ") +
                  type_name(vm, v));
    if (!valid) return false;
    std::string_view part = view_of(a[0]).substr(begin, end - begin), piece = view_of(v);
    if (piece.size() > part.size()) return false;
    return (at_end ? part.substr(part.size() - piece.size()) : part.substr(0, piece.size())) == piece;
  };
  if (auto* tuple = try_cast<TupleObject>(a[1])) {
    for (const Value& v : tuple->span())
      if (one(v)) return true;
    return false;
  }
  return one(a[1]);
}
Value startswith(Vm& vm, Args& a) { return Value::boolean(matches_end(vm, a, false, "startswith")); }
Value endswith(Vm& vm, Args& a) { return Value::boolean(matches_end(vm, a, true, "endswith")); }

Value replace(Vm& vm, Args& a) {
  std::string_view text = view_of(a[0]), old = text_of(vm, a[1], "replace() argument 1"),
                   fresh = text_of(vm, a[2], "replace() argument 2");
  int64_t left = to_index(vm, a[3]);
  TextBuilder out(vm);
  Patience patience;
  size_t at = 0;
  if (old.empty()) {
    while (left != 0 && at <= text.size()) {
      patience.step();
      out += fresh;
      --left;
      if (at == text.size()) return out.str();
      size_t begin = at;
      decode_utf8(text, at);
      out += text.substr(begin, at - begin);
    }
    out += text.substr(std::min(at, text.size()));
    return out.str();
  }
  for (; left != 0; --left) {
    size_t hit = find_text(text, old, at);
    if (hit == std::string_view::npos) break;
    patience.step(16);
    out += text.substr(at, hit - at);
    out += fresh;
    at = hit + old.size();
  }
  if (at == 0) return a[0];
  out += text.substr(at);
  return out.str();
}

// A piece of an ASCII text.
Value ascii_part(Vm& vm, std::string_view piece) {
  return piece.size() == 1 ? Value(vm.letter(piece[0])) : make_ascii_str(vm, piece).take();
}

// --- splitting and joining -----------------------------------------------------------------------------------

// The next word from one end of the text, which is left without it; empty: there is none.
std::string_view take_word(std::string_view& text, bool from_right, Patience& patience) {
  size_t begin = std::string_view::npos, end = 0, at = from_right ? text.size() : 0;
  while (from_right ? at > 0 : at < text.size()) {
    patience.step();
    const size_t before = at;
    if (from_right)
      while (--at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) {
      }
    size_t next = at;
    const bool blank = is_space(decode_utf8(text, next));
    if (!from_right) at = next;
    if (blank && begin != std::string_view::npos) {
      at = before;
      break;
    }
    if (blank) continue;
    if (begin == std::string_view::npos) (from_right ? end : begin) = before;
    if (from_right) begin = at;
    else end = at;
  }
  std::string_view word;
  if (begin != std::string_view::npos) word = text.substr(begin, end - begin);
  text = from_right ? text.substr(0, at) : text.substr(at);
  return word;
}
// All words of an ASCII text.
Value split_ascii(Vm& vm, std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f); };
  Local<ListObject> list = make_list(vm);
  Patience patience;
  for (size_t at = 0;;) {
    const size_t from = at;
    while (at < text.size() && blank(text[at])) ++at;
    if (at == text.size()) break;
    const size_t begin = at;
    while (at < text.size() && !blank(text[at])) ++at;
    list->items.push_back(ascii_part(vm, text.substr(begin, at - begin)));
    patience.step(16 + (at - from));
  }
  return list.take();
}
// The words between blanks; with a limit the rest, untrimmed at its far end, is the last one.
Value split_blank(Vm& vm, std::string_view text, int64_t limit, bool from_right) {
  Local<ListObject> list = make_list(vm);
  Patience patience;
  for (;;) {
    const std::string_view all = text;
    const std::string_view word = take_word(text, from_right, patience);
    if (word.empty()) break;
    patience.step(16);
    if (limit-- == 0) {
      const size_t begin = static_cast<size_t>(word.data() - all.data());
      list->items.push_back(str_value(vm, from_right ? all.substr(0, begin + word.size()) : all.substr(begin)));
      break;
    }
    list->items.push_back(str_value(vm, word));
  }
  if (from_right) std::reverse(list->items.begin(), list->items.end());
  return list.take();
}
Value split_with(Vm& vm, Args& a, bool from_right) {
  std::string_view text = view_of(a[0]);
  int64_t limit = to_index(vm, a[2]);
  const bool ascii = str_of(a[0])->ascii;
  if (a[1].is_none()) return ascii && limit < 0 ? split_ascii(vm, text) : split_blank(vm, text, limit, from_right);
  if (!is_kind(a[1], Kind::Str)) raise_type_error(vm, "must be str or None, not " + type_name(vm, a[1]));
  std::string_view separator = view_of(a[1]);
  if (separator.empty()) raise_value_error(vm, "empty separator");
  const auto part = [&](std::string_view piece) { return ascii ? ascii_part(vm, piece) : str_value(vm, piece); };
  Local<ListObject> list = make_list(vm);
  Patience patience;
  while (limit-- != 0) {
    patience.step(16);
    size_t at = from_right ? rfind_text(text, separator) : find_text(text, separator);
    if (at == std::string_view::npos) break;
    list->items.push_back(part(from_right ? text.substr(at + separator.size()) : text.substr(0, at)));
    text = from_right ? text.substr(0, at) : text.substr(at + separator.size());
  }
  list->items.push_back(part(text));
  if (from_right) std::reverse(list->items.begin(), list->items.end());
  return list.take();
}
Value split(Vm& vm, Args& a) { return split_with(vm, a, false); }
Value rsplit(Vm& vm, Args& a) { return split_with(vm, a, true); }
bool ends_line(uint32_t c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
Value splitlines(Vm& vm, Args& a) {
  std::string_view text = view_of(a[0]);
  bool keep = to_index(vm, a[1]) != 0;
  const bool ascii = str_of(a[0])->ascii;
  Local<ListObject> list = make_list(vm);
  Patience patience;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin, next = begin;
    while (end < text.size()) {
      patience.step();
      if (ends_line(ascii ? static_cast<uint8_t>(text[next++]) : decode_utf8(text, next))) break;
      end = next;
    }
    if (end < text.size() && text.substr(end, 2) == "\r\n") ++next;
    const std::string_view line = text.substr(begin, (keep ? next : end) - begin);
    list->items.push_back(ascii ? ascii_part(vm, line) : str_value(vm, line));
    begin = next;
  }
  return list.take();
}
Value join(Vm& vm, Args& a) {
  std::string_view separator = view_of(a[0]);
  TextBuilder out(vm);
  int64_t n = 0;
  const TypeSlots& slots = type_of(vm, a[1])->slots;
  if (!slots.iterate && !slots.get_item) raise_type_error(vm, "can only join an iterable");
  for_each(vm, a[1], [&](const Value& v) {
    if (!is_kind(v, Kind::Str))
      raise_type_error(
          vm, "sequence item " + std::to_string(n) + ": expected str instance, " + type_name(vm, v) + " found");
    if (n++) out += separator;
    out += view_of(v);
    return true;
  });
  return out.str();
}
Value partition_with(Vm& vm, Args& a, bool from_right) {
  std::string_view text = view_of(a[0]), separator = needle_of(vm, a[1]);
  if (separator.empty()) raise_value_error(vm, "empty separator");
  size_t at = from_right ? rfind_text(text, separator) : find_text(text, separator);
  std::string_view parts[3] = {text, "", ""};
  if (at == std::string_view::npos) {
    if (from_right) std::swap(parts[0], parts[2]);
  } else {
    parts[0] = text.substr(0, at);
    parts[1] = separator;
    parts[2] = text.substr(at + separator.size());
  }
  Local<TupleObject> t = make_tuple(vm, size_t{3});
  for (int i = 0; i < 3; ++i) t->items[i] = str_value(vm, parts[i]);
  return t.take();
}
Value partition(Vm& vm, Args& a) { return partition_with(vm, a, false); }
Value rpartition(Vm& vm, Args& a) { return partition_with(vm, a, true); }

}  // namespace

void add_str_search_methods(TypeBuilder& type) {
  type.method("find", "@self, sub, start=None, end=None, /", find)
      .method("rfind", "@self, sub, start=None, end=None, /", rfind)
      .method("index", "@self, sub, start=None, end=None, /", index)
      .method("rindex", "@self, sub, start=None, end=None, /", rindex)
      .method("count", "@self, sub, start=None, end=None, /", count)
      .method("startswith", "@self, prefix, start=None, end=None, /", startswith)
      .method("endswith", "@self, suffix, start=None, end=None, /", endswith)
      .method("replace", "self, old, new, count=-1, /", replace)
      .method("split", "self, sep=None, maxsplit=-1", split)
      .method("rsplit", "self, sep=None, maxsplit=-1", rsplit)
      .method("splitlines", "self, keepends=False", splitlines)
      .method("join", "self, iterable, /", join)
      .method("partition", "self, sep, /", partition)
      .method("rpartition", "self, sep, /", rpartition);
}

void init_str_type(Vm& vm) {
  vm.extension(&kStrExtension) = std::make_shared<Type*>(make_iterator_type<StrIterator>(vm, "str_iterator"));
  TypeBuilder b = TypeBuilder::existing(vm, vm.types().str);
  TypeSlots& s = b.slots();
  s.destroy = str_destroy;
  s.release = [](Heap& heap, Object* o) { return heap.may_free(static_cast<StrObject*>(o)->size); };
  s.construct = str_construct;
  s.repr = str_repr;
  s.to_str = str_to_str;
  s.format = str_format_slot;
  s.binary = str_binary;
  s.compare = str_compare;
  s.hash = str_hash_slot;
  s.length = str_length;
  s.truth = str_truth;
  s.get_item = str_get;
  s.contains = str_contains;
  s.iterate = str_iterate;
  b.allow_subclasses(offset_of(&StrInstance::state));
  add_str_search_methods(b);
  add_str_case_methods(b);
  add_str_format_methods(b);
  publish_slots(vm, vm.types().str);
  add_builtin(vm, "str", Value(vm.types().str));
}

}  // namespace tsc::interp
