#pragma once
// The script's operations on values, as the bytecode and native functions use them. They raise
// ScriptException. Those that may run script code say so by taking the Vm; almost all may.
#include <functional>
#include <string>

#include "interpreter/value/type.h"
#include "interpreter/vm/call.h"

namespace tsc::interp {

inline Type* type_of(Vm& vm, const Value& v);  // below the Vm, in vm.h
// type(args): __new__ and __init__.
Value construct(Vm& vm, Type* type, Args& args);
// A bare instance of a script class of plain layout.
Value allocate_instance(Vm& vm, Type* type);
const std::string& type_name(Vm& vm, const Value& v);
bool is_instance(Vm& vm, const Value& v, Type* type);
// isinstance(v, c) with tuples and __instancecheck__-free rules; raises for a bad second argument.
bool is_instance_of(Vm& vm, const Value& v, const Value& classes);
bool is_subclass_of(Vm& vm, const Value& type, const Value& classes);

Value binary(Vm& vm, BinaryOp op, const Value& left, const Value& right);
Value in_place(Vm& vm, BinaryOp op, const Value& left, const Value& right);
Value unary(Vm& vm, UnaryOp op, const Value& v);
Value compare(Vm& vm, CompareOp op, const Value& left, const Value& right);
bool equal(Vm& vm, const Value& a, const Value& b);  // identity first, as containers compare
bool less(Vm& vm, const Value& a, const Value& b);
bool truth(Vm& vm, const Value& v);
bool contains(Vm& vm, const Value& container, const Value& item);
uint64_t hash(Vm& vm, const Value& v);
int64_t length(Vm& vm, const Value& v);

Value get_item(Vm& vm, const Value& container, const Value& key);
Value get_item_softly(Vm& vm, const Value& container, const Value& key);  // may leave what it raises in the Vm
void set_item(Vm& vm, const Value& container, const Value& key, const Value& value);
void delete_item(Vm& vm, const Value& container, const Value& key);

Value get_attribute(Vm& vm, const Value& v, StrObject* name);
Value get_attribute_softly(Vm& vm, const Value& v, StrObject* name);  // may leave what it raises in the Vm
Value get_attribute(Vm& vm, const Value& v, std::string_view name);
Value find_attribute(Vm& vm, const Value& v, StrObject* name);  // Undefined when absent
void set_attribute(Vm& vm, const Value& v, StrObject* name, const Value& value);
void delete_attribute(Vm& vm, const Value& v, StrObject* name);
// The rule of object itself, without overrides; what object.__setattr__ does.
Value generic_get_attribute(Vm& vm, const Value& v, StrObject* name);  // Undefined when absent
void generic_set_attribute(Vm& vm, const Value& v, StrObject* name, const Value& value);
void generic_delete_attribute(Vm& vm, const Value& v, StrObject* name);
// Own attributes of an instance, no class, no descriptors.
Value get_own_attribute(Vm& vm, Object* o, StrObject* name);  // Undefined when absent
void set_own_attribute(Vm& vm, Object* o, StrObject* name, const Value& value);
bool delete_own_attribute(Vm& vm, Object* o, StrObject* name);
// The live __dict__; moves the instance to dictionary mode.
Local<DictObject> attribute_dict(Vm& vm, Object* o);
// Through the MRO; no descriptors run. The value lives in a class dictionary.
const Value* lookup_in_type(Type* type, StrObject* name, Type** owner = nullptr);
// After a change of the type's dictionary: its version and those of its subclasses change.
void type_modified(Vm& vm, Type* type);
// Adds to a native or script type: dictionary, slots of dunder methods, versions.
void set_type_attribute(Vm& vm, Type* type, StrObject* name, const Value& value);
// A value in a class that goes before the instance's own attribute of the name.
bool is_data_descriptor(const Value& v);
// Instances of the type take no attribute of their own under a name that the class resolves to `found`
// (null: to nothing): the class has __slots__ without the name.
bool refuses_attribute(Vm& vm, const Type* type, const Value* found);
Value bind_attribute(Vm& vm, const Value& attribute, const Value& instance, Type* owner);

Value iterate(Vm& vm, const Value& v);
Value iterate_softly(Vm& vm, const Value& v);                  // may leave what it raises in the Vm
bool iterate_next(Vm& vm, const Value& iterator, Value& out);  // false: exhausted
// Calls f for every item; f returns false to stop.
void for_each(Vm& vm, const Value& iterable, const std::function<bool(const Value&)>& f);
Local<ListObject> to_list(Vm& vm, const Value& iterable);
Local<TupleObject> to_tuple(Vm& vm, const Value& iterable);

std::string repr(Vm& vm, const Value& v);
std::string to_string(Vm& vm, const Value& v);
Value to_str(Vm& vm, const Value& v);  // str(v)
// What !s (1), !r (2) and !a (3) of an f-string make of a value; 0: the value itself.
Value converted(Vm& vm, const Value& v, int conversion);
std::string ascii(Vm& vm, const Value& v);          // repr with escapes for everything beyond ASCII
std::string callable_name(Vm& vm, const Value& v);  // "f()", for messages about calls
std::string format(Vm& vm, const Value& v, std::string_view spec);

// Conversions of arguments; raise TypeError naming `what`.
int64_t to_index(Vm& vm, const Value& v, const char* what = nullptr);
double to_double(Vm& vm, const Value& v, const char* what = nullptr);
int64_t checked_int(Vm& vm, const Value& result, const char* method);  // TypeError unless it is an int
bool is_integer_like(const Value& v);                                  // int or bool
int64_t int_value(const Value& v);                                     // of an int or bool

}  // namespace tsc::interp
