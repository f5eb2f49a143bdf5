// bytes: the slots.
#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/search.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/big_numbers.h"
#include "runtime/base/hash.h"

namespace tsc::interp {
namespace {

const std::string& data_of(const Value& v) { return cast<BytesObject>(v)->data; }

// What an object's __bytes__ answers.
Value bytes_of_own(Vm& vm, const Value& v, const Value& method) {
  Value made = call(vm, bind_attribute(vm, method, v, type_of(vm, v)));
  if (!is_kind(made, Kind::Bytes))
    raise_type_error(vm, "__bytes__ returned non-bytes (type " + type_name(vm, made) + ")");
  return made;
}

Value repeated(Vm& vm, std::string_view piece, size_t count) {
  const size_t total = piece.size() * count;
  if (total == 0) return make_bytes(vm, "").take();
  vm.heap().check_room(total);
  std::string out;
  out.reserve(total);
  out = piece;
  // What is there is appended to itself: few appends make a long text out of a short piece.
  const size_t most = std::max<size_t>((512 << 10) / piece.size(), 1) * piece.size();
  while (out.size() < total) {
    hear_stop();
    out.append(out, 0, std::min({out.size(), total - out.size(), most}));
  }
  return make_bytes(vm, std::move(out)).take();
}

Value bytes_construct(Vm& vm, Type*, Args& args) {
  static const Signature kSignature("source=?, encoding=?, errors=?");
  std::vector<Value> v;
  kSignature.bind(vm, "bytes", args, v);
  if (!v[0]) return make_bytes(vm, "").take();
  const Value* own = v[1] ? nullptr : lookup_in_type(type_of(vm, v[0]), intern(vm, "__bytes__"));
  if (own) return bytes_of_own(vm, v[0], *own);
  if (is_kind(v[0], Kind::Str)) {
    if (!v[1]) raise_type_error(vm, "string argument without an encoding");
    return make_bytes(vm, encode_text(vm, v[0], text_of(vm, v[1], "encoding"),
                                      v[2] ? text_of(vm, v[2], "errors") : "strict"))
        .take();
  }
  if (is_kind(v[0], Kind::Bytes)) return v[0];
  if (is_integer_like(v[0]) || type_of(vm, v[0])->slots.to_index) {
    const Value whole = whole_of(vm, v[0]);
    if (is_big(whole))
      raise(vm, vm.exceptions().OverflowError, "cannot fit '" + type_name(vm, v[0]) + "' into an index-sized integer");
    int64_t n = whole.as_int();
    if (n < 0) raise_value_error(vm, "negative count");
    if (n > (int64_t{1} << 36)) raise(vm, vm.exceptions().MemoryError, "out of memory");
    const char zero = 0;
    return repeated(vm, std::string_view(&zero, 1), static_cast<size_t>(n));
  }
  const TypeSlots& slots = type_of(vm, v[0])->slots;
  if (!slots.iterate && !slots.get_item)
    raise_type_error(vm, "cannot convert '" + type_name(vm, v[0]) + "' object to bytes");
  TextBuilder data(vm);
  for_each(vm, v[0], [&](const Value& item) {
    const Value whole = whole_of(vm, item);
    const int64_t b = is_big(whole) ? -1 : whole.as_int();
    if (b < 0 || b > 255) raise_value_error(vm, "bytes must be in range(0, 256)");
    data += static_cast<char>(b);
    return true;
  });
  return data.bytes();
}
Value bytes_repr(Vm& vm, const Value& v) {
  std::string head = data_of(v).find('\'') != std::string::npos && data_of(v).find('"') == std::string::npos
                        ? "b\""
                        : "b'";
  char quote = head[1], escape[8];
  TextBuilder out(vm);
  out += head;
  Patience patience;
  for (char c : data_of(v)) {
    patience.step();
    uint8_t b = static_cast<uint8_t>(c);
    if (c == quote || c == '\\') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (b < 0x20 || b >= 0x7F) std::snprintf(escape, sizeof escape, "\\x%02x", b), out += escape;
    else out += c;
  }
  out += quote;
  return out.str();
}
int64_t bytes_hash(Vm&, const Value& v) { return static_cast<int64_t>(hash_bytes(data_of(v)).low); }
int64_t bytes_length(Vm&, const Value& v) { return static_cast<int64_t>(data_of(v).size()); }
Value bytes_get(Vm& vm, const Value& self, const Value& key) {
  const std::string& data = data_of(self);
  if (auto* slice = try_cast<SliceObject>(key)) {
    SliceRange r = resolve_slice(vm, slice, static_cast<int64_t>(data.size()));
    std::string out;
    check_text_room(static_cast<size_t>(r.count) / 2);
    Patience patience;
    for (int64_t k = 0, i = r.start; k < r.count; ++k, i += r.step) patience.step(), out += data[static_cast<size_t>(i)];
    return make_bytes(vm, std::move(out)).take();
  }
  int64_t i = sequence_index(vm, key, static_cast<int64_t>(data.size()), "byte");
  return Value::integer(static_cast<uint8_t>(data[static_cast<size_t>(i)]));
}
bool bytes_contains(Vm& vm, const Value& self, const Value& item) {
  if (is_kind(item, Kind::Bytes)) return find_text(data_of(self), data_of(item)) != std::string::npos;
  if (!is_integer_like(item))
    raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, item) + "'");
  if (item.as_int() < 0 || item.as_int() > 255)
    raise_value_error(vm, "byte must be in range(0, 256)");
  const char byte = static_cast<char>(item.as_int());
  return find_text(data_of(self), std::string_view(&byte, 1)) != std::string::npos;
}
Value bytes_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  if (op == BinaryOp::Add && is_kind(a, Kind::Bytes) && is_kind(b, Kind::Bytes)) {
    check_text_room(data_of(a).size() + data_of(b).size());
    std::string out;
    out.reserve(data_of(a).size() + data_of(b).size());
    for (const std::string* piece : {&data_of(a), &data_of(b)})
      in_pieces(piece->size(), [&](size_t begin, size_t end) { out.append(*piece, begin, end - begin); });
    return make_bytes(vm, std::move(out)).take();
  }
  if (op == BinaryOp::Mul) {
    Value n = repeat_count(vm, reflected ? a : b);
    if (!n) return vm.not_implemented();
    const std::string& piece = data_of(reflected ? b : a);
    if (!piece.empty() && static_cast<uint64_t>(n.as_int()) > (uint64_t{1} << 36) / piece.size())
      raise(vm, vm.exceptions().MemoryError, "out of memory");
    return repeated(vm, piece, static_cast<size_t>(n.as_int()));
  }
  if (op == BinaryOp::Mod && is_kind(a, Kind::Bytes))
    return make_bytes(vm, percent_format(vm, data_of(a), b, true)).take();
  return vm.not_implemented();
}
Value bytes_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Bytes) || !is_kind(b, Kind::Bytes)) return vm.not_implemented();
  return compare(vm, op, Value::integer(data_of(a).compare(data_of(b))), Value::integer(0));
}

