// _binary: packing of struct, base64, crc32; its digests stand in digest_objects.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/modules/digest_objects.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/iteration.h"
#include "runtime/io/crc32.h"

namespace tsc::interp {
namespace {

// --- struct -----------------------------------------------------------------------------------------

struct Item {
  char code;
  ItemKind kind;
  int64_t count;  // of 's': the length
  size_t size;
  size_t align;
  bool is_text() const { return kind == ItemKind::Text; }
};
struct Layout {
  bool big = false, native = true;
  std::vector<Item> items;
  size_t size = 0, values = 0;  // bytes of all, and how many values they are
};
using LayoutPointer = std::shared_ptr<const Layout>;
[[noreturn]] void struct_error(Vm& vm, const std::string& message) {
  Value type = get_attribute(vm, dict_get(vm, vm.modules(), "struct"), "error");
  Value made = call(vm, type, {str_value(vm, message)});
  throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
}
size_t aligned(size_t at, size_t align) { return (at + align - 1) / align * align; }
Layout parse_layout(Vm& vm, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) struct_error(vm, "embedded null character");
  Layout layout;
  bool align = true;
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) {
    align = layout.native = text[0] == '@';
    layout.big = text[0] == '>' || text[0] == '!';
    text.remove_prefix(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::strchr(" \t\n\r", text[i])) continue;
    int64_t count = 1;
    if (text[i] >= '0' && text[i] <= '9') {
      for (count = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        count = count * 10 + (text[i] - '0');
        if (count > (int64_t{1} << 40)) struct_error(vm, "total struct size too long");
      }
      if (i >= text.size()) struct_error(vm, "repeat count given without format specifier");
    }
    const ItemFormat* format = find_item_format(text[i], kInStruct);
    const size_t size = !format ? 0 : layout.native ? format->size : format->standard_size;
    if (!size) struct_error(vm, "bad char in struct format");
    const Item item{text[i], format->kind, count, size, align ? size : 1};
    layout.items.push_back(item);
    layout.size = aligned(layout.size, item.align) + item.size * static_cast<size_t>(count);
    layout.values += item.kind == ItemKind::Pad ? 0 : item.is_text() ? 1 : static_cast<size_t>(count);
  }
  return layout;
}

// The formats that were read last.
struct KnownLayouts {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  static constexpr size_t kMost = 100;
  std::unordered_map<std::string, LayoutPointer, Hash, std::equal_to<>> by_text;
};
const char kKnownLayouts = 0;

