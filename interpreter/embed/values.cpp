// Script values for the host: making them, reading them.
#include "interpreter/embed/engine.h"
#include "interpreter/tensor/tensor_object.h"

namespace tsc::embed {
namespace {

using namespace interp;

// ---- making ------------------------------------------------------------------------------------

template <class Make>
tsc_status* make(tsc_engine* engine, tsc_value** out, Make&& body) {
  *out = nullptr;
  return guarded(engine, [&]() -> tsc_status* {
    *out = new_value(engine, body());
    return nullptr;
  });
}

tsc_status* none_new(tsc_engine* engine, tsc_value** out) {
  return make(engine, out, [] { return Value::none(); });
}

tsc_status* bool_new(tsc_engine* engine, int truth, tsc_value** out) {
  return make(engine, out, [&] { return Value::boolean(truth != 0); });
}

tsc_status* int_new(tsc_engine* engine, int64_t number, tsc_value** out) {
  return make(engine, out, [&] { return Value::integer(number); });
}

tsc_status* float_new(tsc_engine* engine, double number, tsc_value** out) {
  return make(engine, out, [&] { return Value::real(number); });
}

tsc_status* str_new(tsc_engine* engine, const char* text, size_t size, tsc_value** out) {
  return make(engine, out, [&] { return str_value(*engine->vm, {text, size}); });
}

std::vector<Value> values_of(tsc_value* const* items, size_t count) {
  std::vector<Value> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(items[i]->value);
  return values;
}

tsc_status* list_new(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** out) {
  return make(engine, out, [&] { return make_list(*engine->vm, values_of(items, count)).take(); });
}

tsc_status* tuple_new(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** out) {
  return make(engine, out,
              [&] { return interp::make_tuple(*engine->vm, values_of(items, count)).take(); });
}

tsc_status* dict_new(tsc_engine* engine, tsc_value* const* keys, tsc_value* const* items,
                     size_t count, tsc_value** out) {
  return make(engine, out, [&] {
    Local<DictObject> dict = make_dict(*engine->vm);
    for (size_t i = 0; i < count; ++i) dict_set(*engine->vm, dict, keys[i]->value, items[i]->value);
    return dict.take();
  });
}

void value_free(tsc_value* value) {
  if (value != nullptr) drop_value(value);
}

tsc_status* value_copy(const tsc_value* value, tsc_value** copy) {
  *copy = nullptr;
  if (value == nullptr) return bad_argument("the value is NULL");
  return make(value->engine, copy, [&] { return value->value; });
}

// ---- reading -----------------------------------------------------------------------------------

bool is_tensor_value(const tsc_value* value) {
  return is_tensor(tensor_state(*value->engine->vm), value->value);
}

tsc_kind object_kind(const tsc_value* value) {
  switch (value->value.object()->kind) {
    case Kind::Str:
      return TSC_STR;
    case Kind::List:
      return TSC_LIST;
    case Kind::Tuple:
      return TSC_TUPLE;
    case Kind::Dict:
      return TSC_DICT;
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type:
      return TSC_CALLABLE;
    default:
      return is_tensor_value(value) ? TSC_TENSOR : TSC_OBJECT;
  }
}

tsc_kind kind(const tsc_value* value) {
  if (value == nullptr) return TSC_NONE;
  switch (value->value.tag()) {
    case Tag::Bool:
      return TSC_BOOL;
    case Tag::Int:
      return TSC_INT;
    case Tag::Float:
      return TSC_FLOAT;
    case Tag::Object:
      return object_kind(value);
    default:
      return TSC_NONE;
  }
}

const char* value_type_name(const tsc_value* value) {
  return value == nullptr ? "NoneType" : type_name(*value->engine->vm, value->value).c_str();
}

}  // namespace

tsc_status* wrong_kind(const tsc_value* value, const char* wanted) {
  return bad_argument(std::string("the value is of type ") + value_type_name(value) + ", not " +
                      wanted);
}

namespace {

tsc_status* as_bool(const tsc_value* value, int* truth) {
  if (kind(value) != TSC_BOOL) return wrong_kind(value, "bool");
  *truth = value->value.as_bool();
  return nullptr;
}

// A tensor of one element is read as its number, as item() would.
tsc_status* number_value(const tsc_value* value, const char* wanted, Value& number) {
  if (value == nullptr) return wrong_kind(value, wanted);
  return guarded(value->engine, [&]() -> tsc_status* {
    number = value->value;
    if (kind(value) == TSC_TENSOR)
      number = tensor_item(*value->engine->vm, cast<TensorObject>(value->value)->tensor);
    return nullptr;
  });
}

tsc_status* as_int(const tsc_value* value, int64_t* result) {
  Value number;
  if (tsc_status* status = number_value(value, "int", number)) return status;
  if (!number.is_int() && !number.is_bool()) return wrong_kind(value, "int");
  *result = number.as_int();
  return nullptr;
}

tsc_status* as_float(const tsc_value* value, double* result) {
  Value number;
  if (tsc_status* status = number_value(value, "float", number)) return status;
  if (number.is_float()) {
    *result = number.as_float();
  } else if (number.is_int() || number.is_bool()) {
    *result = static_cast<double>(number.as_int());
  } else {
    return wrong_kind(value, "float");
  }
  return nullptr;
}

tsc_status* as_str(const tsc_value* value, const char** text, size_t* size) {
  if (kind(value) != TSC_STR) return wrong_kind(value, "str");
  const auto* string = cast<StrObject>(value->value);
  *text = string->text;
  *size = string->size;
  return nullptr;
}

tsc_status* length_of(const tsc_value* value, size_t* count) {
  if (value == nullptr) return wrong_kind(value, "str, list, tuple or dict");
  return guarded(value->engine, [&]() -> tsc_status* {
    switch (kind(value)) {
      case TSC_STR: *count = static_cast<size_t>(cast<StrObject>(value->value)->length); break;
      case TSC_LIST: *count = cast<ListObject>(value->value)->items.size(); break;
      case TSC_TUPLE: *count = cast<TupleObject>(value->value)->size; break;
      case TSC_DICT: *count = cast<DictObject>(value->value)->table.size(); break;
      default: return wrong_kind(value, "str, list, tuple or dict");
    }
    return nullptr;
  });
}

tsc_status* out_of_range(size_t index, size_t count) {
  return bad_argument("there is no item " + std::to_string(index) + " of " + std::to_string(count));
}

tsc_status* item_of(const tsc_value* value, size_t index, tsc_value** item) {
  *item = nullptr;
  const tsc_kind what = kind(value);
  if (what != TSC_LIST && what != TSC_TUPLE) return wrong_kind(value, "list or tuple");
  return guarded(value->engine, [&]() -> tsc_status* {
    std::span<const Value> items;
    if (what == TSC_LIST) items = cast<ListObject>(value->value)->items;
    else items = cast<TupleObject>(value->value)->span();
    if (index >= items.size()) return out_of_range(index, items.size());
    *item = new_value(value->engine, items[index]);
    return nullptr;
  });
}

tsc_status* dict_entry(const tsc_value* value, size_t index, tsc_value** key, tsc_value** item) {
  *key = *item = nullptr;
  if (kind(value) != TSC_DICT) return wrong_kind(value, "dict");
  return guarded(value->engine, [&]() -> tsc_status* {
    const Table& table = cast<DictObject>(value->value)->table;
    if (index >= table.size()) return out_of_range(index, table.size());
    uint32_t place = 0;
    for (size_t seen = 0;; ++place)
      if (!table.entry(place).key.is_undefined() && seen++ == index) break;
    *key = new_value(value->engine, table.entry(place).key);
    *item = new_value(value->engine, table.entry(place).value);
    return nullptr;
  });
}

tsc_status* get_item_of(tsc_engine* engine, tsc_value* object, tsc_value* key, tsc_value** item) {
  return make(engine, item, [&] { return get_item(*engine->vm, object->value, key->value); });
}

tsc_status* set_item_of(tsc_engine* engine, tsc_value* object, tsc_value* key, tsc_value* item) {
  return guarded(engine, [&]() -> tsc_status* {
    set_item(*engine->vm, object->value, key->value, item->value);
    return nullptr;
  });
}

tsc_status* represent(tsc_engine* engine, const tsc_value* value, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    const std::string text = repr(*engine->vm, value->value);
    sink(user, text.data(), text.size());
    return nullptr;
  });
}

}  // namespace

void fill_value_functions(tsc_api& api) {
  api.none_new = none_new;
  api.bool_new = bool_new;
  api.int_new = int_new;
  api.float_new = float_new;
  api.str_new = str_new;
  api.list_new = list_new;
  api.tuple_new = tuple_new;
  api.dict_new = dict_new;
  api.value_free = value_free;
  api.value_copy = value_copy;
  api.kind = kind;
  api.type_name = value_type_name;
  api.as_bool = as_bool;
  api.as_int = as_int;
  api.as_float = as_float;
  api.as_str = as_str;
  api.length = length_of;
  api.item = item_of;
  api.dict_entry = dict_entry;
  api.get_item = get_item_of;
  api.set_item = set_item_of;
  api.represent = represent;
}

}  // namespace tsc::embed
