// Arithmetic slow paths, building and taking apart containers, formatting.
#include "interpreter/heap/patience.h"
#include "interpreter/value/copy_few.h"
#include "interpreter/vm/mapping.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/slow_ops.h"

namespace tsc::interp::ops {

void release_operands(Value* registers, Instruction i) {
  if (i.flags & lang::kReleaseA) registers[i.a].reset();
  if (i.flags & lang::kReleaseB) registers[i.b].reset();
  if (i.flags & lang::kReleaseC) registers[i.c].reset();
}

void binary_slow(Vm& vm, Frame& frame, Instruction i, BinaryOp op, bool constant, bool inplace) {
  const Value& left = frame.registers[i.b];
  const Value& right = constant ? frame.code->constants[i.c] : frame.registers[i.c];
  const auto is_str = [&](const Value& v) { return v.is_object() && v.object()->type == vm.types().str; };
  if (op == BinaryOp::Add && is_str(left) && is_str(right)) {
    constexpr size_t kWorthRoom = 128;  // bytes
    Value& target = frame.registers[i.a];
    if (inplace && i.a == i.b && cast<StrObject>(left)->size >= kWorthRoom && left.object()->reference_count == 1 &&
        !left.is(right)) {
      return append(vm, target, cast<StrObject>(right));
    }
    Local<StrObject> text = concatenate(vm, cast<StrObject>(left), cast<StrObject>(right));
    frame.registers[i.a] = text.take();
    return;
  }
  if (is_number(left) && is_number(right) && to_double(vm, right) == 0) {
    if (const char* message = zero_division_message(op, left.is_float() || right.is_float())) {
      return_error(vm, vm.exceptions().ZeroDivisionError, message);
      return;
    }
  }
  Value result = inplace ? interp::in_place(vm, op, left, right) : binary(vm, op, left, right);
  frame.registers[i.a] = std::move(result);
}

void compare_slow(Vm& vm, Frame& frame, Instruction i, CompareOp op, bool constant) {
  const Value& right = constant ? frame.code->constants[i.c] : frame.registers[i.c];
  frame.registers[i.a] = compare(vm, op, frame.registers[i.b], right);
}

// clang-format off
#define BINARY(name) \
  void name(Vm& vm, Frame& f, Instruction i) { binary_slow(vm, f, i, BinaryOp::name, false, false); }
BINARY(MatMul) BINARY(LShift) BINARY(RShift) BINARY(BitAnd) BINARY(BitOr) BINARY(BitXor) BINARY(Pow)
#undef BINARY
#define IN_PLACE(name)                                        \
  void Inplace##name(Vm& vm, Frame& f, Instruction i) {       \
    binary_slow(vm, f, i, BinaryOp::name, false, true);       \
  }
IN_PLACE(TrueDiv) IN_PLACE(FloorDiv) IN_PLACE(Mod) IN_PLACE(Pow) IN_PLACE(MatMul) IN_PLACE(LShift)
IN_PLACE(RShift) IN_PLACE(BitAnd) IN_PLACE(BitOr) IN_PLACE(BitXor)
#undef IN_PLACE
    // clang-format on

    void PowK(Vm& vm, Frame& f, Instruction i) {
  const Value &left = f.registers[i.b], &right = f.code->first_constant[i.c];
  if (left.is_float() && right.is_float()) f.registers[i.a] = number_binary(vm, BinaryOp::Pow, left, right);
  else binary_slow(vm, f, i, BinaryOp::Pow, true, false);
}

#define UNARY(name) \
  void name(Vm& vm, Frame& f, Instruction i) { f.registers[i.a] = unary(vm, UnaryOp::name, f.registers[i.b]); }
UNARY(Negative)
UNARY(Positive)
UNARY(Invert)
#undef UNARY

void In(Vm& vm, Frame& f, Instruction i) {
  f.registers[i.a].set_bool(contains(vm, f.registers[i.c], f.registers[i.b]));
}
void NotIn(Vm& vm, Frame& f, Instruction i) {
  f.registers[i.a].set_bool(!contains(vm, f.registers[i.c], f.registers[i.b]));
}
void GetIter(Vm& vm, Frame& f, Instruction i) {
  if (Value iterator = iterate_softly(vm, f.registers[i.b])) f.registers[i.a] = std::move(iterator);
}
void DeleteSubscr(Vm& vm, Frame& f, Instruction i) { delete_item(vm, f.registers[i.a], f.registers[i.b]); }
void Length(Vm& vm, Frame& f, Instruction i) { f.registers[i.a] = Value::integer(length(vm, f.registers[i.b])); }

Value build_tuple(Vm& vm, Value* items, uint32_t count) {
  Local<TupleObject> tuple = vm.heap().make_sized<TupleObject>(vm.types().tuple, count * sizeof(Value));
  Value* to = reinterpret_cast<Value*>(tuple.get() + 1);
  tuple->items = to;
  tuple->size = count;
  for (const Value* end = items + count; items != end; ++items, ++to) new (to) Value(std::move(*items));
  return tuple.take();
}

