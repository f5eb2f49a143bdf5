#pragma once
// What the program puts in the place of sys.excepthook, sys.displayhook and sys.unraisablehook, and the warnings that
// C++ gives. Knows: these names of the module sys, warnings.warn. Must not know: how a host reports errors and shows
// values.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// Undefined: the one that sys begins with is there, or nobody has imported sys.
Value own_hook(Vm& vm, const char* name);
// Tells the program's excepthook of an exception that nobody has caught. False: there is none, it has failed, or the
// exception is not its business (SystemExit, a limit). What ends the script goes through.
bool tell_excepthook(Vm& vm, ExceptionObject* exception);
// warnings.warn() with a built-in category.
void warn(Vm& vm, const char* category, std::string_view message);

}  // namespace tsc::interp
