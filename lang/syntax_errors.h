#pragma once
// Turns "this token cannot stand here, these could" into a sentence about the mistake that was most
// likely made. The rules are one table, tried in order.
// Knows: tokens around the fault. Must not know: the parser's states.
#include <bitset>

#include "lang/ast_builder.h"
#include "lang/token_cursor.h"

namespace tsc::lang {

using TokenSet = std::bitset<128>;

// Reports the fault at the cursor's current token.
void report_syntax_error(AstBuilder& builder, const Source& source, const TokenCursor& cursor,
                         const TokenSet& expected);

}  // namespace tsc::lang
