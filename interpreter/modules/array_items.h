#pragma once
// Items of array.array: from values with Python's errors, to values, and changes of the array's size.
// Keeps: an array whose memory is exported keeps its size (BufferError).
#include "interpreter/value/buffer.h"
#include "interpreter/vm/native.h"

namespace tsc::interp {

inline ArrayObject* array_of(const Value& v) { return cast<ArrayObject>(v); }
constexpr size_t kLargestItem = 8;
// The item of a value, in the first bytes of `to`; OverflowError and TypeError as Python's array has them for each
// typecode.
void pack_array_item(Vm& vm, const ItemFormat& format, const Value& value, char* to);
// Items of an iterable, a str (typecode 'u'), bytes or another array, one after the other.
std::string array_items_of(Vm& vm, const ItemFormat& format, const Value& source);
Value array_item(Vm& vm, const ArrayObject* array, size_t index);
Value array_list(Vm& vm, const Value& self);
// Unicode text of typecode 'u'.
std::string array_text(Vm& vm, const Value& self);
// Whether the item at an index equals a value.
bool array_item_is(Vm& vm, const ArrayObject* array, size_t index, const Value& value);
// Puts whole items, which lie elsewhere, in the place of those of [begin, end).
void replace_array_items(Vm& vm, ArrayObject* array, size_t begin, size_t end, std::string_view items);
// BufferError while somebody looks at the memory.
void must_be_resizable(Vm& vm, const ArrayObject* array);
void check_whole_items(Vm& vm, const ItemFormat& format, size_t bytes);
Local<ArrayObject> make_array(Vm& vm, Type* type, const ItemFormat* format, std::string_view items);
Type* array_type(Vm& vm);
void add_array_methods(TypeBuilder& type);

}  // namespace tsc::interp
