#pragma once
// Tokens: a kind and a place. Values (numbers, decoded strings) are made by the tree builder from
// the source text, so a token stays small and the whole file's tokens fit one vector. Knows:
// tokens.def, spans. Must not know: the grammar's own numbering.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/source.h"

namespace tsc::lang {

enum class TokenKind : uint8_t {
  END,
#define TSC_TOKEN(name, text) name,
#define TSC_KEYWORD(name, text) name,
#include "lang/tokens.def"
#undef TSC_TOKEN
#undef TSC_KEYWORD
};

struct Token {
  TokenKind kind = TokenKind::END;
  bool bad = false;  // already reported: its text must not be decoded
  bool raw = false;  // FSTRING_MIDDLE of a raw f-string
  Span span;
};

struct TokenList {
  std::vector<Token> tokens;  // always ends with END
  // Places already reported where tokens may be missing or out of balance: a syntax error inside
  // one is not reported again.
  // Sorted, apart from each other.
  std::vector<Span> damaged;
  bool is_damaged(uint32_t offset) const;
  bool incomplete = false;  // more lines could finish the text
};

bool is_keyword(TokenKind kind);
std::string_view token_name(TokenKind kind);      // "PLUSEQUAL"
std::string_view token_spelling(TokenKind kind);  // "'+='", "'while'", "name"

// One token a line: place, name, text. What --emit=tokens prints.
std::string print_tokens(const TokenList& list, const Source& source);

}  // namespace tsc::lang
