// Operators, truth, items: dispatch over the type slots, with Python's messages.
#include "interpreter/vm/operations.h"

#include <optional>

#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/attempt.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {

namespace {

[[noreturn]] void unsupported_operands(Vm& vm, const char* symbol, const Value& a, const Value& b) {
  raise_type_error(vm, std::string("unsupported operand type(s) for ") + symbol + ": '" + type_name(vm, a) + "' and '" +
                           type_name(vm, b) + "'");
}

bool declined(Vm& vm, const Value& v) { return v.is(vm.not_implemented()); }

// Of the class str itself: a class derived from it may compare and hash in its own way.
bool is_plain_str(Vm& vm, const Value& v) { return v.is_object() && v.object()->type == vm.types().str; }

bool overrides_reflected(Vm& vm, BinaryOp op, Type* subclass, Type* type) {
  Local<StrObject> name = intern(vm, kBinaryOps[static_cast<int>(op)].reflected);
  const Value* own = lookup_in_type(subclass, name);
  const Value* inherited = lookup_in_type(type, name);
  return own && !(inherited && own->is(*inherited));
}

Value binary_slots(Vm& vm, BinaryOp op, const Value& a, const Value& b) {
  Type* type_a = type_of(vm, a);
  Type* type_b = type_of(vm, b);
  auto slot_a = type_a->slots.binary;
  auto slot_b = type_a == type_b ? nullptr : type_b->slots.binary;
  // A subclass on the right that has its own operator goes first.
  if (slot_b && type_b->is_subtype_of(type_a) && (slot_a != slot_b || overrides_reflected(vm, op, type_b, type_a))) {
    Value r = slot_b(vm, op, a, b, true);
    if (!declined(vm, r)) return r;
    slot_b = nullptr;
  }
  if (slot_a) {
    Value r = slot_a(vm, op, a, b, false);
    if (!declined(vm, r)) return r;
  }
  if (slot_b) {
    Value r = slot_b(vm, op, a, b, true);
    if (!declined(vm, r)) return r;
  }
  return vm.not_implemented();
}

bool is_sequence(const Value& v) {
  return is_kind(v, Kind::Str) || is_kind(v, Kind::List) || is_kind(v, Kind::Tuple) || is_kind(v, Kind::Bytes) ||
         is_kind(v, Kind::ByteArray) || is_kind(v, Kind::Array);
}

// The class of C++ that a value's class comes from.
const std::string& native_name(Vm& vm, const Value& v) {
  for (const Type* t : type_of(vm, v)->mro)
    if (!(t->type_flags & kScriptClass)) return t->name;
  return type_name(vm, v);
}

[[noreturn]] void binary_error(Vm& vm, BinaryOp op, const char* symbol, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && is_sequence(a))
    raise_type_error(vm, is_kind(a, Kind::Bytes) || is_kind(a, Kind::ByteArray)
                             ? "can't concat " + type_name(vm, b) + " to " + type_name(vm, a)
                             : "can only concatenate " + native_name(vm, a) + " (not \"" + type_name(vm, b) +
                                   "\") to " + native_name(vm, a));
  if (op == BinaryOp::Mul && (is_sequence(a) || is_sequence(b)))
    raise_type_error(vm, "can't multiply sequence by non-int of type '" + type_name(vm, is_sequence(a) ? b : a) + "'");
  unsupported_operands(vm, symbol, a, b);
}

}  // namespace

Value binary(Vm& vm, BinaryOp op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    Value r = number_binary(vm, op, a, b);
    if (!declined(vm, r)) return r;
    unsupported_operands(vm, kBinaryOps[static_cast<int>(op)].symbol, a, b);
  }
  Value r = binary_slots(vm, op, a, b);
  if (declined(vm, r)) binary_error(vm, op, kBinaryOps[static_cast<int>(op)].symbol, a, b);
  return r;
}

Value in_place(Vm& vm, BinaryOp op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return binary(vm, op, a, b);
  if (auto slot = type_of(vm, a)->slots.in_place) {
    Value r = slot(vm, op, a, b);
    if (!declined(vm, r)) return r;
  }
  Value r = binary_slots(vm, op, a, b);
  if (declined(vm, r)) {
    const char* symbol = op == BinaryOp::Pow ? "**" : kBinaryOps[static_cast<int>(op)].symbol;
    binary_error(vm, op, (std::string(symbol) + "=").c_str(), a, b);
  }
  return r;
}

