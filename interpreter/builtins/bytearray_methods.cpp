// The methods of bytearray that change it, and what copies it.
#include <algorithm>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/bytearray.h"

namespace tsc::interp {
namespace {

ByteArrayObject* self_of(Args& a) { return cast<ByteArrayObject>(a[0]); }
int64_t size_of(Args& a) { return static_cast<int64_t>(self_of(a)->memory->size()); }

Value append(Vm& vm, Args& a) {
  const char byte = byte_of(vm, a[1]);
  replace_range(vm, self_of(a), self_of(a)->memory->size(), self_of(a)->memory->size(), {&byte, 1});
  return Value::none();
}

Value extend(Vm& vm, Args& a) {
  extend_bytes(vm, self_of(a), a[1]);
  return Value::none();
}

Value insert(Vm& vm, Args& a) {
  int64_t at = size_argument(vm, a[1]);
  const char byte = byte_of(vm, a[2]);
  if (at < 0) at = std::max<int64_t>(at + size_of(a), 0);
  const size_t place = static_cast<size_t>(std::min(at, size_of(a)));
  replace_range(vm, self_of(a), place, place, {&byte, 1});
  return Value::none();
}

Value pop(Vm& vm, Args& a) {
  int64_t at = size_argument(vm, a[1]);
  if (size_of(a) == 0) raise_index_error(vm, "pop from empty bytearray");
  if (at < 0) at += size_of(a);
  if (at < 0 || at >= size_of(a)) raise_index_error(vm, "pop index out of range");
  const size_t place = static_cast<size_t>(at);
  const uint8_t byte = static_cast<uint8_t>(self_of(a)->memory->data()[place]);
  replace_range(vm, self_of(a), place, place + 1, {});
  return Value::integer(byte);
}

Value remove(Vm& vm, Args& a) {
  const char byte = byte_of(vm, a[1]);
  const size_t at = byte_string(a[0]).find(byte);
  if (at == std::string_view::npos) raise_value_error(vm, "value not found in bytearray");
  replace_range(vm, self_of(a), at, at + 1, {});
  return Value::none();
}

Value reverse(Vm& vm, Args& a) {
  note_store(vm, self_of(a), Value());
  SharedBytes& memory = *self_of(a)->memory;
  std::reverse(memory.data(), memory.data() + memory.size());
  return Value::none();
}

Value clear(Vm& vm, Args& a) {
  replace_range(vm, self_of(a), 0, self_of(a)->memory->size(), {});
  return Value::none();
}

Value copy(Vm& vm, Args& a) { return make_byte_array(vm, byte_string(a[0])).take(); }

// (class, arguments, attributes): the bytes as Latin-1 text, as the oldest pickles have them, from protocol 3 on as
// bytes.
Value reduced(Vm& vm, Args& a, int64_t protocol) {
  const std::string data(byte_string(a[0]));
  std::vector<Value> arguments;
  const Value bytes = make_bytes(vm, data).take();
  if (protocol < 3) {
    arguments.push_back(str_value(vm, decode_bytes(vm, bytes, "latin-1", "strict")));
    arguments.push_back(str_value(vm, "latin-1"));
  } else if (!data.empty()) {
    arguments.push_back(bytes);
  }
  const Value state = find_attribute(vm, a[0], vm.names().dict);
  return make_tuple(vm, std::vector<Value>{Value(a[0].object()->type), make_tuple(vm, arguments).value(),
                                           state && !state.is_undefined() ? state : Value::none()})
      .take();
}
Value reduce(Vm& vm, Args& a) { return reduced(vm, a, 2); }
Value reduce_ex(Vm& vm, Args& a) { return reduced(vm, a, to_index(vm, a[1])); }

}  // namespace

void add_bytearray_methods(TypeBuilder& type) {
  type.method("append", "self, item, /", append)
      .method("extend", "self, iterable_of_ints, /", extend)
      .method("insert", "self, index, item, /", insert)
      .method("pop", "self, index=-1, /", pop)
      .method("remove", "self, value, /", remove)
      .method("reverse", "self", reverse)
      .method("clear", "self", clear)
      .method("copy", "self", copy)
      .method("__reduce__", "self", reduce)
      .method("__reduce_ex__", "self, proto=0, /", reduce_ex);
}

}  // namespace tsc::interp
