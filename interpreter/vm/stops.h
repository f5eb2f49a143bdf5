#pragma once
// For code that goes on after an exception because it expects a program's own errors. An interrupt or a limit may be
// raised at the same place by any native that hears of it, and is raised once: who drops it has lost it.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// In a handler: throws the exception on if it stops the program from outside.
inline void pass_on_stops(Vm& vm, const ScriptException& raised) {
  const auto& exception = *raised.exception();
  if (exception.is_limit || !exception.type->is_subtype_of(vm.exceptions().Exception)) throw;
}

}  // namespace tsc::interp
