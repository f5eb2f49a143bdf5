#pragma once
// Warnings of expressions that can be compiled and cannot be meant: an identity of a literal, and a literal that is
// called or subscripted as if a comma were missing. Knows: the tree. Must not know: names.
#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace tsc::lang {

void warn_of_identity(Diagnostics& diagnostics, const Compare& node);
void warn_of_call(Diagnostics& diagnostics, const Call& node);
void warn_of_subscript(Diagnostics& diagnostics, const Subscript& node);

}  // namespace tsc::lang