LayoutPointer layout_of(Vm& vm, const Value& v) {
  const std::string_view text = is_kind(v, Kind::Bytes) ? byte_string(v) : text_of(vm, v, "Struct() argument 1");
  std::shared_ptr<void>& kept = vm.extension(&kKnownLayouts);
  if (!kept) kept = std::make_shared<KnownLayouts>();
  auto& known = static_cast<KnownLayouts*>(kept.get())->by_text;
  if (const auto found = known.find(text); found != known.end()) return found->second;
  auto made = std::make_shared<const Layout>(parse_layout(vm, text));
  if (known.size() >= KnownLayouts::kMost) known.clear();
  known.emplace(text, made);
  return made;
}
// What an integer that does not fit is told.
[[noreturn]] void integer_error(Vm& vm, const Item& item, const Value& whole) {
  const bool has_sign = item.kind == ItemKind::Signed;
  const size_t bits = item.size * 8;
  if (bits == 64 || is_big(whole) || (item.size == 4 && !has_sign && whole.as_int() < 0))
    struct_error(vm, "argument out of range");
  const std::string low = std::to_string(has_sign ? -(int64_t{1} << (bits - 1)) : 0);
  const std::string range = low + " <= number <= " + std::to_string((int64_t{1} << (bits - has_sign)) - 1);
  if (item.size == 4) struct_error(vm, std::string("'") + item.code + "' format requires " + range);
  const std::string name = std::string(has_sign ? "" : "u") + (item.size == 1 ? "byte" : "short");
  struct_error(vm, name + " format requires " + range);
}
void pack_text(Vm& vm, const Item& item, const Value& v, char* to) {
  if (!is_byte_string(v)) struct_error(vm, std::string("argument for '") + item.code + "' must be a bytes object");
  const std::string_view data = byte_string(v);
  const size_t size = static_cast<size_t>(item.count), head = item.code == 'p' && size ? 1 : 0;
  const size_t kept = std::min(data.size(), size - head);
  if (head) *to = static_cast<char>(std::min<size_t>(kept, 255));
  copy_bytes(to + head, data.data(), kept);
}
void pack_one(Vm& vm, const Item& item, const Value& v, bool big, char* to) {
  switch (item.kind) {
    case ItemKind::Byte:
      if (!is_kind(v, Kind::Bytes) || byte_string(v).size() != 1)
        struct_error(vm, "char format requires a bytes object of length 1");
      *to = byte_string(v)[0];
      break;
    case ItemKind::Bool: *to = truth(vm, v); break;
    case ItemKind::Text: pack_text(vm, item, v, to); break;
    case ItemKind::Float: {
      if (!v.is_float() && !is_integer_like(v) && !type_of(vm, v)->slots.to_float)
        struct_error(vm, "required argument is not a float");
      const double d = to_double(vm, v);
      if (item.size == 4 && item.align == 1 && std::isinf(static_cast<float>(d)) && std::isfinite(d))
        raise(vm, vm.exceptions().OverflowError, "float too large to pack with f format");
      pack_float(vm, d, item.size, big, to);
      break;
    }
    default: {
      if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index)
        struct_error(vm, "required argument is not an integer");
      const Value whole = whole_of(vm, v);
      if (!pack_integer(whole, item.kind == ItemKind::Signed, item.size, big, to)) integer_error(vm, item, whole);
    }
  }
}
// The values as bytes; `name` is the function that was called.
std::string packed(Vm& vm, const Layout& layout, std::span<const Value> values, const char* name) {
  const size_t wanted = layout.values;
  if (values.size() != wanted)
    struct_error(vm, std::string(name) + " expected " + std::to_string(wanted) + " items for packing (got " +
                         std::to_string(values.size()) + ")");
  check_text_room(layout.size);
  std::string out(layout.size, '\0');
  size_t next = 0, at = 0;
  for (const Item& item : layout.items) {
    at = aligned(at, item.align);
    const int64_t count = item.kind == ItemKind::Pad ? 0 : item.is_text() ? 1 : item.count;
    for (int64_t i = 0; i < count; ++i)
      pack_one(vm, item, values[next++], layout.big, out.data() + at + static_cast<size_t>(i) * item.size);
    at += item.size * static_cast<size_t>(item.count);
  }
  return out;
}
Value struct_pack(Vm& vm, Args& a) {
  return make_bytes(vm, packed(vm, *layout_of(vm, a[0]), cast<TupleObject>(a[1])->span(), "pack")).take();
}

