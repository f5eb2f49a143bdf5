// Dunder methods and slots: a table of rows says which slot a method name fills, what the slot calls
// when a script class defines the method, and how a native slot appears as a method.
#include <algorithm>

#include "interpreter/vm/attempt.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/slot_rows.h"

namespace tsc::interp {
namespace {

// --- slots of script classes: call the method found through the MRO --------------------------------

Value find_method(Vm& vm, const Value& self, std::string_view name) {
  Type* type = type_of(vm, self);
  const Value* found = lookup_in_type(type, intern(vm, name));
  return found ? bind_attribute(vm, *found, self, type) : Value();
}

// What the method raises is left in the Vm.
Value call_dunder_softly(Vm& vm, const Value& self, std::string_view name, std::initializer_list<Value> given = {}) {
  Type* type = type_of(vm, self);
  const Value* found = lookup_in_type(type, intern(vm, name));
  if (!found) return vm.not_implemented();
  Args args;
  if (is_kind(*found, Kind::Function)) {  // which needs no bound method
    Local<FunctionObject> function(cast<FunctionObject>(*found));
    Value values[4] = {self};
    std::copy(given.begin(), given.end(), values + 1);
    args.positional = values;
    args.count = static_cast<uint32_t>(1 + given.size());
    return call_function_softly(vm, function, args);
  }
  const Value method = bind_attribute(vm, *found, self, type);
  args.positional = given.begin();
  args.count = static_cast<uint32_t>(given.size());
  return call_softly(vm, method, args);
}
Value call_dunder(Vm& vm, const Value& self, std::string_view name, std::initializer_list<Value> args = {}) {
  return or_throw(vm, call_dunder_softly(vm, self, name, args));
}

Value script_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool is_reflected) {
  const BinaryOpInfo& info = kBinaryOps[static_cast<int>(op)];
  return is_reflected ? call_dunder(vm, b, info.reflected, {a}) : call_dunder(vm, a, info.method, {b});
}
Value script_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  return call_dunder(vm, self, kBinaryOps[static_cast<int>(op)].in_place, {other});
}
Value script_unary(Vm& vm, UnaryOp op, const Value& self) {
  return call_dunder(vm, self, kUnaryMethods[static_cast<int>(op)]);
}
Value script_compare(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (op == CompareOp::Ne) {
    // object's __ne__ is the opposite of __eq__.
    Type* owner = nullptr;
    lookup_in_type(type_of(vm, self), vm.names().ne, &owner);
    if (!owner || owner == vm.types().object) {
      Value r = call_dunder(vm, self, "__eq__", {other});
      return r.is(vm.not_implemented()) ? r : Value::boolean(!truth(vm, r));
    }
  }
  return call_dunder(vm, self, kCompareMethods[static_cast<int>(op)], {other});
}
int64_t script_hash(Vm& vm, const Value& self) {
  Value r = call_dunder(vm, self, "__hash__");
  if (!is_integer_like(r)) raise_type_error(vm, "__hash__ method should return an integer");
  return int_value(r);
}
bool script_truth(Vm& vm, const Value& self) {
  Value r = call_dunder(vm, self, "__bool__");
  if (!r.is_bool()) raise_type_error(vm, "__bool__ should return bool, returned " + type_name(vm, r));
  return r.as_bool();
}
int64_t script_length(Vm& vm, const Value& self) {
  Value r = call_dunder(vm, self, "__len__");
  const Value n = whole_of(vm, r);
  if (compare_ints(n, Value::integer(0)) < 0) raise_value_error(vm, "__len__() should return >= 0");
  if (is_big(n))
    raise(vm, vm.exceptions().OverflowError, "cannot fit '" + type_name(vm, r) + "' into an index-sized integer");
  return n.as_int();
}
Value script_to_int(Vm& vm, const Value& self) {
  const Value made = call_dunder(vm, self, "__int__");
  return is_big(made) ? made : Value::integer(checked_int(vm, made, "__int__"));
}
Value script_to_float(Vm& vm, const Value& self) { return call_dunder(vm, self, "__float__"); }
Value script_to_index(Vm& vm, const Value& self) { return call_dunder(vm, self, "__index__"); }
Value script_get_item(Vm& vm, const Value& self, const Value& key) {
  return call_dunder_softly(vm, self, "__getitem__", {key});
}
void script_set_item(Vm& vm, const Value& self, const Value& key, const Value& value) {
  call_dunder(vm, self, "__setitem__", {key, value});
}
void script_delete_item(Vm& vm, const Value& self, const Value& key) { call_dunder(vm, self, "__delitem__", {key}); }
// None in the place of a method says that the class does not have what its bases, or other methods, would give it.
bool is_blocked(Vm& vm, const Value& self, std::string_view name) {
  const Value* found = lookup_in_type(type_of(vm, self), intern(vm, name));
  return found && found->is_none();
}
bool script_contains(Vm& vm, const Value& self, const Value& item) {
  if (is_blocked(vm, self, "__contains__"))
    raise_type_error(vm, "'" + type_name(vm, self) + "' object is not a container");
  return truth(vm, call_dunder(vm, self, "__contains__", {item}));
}
Value script_iterate(Vm& vm, const Value& self) {
  if (is_blocked(vm, self, "__iter__")) raise_type_error(vm, "'" + type_name(vm, self) + "' object is not iterable");
  return call_dunder(vm, self, "__iter__");
}
bool script_next(Vm& vm, const Value& self, Value& out) {
  out = call_dunder_softly(vm, self, "__next__");
  if (out) return true;
  Local<ExceptionObject> raised = vm.take_returned();
  if (raised->type->is_subtype_of(vm.exceptions().StopIteration)) return false;
  throw ScriptException(std::move(raised));
}
Value script_get_attribute(Vm& vm, const Value& self, StrObject* name) {
  try {
    return call_dunder(vm, self, "__getattribute__", {Value(name)});
  } catch (const ScriptException& e) {
    if (!type_of(vm, self)->slots.get_missing_attribute ||
        !e.exception()->type->is_subtype_of(vm.exceptions().AttributeError))
      throw;
    return Value();
  }
}
void script_set_attribute(Vm& vm, const Value& self, StrObject* name, const Value& value) {
  call_dunder(vm, self, "__setattr__", {Value(name), value});
}
void script_delete_attribute(Vm& vm, const Value& self, StrObject* name) {
  call_dunder(vm, self, "__delattr__", {Value(name)});
}
Value script_missing(Vm& vm, const Value& self, StrObject* name) {
  return call_dunder_softly(vm, self, "__getattr__", {Value(name)});
}
Value script_bind(Vm& vm, const Value& self, const Value& instance, Type* owner) {
  Value method = find_method(vm, self, "__get__");
  return call(vm, method, {instance ? instance : Value::none(), Value(owner)});
}
void script_bind_set(Vm& vm, const Value& self, const Value& instance, const Value& value) {
  const char* name = value ? "__set__" : "__delete__";
  Value method = find_method(vm, self, name);
  if (!method) raise(vm, vm.exceptions().AttributeError, name);
  if (value) call(vm, method, {instance, value});
  else call(vm, method, {instance});
}
Value script_call(Vm& vm, const Value& self, Args& args) { return call(vm, find_method(vm, self, "__call__"), args); }
Value script_repr(Vm& vm, const Value& self) { return call_dunder(vm, self, "__repr__"); }
Value script_to_str(Vm& vm, const Value& self) { return call_dunder(vm, self, "__str__"); }
Value script_format(Vm& vm, const Value& self, StrObject* spec) {
  return call_dunder(vm, self, "__format__", {Value(spec)});
}
void script_initialize(Vm& vm, const Value& self, Args& args) {
  Value r = call(vm, find_method(vm, self, "__init__"), args);
  if (!r.is_none()) raise_type_error(vm, "__init__() should return None, not '" + type_name(vm, r) + "'");
}
Value script_construct(Vm& vm, Type* type, Args& args) {
  const Value* found = lookup_in_type(type, vm.names().new_);
  Value method = *found;
  if (is_kind(method, Kind::StaticMethod)) method = static_cast<WrappedMethod*>(method.object())->function;
  std::vector<Value> shifted;
  shifted.push_back(Value(type));
  shifted.insert(shifted.end(), args.positional, args.positional + args.count);
  Args full = args;
  full.positional = shifted.data();
  full.count = args.count + 1;
  return call(vm, method, full);
}

