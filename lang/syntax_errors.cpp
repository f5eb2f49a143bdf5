#include "lang/syntax_errors.h"

#include <cctype>

namespace tsc::lang {

namespace {

using enum TokenKind;

bool one_of(TokenKind kind, std::initializer_list<TokenKind> kinds) {
  for (TokenKind k : kinds)
    if (k == kind) return true;
  return false;
}

bool ends_expression(TokenKind kind) {
  return one_of(kind, {NAME, INTEGER, FLOAT, STRING, FSTRING_END, NONE, TRUE, FALSE, ELLIPSIS, RPAR, RSQB, RBRACE});
}

bool begins_expression(TokenKind kind) {
  return one_of(kind, {NAME, INTEGER, FLOAT, STRING, FSTRING_START, NONE, TRUE, FALSE, ELLIPSIS, LPAR, LSQB, LBRACE,
                       LAMBDA, TILDE, NOT});
}

bool begins_header(TokenKind kind) {
  return one_of(kind, {IF, ELIF, ELSE, FOR, WHILE, DEF, CLASS, WITH, TRY, EXCEPT, FINALLY, MATCH, CASE});
}

bool ends_line(TokenKind kind) { return one_of(kind, {NEWLINE, INDENT, DEDENT, END}); }

// The tokens around a fault.
class Fault {
 public:
  Fault(AstBuilder& builder, const Source& source, const TokenCursor& cursor, const TokenSet& expected)
      : builder(builder), source_(source), tokens_(cursor.tokens()), expected_(expected), at_(cursor.current()) {
    line_ = at_;
    while (line_ > 0 && !ends_line(tokens_[line_ - 1].kind)) --line_;
    if (ends_line(kind()) && line_ == at_ && at_ > 0 && kind() == NEWLINE) line_ = at_;
    bracket_ = cursor.enclosing_bracket(at_);
  }

  TokenKind kind(int ahead = 0) const {
    size_t i = at_ + static_cast<size_t>(ahead);
    return i < tokens_.size() ? tokens_[i].kind : END;
  }
  TokenKind before(size_t back = 1) const { return at_ >= line_ + back ? tokens_[at_ - back].kind : NEWLINE; }
  Span span() const { return tokens_[at_].span; }
  Span span_before(size_t back = 1) const { return at_ >= back ? tokens_[at_ - back].span : span(); }
  // Where something is missing: right after the token before.
  Span gap() const { return {span_before().end, span_before().end + 1}; }
  std::string_view text() const { return source_.slice(span()); }
  // A word in the place of these characters, with blanks where it would touch another.
  Edit word(Span at, std::string_view text) const {
    const std::string_view all = source_.text();
    const auto touches = [&](uint32_t i) {
      return i < all.size() &&
             (std::isalnum(static_cast<unsigned char>(all[i])) || all[i] == '_' || (all[i] & 0x80) != 0);
    };
    std::string padded(text);
    if (at.begin > 0 && touches(at.begin - 1)) padded.insert(0, 1, ' ');
    if (touches(at.end)) padded += ' ';
    return {at, std::move(padded)};
  }
  // The place after the line's last token.
  Span line_end() const {
    size_t i = at_;
    while (i + 1 < tokens_.size() && !ends_line(tokens_[i + 1].kind)) ++i;
    return {tokens_[i].span.end, tokens_[i].span.end};
  }
  std::string_view text_before(size_t back = 1) const { return source_.slice(span_before(back)); }
  bool touches(size_t back = 1) const {
    return at_ >= back && tokens_[at_ - back].span.end == tokens_[at_ - back + 1].span.begin;
  }
  TokenKind line_first() const { return tokens_[line_].kind; }
  Span line_first_span() const { return tokens_[line_].span; }
  bool at_line_start() const { return at_ == line_; }
  size_t tokens_before() const { return at_ - line_; }
  bool in_bracket() const { return bracket_ != SIZE_MAX; }
  TokenKind bracket() const { return in_bracket() ? tokens_[bracket_].kind : END; }
  Span bracket_span() const { return tokens_[bracket_].span; }
  TokenKind first_in_bracket() const { return tokens_[bracket_ + 1].kind; }
  Span first_in_bracket_span() const { return tokens_[bracket_ + 1].span; }
  bool expects(TokenKind k) const { return expected_[static_cast<size_t>(k)]; }
  const TokenSet& expected() const { return expected_; }
  bool colon_follows() const {
    for (size_t i = at_; !ends_line(tokens_[i].kind); ++i)
      if (tokens_[i].kind == COLON) return true;
    return false;
  }

