#pragma once
// Objects that stand for others say so by their __class__, which isinstance() then asks: weak proxies, and those of a
// class of the program that defines it (as the mocks of unittest do). Knows: types. Must not know: who asks.
#include "interpreter/vm/operations.h"

namespace tsc::interp {

// Of a class of the program: whether it defines __class__.
inline bool defines_shown_class(Vm& vm, Type* type) {
  Type* owner = nullptr;
  return (type->type_flags & kScriptClass) && lookup_in_type(type, vm.names().class_, &owner) &&
         (owner->type_flags & kScriptClass);
}

}  // namespace tsc::interp