// Where in a buffer of `room` bytes the items begin; struct.error where they have no room. The words are the
// function's.
struct PlaceWords {
  const char *name, *short_of_room, *work;
};
size_t place_in(Vm& vm, size_t size, size_t room, int64_t offset, const PlaceWords& words) {
  const int64_t wanted = static_cast<int64_t>(size), there = static_cast<int64_t>(room);
  if (offset < 0) {
    if (offset + wanted > 0)
      struct_error(vm, std::string(words.short_of_room) + " " + std::to_string(wanted) + " bytes at offset " +
                           std::to_string(offset));
    if (offset + there < 0)
      struct_error(vm,
                   "offset " + std::to_string(offset) + " out of range for " + std::to_string(there) + "-byte buffer");
    offset += there;
  }
  if (there - offset < wanted)
    struct_error(vm, std::string(words.name) + " requires a buffer of at least " +
                         std::to_string(static_cast<uint64_t>(wanted) + static_cast<uint64_t>(offset)) + " bytes for " +
                         words.work + " " + std::to_string(wanted) + " bytes at offset " + std::to_string(offset) +
                         " (actual buffer size is " + std::to_string(there) + ")");
  return static_cast<size_t>(offset);
}
// pack_into(format, buffer, offset, *values)
Value pack_into(Vm& vm, const Layout& layout, Args& a) {
  const Buffer buffer = writable_buffer(vm, a[1]);
  const std::string data = packed(vm, layout, cast<TupleObject>(a[3])->span(), "pack_into");
  const int64_t offset = size_argument(vm, a[2]);
  const size_t at =
      place_in(vm, data.size(), buffer.bytes().size(), offset, {"pack_into", "no space to pack", "packing"});
  note_store(vm, a[1].object(), Value());
  copy_bytes(buffer.data() + at, data.data(), data.size());
  return Value::none();
}
Value struct_pack_into(Vm& vm, Args& a) { return pack_into(vm, *layout_of(vm, a[0]), a); }

Value unpack_text(Vm& vm, const Item& item, const char* p) {
  const size_t size = static_cast<size_t>(item.count);
  if (item.code == 's') return make_bytes(vm, std::string(p, size)).take();
  const size_t n = size ? std::min<size_t>(static_cast<uint8_t>(*p), size - 1) : 0;
  return make_bytes(vm, std::string(p + (size ? 1 : 0), n)).take();
}
Value unpacked(Vm& vm, const Layout& layout, const char* data) {
  Local<TupleObject> values = make_tuple(vm, layout.values);
  size_t at = 0, next = 0;
  for (const Item& item : layout.items) {
    at = aligned(at, item.align);
    if (item.is_text()) values->items[next++] = unpack_text(vm, item, data + at);
    else
      for (int64_t i = 0; item.kind != ItemKind::Pad && i < item.count; ++i)
        values->items[next++] =
            unpack_item(vm, item.kind, item.size, layout.big, data + at + static_cast<size_t>(i) * item.size);
    at += item.size * static_cast<size_t>(item.count);
  }
  return values.take();
}
// unpack(format, buffer): of a buffer of exactly the size.
Value unpack(Vm& vm, const Layout& layout, Args& a) {
  const Buffer buffer(vm, a[1]);
  if (buffer.bytes().size() != layout.size)
    struct_error(vm, "unpack requires a buffer of " + std::to_string(layout.size) + " bytes");
  return unpacked(vm, layout, buffer.data());
}
Value struct_unpack(Vm& vm, Args& a) { return unpack(vm, *layout_of(vm, a[0]), a); }
// unpack_from(format, buffer, offset): the values at that offset.
Value unpack_from(Vm& vm, const Layout& layout, Args& a) {
  const int64_t offset = size_argument(vm, a[2]);
  const Buffer buffer(vm, a[1]);
  const size_t at = place_in(vm, layout.size, buffer.bytes().size(), offset,
                             {"unpack_from", "not enough data to unpack", "unpacking"});
  return unpacked(vm, layout, buffer.data() + at);
}
Value struct_unpack_from(Vm& vm, Args& a) { return unpack_from(vm, *layout_of(vm, a[0]), a); }
Value struct_size(Vm& vm, Args& a) { return Value::integer(static_cast<int64_t>(layout_of(vm, a[0])->size)); }

// iter_unpack(format, buffer): the values of one format after another.
struct UnpackIterator final : NativeIterator {
  LayoutPointer layout;
  Value view;  // which keeps a buffer at its size
  size_t at = 0;
  bool next(Vm& vm, Value& out) override {
    const Buffer buffer(vm, view);
    if (at + layout->size > buffer.bytes().size()) return false;
    out = unpacked(vm, *layout, buffer.data() + at);
    at += layout->size;
    return true;
  }
  void traverse(Visitor& visit) override { visit(view); }
};
const char kUnpackIterator = 0;

