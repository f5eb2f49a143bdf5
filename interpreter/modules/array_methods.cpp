// The methods of array.array.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/modules/array_items.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {

namespace {

ArrayObject* self_of(Args& a) { return array_of(a[0]); }
int64_t length_of(Args& a) { return static_cast<int64_t>(self_of(a)->length()); }
void add_items(Vm& vm, ArrayObject* array, std::string_view items) {
  replace_array_items(vm, array, array->length(), array->length(), items);
}

Value append(Vm& vm, Args& a) {
  char packed[kLargestItem];
  pack_array_item(vm, *self_of(a)->format, a[1], packed);
  add_items(vm, self_of(a), {packed, self_of(a)->format->size});
  return Value::none();
}

Value extend(Vm& vm, Args& a) {
  ArrayObject* array = self_of(a);
  if (const auto* other = try_cast<ArrayObject>(a[1])) {
    if (other->format != array->format) raise_type_error(vm, "can only extend with array of same kind");
    add_items(vm, array, copied_bytes(vm, a[1]));
    return Value::none();
  }
  // One by one: what came in front of an item that does not fit stays.
  for_each(vm, a[1], [&](const Value& item) {
    char packed[kLargestItem];
    pack_array_item(vm, *array->format, item, packed);
    add_items(vm, array, {packed, array->format->size});
    return true;
  });
  return Value::none();
}

Value fromlist(Vm& vm, Args& a) {
  if (!is_kind(a[1], Kind::List)) raise_type_error(vm, "arg must be list");
  add_items(vm, self_of(a), array_items_of(vm, *self_of(a)->format, a[1]));
  return Value::none();
}
Value tolist(Vm& vm, Args& a) { return array_list(vm, a[0]); }

Value frombytes(Vm& vm, Args& a) {
  const Buffer held(vm, a[1]);
  const auto* view = try_cast<MemoryViewObject>(a[1]);
  const auto* array = try_cast<ArrayObject>(a[1]);
  if ((view && view->item->size != 1) || (array && array->format->size != 1))
    raise_type_error(vm, "a bytes-like object is required");
  check_whole_items(vm, *self_of(a)->format, held.bytes().size());
  add_items(vm, self_of(a), held);
  return Value::none();
}
Value tobytes(Vm& vm, Args& a) { return make_bytes(vm, copied_bytes(vm, a[0])).take(); }

Value tounicode(Vm& vm, Args& a) {
  if (self_of(a)->format->kind != ItemKind::Character)
    raise_value_error(vm, "tounicode() may only be called on unicode type arrays");
  return str_value(vm, array_text(vm, a[0]));
}
Value fromunicode(Vm& vm, Args& a) {
  text_of(vm, a[1], "fromunicode() argument");
  if (self_of(a)->format->kind != ItemKind::Character)
    raise_value_error(vm, "fromunicode() may only be called on unicode type arrays");
  add_items(vm, self_of(a), array_items_of(vm, *self_of(a)->format, a[1]));
  return Value::none();
}

Value tofile(Vm& vm, Args& a) {
  call_method(vm, a[1], "write", {make_bytes(vm, copied_bytes(vm, a[0])).take()});
  return Value::none();
}
Value fromfile(Vm& vm, Args& a) {
  const int64_t count = size_argument(vm, a[2]), width = self_of(a)->format->size;
  if (count < 0) raise_value_error(vm, "negative count");
  if (count > INT64_MAX / width) throw std::bad_alloc();
  const Value read = call_method(vm, a[1], "read", {Value::integer(count * width)});
  if (!is_kind(read, Kind::Bytes)) raise_type_error(vm, "read() didn't return bytes");
  const std::string& data = cast<BytesObject>(read)->data;
  check_whole_items(vm, *self_of(a)->format, data.size());
  add_items(vm, self_of(a), data);
  if (static_cast<int64_t>(data.size()) != count * width)
    raise(vm, vm.exceptions().EOFError, "read() didn't return enough bytes");
  return Value::none();
}

Value insert(Vm& vm, Args& a) {
  int64_t at = size_argument(vm, a[1]);
  char packed[kLargestItem];
  pack_array_item(vm, *self_of(a)->format, a[2], packed);
  if (at < 0) at = std::max<int64_t>(at + length_of(a), 0);
  const size_t place = static_cast<size_t>(std::min(at, length_of(a)));
  replace_array_items(vm, self_of(a), place, place, {packed, self_of(a)->format->size});
  return Value::none();
}

Value pop(Vm& vm, Args& a) {
  int64_t at = size_argument(vm, a[1]);
  if (length_of(a) == 0) raise_index_error(vm, "pop from empty array");
  if (at < 0) at += length_of(a);
  if (at < 0 || at >= length_of(a)) raise_index_error(vm, "pop index out of range");
  const size_t place = static_cast<size_t>(at);
  const Value item = array_item(vm, self_of(a), place);
  replace_array_items(vm, self_of(a), place, place + 1, {});
  return item;
}

// The first item from `start` on that equals a value, or -1.
int64_t find_item(Vm& vm, Args& a, int64_t start, int64_t stop) {
  for (int64_t i = start; i < stop && i < length_of(a); ++i) {
    vm.hear_stop();
    if (array_item_is(vm, self_of(a), static_cast<size_t>(i), a[1])) return i;
  }
  return -1;
}

Value remove(Vm& vm, Args& a) {
  const int64_t at = find_item(vm, a, 0, INT64_MAX);
  if (at < 0) raise_value_error(vm, "array.remove(x): x not in array");
  const size_t place = static_cast<size_t>(at);
  replace_array_items(vm, self_of(a), place, std::min(place + 1, self_of(a)->length()), {});
  return Value::none();
}

Value index(Vm& vm, Args& a) {
  const auto bound = [&](size_t i, int64_t fallback) {
    if (a.has(i) && !is_integer_like(a[i]) && !type_of(vm, a[i])->slots.to_index)
      raise_type_error(vm, "slice indices must be integers or have an __index__ method");
    const int64_t at = a.has(i) ? slice_bound(vm, a[i]) : fallback;
    return at < 0 ? std::max<int64_t>(at + length_of(a), 0) : at;
  };
  const int64_t start = bound(2, 0), at = find_item(vm, a, start, bound(3, INT64_MAX));
  if (at < 0) raise_value_error(vm, "array.index(x): x not in array");
  return Value::integer(at);
}

Value count(Vm& vm, Args& a) {
  int64_t found = 0;
  for (int64_t i = 0; i < length_of(a); ++i) {
    vm.hear_stop();
    found += array_item_is(vm, self_of(a), static_cast<size_t>(i), a[1]);
  }
  return Value::integer(found);
}

Value reverse(Vm& vm, Args& a) {
  const size_t width = self_of(a)->format->size;
  note_store(vm, self_of(a), Value());
  char* data = self_of(a)->memory->data();
  for (size_t i = 0, j = self_of(a)->length(); i + 1 < j; ++i)
    --j, std::swap_ranges(data + i * width, data + (i + 1) * width, data + j * width);
  return Value::none();
}

Value byteswap(Vm& vm, Args& a) {
  const size_t width = self_of(a)->format->size;
  note_store(vm, self_of(a), Value());
  char* data = self_of(a)->memory->data();
  for (size_t i = 0; i < self_of(a)->length(); ++i) std::reverse(data + i * width, data + (i + 1) * width);
  return Value::none();
}

Value copy(Vm& vm, Args& a) {
  return make_array(vm, array_type(vm), self_of(a)->format, self_of(a)->memory->view()).take();
}

Value buffer_info(Vm& vm, Args& a) {
  const auto address = reinterpret_cast<intptr_t>(self_of(a)->memory->data());
  return make_tuple(vm, std::vector<Value>{Value::integer(address), Value::integer(length_of(a))}).take();
}

Value letter(Vm& vm, const Value& self) { return str_value(vm, std::string(1, array_of(self)->format->code)); }
Value item_size(Vm&, const Value& self) { return Value::integer(array_of(self)->format->size); }

// (class, (typecode, items), attributes).
Value reduce_ex(Vm& vm, Args& a) {
  const Value state = find_attribute(vm, a[0], vm.names().dict);
  const Value given = make_tuple(vm, std::vector<Value>{letter(vm, a[0]), array_list(vm, a[0])}).take();
  return make_tuple(vm, std::vector<Value>{Value(a[0].object()->type), given, state ? state : Value::none()}).take();
}

}  // namespace

void add_array_methods(TypeBuilder& type) {
  type.method("append", "self, v, /", append)
      .method("extend", "self, bb, /", extend)
      .method("fromlist", "self, list, /", fromlist)
      .method("tolist", "self", tolist)
      .method("frombytes", "self, buffer, /", frombytes)
      .method("tobytes", "self", tobytes)
      .method("fromunicode", "self, ustr, /", fromunicode)
      .method("tounicode", "self", tounicode)
      .method("fromfile", "self, f, n, /", fromfile)
      .method("tofile", "self, f, /", tofile)
      .method("insert", "self, i, v, /", insert)
      .method("pop", "self, i=-1, /", pop)
      .method("remove", "self, v, /", remove)
      .method("index", "self, v, start=0, stop=?, /", index)
      .method("count", "self, v, /", count)
      .method("reverse", "self", reverse)
      .method("byteswap", "self", byteswap)
      .method("buffer_info", "self", buffer_info)
      .method("__copy__", "self", copy)
      .method("__deepcopy__", "self, memo, /", copy)
      .method("__reduce_ex__", "self, value, /", reduce_ex)
      .getter("typecode", letter)
      .getter("itemsize", item_size);
}

}  // namespace tsc::interp
