// Module array: the type and its slots. Its methods are in array_methods.cpp.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/array_items.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {

namespace {

struct ArrayState {
  Type *array = nullptr, *iterator = nullptr;
};
const char kArrayExtension = 0;
ArrayState& state_of(Vm& vm) { return *static_cast<ArrayState*>(vm.extension(&kArrayExtension).get()); }

// ---- making ------------------------------------------------------------------------------------------------

Value array_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("@typecode, initializer=?, /");
  if (type == array_type(vm) && args.keyword_count) raise_type_error(vm, "array.array() takes no keyword arguments");
  Args given = args;
  given.keyword_count = 0;
  std::vector<Value> v;
  kSignature.bind(vm, "array", given, v);
  const auto* code = try_cast<StrObject>(v[0]);
  if (!code || code->length != 1)
    raise_type_error(vm, "array() argument 1 must be a unicode character, not " + type_name(vm, v[0]));
  const std::string letter(code->view());
  const auto* other = v[1] ? try_cast<ArrayObject>(v[1]) : nullptr;
  const bool is_text = v[1] && is_kind(v[1], Kind::Str),
             is_text_array = other && other->format->kind == ItemKind::Character;
  if ((is_text || is_text_array) && letter != "u")
    raise_type_error(vm, std::string("cannot use a ") + (is_text ? "str" : "unicode array") +
                             " to initialize an array with typecode '" + letter + "'");
  const ItemFormat* format = letter.size() == 1 ? find_item_format(letter[0], kInArray) : nullptr;
  if (!format) raise_value_error(vm, "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)");
  return make_array(vm, type, format, v[1] ? array_items_of(vm, *format, v[1]) : "").take();
}

Value repr_array(Vm& vm, const Value& self) {
  const ArrayObject* array = array_of(self);
  TextBuilder out(vm);
  out += own_name(array->type);
  out += "('";
  out += array->format->code;
  out += '\'';
  if (array->length() > 0) {
    out += ", ";
    out += array->format->kind == ItemKind::Character ? repr_text(array_text(vm, self), false)
                                                      : repr(vm, array_list(vm, self));
  }
  out += ')';
  return out.str();
}

// ---- items and slices ----------------------------------------------------------------------------------------

int64_t length_of(Vm&, const Value& self) { return static_cast<int64_t>(array_of(self)->length()); }

size_t index_of(Vm& vm, const Value& self, const Value& key, const char* message) {
  if (!is_integer_like(key) && !type_of(vm, key)->slots.to_index)
    raise_type_error(vm, "array indices must be integers");
  const Value whole = whole_of(vm, key);
  if (is_big(whole)) raise_index_error(vm, "cannot fit '" + type_name(vm, key) + "' into an index-sized integer");
  const int64_t size = length_of(vm, self), i = whole.as_int() < 0 ? whole.as_int() + size : whole.as_int();
  if (i < 0 || i >= size) raise_index_error(vm, message);
  return static_cast<size_t>(i);
}

SliceRange range_of(Vm& vm, const Value& self, const Value& key) {
  const Local<SliceObject> bounds = settled_slice(vm, cast<SliceObject>(key));
  return resolve_slice(vm, bounds, length_of(vm, self));
}

Value array_get(Vm& vm, const Value& self, const Value& key) {
  const ArrayObject* array = array_of(self);
  if (!is_kind(key, Kind::Slice)) return array_item(vm, array, index_of(vm, self, key, "array index out of range"));
  const SliceRange range = range_of(vm, self, key);
  return make_array(vm, array_type(vm), array->format, sliced_items(array->memory->view(), range, array->format->size))
      .take();
}

void delete_range(Vm& vm, ArrayObject* array, const SliceRange& range) {
  if (range.count == 0) return;
  const size_t begin = static_cast<size_t>(range.start), count = static_cast<size_t>(range.count);
  if (range.step == 1) return replace_array_items(vm, array, begin, begin + count, {});
  must_be_resizable(vm, array);
  replace_array_items(vm, array, 0, array->length(), items_without(array->memory->view(), range, array->format->size));
}

void array_delete(Vm& vm, const Value& self, const Value& key) {
  if (is_kind(key, Kind::Slice)) return delete_range(vm, array_of(self), range_of(vm, self, key));
  const size_t at = index_of(vm, self, key, "array assignment index out of range");
  replace_array_items(vm, array_of(self), at, at + 1, {});
}

[[noreturn]] void raise_bad_argument(Vm& vm) { raise_type_error(vm, "bad argument type for built-in operation"); }

void assign_slice(Vm& vm, const Value& self, const Value& key, const Value& value) {
  ArrayObject* array = array_of(self);
  const SliceRange range = range_of(vm, self, key);
  const auto* other = try_cast<ArrayObject>(value);
  if (!other) raise_type_error(vm, "can only assign array (not \"" + type_name(vm, value) + "\") to array slice");
  if (other->format != array->format) raise_bad_argument(vm);
  const std::string items = copied_bytes(vm, value);  // it may be the same array
  const size_t width = array->format->size, count = static_cast<size_t>(range.count);
  if (range.step == 1) {
    const size_t begin = static_cast<size_t>(range.start);
    return replace_array_items(vm, array, begin, begin + count, items);
  }
  if (items.empty()) return delete_range(vm, array, range);
  if (items.size() != count * width)
    raise_value_error(vm, "attempt to assign array of size " + std::to_string(items.size() / width) +
                              " to extended slice of size " + std::to_string(count));
  note_store(vm, array, Value());
  store_items(array->memory->data(), range, width, items);
}