// --- methods of native types: call the slot of the type that published them -------------------------

Type* publisher(Args& args) { return static_cast<Type*>(args.callee->pointer); }
const TypeSlots& own_slots(Vm& vm, Args& args) { return native_slots(vm, publisher(args)); }
int operator_of(Args& args) { return static_cast<int>(args.callee->data.as_int()); }

// An int does not know floats: the float's reflected method answers.
bool is_foreign(Vm& vm, Args& a) { return publisher(a) == vm.types().integer && a[1].is_float(); }
Value wrap_binary(Vm& vm, Args& a) {
  if (is_foreign(vm, a)) return vm.not_implemented();
  return own_slots(vm, a).binary(vm, BinaryOp(operator_of(a)), a[0], a[1], false);
}
Value wrap_reflected(Vm& vm, Args& a) {
  if (is_foreign(vm, a)) return vm.not_implemented();
  return own_slots(vm, a).binary(vm, BinaryOp(operator_of(a)), a[1], a[0], true);
}
// A sequence's own + and * refuse what they cannot take; only the operators ask the other operand.
Value wrap_concatenate(Vm& vm, Args& a) {
  Value r = wrap_binary(vm, a);
  return r.is(vm.not_implemented()) ? binary(vm, BinaryOp::Add, a[0], a[1]) : r;
}
Value wrap_repeat(Vm& vm, Args& a) {
  return own_slots(vm, a).binary(vm, BinaryOp::Mul, a[0], Value::integer(to_index(vm, a[1])), false);
}
Value wrap_in_place(Vm& vm, Args& a) { return own_slots(vm, a).in_place(vm, BinaryOp(operator_of(a)), a[0], a[1]); }
Value wrap_repeat_in_place(Vm& vm, Args& a) {
  return own_slots(vm, a).in_place(vm, BinaryOp::Mul, a[0], Value::integer(to_index(vm, a[1])));
}
Value wrap_unary(Vm& vm, Args& a) { return own_slots(vm, a).unary(vm, UnaryOp(operator_of(a)), a[0]); }
Value wrap_compare(Vm& vm, Args& a) {
  if (is_foreign(vm, a)) return vm.not_implemented();
  return own_slots(vm, a).compare(vm, CompareOp(operator_of(a)), a[0], a[1]);
}
Value wrap_hash(Vm& vm, Args& a) { return Value::integer(own_slots(vm, a).hash(vm, a[0])); }
Value wrap_truth(Vm& vm, Args& a) { return Value::boolean(own_slots(vm, a).truth(vm, a[0])); }
Value wrap_length(Vm& vm, Args& a) { return Value::integer(own_slots(vm, a).length(vm, a[0])); }
Value wrap_to_int(Vm& vm, Args& a) { return own_slots(vm, a).to_int(vm, a[0]); }
Value wrap_to_float(Vm& vm, Args& a) { return own_slots(vm, a).to_float(vm, a[0]); }
Value wrap_to_index(Vm& vm, Args& a) { return own_slots(vm, a).to_index(vm, a[0]); }
Value wrap_get_item(Vm& vm, Args& a) { return own_slots(vm, a).get_item(vm, a[0], a[1]); }
Value wrap_set_item(Vm& vm, Args& a) {
  own_slots(vm, a).set_item(vm, a[0], a[1], a[2]);
  return Value::none();
}
Value wrap_delete_item(Vm& vm, Args& a) {
  own_slots(vm, a).delete_item(vm, a[0], a[1]);
  return Value::none();
}
Value wrap_contains(Vm& vm, Args& a) { return Value::boolean(own_slots(vm, a).contains(vm, a[0], a[1])); }
Value wrap_iterate(Vm& vm, Args& a) { return own_slots(vm, a).iterate(vm, a[0]); }
Value wrap_next(Vm& vm, Args& a) {
  Value out;
  if (own_slots(vm, a).next(vm, a[0], out)) return out;
  return vm.return_raised(make_exception(vm, vm.exceptions().StopIteration, std::span<const Value>()));
}
StrObject* name_argument(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Str)) raise_type_error(vm, "attribute name must be string, not '" + type_name(vm, v) + "'");
  return intern(vm, cast<StrObject>(v)).get();  // interned names live as long as the Vm
}
Value wrap_get_attribute(Vm& vm, Args& a) {
  StrObject* name = name_argument(vm, a[1]);
  Value v = own_slots(vm, a).get_attribute(vm, a[0], name);
  return v ? v : vm.return_raised(attribute_error(vm, a[0], name));
}
Value wrap_set_attribute(Vm& vm, Args& a) {
  own_slots(vm, a).set_attribute(vm, a[0], name_argument(vm, a[1]), a[2]);
  return Value::none();
}
Value wrap_delete_attribute(Vm& vm, Args& a) {
  own_slots(vm, a).delete_attribute(vm, a[0], name_argument(vm, a[1]));
  return Value::none();
}
Value wrap_missing(Vm& vm, Args& a) {
  return own_slots(vm, a).get_missing_attribute(vm, a[0], name_argument(vm, a[1]));
}
Value wrap_bind(Vm& vm, Args& a) {
  Type* owner = a.has(2) && is_kind(a[2], Kind::Type) ? cast<Type>(a[2]) : type_of(vm, a[1]);
  return own_slots(vm, a).bind(vm, a[0], a[1].is_none() ? Value() : a[1], owner);
}
Value wrap_bind_set(Vm& vm, Args& a) {
  own_slots(vm, a).bind_set(vm, a[0], a[1], a[2]);
  return Value::none();
}
Value wrap_call(Vm& vm, Args& a) {
  Value self = a[0];
  Args rest = a;
  ++rest.positional;
  --rest.count;
  return own_slots(vm, a).call(vm, self, rest);
}
Value wrap_repr(Vm& vm, Args& a) { return own_slots(vm, a).repr(vm, a[0]); }
Value wrap_to_str(Vm& vm, Args& a) { return own_slots(vm, a).to_str(vm, a[0]); }
Value wrap_format(Vm& vm, Args& a) {
  text_of(vm, a[1], "format specification");
  return own_slots(vm, a).format(vm, a[0], cast<StrObject>(a[1]));
}
Value wrap_initialize(Vm& vm, Args& a) {
  Value self = a[0];
  Args rest = a;
  ++rest.positional;
  --rest.count;
  own_slots(vm, a).initialize(vm, self, rest);
  return Value::none();
}
Value wrap_construct(Vm& vm, Args& a) {
  Type* type = a.count ? try_cast<Type>(a[0]) : nullptr;
  const std::string& own = publisher(a)->name;
  if (!a.count) raise_type_error(vm, own + ".__new__(): not enough arguments");
  if (!type) raise_type_error(vm, own + ".__new__(X): X is not a type object (" + type_name(vm, a[0]) + ")");
  if (!type->is_subtype_of(publisher(a)))
    raise_type_error(vm, own + ".__new__(" + type->name + "): " + type->name + " is not a subtype of " + own);
  Args rest = a;
  ++rest.positional;
  --rest.count;
  return own_slots(vm, a).construct(vm, type, rest);
}

