#pragma once
// How messages name a type. Python's types of C modules have the module in their names ('datetime.date'), classes that
// are written in Python have not. Knows: the modules of C that Python has. Must not know: the messages.
#include "interpreter/vm/operations.h"

namespace tsc::interp {

const std::string& message_name(Vm& vm, const Type* type);

}  // namespace tsc::interp