Value unary(Vm& vm, UnaryOp op, const Value& v) {
  Value r = vm.not_implemented();
  if (is_number(v)) r = number_unary(vm, op, v);
  else if (auto slot = type_of(vm, v)->slots.unary) r = slot(vm, op, v);
  if (declined(vm, r))
    raise_type_error(vm, std::string("bad operand type for ") + kUnarySymbols[static_cast<int>(op)] + ": '" +
                             type_name(vm, v) + "'");
  return r;
}

Value compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return Value::boolean(number_compare(op, a, b));
  Type* type_a = type_of(vm, a);
  Type* type_b = type_of(vm, b);
  auto slot_a = type_a->slots.compare;
  auto slot_b = type_b->slots.compare;
  if (slot_b && type_a != type_b && type_b->is_subtype_of(type_a)) {
    Value r = slot_b(vm, reflected(op), b, a);
    if (!declined(vm, r)) return r;
    slot_b = nullptr;
  }
  if (slot_a) {
    Value r = slot_a(vm, op, a, b);
    if (!declined(vm, r)) return r;
  }
  if (slot_b) {
    Value r = slot_b(vm, reflected(op), b, a);
    if (!declined(vm, r)) return r;
  }
  if (op == CompareOp::Eq) return Value::boolean(a.is(b));
  if (op == CompareOp::Ne) return Value::boolean(!a.is(b));
  raise_type_error(vm, std::string("'") + kCompareSymbols[static_cast<int>(op)] +
                           "' not supported between instances of '" + type_name(vm, a) + "' and '" + type_name(vm, b) +
                           "'");
}

bool equal(Vm& vm, const Value& a, const Value& b) {
  if (a.is(b)) return true;
  if (is_number(a) && is_number(b)) return number_compare(CompareOp::Eq, a, b);
  if (is_plain_str(vm, a) && is_plain_str(vm, b)) return str_equal(cast<StrObject>(a), cast<StrObject>(b));
  vm.check_native_stack();
  return truth(vm, compare(vm, CompareOp::Eq, a, b));
}

bool less(Vm& vm, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return number_compare(CompareOp::Lt, a, b);
  return truth(vm, compare(vm, CompareOp::Lt, a, b));
}

bool truth(Vm& vm, const Value& v) {
  switch (v.tag()) {
    case Tag::Bool:
    case Tag::Int: return v.as_int() != 0;
    case Tag::Float: return v.as_float() != 0;
    case Tag::Object: break;
    default: return false;
  }
  const TypeSlots& slots = v.object()->type->slots;
  if (slots.truth) return slots.truth(vm, v);
  if (slots.length) return slots.length(vm, v) != 0;
  return true;
}

bool contains(Vm& vm, const Value& container, const Value& item) {
  const TypeSlots& slots = type_of(vm, container)->slots;
  if (slots.contains) return slots.contains(vm, container, item);
  if (!slots.iterate && !slots.get_item)
    raise_type_error(vm, "argument of type '" + type_name(vm, container) + "' is not iterable");
  bool found = false;
  for_each(vm, container, [&](const Value& v) { return !(found = equal(vm, v, item)); });
  return found;
}

uint64_t hash(Vm& vm, const Value& v) {
  switch (v.tag()) {
    case Tag::Bool:
    case Tag::Int:
    case Tag::Float: return number_hash(v);
    case Tag::Object: break;
    default: return 0x6e6f6e65;
  }
  if (is_plain_str(vm, v)) return str_hash(vm, cast<StrObject>(v));
  auto slot = v.object()->type->slots.hash;
  if (!slot) raise_type_error(vm, "unhashable type: '" + type_name(vm, v) + "'");
  vm.check_native_stack();
  return static_cast<uint64_t>(slot(vm, v));
}

int64_t length(Vm& vm, const Value& v) {
  auto slot = type_of(vm, v)->slots.length;
  if (!slot) raise_type_error(vm, "object of type '" + type_name(vm, v) + "' has no len()");
  return slot(vm, v);
}

Value get_item(Vm& vm, const Value& container, const Value& key) {
  return or_throw(vm, get_item_softly(vm, container, key));
}

