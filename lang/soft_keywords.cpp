// What the grammar cannot see with one token of lookahead, decided on whole lines of tokens.
#include "lang/layout.h"

namespace tsc::lang {

namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::LPAR || kind == TokenKind::LSQB || kind == TokenKind::LBRACE ||
         kind == TokenKind::FIELD_OPEN;
}

bool closes(TokenKind kind) {
  return kind == TokenKind::RPAR || kind == TokenKind::RSQB || kind == TokenKind::RBRACE ||
         kind == TokenKind::FIELD_CLOSE;
}

// Tokens that after a name can only begin another expression: `match x` cannot be one expression.
bool cannot_follow_name(TokenKind kind) {
  switch (kind) {
    case TokenKind::NAME:
    case TokenKind::INTEGER:
    case TokenKind::FLOAT:
    case TokenKind::STRING:
    case TokenKind::FSTRING_START:
    case TokenKind::NONE:
    case TokenKind::TRUE:
    case TokenKind::FALSE:
    case TokenKind::LBRACE:
    case TokenKind::TILDE:
    case TokenKind::LAMBDA: return true;
    default: return false;
  }
}

class Promoter {
 public:
  Promoter(TokenList& list, const Source& source, Diagnostics& diagnostics)
      : tokens_(list.tokens), source_(source), diagnostics_(diagnostics) {}

  void run() {
    size_t out = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      Token& token = tokens_[i];
      track_blocks(token.kind);
      size_t skip = 0;
      if (token.kind == TokenKind::NAME && statement_start_) skip = soft_keyword(i);
      else if (token.kind == TokenKind::ASYNC || token.kind == TokenKind::AWAIT) skip = refuse_async(token);
      else if (token.kind == TokenKind::WITH) with_items(i);
      else if (token.kind == TokenKind::LSQB) skip = type_parameters(i);
      statement_start_ = token.kind == TokenKind::NEWLINE || token.kind == TokenKind::INDENT ||
                         token.kind == TokenKind::DEDENT || (skip && statement_start_);
      if (skip) i += skip - 1;
      else tokens_[out++] = token;
    }
    tokens_.resize(out);
  }

 private:
  std::string_view text(size_t i) const { return source_.slice(tokens_[i].span); }
  TokenKind kind(size_t i) const { return i < tokens_.size() ? tokens_[i].kind : TokenKind::END; }

  void track_blocks(TokenKind kind) {
    if (kind == TokenKind::INDENT) {
      match_blocks_.push_back(match_header_);
      match_header_ = false;
    } else if (kind == TokenKind::DEDENT && !match_blocks_.empty()) {
      match_blocks_.pop_back();
    }
  }

  // A NAME that begins a statement. Returns how many tokens to leave out.
  size_t soft_keyword(size_t i) {
    std::string_view word = text(i);
    if (word == "match" && is_match_header(i)) {
      tokens_[i].kind = TokenKind::MATCH;
      match_header_ = true;
    } else if (word == "case" && !match_blocks_.empty() && match_blocks_.back()) {
      tokens_[i].kind = TokenKind::CASE;
    } else if (word == "type" && kind(i + 1) == TokenKind::NAME &&
               (kind(i + 2) == TokenKind::EQUAL || kind(i + 2) == TokenKind::LSQB)) {
      diagnostics_.error(Code::TypeStatementRefused, tokens_[i].span, "type statements are not supported")
          .help("write a plain assignment: " + std::string(text(i + 1)) + " = ...");
      return 1;
    }
    return 0;
  }

  bool is_match_header(size_t i) const {
    size_t end = i + 1;
    while (kind(end) != TokenKind::NEWLINE && kind(end) != TokenKind::END) ++end;
    if (kind(end - 1) != TokenKind::COLON || kind(end + 1) != TokenKind::INDENT) return false;
    bool case_follows = kind(end + 2) == TokenKind::NAME && text(end + 2) == "case";
    return end > i + 2 && (case_follows || cannot_follow_name(kind(i + 1)));
  }

  size_t refuse_async(const Token& token) {
    // An await inside an async def that was reported is no second cause.
    bool is_await = token.kind == TokenKind::AWAIT;
    if (!is_await || !async_reported_)
      diagnostics_.error(Code::AsyncRefused, token.span, is_await ? "await is not supported" : "async is not supported")
          .help("write a plain function and call it; the runtime overlaps tensor work by itself");
    async_reported_ = true;
    return 1;
  }

  // `with (a as b, c as d):` - an 'as' directly inside the brackets makes them the statement's own.
  void with_items(size_t i) {
    if (kind(i + 1) != TokenKind::LPAR) return;
    bool has_as = false;
    size_t end = matching(i + 1, &has_as);
    if (has_as && kind(end + 1) == TokenKind::COLON) tokens_[i + 1].kind = TokenKind::WITH_OPEN;
  }

  // `def f[T](x)` and `class A[T]`.
  size_t type_parameters(size_t i) {
    bool after_name =
        i >= 2 && kind(i - 1) == TokenKind::NAME && (kind(i - 2) == TokenKind::DEF || kind(i - 2) == TokenKind::CLASS);
    if (!after_name) return 0;
    size_t end = matching(i, nullptr);
    if (kind(end) != TokenKind::RSQB) return 0;
    diagnostics_
        .error(Code::TypeParametersRefused, cover(tokens_[i].span, tokens_[end].span),
               "type parameters are not supported")
        .help("leave them out: annotations are not checked against them")
        .fix({{cover(tokens_[i].span, tokens_[end].span), ""}}, Applicability::MachineApplicable);
    return end - i + 1;
  }

  // Index of the closer of the bracket at `i`, or of the line's end when it has none.
  size_t matching(size_t i, bool* has_as) const {
    size_t depth = 0;
    for (; kind(i) != TokenKind::NEWLINE && kind(i) != TokenKind::END; ++i) {
      if (opens(kind(i))) ++depth;
      if (closes(kind(i)) && --depth == 0) break;
      if (has_as && depth == 1 && kind(i) == TokenKind::AS) *has_as = true;
    }
    return i;
  }

  std::vector<Token>& tokens_;
  const Source& source_;
  Diagnostics& diagnostics_;
  bool statement_start_ = true;
  bool match_header_ = false;       // the next INDENT opens a match statement's block
  std::vector<bool> match_blocks_;  // a flag per open block
  bool async_reported_ = false;
};

}  // namespace

void promote_soft_keywords(TokenList& list, const Source& source, Diagnostics& diagnostics) {
  Promoter(list, source, diagnostics).run();
}

}  // namespace tsc::lang