void array_set(Vm& vm, const Value& self, const Value& key, const Value& value) {
  if (is_kind(key, Kind::Slice)) return assign_slice(vm, self, key, value);
  const char* const message = "array assignment index out of range";
  const Value place = Value::integer(static_cast<int64_t>(index_of(vm, self, key, message)));
  ArrayObject* array = array_of(self);
  char packed[kLargestItem];
  pack_array_item(vm, *array->format, value, packed);  // which may be code of the script that changes the size
  const size_t at = index_of(vm, self, place, message);
  replace_array_items(vm, array, at, at + 1, {packed, array->format->size});
}

bool contains_item(Vm& vm, const Value& self, const Value& item) {
  const Local<ArrayObject> array(array_of(self));
  for (size_t i = 0; i < array->length(); ++i) {
    vm.hear_stop();
    if (array_item_is(vm, array, i, item)) return true;
  }
  return false;
}

// ---- operators -------------------------------------------------------------------------------------------------

Value binary_array(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected) {
  const ArrayObject* self = array_of(reflected ? b : a);
  std::string items;
  if (op == BinaryOp::Add && !reflected) {
    const auto* other = try_cast<ArrayObject>(b);
    if (!other) raise_type_error(vm, "can only append array (not \"" + type_name(vm, b) + "\") to array");
    if (other->format != self->format) raise_bad_argument(vm);
    items = copied_bytes(vm, a) + copied_bytes(vm, b);
  } else if (op == BinaryOp::Mul) {
    const Value count = repeat_count(vm, reflected ? a : b);
    if (!count) return vm.not_implemented();
    items = repeated_bytes(vm, self->memory->view(), count.as_int());
  } else {
    return vm.not_implemented();
  }
  return make_array(vm, array_type(vm), self->format, items).take();
}

Value in_place_array(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  ArrayObject* array = array_of(self);
  if (op == BinaryOp::Add) {
    const auto* more = try_cast<ArrayObject>(other);
    if (!more) raise_type_error(vm, "can only extend array with array (not \"" + type_name(vm, other) + "\")");
    if (more->format != array->format) raise_type_error(vm, "can only extend with array of same kind");
    replace_array_items(vm, array, array->length(), array->length(), copied_bytes(vm, other));
    return self;
  }
  if (op != BinaryOp::Mul) return vm.not_implemented();
  const Value count = repeat_count(vm, other);
  if (!count) return vm.not_implemented();
  replace_array_items(vm, array, 0, array->length(), repeated_bytes(vm, array->memory->view(), count.as_int()));
  return self;
}

Value compare_arrays(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Array) || !is_kind(b, Kind::Array)) return vm.not_implemented();
  const ArrayObject *x = array_of(a), *y = array_of(b);
  const bool for_equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (for_equality && x->length() != y->length()) return Value::boolean(op == CompareOp::Ne);
  if (for_equality && x->format == y->format && x->format->kind != ItemKind::Float)
    return Value::boolean((x->memory->view() == y->memory->view()) == (op == CompareOp::Eq));
  const size_t common = std::min(x->length(), y->length());
  for (size_t i = 0; i < common; ++i) {
    vm.hear_stop();
    const Value left = array_item(vm, x, i), right = array_item(vm, y, i);
    if (truth(vm, compare(vm, CompareOp::Eq, left, right))) continue;
    return for_equality ? Value::boolean(op == CompareOp::Ne) : compare(vm, op, left, right);
  }
  return Value::boolean(number_compare(op, Value::integer(length_of(vm, a)), Value::integer(length_of(vm, b))));
}

struct ArrayIterator final : NativeIterator {
  Value array;  // None once exhausted
  size_t index = 0;
  bool next(Vm& vm, Value& out) override {
    if (array.is_none()) return false;
    const ArrayObject* items = array_of(array);
    if (index >= items->length()) return array = Value::none(), false;
    out = array_item(vm, items, index++);
    return true;
  }
  void traverse(Visitor& visit) override { visit(array); }
  auto members() { return std::tie(array, index); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value iterate_array(Vm& vm, const Value& self) {
  Local<ArrayIterator> it = vm.heap().make<ArrayIterator>(state_of(vm).iterator);
  it->array = self;
  return it.take();
}

Type* make_array_type(Vm& vm) {
  TypeBuilder b(vm, "array", Kind::Array);
  b.module("array");
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<ArrayObject>;
  s.release = [](Heap& heap, Object* o) { return may_free_shared(heap, static_cast<ArrayObject*>(o)->memory); };
  s.traverse = traverse_instance;
  s.clear = clear_instance;
  s.construct = array_construct;
  s.repr = repr_array;
  s.hash = nullptr;
  s.length = length_of;
  s.get_item = array_get;
  s.set_item = array_set;
  s.delete_item = array_delete;
  s.contains = contains_item;
  s.binary = binary_array;
  s.in_place = in_place_array;
  s.compare = compare_arrays;
  s.iterate = iterate_array;
  b.allow_subclasses(offset_of(&ArrayObject::state));
  b.attribute("__hash__", Value::none());
  add_array_methods(b);
  return b.finish();
}

}  // namespace

Type* array_type(Vm& vm) { return state_of(vm).array; }

Local<ModuleObject> make_array_module(Vm& vm) {
  auto state = std::make_shared<ArrayState>();
  vm.extension(&kArrayExtension) = state;
  state->array = make_array_type(vm);
  state->iterator = make_iterator_type<ArrayIterator>(vm, "arrayiterator");
  ModuleBuilder m(vm, "array");
  m.value("array", Value(state->array))
      .value("ArrayType", Value(state->array))
      .value("typecodes", str_value(vm, "bBuhHiIlLqQfd"));
  return m.finish();
}

}  // namespace tsc::interp
