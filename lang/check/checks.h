#pragma once
// The checks, one function each. Knows: facts, the tree. Must not know: each other.
#include "lang/check/check.h"
#include "lang/check/facts.h"

namespace tsc::lang {

struct CheckRun {
  Module& module;
  const Resolution& resolution;
  const Facts& facts;
  const CheckOptions& options;
  Diagnostics& diagnostics;

  bool is_builtin(std::string_view name) const;
};

void check_unknown_names(CheckRun& run);    // names.cpp
void check_early_uses(CheckRun& run);       // names.cpp
void check_unused(CheckRun& run);           // names.cpp
void check_hidden_builtins(CheckRun& run);  // names.cpp
void check_calls(CheckRun& run);            // calls.cpp
void check_unreachable(CheckRun& run);      // flow.cpp
void check_loop_variables(CheckRun& run);   // flow.cpp

}  // namespace tsc::lang
