#pragma once
// SyntaxError and its subclasses: the place in a text beside the message. Knows: exception objects. Must
// not know: the parser. Keeps: args stay what the script gave; the attributes can be changed beside them.
#include <string>
#include <vector>

#include "interpreter/vm/native.h"

namespace tsc::lang {
class Diagnostics;
class Source;
struct LineColumn;
}  // namespace tsc::lang

namespace tsc::interp {

// Fills the attributes from the arguments: (msg, (filename, lineno, offset, text[, end_lineno, end_offset])).
// TypeError when the second is no such tuple.
void settle_syntax_error(Vm& vm, ExceptionObject* error);
// str(error): "msg (file.py, line 3)".
std::string syntax_error_text(Vm& vm, ExceptionObject* error);
// The lines of a report, each with its line break: place, source line, carets, "SyntaxError: msg".
std::vector<std::string> syntax_error_lines(Vm& vm, ExceptionObject* error, const std::string& type_name);
void add_syntax_error_members(TypeBuilder& type);
// A SyntaxError as the parser would raise it; `end` is where the fault ends.
Local<ExceptionObject> make_syntax_error(Vm& vm, std::string_view message, std::string_view file,
                                         lang::LineColumn begin, lang::LineColumn end, std::string_view text);

// warnings.warn_explicit() for each of the warnings; a SyntaxError where a filter makes one an error.
void warn_of_syntax(Vm& vm, const lang::Diagnostics& diagnostics, const lang::Source& source);
// The first of the errors, with the whole report as its attribute `report`.
[[noreturn]] void raise_syntax_error(Vm& vm, const lang::Diagnostics& diagnostics, const lang::Source& source);

}  // namespace tsc::interp
