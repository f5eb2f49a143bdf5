#pragma once
// Parts of an exception's report. Knows: exception objects. Must not know: how reports are shown.
#include <string>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// What a report says below its places: the line of the exception (of a SyntaxError also its place) and the
// notes, each with its line break. `with_hint`: with "Did you mean: 'x'?".
std::vector<std::string> exception_only(Vm& vm, ExceptionObject* exception, bool with_hint);
// "~~~^^^" below the shown source line of a place: the anchor of what failed gets ^, the rest of it ~. Empty
// when it is the whole line, which needs no pointing at.
std::string caret_line(const TracebackEntry& entry);

}  // namespace tsc::interp
