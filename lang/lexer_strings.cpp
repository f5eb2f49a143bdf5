// String and f-string literals of the lexer.
#include <algorithm>

#include "lang/lexer.h"

namespace tsc::lang {

namespace {

bool is_line_break(char c) { return c == '\n' || c == '\r'; }

}  // namespace

Token Lexer::string(uint32_t begin) {
  FString f;
  for (; peek() != '"' && peek() != '\''; ++at_) f.raw |= (peek() | 0x20) == 'r';
  bool formatted = (text_[begin] | 0x20) == 'f' || (at_ - begin == 2 && (text_[begin + 1] | 0x20) == 'f');
  f.quote = peek();
  f.triple = peek(1) == f.quote && peek(2) == f.quote;
  at_ += f.triple ? 3 : 1;
  if (!formatted) return string_body(begin, f.quote, f.triple);
  f.start = {begin, at_};
  f.base = brackets_.size();
  fstrings_.push_back(f);
  return make(TokenKind::FSTRING_START, begin);
}

Token Lexer::string_body(uint32_t begin, char quote, bool triple) {
  const uint32_t body = at_;
  for (;;) {
    const char c = peek();
    if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
      at_ += triple ? 3 : 1;
      return make(TokenKind::STRING, begin);
    }
    bool stop = (c == '\0' && at_end()) || (!triple && is_line_break(c));
    if (stop) {
      Token token = make(TokenKind::STRING, begin, true);
      unterminated({begin, body}, triple, false);
      return token;
    }
    ++at_;
    if (c != '\\' || at_end()) continue;
    at_ += peek() == '\r' && peek(1) == '\n' ? 2 : 1;
  }
}

// Reports a literal that its line (or the text) ends before its quote does. The brackets opened on
// that line are closed with it: their closers are most likely inside the literal.
void Lexer::unterminated(Span opening, bool triple, bool in_text) {
  const char quote = text_[opening.end - 1];
  if (triple) {
    diagnostics_.error(Code::UnterminatedString, opening, "unterminated triple-quoted string literal")
        .under("opened here and never closed");
    out_.incomplete = true;
    out_.damaged.push_back({opening.begin, UINT32_MAX});
    cut_short_ = true;
    return;
  }
  uint32_t from = source_.line_begin(source_.line_of(opening.begin));
  bool ends_field = !in_text && in_field() && fstrings_.back().quote == quote && !fstrings_.back().triple;
  if (ends_field) {
    from = std::min(from, fstrings_.back().start.begin);
    diagnostics_
        .error(Code::InvalidFString, brackets_.top().span,
               "'" + std::string(1, brackets_.top().opener) + "' was never closed in the f-string")
        .label({opening.begin, opening.begin + 1}, "the string ends here");
  } else {
    diagnostics_.error(Code::UnterminatedString, opening, "unterminated string literal")
        .under("opened here and not closed on its line")
        .help("close it with " + std::string(1, quote) + ", or use triple quotes for several lines");
  }
  size_t keep = brackets_.size();
  while (keep > 0 && brackets_.all()[keep - 1].span.begin >= from) --keep;
  close_down_to(keep, from);
  out_.damaged.push_back({from, at_ + 1});
}

bool Lexer::at_quotes(const FString& f) const {
  return peek() == f.quote && (!f.triple || (peek(1) == f.quote && peek(2) == f.quote));
}

// Literal text of an f-string, or of a format specification inside one, up to the next brace or
// quote.
Token Lexer::fstring_text() {
  const FString f = fstrings_.back();
  const uint32_t begin = at_;
  const bool in_spec = in_field();
  auto text = [&](uint32_t from) {
    Token token = make(TokenKind::FSTRING_MIDDLE, from);
    token.raw = f.raw;
    return token;
  };
  for (;;) {
    const char c = peek();
    const bool has_text = at_ > begin;
    if (at_quotes(f)) return has_text ? text(begin) : fstring_end(begin, f.triple ? 3 : 1);
    if ((c == '\0' && at_end()) || (!f.triple && is_line_break(c))) {
      if (has_text) return text(begin);
      unterminated(f.start, f.triple, true);
      return {TokenKind::END, true, false, {begin, at_}};
    }
    if (c == '{' || c == '}') {
      if (!in_spec && peek(1) == c) {
        at_ += 2;
        continue;
      }
      return has_text ? text(begin) : fstring_brace(begin, in_spec);
    }
    ++at_;
    if (c != '\\' || at_end()) continue;
    bool named = !f.raw && peek() == 'N' && peek(1) == '{';
    if (named) {
      uint32_t stop = at_ + 2;
      while (stop < limit_ && text_[stop] != '}' && text_[stop] != f.quote && !is_line_break(text_[stop])) ++stop;
      at_ = text_[stop] == '}' ? stop + 1 : stop;
    } else if (peek() != '{' && peek() != '}') {
      at_ += peek() == '\r' && peek(1) == '\n' ? 2 : 1;
    }
  }
}

Token Lexer::fstring_brace(uint32_t begin, bool in_spec) {
  const Token nothing{TokenKind::END, true, false, {begin, begin + 1}};
  const char c = text_[at_++];
  if (c == '{') {
    if (brackets_.open('{', {begin, at_}, true)) return make(TokenKind::FIELD_OPEN, begin);
    out_.damaged.push_back({0, UINT32_MAX});
    cut_short_ = true;
    return nothing;
  }
  if (in_spec) {
    brackets_.shrink(brackets_.size() - 1);
    return make(TokenKind::FIELD_CLOSE, begin);
  }
  diagnostics_.error(Code::InvalidFString, {begin, at_}, "single '}' is not allowed in an f-string")
      .help("write '}}' for the character itself")
      .fix({{{begin, begin}, "}"}}, Applicability::MaybeIncorrect);
  return nothing;
}

Token Lexer::fstring_end(uint32_t begin, unsigned quotes) {
  const FString f = fstrings_.back();
  fstrings_.pop_back();
  at_ += quotes;
  Token end = make(TokenKind::FSTRING_END, begin);
  if (brackets_.size() == f.base) return end;
  diagnostics_.error(Code::InvalidFString, brackets_.top().span, "'{' was never closed in the f-string")
      .label({begin, at_}, "the string ends here");
  out_.damaged.push_back({f.start.begin, at_ + 1});
  close_down_to(f.base, UINT32_MAX);
  pending_.push_back(end);
  return {TokenKind::END, true, false, {begin, at_}};
}

}  // namespace tsc::lang