// --- the table -----------------------------------------------------------------------------------------

#define ROW(slot, script, wrapper, signature, ...)                                                                \
  SlotRow {                                                                                                       \
    {__VA_ARGS__},                                                                                                \
        [](const TypeSlots& s, const TypeSlots* base) { return s.slot && !(base && base->slot == s.slot); },      \
        [](TypeSlots& to, const TypeSlots& from) { to.slot = from.slot; }, [](TypeSlots& s) { s.slot = script; }, \
        [](TypeSlots& s) { s.slot = nullptr; }, wrapper, signature                                                \
  }

}  // namespace

const std::vector<SlotRow>& slot_rows() {
  static const std::vector<SlotRow> kRows = {
      ROW(initialize, script_initialize, wrap_initialize, nullptr, "__init__"),
      ROW(construct, script_construct, wrap_construct, nullptr, "__new__"),
      ROW(hash, script_hash, wrap_hash, "self", "__hash__"),
      ROW(truth, script_truth, wrap_truth, "self", "__bool__"),
      ROW(length, script_length, wrap_length, "self", "__len__"),
      ROW(to_int, script_to_int, wrap_to_int, "self", "__int__"),
      ROW(to_float, script_to_float, wrap_to_float, "self", "__float__"),
      ROW(to_index, script_to_index, wrap_to_index, "self", "__index__"),
      ROW(get_item, script_get_item, wrap_get_item, "self, key", "__getitem__"),
      ROW(set_item, script_set_item, wrap_set_item, "self, key, value", "__setitem__"),
      ROW(delete_item, script_delete_item, wrap_delete_item, "self, key", "__delitem__"),
      ROW(contains, script_contains, wrap_contains, "self, key", "__contains__"),
      ROW(iterate, script_iterate, wrap_iterate, "self", "__iter__"),
      ROW(next, script_next, wrap_next, "self", "__next__"),
      ROW(get_attribute, script_get_attribute, wrap_get_attribute, "self, name", "__getattribute__"),
      ROW(set_attribute, script_set_attribute, wrap_set_attribute, "self, name, value", "__setattr__"),
      ROW(delete_attribute, script_delete_attribute, wrap_delete_attribute, "self, name", "__delattr__"),
      ROW(get_missing_attribute, script_missing, wrap_missing, "self, name", "__getattr__"),
      ROW(bind, script_bind, wrap_bind, "self, instance, owner=None", "__get__"),
      ROW(bind_set, script_bind_set, wrap_bind_set, "self, instance, value", "__set__", "__delete__"),
      ROW(call, script_call, wrap_call, nullptr, "__call__"),
      ROW(repr, script_repr, wrap_repr, "self", "__repr__"),
      ROW(to_str, script_to_str, wrap_to_str, "self", "__str__"),
      ROW(format, script_format, wrap_format, "self, format_spec", "__format__"),
  };
  return kRows;
}

