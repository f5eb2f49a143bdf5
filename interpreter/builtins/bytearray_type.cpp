// bytearray: the slots. What it shares with bytes is in bytes_type.cpp and bytes_methods.cpp, the methods that change
// it are in bytearray_methods.cpp.
#include <optional>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/bytearray.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {

void replace_range(Vm& vm, ByteArrayObject* self, size_t begin, size_t end, std::string_view data) {
  if (data.size() != end - begin) must_not_be_exported(vm, self);
  note_store(vm, self, Value());
  self->memory->replace(vm.heap(), begin, end, data);
}

void extend_bytes(Vm& vm, ByteArrayObject* self, const Value& source) {
  const Local<ByteArrayObject> kept(self);
  if (!Buffer::is_bytes_like(source)) {
    const TypeSlots& slots = type_of(vm, source)->slots;
    if (!slots.iterate && !slots.get_item) raise_type_error(vm, "can't extend bytearray with " + type_name(vm, source));
    const std::string made = bytes_of_iterable(vm, source, "bytearray");
    return replace_range(vm, self, self->memory->size(), self->memory->size(), made);
  }
  const bool is_self = source.is_object() && source.object() == self;
  if (is_self || !Buffer::is_plain_bytes(source)) {
    const std::string made = copied_bytes(vm, source);
    return replace_range(vm, self, self->memory->size(), self->memory->size(), made);
  }
  const Buffer held(vm, source);
  replace_range(vm, self, self->memory->size(), self->memory->size(), held);
}

namespace {

ByteArrayObject* self_of(const Value& v) { return cast<ByteArrayObject>(v); }

Value bytearray_construct(Vm& vm, Type* type, Args&) {
  Local<ByteArrayObject> made = vm.heap().make<ByteArrayObject>(type);
  made->memory = make_ref<SharedBytes>(vm.heap());
  return made.take();
}

void bytearray_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("source=?, encoding=?, errors=?");
  std::vector<Value> v;
  kSignature.bind(vm, "bytearray", args, v);
  const Local<ByteArrayObject> bytes(self_of(self));
  const std::string data = bytes_of_source(vm, v, "bytearray");
  if (bytes->memory->size() > 0) must_not_be_exported(vm, bytes);
  replace_range(vm, bytes, 0, bytes->memory->size(), data);
}

Value bytearray_repr(Vm& vm, const Value& self) {
  TextBuilder out(vm);
  out += type_name(vm, self);
  out += '(';
  add_bytes_repr(out, byte_string(self), Quoting::ByteArray);
  out += ')';
  return out.str();
}

int64_t bytearray_length(Vm&, const Value& self) { return static_cast<int64_t>(self_of(self)->memory->size()); }

size_t index_of(Vm& vm, const Value& self, const Value& key) {
  // Code of the script runs before the length is asked, which it may change.
  const Value whole = type_of(vm, key)->slots.to_index ? whole_of(vm, key) : key;
  const Value& place = is_big(whole) ? key : whole;
  return static_cast<size_t>(sequence_index(vm, place, bytearray_length(vm, self), "bytearray"));
}

