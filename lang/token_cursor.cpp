#include "lang/token_cursor.h"

#include <algorithm>

namespace tsc::lang {

namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::LPAR || kind == TokenKind::LSQB || kind == TokenKind::LBRACE ||
         kind == TokenKind::FIELD_OPEN || kind == TokenKind::WITH_OPEN;
}

bool closes(TokenKind kind) {
  return kind == TokenKind::RPAR || kind == TokenKind::RSQB || kind == TokenKind::RBRACE ||
         kind == TokenKind::FIELD_CLOSE;
}

bool ends_line(TokenKind kind) {
  return kind == TokenKind::NEWLINE || kind == TokenKind::INDENT || kind == TokenKind::DEDENT || kind == TokenKind::END;
}

}  // namespace

size_t TokenCursor::enclosing_bracket(size_t i) const {
  size_t closed = 0;
  while (i-- > 0 && !ends_line(tokens_[i].kind)) {
    if (closes(tokens_[i].kind)) ++closed;
    if (opens(tokens_[i].kind) && closed-- == 0) return i;
  }
  return SIZE_MAX;
}

void TokenCursor::synchronize() {
  first_fault_ = std::min(first_fault_, tokens_[current_].span.begin);
  if (ends_line(tokens_[current_].kind)) return;
  size_t depth = 0;
  size_t i = current_;
  const bool inside = enclosing_bracket(current_) != SIZE_MAX;
  for (; !ends_line(tokens_[i].kind); ++i) {
    if (opens(tokens_[i].kind)) ++depth;
    if (closes(tokens_[i].kind) && depth-- == 0 && inside) break;
  }
  if (i != current_) next_ = i;
}

}  // namespace tsc::lang