void BuildList(Vm& vm, Frame& f, Instruction i) {
  Local<ListObject> list = make_list(vm, i.c);
  for (uint32_t k = 0; k < i.c; ++k) list->items.push_back(std::move(f.registers[i.b + k]));
  f.registers[i.a] = list.take();
}

void BuildSet(Vm& vm, Frame& f, Instruction i) {
  Local<SetObject> set = make_set(vm);
  for (uint32_t k = 0; k < i.c; ++k) set_add(vm, set, f.registers[i.b + k]);
  for (uint32_t k = 0; k < i.c; ++k) f.registers[i.b + k].reset();
  f.registers[i.a] = set.take();
}

void BuildMap(Vm& vm, Frame& f, Instruction i) {
  Local<DictObject> dict = make_dict(vm);
  for (uint32_t k = 0; k < i.c; ++k) dict->table.insert(vm, f.registers[i.b + 2 * k], f.registers[i.b + 2 * k + 1]);
  for (uint32_t k = 0; k < 2u * i.c; ++k) f.registers[i.b + k].reset();
  f.registers[i.a] = dict.take();
}

void BuildSlice(Vm& vm, Frame& f, Instruction i) {
  Value* r = f.registers + i.b;
  Value slice = make_slice(vm, r[0], r[1], r[2]).take();
  for (int k = 0; k < 3; ++k) r[k].reset();
  f.registers[i.a] = std::move(slice);
}

void BuildString(Vm& vm, Frame& f, Instruction i) {
  Value* pieces = f.registers + i.b;
  size_t size = 0;
  for (uint32_t k = 0; k < i.c; ++k)
    size += is_kind(pieces[k], Kind::Str) ? cast<StrObject>(pieces[k])->size : text_of(vm, pieces[k]).size();
  char* text;
  Local<StrObject> whole = make_blank_str(vm, size, text);
  whole->length = 0;
  for (uint32_t k = 0; k < i.c; ++k) {
    const StrObject* piece = cast<StrObject>(pieces[k]);
    copy_few(text, piece->text, piece->size);
    text += piece->size;
    whole->length += piece->length;
    whole->ascii = whole->ascii && piece->ascii;
    pieces[k].reset();
  }
  f.registers[i.a] = whole.take();
}

void FormatValue(Vm& vm, Frame& f, Instruction i) {
  const int conversion = static_cast<int>(i.mode() & 3);
  const Value v = conversion ? converted(vm, f.registers[i.b], conversion) : f.registers[i.b];
  const Value& given = f.registers[i.c];
  const std::string_view spec = i.mode() & 4 ? text_of(vm, given) : std::string_view();
  if (spec.empty() && (v.is_int() || (v.is_object() && v.object()->type == vm.types().str))) {
    f.registers[i.a] = to_str(vm, v);
  } else {
    const std::string text = format(vm, v, spec);
    // What is added to the digits of a number comes from the specification.
    const bool ascii = is_number(v) && (spec.empty() || cast<StrObject>(given)->ascii);
    f.registers[i.a] = (ascii ? make_ascii_str(vm, text) : make_str(vm, text)).take();
  }
}

void ListAppend(Vm& vm, Frame& f, Instruction i) {
  list_append(vm, cast<ListObject>(f.registers[i.a]), f.registers[i.b]);
}

void ListExtend(Vm& vm, Frame& f, Instruction i) {
  ListObject* list = cast<ListObject>(f.registers[i.a]);
  const Value& items = f.registers[i.b];
  const TypeSlots& slots = type_of(vm, items)->slots;
  if (i.mode() == 1 && !slots.iterate && !slots.get_item)
    raise_type_error(vm, "argument after * must be an iterable, not " + type_name(vm, items));
  if (i.mode() != 1 && !slots.iterate && !slots.get_item)
    raise_type_error(vm, "Value after * must be an iterable, not " + type_name(vm, items));
  for_each(vm, items, [&](const Value& v) {
    list_append(vm, list, v);
    return true;
  });
}

void ListToTuple(Vm& vm, Frame& f, Instruction i) { f.registers[i.a] = to_tuple(vm, f.registers[i.b]).take(); }

void SetAdd(Vm& vm, Frame& f, Instruction i) { set_add(vm, cast<SetObject>(f.registers[i.a]), f.registers[i.b]); }

void SetUpdate(Vm& vm, Frame& f, Instruction i) {
  SetObject* set = cast<SetObject>(f.registers[i.a]);
  for_each(vm, f.registers[i.b], [&](const Value& v) {
    set_add(vm, set, v);
    return true;
  });
}

void MapAdd(Vm& vm, Frame& f, Instruction i) {
  dict_set(vm, cast<DictObject>(f.registers[i.a]), f.registers[i.b], f.registers[i.c]);
}

