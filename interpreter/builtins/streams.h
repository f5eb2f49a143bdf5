#pragma once
// What print asks of sys.stdout.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// sys.stdout or sys.stderr as it was made, not what a script put in its place.
bool is_standard_stream(const Value& v, Stream stream);

}  // namespace tsc::interp
