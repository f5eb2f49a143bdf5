#include "interpreter/modules/array_items.h"

#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::interp {

namespace {

// What Python's array says of a number that does not fit: it looks at the C type that it reads first, then at its own.
struct Limit {
  char code;
  int64_t least, most;
  const char* name;
};
constexpr Limit kLimits[] = {
    {'b', INT16_MIN, INT16_MAX, "signed short integer"}, {'b', INT8_MIN, INT8_MAX, "signed char"},
    {'B', 0, UINT8_MAX, "unsigned byte integer"},        {'h', INT16_MIN, INT16_MAX, "signed short integer"},
    {'H', INT32_MIN, INT32_MAX, "signed integer"},       {'H', 0, UINT16_MAX, "unsigned short"},
    {'i', INT32_MIN, INT32_MAX, "signed integer"},
};

[[noreturn]] void overflow(Vm& vm, const std::string& message) { raise(vm, vm.exceptions().OverflowError, message); }

void pack_whole(Vm& vm, const ItemFormat& format, const Value& whole, char* to) {
  const bool is_long_long = format.code == 'q' || format.code == 'Q';
  if (format.kind == ItemKind::Unsigned && format.size >= 4 && compare_ints(whole, Value::integer(0)) < 0)
    overflow(vm,
             is_long_long ? "can't convert negative int to unsigned" : "can't convert negative value to unsigned int");
  for (const Limit& limit : kLimits) {
    if (limit.code != format.code || is_big(whole)) continue;
    if (whole.as_int() < limit.least) overflow(vm, std::string(limit.name) + " is less than minimum");
    if (whole.as_int() > limit.most) overflow(vm, std::string(limit.name) + " is greater than maximum");
  }
  if (pack_integer(whole, format.kind == ItemKind::Signed, format.size, false, to)) return;
  if (is_long_long) overflow(vm, "int too big to convert");
  const bool fits_long = format.code == 'I' && bit_length_of(whole) <= 64;
  if (fits_long) overflow(vm, "unsigned int is greater than maximum");
  const bool is_unsigned_long = format.code == 'I' || format.code == 'L';
  raise_too_large(vm, is_unsigned_long ? "C unsigned long" : "C long");
}

void append_text_items(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = decode_utf8(text, at);
    out.append(reinterpret_cast<const char*>(&c), sizeof c);
  }
}

}  // namespace

void pack_array_item(Vm& vm, const ItemFormat& format, const Value& value, char* to) {
  if (format.kind == ItemKind::Float) return pack_float(vm, to_double(vm, value), format.size, false, to);
  if (format.kind != ItemKind::Character) return pack_whole(vm, format, whole_of(vm, value), to);
  const auto* text = try_cast<StrObject>(value);
  if (!text || text->length != 1) raise_type_error(vm, "array item must be unicode character");
  size_t at = 0;
  const uint32_t c = decode_utf8(text->view(), at);
  std::memcpy(to, &c, sizeof c);
}

void check_whole_items(Vm& vm, const ItemFormat& format, size_t bytes) {
  if (bytes % format.size) raise_value_error(vm, "bytes length not a multiple of item size");
}

std::string array_items_of(Vm& vm, const ItemFormat& format, const Value& source) {
  const auto* array = try_cast<ArrayObject>(source);
  if (is_byte_string(source) || (array && array->format == &format)) {
    std::string data = copied_bytes(vm, source);
    check_whole_items(vm, format, data.size());
    return data;
  }
  if (is_kind(source, Kind::Str) && format.kind == ItemKind::Character) {
    const std::string_view text = cast<StrObject>(source)->view();
    check_text_room(2 * text.size());
    std::string out;
    append_text_items(out, text);
    return out;
  }
  TextBuilder out(vm);
  for_each(vm, source, [&](const Value& item) {
    char packed[kLargestItem];
    pack_array_item(vm, format, item, packed);
    out += std::string_view(packed, format.size);
    return true;
  });
  return out.text();
}

Value array_item(Vm& vm, const ArrayObject* array, size_t index) {
  const ItemFormat& format = *array->format;
  return unpack_item(vm, format.kind, format.size, false, array->memory->data() + index * format.size);
}

Value array_list(Vm& vm, const Value& self) {
  const ArrayObject* array = array_of(self);
  Local<ListObject> list = make_list(vm, array->length());
  Patience patience;
  for (size_t i = 0; i < array->length(); ++i) patience.step(), list->items.push_back(array_item(vm, array, i));
  return list.take();
}

std::string array_text(Vm& vm, const Value& self) {
  const ArrayObject* array = array_of(self);
  check_text_room(array->memory->size() / 2);
  std::string text;
  Patience patience;
  for (size_t i = 0; i < array->length(); ++i) patience.step(), text += text_of(vm, array_item(vm, array, i));
  return text;
}

bool array_item_is(Vm& vm, const ArrayObject* array, size_t index, const Value& value) {
  return truth(vm, compare(vm, CompareOp::Eq, array_item(vm, array, index), value));
}

void must_be_resizable(Vm& vm, const ArrayObject* array) {
  if (is_exported(vm, *array->memory)) raise_buffer_error(vm, "cannot resize an array that is exporting buffers");
}

void replace_array_items(Vm& vm, ArrayObject* array, size_t begin, size_t end, std::string_view items) {
  const size_t width = array->format->size;
  if (items.size() != (end - begin) * width) must_be_resizable(vm, array);
  note_store(vm, array, Value());
  array->memory->replace(vm.heap(), begin * width, end * width, items);
}

Local<ArrayObject> make_array(Vm& vm, Type* type, const ItemFormat* format, std::string_view items) {
  Ref<SharedBytes> memory = make_ref<SharedBytes>(vm.heap());
  memory->replace(vm.heap(), 0, 0, items);
  Local<ArrayObject> made = vm.heap().make<ArrayObject>(type);
  made->memory = std::move(memory);
  made->format = format;
  return made;
}

}  // namespace tsc::interp
