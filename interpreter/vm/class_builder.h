#pragma once
// Class statements: layout, MRO, slots of dunder methods.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

struct ClassRequest {
  Local<StrObject> name;
  // A dict; between __prepare__ and the metaclass's call any mapping.
  Value namespace_;
  // Of a class statement: runs with the namespace that the metaclass prepares, `namespace_` is not given then.
  Local<FunctionObject> body;
  std::vector<Value> bases;
  std::vector<std::pair<Local<StrObject>, Value>> keywords;
};

// A class statement: asks the metaclass (the most derived of those named and inherited).
Value build_class(Vm& vm, const ClassRequest& request);
// What type.__new__ does: a class whose type is `metaclass`. No `metaclass` among the keywords.
Value make_class(Vm& vm, Type* metaclass, const ClassRequest& request);
// The C3 order: the type, then its ancestors. Raises TypeError when there is none.
std::vector<Type*> linearize(Vm& vm, Type* type);
// The name of a class without the module that messages put in front of it.
std::string own_name(const Type* type);
// Messages call the class by its module and its name, as Python does with its classes of C.
void name_with_module(Vm& vm, Type* type);
// The class attribute that stands for a name of __slots__.
Value make_member(Vm& vm, std::string_view name, Type* owner);
// Fills the slots of a type from the dunder methods its lookup finds.
void refresh_slots(Vm& vm, Type* type);
// A method of this name is what a slot calls, or wraps one.
bool is_slot_method(std::string_view name);
// Whether a class of a script gives the type its attribute of that name.
bool is_scripted(Type* type, StrObject* name);
// The arguments that a built-in constructor reads: without the keywords where they are for another method of the class,
// `name`, which a script has written.
Args without_keywords_for(Type* type, StrObject* name, const Args& args);
// Whether an object of one class may become one of the other: the same `__slots__`, and a `__dict__` in both or in
// neither.
bool have_same_places(Vm& vm, Type* a, Type* b);
// Objects that may stand in any class have become descriptors, or are none any more.
void descriptors_changed(Vm& vm);
// Puts wrappers of a native type's own slots into its dictionary.
void publish_slots(Vm& vm, Type* type);
Local<FunctionObject> make_function(Vm& vm, CodeObject* code, ModuleObject* module);

}  // namespace tsc::interp