#define FAMILY(slot, script, table)                                                                                  \
  OperatorFamily {                                                                                                   \
    table, [](TypeSlots& to, const TypeSlots& from) { to.slot = from.slot; }, [](TypeSlots& s) { s.slot = script; }, \
        [](TypeSlots& s) { s.slot = nullptr; }                                                                       \
  }

namespace {

std::vector<std::string> binary_names() {
  std::vector<std::string> names;
  for (const BinaryOpInfo& info : kBinaryOps) {
    names.push_back(info.method);
    names.push_back(info.reflected);
  }
  return names;
}
std::vector<std::string> in_place_names() {
  std::vector<std::string> names;
  for (const BinaryOpInfo& info : kBinaryOps) names.push_back(info.in_place);
  return names;
}

}  // namespace

const std::vector<OperatorFamily>& operator_families() {
  static const std::vector<OperatorFamily> kFamilies = {
      FAMILY(binary, script_binary, binary_names()),
      FAMILY(in_place, script_in_place, in_place_names()),
      FAMILY(unary, script_unary, std::vector<std::string>(std::begin(kUnaryMethods), std::end(kUnaryMethods))),
      FAMILY(compare, script_compare, std::vector<std::string>(std::begin(kCompareMethods), std::end(kCompareMethods))),
  };
  return kFamilies;
}

