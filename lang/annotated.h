#pragma once
// Which annotations a text has that are kept: those of a function, and those of the names that a class body or a module
// annotates. Knows: the tree. Must not know: scopes, instructions.
// Keeps: the resolver and the emitter number annotations in the same order.
#include <string>
#include <vector>

#include "lang/ast.h"
#include "lang/source.h"

namespace tsc::lang {

struct Annotated {
  Identifier name;  // "return": the result of a function
  const Expr* annotation = nullptr;
  const AnnAssign* statement = nullptr;  // null: of a function
  bool may_be_passed_by = false;         // it stands inside an if, a loop, a with, a try or a match
};

// In the order of CPython's `__annotations__`: parameters that a keyword may give, positional-only ones, *args,
// keyword-only ones, **kwargs, the result.
std::vector<Annotated> annotated_parts(const FunctionDef& function);
// Of plain names, in the order of the text; not those of inner functions and classes.
std::vector<Annotated> annotated_names(List<Stmt*> body);

// The expression as `from __future__ import annotations` shows it: with Python's blanks, brackets and quotes.
std::string expression_text(const Expr* e, const Source& source);

}  // namespace tsc::lang
