#pragma once
// Text -> raw tokens: everything but indentation. Line breaks come out as NEWLINE wherever they
// stand; the layout decides which of them count. F-strings are lexed in place (nested modes), so a
// token inside a replacement field has its real position. Knows: characters, brackets. Must not
// know: indentation, the grammar. Keeps: never reads past the sentinel, always advances, reports
// and goes on.
#include <vector>

#include "lang/brackets.h"
#include "lang/diagnostic.h"
#include "lang/token.h"

namespace tsc::lang {

class Lexer {
 public:
  Lexer(const Source& source, Diagnostics& diagnostics, TokenList& out);

  Token next();

  Brackets& brackets() { return brackets_; }
  // Closes every open bracket and f-string: the layout saw a statement begin inside one. The
  // closing tokens come out of next() first.
  void abandon();
  bool has_pending() const { return next_pending_ < pending_.size(); }
  // The text was cut short by a fault already reported (a limit, an unterminated literal).
  bool cut_short() const { return cut_short_; }
  // The end was reached right after a backslash and a line break.
  bool ends_continued() const { return continued_at_ == limit_; }

 private:
  struct FString {
    Span start;  // prefix and opening quote
    char quote = 0;
    bool triple = false, raw = false;
    size_t base = 0;  // brackets open outside it
  };

  // Expression mode (lexer.re).
  Token scan_code();
  Token scan_operator();
  TokenKind keyword_or_name(Span span) const;
  Token number(TokenKind kind, uint32_t begin);
  Token name(uint32_t begin);
  Token bracket(TokenKind kind, uint32_t begin);
  Token operator_in_field(TokenKind kind, uint32_t begin);
  void continuation(uint32_t begin, bool at_line_end);
  void invalid_character(uint32_t begin);
  // What the grammar makes of a line with a reported character is not worth a second report.
  void damage_line(uint32_t at);

  // Literals (lexer_strings.cpp).
  Token string(uint32_t begin);
  Token string_body(uint32_t begin, char quote, bool triple);
  void unterminated(Span opening, bool triple, bool in_text);
  Token fstring_text();
  Token fstring_brace(uint32_t begin, bool in_spec);
  Token fstring_end(uint32_t begin, unsigned quotes);
  bool at_quotes(const FString& f) const;

  char peek(uint32_t ahead = 0) const { return text_[at_ + ahead]; }
  bool at_end() const { return at_ >= limit_; }
  Token make(TokenKind kind, uint32_t begin, bool bad = false) const { return {kind, bad, false, {begin, at_}}; }
  bool in_field() const;
  // Emits closers for the brackets above `size` and ends for f-strings that begin at or after
  // `from` or inside those brackets, so that the tokens balance whatever the text.
  void close_down_to(size_t size, uint32_t from);

  const Source& source_;
  const char* text_;
  uint32_t limit_;
  uint32_t at_ = 0;
  uint32_t continued_at_ = UINT32_MAX;
  bool cut_short_ = false;
  Diagnostics& diagnostics_;
  TokenList& out_;
  Brackets brackets_;
  std::vector<FString> fstrings_;
  std::vector<Token> pending_;  // repairs, handed out before the text goes on
  size_t next_pending_ = 0;
};

// Reports bytes that are not UTF-8; false when there are any.
bool check_utf8(const Source& source, Diagnostics& diagnostics);

}  // namespace tsc::lang
