#pragma once
// The parser's place in the token list. After a syntax error it moves to where parsing can go on:
// the closer of the innermost open bracket, else the end of the line.
// Keeps: because brackets in a token list always balance, that place is in the same statement.
#include "lang/token.h"

namespace tsc::lang {

class TokenCursor {
 public:
  enum class Start : uint8_t { Module, Expression };

  TokenCursor(const TokenList& list, Start start) : tokens_(list.tokens), start_(start) {}

  // Null stands for the symbol that selects the grammar's start.
  const Token* next() {
    if (!started_) {
      started_ = true;
      return nullptr;
    }
    const Token* token = &tokens_[next_];
    if (next_ + 1 < tokens_.size()) ++next_;
    current_ = static_cast<size_t>(token - tokens_.data());
    return token;
  }

  Start start() const { return start_; }
  size_t current() const { return current_; }
  const std::vector<Token>& tokens() const { return tokens_; }

  // Index of the bracket that is open at token `i` of its statement, or SIZE_MAX.
  size_t enclosing_bracket(size_t i) const;
  // Skips what follows the faulty current token up to the place described above.
  void synchronize();
  // Where the first faulty token begins; UINT32_MAX while there is none.
  uint32_t first_fault() const { return first_fault_; }

 private:
  const std::vector<Token>& tokens_;
  Start start_;
  bool started_ = false;
  size_t next_ = 0;
  size_t current_ = 0;
  uint32_t first_fault_ = UINT32_MAX;
};

}  // namespace tsc::lang
