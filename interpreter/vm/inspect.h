#pragma once
// Reading host state without running script code: what the compiler uses to record its assumptions.
// Every answer says where the value was found, so that the right object can be watched.
#include "interpreter/value/type.h"
#include "interpreter/vm/call.h"

namespace tsc::interp {

enum class Found {
  Absent,
  InstanceSlot,    // own attribute of the object: `holder` is the object
  ClassAttribute,  // in the dictionary of `owner` (a type in the MRO), not yet bound
  ModuleGlobal,    // `holder` is the module's globals dict
  BuiltinGlobal,   // `holder` is the builtins dict
  NativeSlot,      // computed by a native getter or get_attribute slot: reading runs C++ code
  MissingHook,     // absent, but the class has __getattr__
  Custom,          // the class has __getattribute__ or another hook: ask by executing only
};

struct AttributeSite {
  Found found = Found::Absent;
  Value value;  // Undefined for NativeSlot, MissingHook, Custom
  Object* holder = nullptr;
  Type* owner = nullptr;  // ClassAttribute: whose dictionary
  int32_t slot = -1;      // InstanceSlot in shape mode
  bool data_descriptor = false;
};

AttributeSite inspect_attribute(Vm& vm, const Value& v, StrObject* name);
// Where a name is looked for that the globals have not got: what they have as `__builtins__`, in text that exec() was
// given with one of its own.
DictObject* builtins_of(Vm& vm, DictObject* globals);
AttributeSite inspect_global(Vm& vm, ModuleObject* module, StrObject* name);
// What an own attribute of this name lies in: the object itself, or the dict that holds its attributes once somebody
// has asked for `__dict__`. Others may hold that dict too.
Object* attribute_holder(Vm& vm, Object* o, StrObject* name);
// The dict that they lie in since somebody has asked for it; null: nobody has.
DictObject* attribute_dict_of(const Object* o);
// Whether somebody else may hold that dict.
bool shares_attributes(const Object* o);
// Watches everything whose change could change the answer of inspect_attribute.
void watch_attribute(Vm& vm, const Value& v, StrObject* name, const AttributeSite& site);
void watch_global(Vm& vm, ModuleObject* module, const AttributeSite& site);

}  // namespace tsc::interp
