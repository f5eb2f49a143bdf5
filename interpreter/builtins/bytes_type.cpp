// bytes: the slots, and what bytearray has the same way.
#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/search.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/iteration.h"
#include "runtime/base/hash.h"

namespace tsc::interp {

std::string repeated_bytes(Vm& vm, std::string_view piece, int64_t count) {
  if (piece.empty() || count <= 0) return "";
  if (static_cast<uint64_t>(count) > (uint64_t{1} << 36) / piece.size())
    raise(vm, vm.exceptions().MemoryError, "out of memory");
  const size_t total = piece.size() * static_cast<size_t>(count);
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
  return out;
}

std::string bytes_of_iterable(Vm& vm, const Value& source, const std::string& type) {
  TextBuilder data(vm);
  for_each(vm, source, [&](const Value& item) {
    const Value whole = whole_of(vm, item);
    const int64_t b = is_big(whole) ? -1 : whole.as_int();
    if (b < 0 || b > 255)
      raise_value_error(vm, (type == "bytes" ? "bytes" : "byte") + std::string(" must be in range(0, 256)"));
    data += static_cast<char>(b);
    return true;
  });
  return data.text();
}

std::string bytes_of_source(Vm& vm, std::span<const Value> given, const std::string& type) {
  const Value &source = given[0], &encoding = given[1], &errors = given[2];
  const bool is_text = source && is_kind(source, Kind::Str);
  if (encoding && !is_text) raise_type_error(vm, "encoding without a string argument");
  if (errors && !is_text) raise_type_error(vm, "errors without a string argument");
  if (!source) return "";
  if (is_text && !encoding) raise_type_error(vm, "string argument without an encoding");
  if (is_text)
    return encode_text(vm, source, text_of(vm, encoding, "encoding"),
                       errors ? text_of(vm, errors, "errors") : "strict");
  if (Buffer::is_bytes_like(source)) return copied_bytes(vm, source);
  if (is_integer_like(source) || type_of(vm, source)->slots.to_index) {
    const Value whole = whole_of(vm, source);
    if (is_big(whole))
      raise(vm, vm.exceptions().OverflowError,
            "cannot fit '" + type_name(vm, source) + "' into an index-sized integer");
    if (whole.as_int() < 0) raise_value_error(vm, "negative count");
    const char zero = 0;
    return repeated_bytes(vm, std::string_view(&zero, 1), whole.as_int());
  }
  const TypeSlots& slots = type_of(vm, source)->slots;
  if (!slots.iterate && !slots.get_item)
    raise_type_error(vm, "cannot convert '" + type_name(vm, source) + "' object to " + type);
  return bytes_of_iterable(vm, source, type);
}

void add_bytes_repr(TextBuilder& out, std::string_view data, Quoting quoting) {
  const bool doubled = data.find('\'') != std::string::npos && data.find('"') == std::string::npos;
  const char quote = doubled ? '"' : '\'';
  const char escaped = quoting == Quoting::ByteArray ? '\'' : quote;
  out += 'b';
  out += quote;
  char escape[8];
  Patience patience;
  for (char c : data) {
    patience.step();
    uint8_t b = static_cast<uint8_t>(c);
    if (c == escaped || c == '\\') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (b < 0x20 || b >= 0x7F) std::snprintf(escape, sizeof escape, "\\x%02x", b), out += escape;
    else out += c;
  }
  out += quote;
}

Value byte_string_item(Vm& vm, const Value& self, const Value& key) {
  const bool is_bytes = is_kind(self, Kind::Bytes);
  if (auto* slice = try_cast<SliceObject>(key)) {
    // The bounds first: their __index__ may change a bytearray.
    const Local<SliceObject> bounds = settled_slice(vm, slice);
    const std::string_view data = byte_string(self);
    std::string out = sliced_items(data, resolve_slice(vm, bounds, static_cast<int64_t>(data.size())), 1);
    return is_bytes ? make_bytes(vm, std::move(out)).take() : make_byte_array(vm, out).take();
  }
  const Value index = is_integer_like(key) || !type_of(vm, key)->slots.to_index ? key : whole_of(vm, key);
  const std::string_view data = byte_string(self);
  const int64_t i = sequence_index(vm, index, static_cast<int64_t>(data.size()), is_bytes ? "byte" : "bytearray");
  return Value::integer(static_cast<uint8_t>(data[static_cast<size_t>(i)]));
}

bool byte_string_contains(Vm& vm, const Value& self, const Value& item) {
  if (Buffer::is_bytes_like(item)) {
    const Buffer wanted(vm, item);
    return find_text(byte_string(self), wanted.bytes()) != std::string::npos;
  }
  if (!is_integer_like(item) && !type_of(vm, item)->slots.to_index)
    raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, item) + "'");
  const char byte = byte_of(vm, item);
  return find_text(byte_string(self), std::string_view(&byte, 1)) != std::string::npos;
}

Value byte_string_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  const Value& self = reflected && op != BinaryOp::Mod ? b : a;
  std::string out;
  if (op == BinaryOp::Add) {
    if (reflected || !Buffer::is_plain_bytes(b)) return vm.not_implemented();
    const Buffer left(vm, a), right(vm, b);
    check_text_room(left.bytes().size() + right.bytes().size());
    out.reserve(left.bytes().size() + right.bytes().size());
    for (const std::string_view piece : {left.bytes(), right.bytes()})
      in_pieces(piece.size(), [&](size_t begin, size_t end) { out.append(piece, begin, end - begin); });
  } else if (op == BinaryOp::Mul) {
    const Value n = repeat_count(vm, reflected ? a : b);
    if (!n) return vm.not_implemented();
    out = repeated_bytes(vm, byte_string(self), n.as_int());
  } else if (op == BinaryOp::Mod && is_byte_string(a)) {
    const Buffer text(vm, a);  // held: what is formatted may be code of the script
    out = percent_format(vm, text.bytes(), b, true);
  } else {
    return vm.not_implemented();
  }
  return is_kind(self, Kind::Bytes) ? make_bytes(vm, std::move(out)).take() : make_byte_array(vm, out).take();
}