  AstBuilder& builder;

 private:
  const Source& source_;
  const std::vector<Token>& tokens_;
  const TokenSet& expected_;
  size_t at_;
  size_t line_;  // index of the line's first token
  size_t bracket_;
};

std::string found(const Fault& f) {
  if (f.kind() == NAME) return "name '" + std::string(f.text()) + "'";
  if (f.kind() == INTEGER || f.kind() == FLOAT) return "number " + std::string(f.text());
  if (f.kind() == INDENT || f.kind() == DEDENT) return "end of line";
  return std::string(token_spelling(f.kind()));
}

// Each rule reports and answers true, or answers false.

bool print_statement(Fault& f) {
  bool candidate = f.tokens_before() == 1 && f.before() == NAME && begins_expression(f.kind());
  if (!candidate || (f.text_before() != "print" && f.text_before() != "exec")) return false;
  std::string name(f.text_before());
  f.builder.error(Code::PrintStatement, f.span_before(), "missing brackets in call to '" + name + "'")
      .help("write " + name + "(...)")
      .fix({{{f.span_before().end, f.span().begin}, "("}, {f.line_end(), ")"}}, Applicability::MaybeIncorrect);
  return true;
}

// Two tokens that together are another language's operator.
bool foreign_operator(Fault& f) {
  struct Row {
    TokenKind first, second;
    std::string_view text, help, meant;
  };
  static constexpr Row kRows[] = {
      {AMPER, AMPER, "&&", "write 'and'", "and"},
      {VBAR, VBAR, "||", "write 'or'", "or"},
      {LESS, GREATER, "<>", "write '!='", "!="},
      {EQEQUAL, EQUAL, "===", "write '==' (or 'is' for identity)", "=="},
      {NOTEQUAL, EQUAL, "!==", "write '!=' (or 'is not' for identity)", "!="},
      {EQUAL, GREATER, "=>", "write '>=' to compare, or lambda for a function", ">="},
      {EQUAL, LESS, "=<", "write '<='", "<="},
  };
  for (const Row& row : kRows) {
    if (f.before() != row.first || f.kind() != row.second || !f.touches()) continue;
    f.builder
        .error(Code::ForeignOperator, cover(f.span_before(), f.span()),
               "'" + std::string(row.text) + "' is not an operator here")
        .help(std::string(row.help))
        .fix({f.word(cover(f.span_before(), f.span()), row.meant)},
             row.first == EQUAL ? Applicability::MaybeIncorrect : Applicability::MachineApplicable);
    return true;
  }
  bool doubled = (f.before() == PLUS || f.before() == MINUS) && f.before(2) == f.before() && f.touches(2) &&
                 (ends_line(f.kind()) || f.kind() == SEMICOLON || f.kind() == RPAR);
  if (doubled) {
    std::string sign(f.text_before());
    f.builder
        .error(Code::ForeignOperator, cover(f.span_before(2), f.span_before()),
               "'" + sign + sign + "' is not an operator here")
        .help("write '" + sign + "= 1'")
        .fix({f.word(cover(f.span_before(2), f.span_before()), sign + "= 1")}, Applicability::MachineApplicable);
    return true;
  }
  if (f.kind() != BANG) return false;
  f.builder.error(Code::ForeignOperator, f.span(), "'!' is not an operator here")
      .help("write 'not'")
      .fix({f.word(f.span(), "not")}, Applicability::MachineApplicable);
  return true;
}

bool else_if(Fault& f) {
  if (f.before() != ELSE || f.kind() != IF || f.tokens_before() != 1) return false;
  f.builder.error(Code::InvalidSyntax, cover(f.span_before(), f.span()), "expected ':' after 'else'")
      .help("write 'elif' for another condition")
      .fix({{cover(f.span_before(), f.span()), "elif"}}, Applicability::MachineApplicable);
  return true;
}

bool is_parameter(const Fault& f) {
  return f.line_first() == DEF && f.bracket() == LPAR && one_of(f.before(), {LPAR, COMMA, STAR, DOUBLESTAR}) &&
         one_of(f.kind(1), {RPAR, COMMA, COLON});
}

bool keyword_as_name(Fault& f) {
  bool assigned = f.kind() == EQUAL && is_keyword(f.before()) &&
                  !one_of(f.before(), {NONE, TRUE, FALSE, PASS, BREAK, CONTINUE, YIELD, RETURN, RAISE});
  bool named = is_keyword(f.kind()) && f.expects(NAME) && !one_of(f.kind(), {ASYNC, AWAIT}) &&
               (one_of(f.before(), {DEF, CLASS, DOT, IMPORT, AS, GLOBAL, NONLOCAL}) || is_parameter(f) ||
                f.kind(1) == EQUAL || (f.before() == FOR && f.kind(1) == IN));
  if (!assigned && !named) return false;
  Span at = assigned ? f.span_before() : f.span();
  std::string word(assigned ? f.text_before() : f.text());
  f.builder.error(Code::KeywordAsName, at, "'" + word + "' is a keyword and cannot be a name")
      .help("choose another name, such as " + word + "_")
      .fix({{at, word + "_"}}, Applicability::MaybeIncorrect);
  return true;
}

bool assignment_in_expression(Fault& f) {
  if (f.kind() != EQUAL || !ends_expression(f.before())) return false;
  bool header = one_of(f.line_first(), {IF, ELIF, WHILE, RETURN, ASSERT, MATCH, CASE});
  if (!header && !f.in_bracket()) return false;
  f.builder.error(Code::AssignmentInExpression, f.span(), "'=' cannot stand inside an expression")
      .help("write '==' to compare, or ':=' in brackets to assign")
      .fix({{f.span(), "=="}}, Applicability::MaybeIncorrect);
  return true;
}

bool walrus(Fault& f) {
  if (f.kind() != WALRUS) return false;
  Diagnostic& d = f.builder.error(Code::InvalidWalrus, f.span(), "':=' cannot stand here");
  if (f.tokens_before() == 1)
    d.help("write '=' for a plain assignment").fix({{f.span(), "="}}, Applicability::MachineApplicable);
  else d.help("put the assignment expression in brackets: (name := value)");
  return true;
}

bool except_list(Fault& f) {
  if (f.kind() != COMMA || f.line_first() != EXCEPT || f.in_bracket()) return false;
  f.builder.error(Code::InvalidTry, f.span(), "several exception types need brackets").help("write except (A, B):");
  return true;
}

bool missing_handler(Fault& f) {
  if (!f.expects(EXCEPT) || !f.expects(FINALLY)) return false;
  f.builder.error(Code::InvalidTry, f.at_line_start() ? f.span() : f.gap(),
                  "expected 'except' or 'finally' after the try block, found " + found(f));
  return true;
}

bool orphan_clause(Fault& f) {
  if (!f.at_line_start() || !one_of(f.kind(), {ELSE, ELIF, EXCEPT, FINALLY})) return false;
  bool of_try = one_of(f.kind(), {EXCEPT, FINALLY});
  // The clause of a header that was itself reported is no second fault.
  uint32_t until = f.builder.recovered_until();
  if (until == f.span_before().end || until == f.span().begin) return true;
  std::string_view owners = of_try ? "'try'" : f.kind() == ELIF ? "'if'" : "'if', 'for', 'while' or 'try'";
  f.builder
      .error(of_try ? Code::InvalidTry : Code::InvalidSyntax, f.span(),
             std::string(token_spelling(f.kind())) + " without a matching " + std::string(owners))
      .note("it must be indented like the statement that it belongs to");
  return true;
}

bool in_fstring(Fault& f) {
  if (f.bracket() != FIELD_OPEN) return false;
  if (f.kind() == FIELD_COLON && f.first_in_bracket() == LAMBDA) {
    f.builder
        .error(Code::InvalidFString, cover(f.first_in_bracket_span(), f.span()),
               "a lambda in an f-string needs brackets")
        .label(f.span(), "here the format specification begins")
        .help("write {(lambda ...)}");
    return true;
  }
  if (f.before() == FIELD_OPEN && one_of(f.kind(), {FIELD_CLOSE, FIELD_COLON, FIELD_BANG, FIELD_EQUAL})) {
    f.builder
        .error(Code::InvalidFString, cover(f.bracket_span(), f.span()),
               "a replacement field of an f-string needs an expression")
        .help("write '{{' and '}}' for the characters themselves");
    return true;
  }
  if (!ends_expression(f.before()) || !f.expects(FIELD_CLOSE)) return false;
  f.builder.error(Code::InvalidFString, f.span(), "expected '}' in the f-string, found " + found(f))
      .label(f.bracket_span(), "the field begins here");
  return true;
}

bool missing_case(Fault& f) {
  if (!f.expects(CASE) || f.expects(NAME)) return false;
  f.builder.error(Code::InvalidPattern, f.span(), "expected 'case' in the match block, found " + found(f));
  return true;
}

bool bad_import(Fault& f) {
  if (f.line_first() != IMPORT && f.line_first() != FROM) return false;
  if (f.before() == COMMA && ends_line(f.kind())) {
    f.builder.error(Code::InvalidImport, f.span_before(), "a trailing comma needs brackets around the names");
    return true;
  }
  if (f.before() == IMPORT && ends_line(f.kind())) {
    f.builder.error(Code::InvalidImport, f.gap(), "expected names after 'import'");
    return true;
  }
  if (f.line_first() == IMPORT && f.kind() == FROM) {
    f.builder.error(Code::InvalidImport, f.span(), "'from' stands before 'import'")
        .help("write from module import name");
    return true;
  }
  if (f.line_first() == FROM && f.expects(IMPORT)) {
    f.builder.error(Code::InvalidImport, f.span(), "expected 'import', found " + found(f));
    return true;
  }
  return false;
}

std::string_view misspelt_keyword(std::string_view word) {
  if (word == "switch") return "match";
  static constexpr std::string_view kKeywords[] = {
#define TSC_TOKEN(name, text)
#define TSC_KEYWORD(name, text) text,
#include "lang/tokens.def"
#undef TSC_TOKEN
#undef TSC_KEYWORD
      "function", "match", "case"};
  return nearest_word(word, kKeywords);
}

// `improt x`, `esle:`, `retrun 1`: a line that begins with a word nearly a keyword.
bool misspelt_line(Fault& f) {
  bool two_words =
      f.tokens_before() == 1 && f.before() == NAME && begins_expression(f.kind()) && !one_of(f.kind(), {LPAR, LSQB});
  bool alone = f.tokens_before() == 2 && f.before(2) == NAME && f.before() == COLON && ends_line(f.kind());
  if (!two_words && !alone) return false;
  size_t back = two_words ? 1 : 2;
  std::string_view guess = misspelt_keyword(f.text_before(back));
  std::string_view word = f.text_before(back);
  bool definition = word == "function" || word == "func" || word == "fn" || word == "fun";
  bool constant = word == "let" || word == "var" || word == "const";
  if (guess.empty() && !definition && !constant) return false;
  Diagnostic& d = f.builder.error(Code::InvalidSyntax, f.span_before(back),
                                  "invalid syntax: '" + std::string(word) + "' is not a keyword");
  if (definition)
    d.help("write `def` to define a function").fix({{f.span_before(back), "def"}}, Applicability::MaybeIncorrect);
  else if (constant)
    d.help("an assignment needs no keyword: name = value")
        .fix({{{f.span_before(back).begin, f.span_before(back - 1).begin}, ""}}, Applicability::MaybeIncorrect);
  else d.did_you_mean(f.span_before(back), guess);
  return true;
}

bool missing_colon(Fault& f) {
  if (!f.expects(COLON) || f.in_bracket() || !begins_header(f.line_first())) return false;
  if (!ends_line(f.kind()) && f.colon_follows()) return false;
  bool at_end = ends_line(f.kind());
  f.builder
      .error(Code::ExpectedToken, at_end ? f.gap() : f.span(),
             at_end ? "expected ':'" : "expected ':', found " + found(f))
      .label(f.line_first_span(), "of this " + std::string(token_spelling(f.line_first())))
      .fix({{{f.span_before().end, f.span_before().end}, ":"}},
           at_end ? Applicability::MachineApplicable : Applicability::MaybeIncorrect, "write ':'");
  return true;
}

bool missing_else(Fault& f) {
  if (!f.expects(ELSE) || f.expects(NAME) || begins_expression(f.kind())) return false;
  f.builder
      .error(Code::ExpectedToken, ends_line(f.kind()) ? f.gap() : f.span(),
             "expected 'else' after the condition, found " + found(f))
      .note("a conditional expression is written `a if condition else b`");
  return true;
}

bool dict_or_set(Fault& f) {
  if (f.bracket() != LBRACE) return false;
  if (f.expects(COLON) && one_of(f.kind(), {COMMA, RBRACE})) {
    f.builder.error(Code::ExpectedToken, f.gap(), "expected ':' after a dictionary key")
        .label(f.bracket_span(), "the dictionary begins here");
    return true;
  }
  if (f.kind() != COLON || !ends_expression(f.before())) return false;
  f.builder.error(Code::InvalidSyntax, f.span(), "':' after an element of a set")
      .label(f.bracket_span(), "the first item had no ':', so this is a set");
  return true;
}

// `def f(:` and `if (x == 1:`
bool unclosed_before_colon(Fault& f) {
  if (f.kind() != COLON || !begins_header(f.line_first())) return false;
  if (f.bracket() != LPAR && f.bracket() != LSQB) return false;
  f.builder.error(Code::UnclosedBracket, f.span(),
                  std::string("expected ") + (f.bracket() == LPAR ? "')'" : "']'") + " before ':'");
  return true;
}

bool comprehension_element(Fault& f) {
  if (f.kind() != FOR || (f.bracket() != LSQB && f.bracket() != LBRACE)) return false;
  if (!ends_expression(f.before())) return false;
  f.builder
      .error(Code::InvalidSyntax, cover(f.first_in_bracket_span(), f.span_before()), "a comprehension has one element")
      .label(f.span(), "the comprehension begins here")
      .help("put brackets around a tuple: [(a, b) for ...]");
  return true;
}

bool side_by_side(Fault& f) {
  if (f.in_bracket() || !ends_expression(f.before()) || !begins_expression(f.kind())) return false;
  f.builder.error(Code::InvalidSyntax, f.span(), "expected an operator or the end of the line before " + found(f))
      .label(f.span_before(), "the expression ends here");
  return true;
}

bool missing_comma(Fault& f) {
  bool pair = f.in_bracket() && ends_expression(f.before()) && begins_expression(f.kind()) && f.expects(COMMA);
  if (!pair) return false;
  f.builder.error(Code::MissingComma, f.span(), "expected ',' or an operator before " + found(f))
      .label(f.span_before(), "after this expression")
      .help("perhaps a comma is missing")
      .fix({{{f.span_before().end, f.span_before().end}, ","}}, Applicability::MaybeIncorrect);
  return true;
}

bool missing_expression(Fault& f) {
  if (!f.expects(INTEGER) || !f.expects(LPAR)) return false;
  if (!ends_line(f.kind()) && !one_of(f.kind(), {RPAR, RSQB, RBRACE, COMMA, COLON, EQUAL, SEMICOLON})) return false;
  if (f.at_line_start() || ends_expression(f.before())) return false;
  f.builder.error(Code::ExpectedToken, f.gap(),
                  "expected an expression after " + std::string(token_spelling(f.before())));
  return true;
}

// "'x', 'y' or 'z'" of a small set.
bool few_expected(Fault& f) {
  constexpr size_t kMost = 3;
  if (f.expected().count() == 0 || f.expected().count() > kMost) return false;
  std::string list;
  size_t left = f.expected().count();
  for (size_t i = 0; i < f.expected().size(); ++i) {
    if (!f.expected()[i]) continue;
    if (!list.empty()) list += left == 1 ? " or " : ", ";
    list += token_spelling(static_cast<TokenKind>(i));
    --left;
  }
  f.builder.error(Code::ExpectedToken, ends_line(f.kind()) ? f.gap() : f.span(),
                  "expected " + list + ", found " + found(f));
  return true;
}

bool anything(Fault& f) {
  f.builder.error(Code::InvalidSyntax, ends_line(f.kind()) && !f.at_line_start() ? f.gap() : f.span(),
                  "invalid syntax: unexpected " + found(f));
  return true;
}

using Rule = bool (*)(Fault&);
constexpr Rule kRules[] = {
    print_statement,
    foreign_operator,
    else_if,
    keyword_as_name,
    assignment_in_expression,
    walrus,
    except_list,
    missing_handler,
    orphan_clause,
    in_fstring,
    missing_case,
    bad_import,
    misspelt_line,
    missing_colon,
    missing_comma,
    missing_else,
    dict_or_set,
    unclosed_before_colon,
    comprehension_element,
    side_by_side,
    missing_expression,
    few_expected,
    anything,
};

}  // namespace

void report_syntax_error(AstBuilder& builder, const Source& source, const TokenCursor& cursor,
                         const TokenSet& expected) {
  const Span place = cursor.tokens()[cursor.current()].span;
  // What the lexer closed for the text stands at no character of it.
  const bool is_written = place.begin < place.end;
  Diagnostic* unclosed = is_written ? builder.unclosed_before(place.begin) : nullptr;
  if (builder.is_silent(place.begin) && !unclosed) {
    builder.error(Code::InvalidSyntax, {place.begin, place.begin}, {});
    return;
  }
  if (is_written && builder.is_reported(place.begin)) return;
  Fault fault(builder, source, cursor, expected);
  const Diagnostic bracket = unclosed ? *unclosed : Diagnostic{};
  builder.replace(unclosed);
  for (Rule rule : kRules)
    if (rule(fault)) break;
  builder.replace(nullptr);
  if (unclosed) unclosed->label(bracket.primary.span, bracket.message);
}

}  // namespace tsc::lang