struct BytesIterator final : NativeIterator {
  Local<BytesObject> bytes;
  size_t index = 0;
  bool next(Vm&, Value& out) override {
    if (index >= bytes->data.size()) return false;
    out = Value::integer(static_cast<uint8_t>(bytes->data[index++]));
    return true;
  }
};
const char kBytesExtension = 0;
Value bytes_iterate(Vm& vm, const Value& self) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kBytesExtension));
  Local<BytesIterator> it = vm.heap().make<BytesIterator>(type);
  it->bytes = Local<BytesObject>(cast<BytesObject>(self));
  return it.take();
}

}  // namespace

void init_bytes_type(Vm& vm) {
  TypeBuilder b(vm, "bytes", Kind::Bytes);
  TypeSlots& s = b.slots();
  s.destroy = [](Vm& vm, Object* object) {
    vm.heap().release(static_cast<BytesObject*>(object)->data.size());
    destroy_as<BytesObject>(vm, object);
  };
  s.release = [](Heap& heap, Object* o) { return heap.may_free(static_cast<BytesObject*>(o)->data.size()); };
  s.construct = bytes_construct;
  s.repr = bytes_repr;
  s.hash = bytes_hash;
  s.length = bytes_length;
  s.get_item = bytes_get;
  s.contains = bytes_contains;
  s.binary = bytes_binary;
  s.compare = bytes_compare;
  s.iterate = bytes_iterate;
  add_bytes_methods(b);
  VmAccess::types(vm).bytes = b.finish();
  vm.extension(&kBytesExtension) =
      std::make_shared<Type*>(make_iterator_type<BytesIterator>(vm, "bytes_iterator"));
  add_builtin(vm, "bytes", Value(vm.types().bytes));
}

}  // namespace tsc::interp