Value get_item_softly(Vm& vm, const Value& container, const Value& key) {
  Type* type = type_of(vm, container);
  if (type->slots.get_item) return type->slots.get_item(vm, container, key);
  if (is_kind(container, Kind::Type)) {
    Type* asked = cast<Type>(container);
    if (asked == vm.types().type) return make_generic_alias(vm, container, key);
    if (const Value* method = lookup_in_type(asked, vm.names().class_getitem); method && !method->is_none())
      return call(vm, bind_attribute(vm, *method, Value(), asked), {key});
    raise_type_error(vm, "type '" + cast<Type>(container)->name + "' is not subscriptable");
  }
  raise_type_error(vm, "'" + type->name + "' object is not subscriptable");
}

void set_item(Vm& vm, const Value& container, const Value& key, const Value& value) {
  Type* type = type_of(vm, container);
  if (!type->slots.set_item) raise_type_error(vm, "'" + type->name + "' object does not support item assignment");
  type->slots.set_item(vm, container, key, value);
}

void delete_item(Vm& vm, const Value& container, const Value& key) {
  Type* type = type_of(vm, container);
  if (!type->slots.delete_item) {
    bool sequence = type->slots.length || (type->type_flags & kScriptClass);
    bool by_index = sequence && (is_integer_like(key) || type_of(vm, key)->slots.to_index);
    raise_type_error(vm,
                     "'" + type->name + "' object " + (by_index ? "doesn't" : "does not") + " support item deletion");
  }
  type->slots.delete_item(vm, container, key);
}

bool is_integer_like(const Value& v) { return v.is_int() || v.is_bool(); }
int64_t int_value(const Value& v) { return v.as_int(); }

namespace {

// The number of an int, or of an instance of a class derived from int: whatever methods that class has.
std::optional<int64_t> whole_number(Vm& vm, const Value& v) {
  if (is_integer_like(v)) return v.as_int();
  Type* integer = vm.types().integer;
  if (!v.is_object() || !v.object()->type->is_subtype_of(integer)) return std::nullopt;
  const Value n = integer->slots.to_index(vm, v);
  if (is_big(n)) raise_too_large(vm, "C ssize_t");
  return n.as_int();
}

}  // namespace

Value whole_of(Vm& vm, const Value& v, const char* what) {
  if (v.is_int()) return v;
  Type *type = type_of(vm, v), *integer = vm.types().integer;
  if (type->is_subtype_of(integer)) return integer->slots.to_index(vm, v);
  if (type->slots.to_index) {
    const Value made = type->slots.to_index(vm, v);
    if (type_of(vm, made)->is_subtype_of(integer)) return integer->slots.to_index(vm, made);
    raise_type_error(vm, "__index__ returned non-int (type " + type_name(vm, made) + ")");
  }
  if (what) raise_type_error(vm, std::string(what) + " must be an integer, not " + type->name);
  raise_type_error(vm, "'" + type->name + "' object cannot be interpreted as an integer");
}

Value converted(Vm& vm, const Value& v, int conversion) {
  switch (conversion) {
    case 1: return str_value(vm, to_string(vm, v));
    case 2: return str_value(vm, repr(vm, v));
    case 3: return str_value(vm, ascii(vm, v));
    default: return v;
  }
}

int64_t checked_int(Vm& vm, const Value& result, const char* method) {
  if (std::optional<int64_t> n = whole_number(vm, result)) return *n;
  raise_type_error(vm, std::string(method) + " returned non-int (type " + type_name(vm, result) + ")");
}

int64_t to_index(Vm& vm, const Value& v, const char* what) {
  if (std::optional<int64_t> n = whole_number(vm, v)) return *n;
  Type* type = type_of(vm, v);
  if (type->slots.to_index) return checked_int(vm, type->slots.to_index(vm, v), "__index__");
  if (what) raise_type_error(vm, std::string(what) + " must be an integer, not " + type->name);
  raise_type_error(vm, "'" + type->name + "' object cannot be interpreted as an integer");
}

double to_double(Vm& vm, const Value& v, const char* what) {
  if (v.is_float()) return v.as_float();
  if (is_integer_like(v)) return static_cast<double>(v.as_int());
  Type* type = type_of(vm, v);
  if (type->slots.to_float) {
    Value r = type->slots.to_float(vm, v);
    if (r.is_float()) return r.as_float();
    raise_type_error(vm, type->name + ".__float__ returned non-float (type " + type_name(vm, r) + ")");
  }
  if (type->slots.to_index) {
    const Value n = whole_of(vm, v);
    return is_big(n) ? big_to_double(vm, n) : static_cast<double>(n.as_int());
  }
  raise_type_error(vm, (what ? std::string(what) + " " : std::string()) + "must be real number, not " + type->name);
}

}  // namespace tsc::interp
