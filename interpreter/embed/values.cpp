// Script values for the host: making them, reading them.
#include "interpreter/embed/arguments.h"
#include "interpreter/tensor/tensor_object.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/big_numbers.h"

namespace tsc::embed {
namespace {

using namespace interp;

// ---- making ------------------------------------------------------------------------------------

tsc_status* none_new(tsc_engine* engine, tsc_value** out) {
  return making(engine, out, "value", [] { return Value::none(); });
}

tsc_status* bool_new(tsc_engine* engine, int truth, tsc_value** out) {
  return making(engine, out, "value", [&] { return Value::boolean(truth != 0); });
}

tsc_status* int_new(tsc_engine* engine, int64_t number, tsc_value** out) {
  return making(engine, out, "value", [&] { return Value::integer(number); });
}

tsc_status* float_new(tsc_engine* engine, double number, tsc_value** out) {
  return making(engine, out, "value", [&] { return Value::real(number); });
}

tsc_status* str_new(tsc_engine* engine, const char* given, size_t size, tsc_value** out) {
  return making(engine, out, "value", [&] {
    const std::string_view text = required_text(given, size, "text");
    if (const size_t fault = find_utf8_fault(text); fault != text.npos)
      throw Misuse{"'text' is no UTF-8 from byte " + std::to_string(fault) +
                   " on: a str holds whole characters; "
                   "make a tensor of bytes, or encode the text before"};
    return str_value(*engine->vm, text);
  });
}

tsc_status* list_new(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** out) {
  return making(engine, out, "value",
                [&] { return make_list(*engine->vm, values_of(engine, items, count, "items")).take(); });
}

tsc_status* tuple_new(tsc_engine* engine, tsc_value* const* items, size_t count, tsc_value** out) {
  return making(engine, out, "value",
                [&] { return interp::make_tuple(*engine->vm, values_of(engine, items, count, "items")).take(); });
}

tsc_status* dict_new(tsc_engine* engine, tsc_value* const* keys, tsc_value* const* items, size_t count,
                     tsc_value** out) {
  return making(engine, out, "value", [&] {
    const std::vector<Value> names = values_of(engine, keys, count, "keys");
    const std::vector<Value> values = values_of(engine, items, count, "values");
    Local<DictObject> dict = make_dict(*engine->vm);
    for (size_t i = 0; i < count; ++i) dict_set(*engine->vm, dict, names[i], values[i]);
    return dict.take();
  });
}

void value_free(tsc_value* value) {
  if (value != nullptr) drop_value(value);
}

tsc_status* value_copy(const tsc_value* value, tsc_value** copy) {
  if (copy != nullptr) *copy = nullptr;
  return reading(value, [&]() -> tsc_status* {
    required(copy, "copy");
    *copy = new_value(value->engine, value->value);
    return nullptr;
  });
}

// ---- reading -----------------------------------------------------------------------------------

bool is_tensor_value(const tsc_value* value) { return is_tensor(tensor_state(*value->engine->vm), value->value); }

tsc_kind object_kind(const tsc_value* value) {
  switch (value->value.object()->kind) {
    case Kind::BigInt: return TSC_INT;
    case Kind::Str: return TSC_STR;
    case Kind::List: return TSC_LIST;
    case Kind::Tuple: return TSC_TUPLE;
    case Kind::Dict: return TSC_DICT;
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type: return TSC_CALLABLE;
    default: return is_tensor_value(value) ? TSC_TENSOR : TSC_OBJECT;
  }
}

tsc_kind kind(const tsc_value* value) {
  if (value == nullptr) return TSC_NONE;
  switch (value->value.tag()) {
    case Tag::Bool: return TSC_BOOL;
    case Tag::Int: return TSC_INT;
    case Tag::Float: return TSC_FLOAT;
    case Tag::Object: return object_kind(value);
    default: return TSC_NONE;
  }
}

const char* value_type_name(const tsc_value* value) {
  return value == nullptr ? "NoneType" : type_name(*value->engine->vm, value->value).c_str();
}

}  // namespace

tsc_status* wrong_kind(const tsc_value* value, const char* wanted) {
  return bad_argument(std::string("the value is of type ") + value_type_name(value) + ", not " + wanted);
}

namespace {

// These two look at what does not change: they need no entry into the engine.
tsc_status* as_bool(const tsc_value* value, int* truth) {
  return without_engine([&]() -> tsc_status* {
    if (kind(required(value, "value")) != TSC_BOOL) return wrong_kind(value, "bool");
    *required(truth, "truth") = value->value.as_bool();
    return nullptr;
  });
}

tsc_status* as_str(const tsc_value* value, const char** text, size_t* size) {
  return without_engine([&]() -> tsc_status* {
    if (kind(required(value, "value")) != TSC_STR) return wrong_kind(value, "str");
    const auto* string = cast<StrObject>(value->value);
    if (const size_t half = find_surrogate(string->view()); half != std::string_view::npos)
      throw Misuse{"the str has half of a surrogate pair, which is no UTF-8, at byte " + std::to_string(half) +
                   "; let the script encode it"};
    *required(text, "text") = string->text;
    *required(size, "size") = string->size;
    return nullptr;
  });
}

// A tensor of one element is read as its number, as item() would.
Value number_of(const tsc_value* value) {
  if (kind(value) != TSC_TENSOR) return value->value;
  return tensor_item(*value->engine->vm, cast<TensorObject>(value->value)->tensor);
}

tsc_status* as_int(const tsc_value* value, int64_t* result) {
  return reading(value, [&]() -> tsc_status* {
    const Value number = number_of(value);
    if (interp::is_big(number)) interp::raise_too_large(*value->engine->vm, "int64_t");
    if (!number.is_int() && !number.is_bool()) return wrong_kind(value, "int");
    *required(result, "number") = number.as_int();
    return nullptr;
  });
}

tsc_status* as_float(const tsc_value* value, double* result) {
  return reading(value, [&]() -> tsc_status* {
    const Value number = number_of(value);
    if (interp::is_big(number)) {
      *required(result, "number") = interp::big_to_double(*value->engine->vm, number);
      return nullptr;
    }
    if (!number.is_float() && !number.is_int() && !number.is_bool()) return wrong_kind(value, "float");
    *required(result, "number") = number.is_float() ? number.as_float() : static_cast<double>(number.as_int());
    return nullptr;
  });
}

tsc_status* length_of(const tsc_value* value, size_t* length) {
  return reading(value, [&]() -> tsc_status* {
    size_t& count = *required(length, "length");
    switch (kind(value)) {
      case TSC_STR: count = static_cast<size_t>(cast<StrObject>(value->value)->length); break;
      case TSC_LIST: count = cast<ListObject>(value->value)->items.size(); break;
      case TSC_TUPLE: count = cast<TupleObject>(value->value)->size; break;
      case TSC_DICT: count = cast<DictObject>(value->value)->table.size(); break;
      default: return wrong_kind(value, "str, list, tuple or dict");
    }
    return nullptr;
  });
}

tsc_status* out_of_range(size_t index, size_t count) {
  return bad_argument("there is no item " + std::to_string(index) + " of " + std::to_string(count));
}

tsc_status* item_of(const tsc_value* value, size_t index, tsc_value** item) {
  if (item != nullptr) *item = nullptr;
  return reading(value, [&]() -> tsc_status* {
    const tsc_kind what = kind(value);
    if (what != TSC_LIST && what != TSC_TUPLE) return wrong_kind(value, "list or tuple");
    required(item, "item");
    std::span<const Value> items;
    if (what == TSC_LIST) items = cast<ListObject>(value->value)->items;
    else items = cast<TupleObject>(value->value)->span();
    if (index >= items.size()) return out_of_range(index, items.size());
    *item = new_value(value->engine, items[index]);
    return nullptr;
  });
}

tsc_status* dict_entry(const tsc_value* value, size_t index, tsc_value** key, tsc_value** item) {
  if (key != nullptr) *key = nullptr;
  if (item != nullptr) *item = nullptr;
  return reading(value, [&]() -> tsc_status* {
    if (kind(value) != TSC_DICT) return wrong_kind(value, "dict");
    required(key, "key");
    required(item, "item");
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
  return making(engine, item, "item", [&] {
    const Value &of = value_of(engine, object, "object"), &place = value_of(engine, key, "key");
    return run_script(*engine, [&] { return get_item(*engine->vm, of, place); });
  });
}

tsc_status* set_item_of(tsc_engine* engine, tsc_value* object, tsc_value* key, tsc_value* item) {
  return guarded(engine, [&]() -> tsc_status* {
    const Value &of = value_of(engine, object, "object"), &place = value_of(engine, key, "key");
    const Value& given = value_of(engine, item, "item");
    begin_run(*engine);
    set_item(*engine->vm, of, place, given);
    end_run(*engine);
    return nullptr;
  });
}

tsc_status* represent(tsc_engine* engine, const tsc_value* value, tsc_sink sink, void* user) {
  return guarded(engine, [&]() -> tsc_status* {
    required(sink, "sink");
    const Value& shown = value_of(engine, value, "value");
    begin_run(*engine);
    const std::string text = repr(*engine->vm, shown);
    end_run(*engine);
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