Value iter_unpack(Vm& vm, LayoutPointer layout, const Value& given) {
  if (layout->size == 0) struct_error(vm, "cannot iteratively unpack with a struct of length 0");
  const bool is_bytes = is_kind(given, Kind::Bytes);
  const Value view = is_bytes ? given : call(vm, Value(vm.types().memory_view), {given});
  if (Buffer(vm, view).bytes().size() % layout->size)
    struct_error(vm,
                 "iterative unpacking requires a buffer of a multiple of " + std::to_string(layout->size) + " bytes");
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kUnpackIterator));
  Local<UnpackIterator> made = vm.heap().make<UnpackIterator>(type);
  made->layout = std::move(layout);
  made->view = view;
  return made.take();
}
Value struct_iter_unpack(Vm& vm, Args& a) { return iter_unpack(vm, layout_of(vm, a[0]), a[1]); }

// What struct.Struct inherits: a format that was read.
struct FormatObject : Instance {
  Value format;
  LayoutPointer layout;
  FormatObject() : Instance(Kind::Native) {}
};
FormatObject* format_of(const Value& v) { return static_cast<FormatObject*>(v.object()); }

Value construct_format(Vm& vm, Type* type, Args&) {
  Local<FormatObject> made = vm.heap().make<FormatObject>(type);
  made->state.shape = type->root();
  made->format = str_value(vm, "");
  made->layout = std::make_shared<const Layout>();
  return made.take();
}
void initialize_format(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("format");
  std::vector<Value> given;
  kSignature.bind(vm, "Struct", args, given);
  format_of(self)->layout = layout_of(vm, given[0]);
  format_of(self)->format = is_kind(given[0], Kind::Bytes) ? str_value(vm, byte_string(given[0])) : given[0];
}
Type* make_format_type(Vm& vm) {
  TypeBuilder b(vm, "_Format", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<FormatObject>;
  s.traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<FormatObject*>(o)->format);
    traverse_instance(o, visit);
  };
  s.clear = clear_instance;
  s.construct = construct_format;
  s.initialize = initialize_format;
  b.with_attributes(offset_of(&FormatObject::state)).allow_subclasses();
  b.getter("format", [](Vm&, const Value& v) { return format_of(v)->format; })
      .getter("size",
              [](Vm&, const Value& v) { return Value::integer(static_cast<int64_t>(format_of(v)->layout->size)); })
      .method(
          "pack", "self, *values",
          [](Vm& vm, Args& a) {
            return make_bytes(vm, packed(vm, *format_of(a[0])->layout, cast<TupleObject>(a[1])->span(), "pack")).take();
          })
      .method("pack_into", "self, buffer, offset, /, *values",
              [](Vm& vm, Args& a) { return pack_into(vm, *format_of(a[0])->layout, a); })
      .method("unpack", "self, buffer, /", [](Vm& vm, Args& a) { return unpack(vm, *format_of(a[0])->layout, a); })
      .method("unpack_from", "self, buffer, offset=0",
              [](Vm& vm, Args& a) { return unpack_from(vm, *format_of(a[0])->layout, a); })
      .method("iter_unpack", "self, buffer, /",
              [](Vm& vm, Args& a) { return iter_unpack(vm, format_of(a[0])->layout, a[1]); });
  return b.finish();
}
// byte_count(buffer): how many bytes a bytes-like object has.
Value byte_count(Vm& vm, Args& a) { return Value::integer(static_cast<int64_t>(Buffer(vm, a[0]).bytes().size())); }
// as_bytes(buffer): the bytes of a bytes-like object.
Value as_bytes_(Vm& vm, Args& a) {
  const Buffer held(vm, a[0]);  // which refuses a view with gaps
  return as_bytes(vm, a[0]);
}
// --- base64, digests --------------------------------------------------------------------------------

