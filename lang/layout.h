#pragma once
// Indentation: raw tokens -> the token list the grammar reads, with INDENT, DEDENT and only those
// NEWLINEs that end a statement. Also decides what depends on a whole line: `match` and `case` as
// keywords, brackets around with items, constructs refused by their first token.
// Knows: tokens and columns. Must not know: the grammar.
// Keeps: INDENT and DEDENT balance whatever the text; at most kMaxIndents open blocks.
#include "lang/diagnostic.h"
#include "lang/token.h"

namespace tsc::lang {

inline constexpr size_t kMaxIndents = 100;

TokenList tokenize(const Source& source, Diagnostics& diagnostics);

// The second half of tokenize(): rewrites the list in place (soft_keywords.cpp).
void promote_soft_keywords(TokenList& list, const Source& source, Diagnostics& diagnostics);

}  // namespace tsc::lang