void MapUpdate(Vm& vm, Frame& f, Instruction i) {
  DictObject* dict = cast<DictObject>(f.registers[i.a]);
  const Value mapping = f.registers[i.b];
  if (!for_each_pair(vm, mapping, [&](const Value& k, const Value& v) { dict_set(vm, dict, k, v); }))
    raise_type_error(vm, "'" + type_name(vm, mapping) + "' object is not a mapping");
}

namespace {

// As CPython names a callee in messages about * and **: with its module.
std::string qualified_callable(Vm& vm, const Value& callee) {
  if (!is_kind(callee, Kind::Function)) return callable_name(vm, callee);
  const std::string& module = cast<FunctionObject>(callee)->module->name;
  return (module == "builtins" ? "" : module + ".") + callable_name(vm, callee);
}

[[noreturn]] void raise_no_mapping(Vm& vm, const Value& callee, const Value& given) {
  raise_type_error(
      vm, qualified_callable(vm, callee) + " argument after ** must be a mapping, not " + type_name(vm, given));
}

}  // namespace

Local<TupleObject> unpacked_arguments(Vm& vm, const Value& callee, Value items) {
  const TypeSlots& slots = type_of(vm, items)->slots;
  if (!slots.iterate && !slots.get_item)
    raise_type_error(
        vm, qualified_callable(vm, callee) + " argument after * must be an iterable, not " + type_name(vm, items));
  return to_tuple(vm, items);
}

void unpacked_keywords(Vm& vm, const Value& callee, Value mapping, std::vector<Local<StrObject>>& names,
                       std::vector<Value>& values) {
  const bool is_mapping = for_each_pair(vm, mapping, [&](const Value& key, const Value& value) {
    if (!is_kind(key, Kind::Str)) raise_type_error(vm, "keywords must be strings");
    names.push_back(intern(vm, cast<StrObject>(key)));
    values.push_back(value);
  });
  if (!is_mapping) raise_no_mapping(vm, callee, mapping);
}

void MapMerge(Vm& vm, Frame& f, Instruction i) {
  DictObject* dict = cast<DictObject>(f.registers[i.a]);
  const Value callee = f.registers[i.c], mapping = f.registers[i.b];
  const bool is_mapping = for_each_pair(vm, mapping, [&](const Value& k, const Value& v) {
    if (!is_kind(k, Kind::Str)) raise_type_error(vm, "keywords must be strings");
    if (dict->table.find(vm, k) >= 0)
      raise_type_error(vm, qualified_callable(vm, callee) + " got multiple values for keyword argument '" +
                               std::string(cast<StrObject>(k)->view()) + "'");
    dict_set(vm, dict, k, v);
  });
  if (!is_mapping) raise_no_mapping(vm, callee, mapping);
}

namespace {

// False: the error waits in the Vm.
bool unpack_items(Vm& vm, const Value& source, size_t wanted, bool exact, std::vector<Value>& items) {
  const auto fail = [&](Type* type, const std::string& message) { return return_error(vm, type, message), false; };
  if (!type_of(vm, source)->slots.iterate && !type_of(vm, source)->slots.get_item)
    return fail(vm.exceptions().TypeError, "cannot unpack non-iterable " + type_name(vm, source) + " object");
  bool too_many = false;
  for_each(vm, source, [&](const Value& v) {
    if (exact && items.size() == wanted) {
      too_many = true;
      return false;
    }
    items.push_back(v);
    return true;
  });
  if (too_many)
    return fail(vm.exceptions().ValueError, "too many values to unpack (expected " + std::to_string(wanted) + ")");
  if (items.size() < wanted)
    return fail(vm.exceptions().ValueError, "not enough values to unpack (expected " +
                                                std::string(exact ? "" : "at least ") + std::to_string(wanted) +
                                                ", got " + std::to_string(items.size()) + ")");
  return true;
}

}  // namespace

void UnpackSequence(Vm& vm, Frame& f, Instruction i) {
  Value source = f.registers[i.b];
  if (auto* tuple = try_cast<TupleObject>(source); tuple && tuple->size == i.c && tuple->type == vm.types().tuple) {
    for (uint32_t k = 0; k < i.c; ++k) f.registers[i.a + k] = tuple->items[k];
    return;
  }
  std::vector<Value> items;
  if (!unpack_items(vm, source, i.c, true, items)) return;
  for (uint32_t k = 0; k < i.c; ++k) f.registers[i.a + k] = std::move(items[k]);
}

void UnpackEx(Vm& vm, Frame& f, Instruction i) {
  uint32_t first = i.c & 255, last = i.c >> 8;
  Value source = f.registers[i.b];
  std::vector<Value> items;
  if (!unpack_items(vm, source, first + last, false, items)) return;
  size_t middle = items.size() - first - last;
  Local<ListObject> list = make_list(vm, std::span<const Value>(items).subspan(first, middle));
  for (uint32_t k = 0; k < first; ++k) f.registers[i.a + k] = items[k];
  f.registers[i.a + first] = list.take();
  for (uint32_t k = 0; k < last; ++k) f.registers[i.a + first + 1 + k] = items[first + middle + k];
}

}  // namespace tsc::interp::ops
