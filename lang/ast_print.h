#pragma once
// The tree as text, in the notation of Python's ast.dump: what --emit=ast prints and tests compare.
#include <string>

#include "lang/ast.h"

namespace tsc::lang {

// One line, or with line breaks and two spaces a level.
std::string print_ast(const Module& module, bool indented = false);
std::string print_ast(const Expr& expr, bool indented = false);

// A str (or bytes) value as a literal of the language.
std::string quote_text(std::string_view text, bool bytes = false);
// The shortest text that reads back as this value.
std::string float_text(double value);

}  // namespace tsc::lang