// encode(data, alphabet): base64 with padding.
Value base64_encode(Vm& vm, Args& a) {
  const Buffer given(vm, a[0]), signs(vm, a[1]);
  const std::string_view data = given, alphabet = signs;
  std::string out;
  check_text_room(data.size());
  out.reserve(data.size() / 3 * 4 + 4);
  Patience patience;
  for (size_t i = 0; i < data.size(); i += 3) {
    patience.step(2);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < data.size() ? static_cast<uint8_t>(data[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k <= data.size() ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return make_bytes(vm, std::move(out)).take();
}
// decode(data, alphabet, strict): (bytes, error text or None); bytes that are no digits are skipped.
Value base64_decode(Vm& vm, Args& a) {
  const Buffer given(vm, a[0]), signs(vm, a[1]);
  const std::string_view data = given, alphabet = signs;
  bool strict = truth(vm, a[2]);
  std::string out;
  uint32_t bits = 0;
  size_t digits = 0, padding = 0;
  std::string problem;
  check_text_room(data.size() / 2);
  Patience patience;
  for (char c : data) {
    patience.step();
    size_t value = alphabet.find(c);
    if (c == '=') {
      if (digits % 4 >= 2 && digits % 4 + ++padding >= 4) break;
      continue;
    }
    if (value == std::string_view::npos) {
      if (strict) problem = "Only base64 data is allowed";
      continue;
    }
    padding = 0;
    bits = bits << 6 | static_cast<uint32_t>(value);
    ++digits;
    if (digits % 4 != 1) out += static_cast<char>(bits >> (6 - 2 * ((digits + 3) % 4)));
  }
  if (problem.empty() && digits % 4 == 1)
    problem = "Invalid base64-encoded string: number of data characters (" + std::to_string(digits) +
              ") cannot be 1 more than a multiple of 4";
  else if (problem.empty() && digits % 4 && digits % 4 + padding < 4) problem = "Incorrect padding";
  return make_tuple(vm, std::vector<Value>{make_bytes(vm, std::move(out)).take(),
                                           problem.empty() ? Value::none() : str_value(vm, problem)})
      .take();
}
Value crc32(Vm& vm, Args& a) {
  constexpr size_t kPiece = size_t{8} << 20;  // between two looks at whether the script is to stop
  uint32_t crc = static_cast<uint32_t>(to_index(vm, a[1]));
  const Buffer given(vm, a[0]);
  const std::string_view data = given;
  for (size_t at = 0; at < data.size(); at += kPiece) {
    vm.poll();
    crc = io::crc32(crc, data.data() + at, std::min(kPiece, data.size() - at));
  }
  return Value::integer(crc);
}

}  // namespace

Local<ModuleObject> make_binary_module(Vm& vm) {
  ModuleBuilder m(vm, "_binary");
  vm.extension(&kUnpackIterator) = std::make_shared<Type*>(make_iterator_type<UnpackIterator>(vm, "unpack_iterator"));
  m.function("pack", "format, /, *values", struct_pack)
      .function("pack_into", "format, buffer, offset, /, *values", struct_pack_into)
      .function("unpack", "format, buffer, /", struct_unpack)
      .function("unpack_from", "format, buffer, offset, /", struct_unpack_from)
      .function("iter_unpack", "format, buffer, /", struct_iter_unpack)
      .value("Format", Value(make_format_type(vm)))
      .function("byte_count", "buffer, /", byte_count)
      .function("as_bytes", "buffer, /", as_bytes_)
      .function("calcsize", "format, /", struct_size)
      .function("base64_encode", "data, alphabet, /", base64_encode)
      .function("base64_decode", "data, alphabet, strict, /", base64_decode)
      .function("crc32", "data, value=0, /", crc32);
  add_digests(vm, m);
  return m.finish();
}

}  // namespace tsc::interp
