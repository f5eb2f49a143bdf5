#pragma once
// Finds mistakes in a program without running it: names that nothing defines, calls that a known
// function cannot take, code that is never reached, names that hide others to harm, imports and
// variables nobody reads, variables read before they can have a value.
// Knows: the tree and its scopes. Must not know: files, values, which builtins there are (the
// caller names them).
// Keeps: a finding is certain. What depends on a value, or is expected by an `except` around it, is
// not reported. A line with the comment `# check: ignore` has no findings.
#include <span>
#include <string_view>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace tsc::lang {

struct CheckOptions {
  std::span<const std::string_view> builtins;  // names that every module sees
  bool exports_imports = false;                // a package's __init__: what it imports is for others
  bool is_private = false;                     // a module whose own name begins with '_'
};

// Syntax errors, or the findings (codes E07xx; certain failures are errors, the rest warnings).
Diagnostics check(const Source& source, const CheckOptions& options);

}  // namespace tsc::lang