// What a slice is given, as bytes of its own.
std::string assigned_bytes(Vm& vm, const Value& value) {
  const TypeSlots& slots = type_of(vm, value)->slots;
  const bool is_number = value.is_float() || is_integer_like(value) || slots.to_index || slots.to_int || slots.to_float;
  if (is_number || is_kind(value, Kind::Str))
    raise_type_error(vm, "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
  const Value given[] = {value, Value(), Value()};
  return bytes_of_source(vm, given, "bytearray");
}

void delete_range(Vm& vm, ByteArrayObject* self, const SliceRange& range) {
  if (range.count == 0) return;
  const size_t begin = static_cast<size_t>(range.start), count = static_cast<size_t>(range.count);
  if (range.step == 1) return replace_range(vm, self, begin, begin + count, {});
  must_not_be_exported(vm, self);
  replace_range(vm, self, 0, self->memory->size(), items_without(self->memory->view(), range, 1));
}

void assign_slice(Vm& vm, ByteArrayObject* self, const SliceObject* slice, const Value& value) {
  const Local<SliceObject> bounds = settled_slice(vm, slice);
  // Another object's bytes are read where they lie.
  const bool in_place = Buffer::is_plain_bytes(value) && value.object() != self;
  std::optional<Buffer> held;
  if (in_place) held.emplace(vm, value);
  const std::string copy = in_place ? "" : assigned_bytes(vm, value);
  const std::string_view data = in_place ? held->bytes() : std::string_view(copy);
  const SliceRange range = resolve_slice(vm, bounds, static_cast<int64_t>(self->memory->size()));
  const size_t count = static_cast<size_t>(range.count), begin = static_cast<size_t>(range.start);
  if (range.step == 1) return replace_range(vm, self, begin, begin + count, data);
  if (data.empty()) return delete_range(vm, self, range);
  if (data.size() != count)
    raise_value_error(vm, "attempt to assign bytes of size " + std::to_string(data.size()) +
                              " to extended slice of size " + std::to_string(count));
  note_store(vm, self, Value());
  store_items(self->memory->data(), range, 1, in_place ? std::string(data) : copy);
}

void bytearray_set(Vm& vm, const Value& self, const Value& key, const Value& value) {
  const Local<ByteArrayObject> bytes(self_of(self));
  if (auto* slice = try_cast<SliceObject>(key)) return assign_slice(vm, bytes, slice, value);
  const bool is_index = is_integer_like(key) || type_of(vm, key)->slots.to_index;
  const Value place = is_index ? whole_of(vm, key) : key;
  if (!is_index || is_big(place)) index_of(vm, self, place);  // which refuses it
  const char byte = byte_of(vm, value);                       // which may be code of the script that changes the size
  const size_t at = index_of(vm, self, place);
  note_store(vm, bytes, Value::integer(static_cast<int64_t>(at)));
  bytes->memory->data()[at] = byte;
}

void bytearray_delete(Vm& vm, const Value& self, const Value& key) {
  const Local<ByteArrayObject> bytes(self_of(self));
  if (auto* slice = try_cast<SliceObject>(key)) {
    const Local<SliceObject> bounds = settled_slice(vm, slice);
    return delete_range(vm, bytes, resolve_slice(vm, bounds, bytearray_length(vm, self)));
  }
  const size_t at = index_of(vm, self, key);
  replace_range(vm, bytes, at, at + 1, {});
}

Value bytearray_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  ByteArrayObject* bytes = self_of(self);
  if (op == BinaryOp::Add) {
    if (!Buffer::is_plain_bytes(other))
      raise_type_error(vm, "can't concat " + type_name(vm, other) + " to " + type_name(vm, self));
    const Buffer held(vm, other);
    replace_range(vm, bytes, bytes->memory->size(), bytes->memory->size(), held);
    return self;
  }
  if (op != BinaryOp::Mul) return vm.not_implemented();
  const Value count = repeat_count(vm, other);
  if (!count) return vm.not_implemented();
  replace_range(vm, bytes, 0, bytes->memory->size(), repeated_bytes(vm, byte_string(self), count.as_int()));
  return self;
}

Value bytearray_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!Buffer::is_plain_bytes(a) || !Buffer::is_plain_bytes(b)) return vm.not_implemented();
  const Buffer left(vm, a), right(vm, b);
  return compare(vm, op, Value::integer(left.bytes().compare(right.bytes())), Value::integer(0));
}

}  // namespace

void init_bytearray_type(Vm& vm) {
  TypeBuilder b(vm, "bytearray", Kind::ByteArray);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<ByteArrayObject>;
  s.release = [](Heap& heap, Object* o) { return may_free_shared(heap, static_cast<ByteArrayObject*>(o)->memory); };
  s.traverse = traverse_instance;
  s.clear = clear_instance;
  s.construct = bytearray_construct;
  s.initialize = bytearray_initialize;
  s.repr = bytearray_repr;
  s.to_str = bytearray_repr;
  s.hash = nullptr;
  s.length = bytearray_length;
  s.get_item = byte_string_item;
  s.set_item = bytearray_set;
  s.delete_item = bytearray_delete;
  s.contains = byte_string_contains;
  s.binary = byte_string_binary;
  s.in_place = bytearray_in_place;
  s.compare = bytearray_compare;
  s.iterate = iterate_byte_string;
  b.allow_subclasses(offset_of(&ByteArrayObject::state));
  b.attribute("__hash__", Value::none());
  add_bytes_methods(b);
  add_bytearray_methods(b);
  VmAccess::types(vm).byte_array = b.finish();
  add_builtin(vm, "bytearray", Value(vm.types().byte_array));
}

}  // namespace tsc::interp