namespace {

const std::string& data_of(const Value& v) { return cast<BytesObject>(v)->data; }

// What an object's __bytes__ answers.
Value bytes_of_own(Vm& vm, const Value& v, const Value& method) {
  Value made = call(vm, bind_attribute(vm, method, v, type_of(vm, v)));
  if (!is_kind(made, Kind::Bytes))
    raise_type_error(vm, "__bytes__ returned non-bytes (type " + type_name(vm, made) + ")");
  return made;
}

Value bytes_construct(Vm& vm, Type* type, Args& args) {
  if (type->type_flags & kScriptClass) {
    const Value plain = bytes_construct(vm, vm.types().bytes, args);
    const std::string& data = cast<BytesObject>(plain)->data;
    Local<BytesInstance> made = vm.heap().make<BytesInstance>(type);
    vm.heap().charge(data.size());
    made->data = data;
    made->state.shape = type->root();
    return made.take();
  }
  static const Signature kSignature("source=?, encoding=?, errors=?");
  std::vector<Value> v;
  kSignature.bind(vm, "bytes", args, v);
  const bool plain = v[0] && !v[1] && !v[2];
  const Value* own = plain ? lookup_in_type(type_of(vm, v[0]), intern(vm, "__bytes__")) : nullptr;
  if (own) return bytes_of_own(vm, v[0], *own);
  if (plain && type_of(vm, v[0]) == vm.types().bytes) return v[0];
  return make_bytes(vm, bytes_of_source(vm, v, "bytes")).take();
}
Value bytes_repr(Vm& vm, const Value& v) {
  TextBuilder out(vm);
  add_bytes_repr(out, data_of(v), Quoting::Bytes);
  return out.str();
}
int64_t bytes_hash(Vm&, const Value& v) { return static_cast<int64_t>(hash_bytes(data_of(v)).low); }
int64_t bytes_length(Vm&, const Value& v) { return static_cast<int64_t>(data_of(v).size()); }
Value bytes_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Bytes) || !is_kind(b, Kind::Bytes)) return vm.not_implemented();
  return compare(vm, op, Value::integer(data_of(a).compare(data_of(b))), Value::integer(0));
}

// Of bytes and of a bytearray, which may change meanwhile.
struct ByteIterator final : NativeIterator {
  Value bytes;  // None once exhausted
  size_t index = 0;
  bool next(Vm&, Value& out) override {
    if (bytes.is_none()) return false;
    const std::string_view data = byte_string(bytes);
    if (index >= data.size()) return bytes = Value::none(), false;
    out = Value::integer(static_cast<uint8_t>(data[index++]));
    return true;
  }
  void traverse(Visitor& visit) override { visit(bytes); }
  int64_t length_hint() override {
    const size_t size = bytes.is_none() ? 0 : byte_string(bytes).size();
    return static_cast<int64_t>(size > index ? size - index : 0);
  }
  auto members() { return std::tie(bytes, index); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
struct ByteIteratorTypes {
  Type *of_bytes, *of_byte_array;
};
const char kBytesExtension = 0;

}  // namespace

Value iterate_byte_string(Vm& vm, const Value& self) {
  const auto types = std::static_pointer_cast<ByteIteratorTypes>(vm.extension(&kBytesExtension));
  Type* type = is_kind(self, Kind::Bytes) ? types->of_bytes : types->of_byte_array;
  Local<ByteIterator> it = vm.heap().make<ByteIterator>(type);
  it->bytes = self;
  return it.take();
}

void init_bytes_type(Vm& vm) {
  TypeBuilder b(vm, "bytes", Kind::Bytes);
  TypeSlots& s = b.slots();
  s.destroy = [](Vm& vm, Object* object) {
    vm.heap().release(static_cast<BytesObject*>(object)->data.size());
    object->type->type_flags& kScriptClass ? destroy_as<BytesInstance>(vm, object)
                                           : destroy_as<BytesObject>(vm, object);
  };
  s.traverse = traverse_instance;
  s.clear = clear_instance;
  s.release = [](Heap& heap, Object* o) { return heap.may_free(static_cast<BytesObject*>(o)->data.size()); };
  s.construct = bytes_construct;
  s.repr = bytes_repr;
  s.to_str = bytes_repr;  // also where a class has a __repr__ of its own
  s.hash = bytes_hash;
  s.length = bytes_length;
  s.get_item = byte_string_item;
  s.contains = byte_string_contains;
  s.binary = byte_string_binary;
  s.compare = bytes_compare;
  s.iterate = iterate_byte_string;
  b.allow_subclasses(offset_of(&BytesInstance::state));
  add_bytes_methods(b);
  VmAccess::types(vm).bytes = b.finish();
  vm.extension(&kBytesExtension) = std::make_shared<ByteIteratorTypes>(
      ByteIteratorTypes{make_iterator_type<ByteIterator>(vm, "bytes_iterator"),
                        make_iterator_type<ByteIterator>(vm, "bytearray_iterator")});
  add_builtin(vm, "bytes", Value(vm.types().bytes));
}

}  // namespace tsc::interp