namespace {

// Which operators of a slot a native type knows; the types that do not stand here know them all.
struct KnownOperators {
  std::string_view type, names;
};
constexpr std::string_view kSequence = " __add__ __mul__ __rmul__ ";
constexpr std::string_view kText = " __add__ __mul__ __rmul__ __mod__ __rmod__ ";
constexpr std::string_view kSetOperators =
    " __sub__ __rsub__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __isub__ __iand__ __ior__ __ixor__ ";
constexpr std::string_view kUnion = " __or__ __ror__ ";
constexpr KnownOperators kKnownOperators[] = {
    {"int",
     " __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ "
     "__rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __lshift__ __rlshift__ __rshift__ __rrshift__ "
     "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __neg__ __pos__ __invert__ __abs__ "},
    {"float",
     " __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ "
     "__rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __neg__ __pos__ __abs__ "},
    {"str", kText},
    {"bytes", kText},
    {"bytearray", " __add__ __mul__ __rmul__ __mod__ __rmod__ __iadd__ __imul__ "},
    {"array", " __add__ __mul__ __rmul__ __iadd__ __imul__ "},
    {"list", " __add__ __mul__ __rmul__ __iadd__ __imul__ "},
    {"tuple", kSequence},
    {"deque", " __add__ __mul__ __rmul__ __iadd__ __imul__ "},
    {"dict", " __or__ __ror__ __ior__ "},
    {"set", kSetOperators},
    {"frozenset", kSetOperators},
    {"dict_keys", kSetOperators},
    {"dict_items", kSetOperators},
    {"dict_values", ""},
    {"type", kUnion},
    {"NoneType", kUnion},
    {"mappingproxy", kUnion},
    {"GenericAlias", kUnion},
    {"UnionType", kUnion},
};

bool knows(const Type* type, const char* name) {
  for (const KnownOperators& row : kKnownOperators)
    if (row.type == type->name) return row.names.find(" " + std::string(name) + " ") != std::string_view::npos;
  return true;
}

// The wrapper of a binary operator of a native type.
NativeCode binary_wrapper(const Type* type, BinaryOp op) {
  const bool sequence = type->layout == Kind::Str || type->layout == Kind::Bytes || type->layout == Kind::List ||
                        type->layout == Kind::Tuple || type->layout == Kind::ByteArray || type->layout == Kind::Array;
  if (sequence && op == BinaryOp::Add) return wrap_concatenate;
  if (sequence && op == BinaryOp::Mul) return wrap_repeat;
  return wrap_binary;
}

void publish(Vm& vm, Type* type, const std::string& name, NativeCode code, const char* signature, int op) {
  if (type->attributes->table.find_text(vm, name) >= 0) return;
  Local<NativeFunction> f = signature ? make_native(vm, name, signature, code) : make_raw_native(vm, name, code);
  f->pointer = type;
  f->data = Value::integer(op);
  f->is_method = true;
  f->owner = own_name(type);
  if (name == "__new__") f->is_method = false;
  dict_set(vm, type->attributes, name, f.take());
}

}  // namespace

