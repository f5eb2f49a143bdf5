#pragma once
// The checks, one function each. Knows: facts, the tree. Must not know: each other.
#include <optional>
#include <string>

#include "lang/check/check.h"
#include "lang/check/facts.h"

namespace tsc::lang {

struct CheckRun {
  Module& module;
  const Resolution& resolution;
  const Facts& facts;
  const CheckOptions& options;
  Diagnostics& diagnostics;

  const Source& source;

  bool is_builtin(std::string_view name) const;
};

// Who is called, with what is given before the call's own arguments.
struct Callee {
  const FunctionDef* function = nullptr;
  std::string name;
  Span span;
  size_t given = 0;  // self
};

// The only binding of a variable, when it can never be another.
const BindingSite* only_binding(const Variable* v, BindingKind kind);
// The method a class body defines once under this name, else null.
FunctionDef* only_method(const ClassDef* c, Identifier name);
// The function that a call certainly reaches: a plain one of the module, or the __init__ of a class.
std::optional<Callee> find_callee(const Variable* callee);
// A class whose calls, and whose other methods, are what its own body says.
bool is_plain_class(const ClassDef* c);

void check_unknown_names(CheckRun& run);    // names.cpp
void check_early_uses(CheckRun& run);       // names.cpp
void check_unused(CheckRun& run);           // names.cpp
void check_hidden_builtins(CheckRun& run);  // names.cpp
void check_calls(CheckRun& run);            // calls.cpp
void check_shapes(CheckRun& run);           // shapes.cpp
void check_unreachable(CheckRun& run);      // flow.cpp
void check_loop_variables(CheckRun& run);   // flow.cpp

}  // namespace tsc::lang
