#pragma once
// Parts of an exception's report. Knows: exception objects. Must not know: how reports are shown.
#include <string>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// What a report says below its places, with line breaks: the line of the exception (of a SyntaxError also its
// place). `with_hint`: with "Did you mean: 'x'?".
std::vector<std::string> exception_lines(Vm& vm, ExceptionObject* exception, bool with_hint);
std::vector<std::string> note_lines(Vm& vm, ExceptionObject* exception);
std::vector<std::string> exception_only(Vm& vm, ExceptionObject* exception);  // both, without hint
// "~~~^^^" below the shown source line of a place: the anchor of what failed gets ^, the rest of it ~. Empty
// when it is the whole line, which needs no pointing at.
std::string caret_line(const TracebackEntry& entry);

}  // namespace tsc::interp