bool is_slot_method(std::string_view name) {
  if (!name.starts_with("__")) return false;
  auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return std::any_of(slot_rows().begin(), slot_rows().end(), [&](const SlotRow& row) { return has(row.names); }) ||
         std::any_of(operator_families().begin(), operator_families().end(),
                     [&](const OperatorFamily& family) { return has(family.names); });
}

void publish_slots(Vm& vm, Type* type) {
  const TypeSlots* inherited = type->base ? &type->base->slots : nullptr;
  for (const SlotRow& row : slot_rows())
    if (row.own(type->slots, inherited))
      for (const std::string& name : row.names) publish(vm, type, name, row.wrapper, row.signature, 0);
  TypeSlots s = type->slots;
  if (inherited) {
    if (s.binary == inherited->binary) s.binary = nullptr;
    if (s.in_place == inherited->in_place) s.in_place = nullptr;
    if (s.unary == inherited->unary) s.unary = nullptr;
    if (s.compare == inherited->compare) s.compare = nullptr;
  }
  const auto publish_operator = [&](const char* name, NativeCode code, const char* signature, int op) {
    if (knows(type, name)) publish(vm, type, name, code, signature, op);
  };
  for (int op = 0; op < static_cast<int>(BinaryOp::kCount); ++op) {
    const NativeCode code = binary_wrapper(type, BinaryOp(op));
    if (s.binary) {
      publish_operator(kBinaryOps[op].method, code, "self, value, /", op);
      publish_operator(kBinaryOps[op].reflected, code == wrap_repeat ? code : wrap_reflected, "self, value, /", op);
    }
    if (s.in_place)
      publish_operator(kBinaryOps[op].in_place, code == wrap_repeat ? wrap_repeat_in_place : wrap_in_place,
                       "self, value, /", op);
  }
  for (int op = 0; s.unary && op < static_cast<int>(UnaryOp::kCount); ++op)
    publish_operator(kUnaryMethods[op], wrap_unary, "self, /", op);
  for (int op = 0; s.compare && op < static_cast<int>(CompareOp::kCount); ++op)
    publish(vm, type, kCompareMethods[op], wrap_compare, "self, value, /", op);
  type_modified(vm, type);
}

}  // namespace tsc::interp
