#pragma once
// What print and sys ask of the standard streams.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// sys.stdout or sys.stderr as it was made, not what a script put in its place.
bool is_standard_stream(const Value& v, Stream stream);
// sys.stdin: the lines of Vm::read_line.
Value make_standard_input(Vm& vm);
// io.UnsupportedOperation: an OSError and a ValueError.
Type* unsupported_operation(Vm& vm);

}  // namespace tsc::interp
