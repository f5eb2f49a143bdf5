#include "lang/parse.h"

#include "grammar.h"
#include "lang/layout.h"
#include "lang/syntax_errors.h"
#include "lang/token_cursor.h"

namespace tsc::lang {

namespace {

// The grammar's number of each token kind.
constexpr int kParserToken[] = {
    Parser::token::TOK_END,
#define TSC_TOKEN(name, text) Parser::token::TOK_##name,
#define TSC_KEYWORD(name, text) Parser::token::TOK_##name,
#include "lang/tokens.def"
#undef TSC_TOKEN
#undef TSC_KEYWORD
};

// Whether the grammar found a fault before the text's end, which no further line can mend. Of those behind a
// bracket that is still open nothing is said.
bool found_fault_inside(const Source& source, const Diagnostics& diagnostics, size_t from, uint32_t first_fault) {
  size_t last = source.text().find_last_not_of(" \t\r\n\\");
  if (last != std::string_view::npos && first_fault <= last) return true;
  for (size_t i = from; i < diagnostics.all().size(); ++i) {
    const Diagnostic& d = diagnostics.all()[i];
    if (d.severity == Severity::Error && last != std::string_view::npos && d.primary.span.begin <= last) return true;
  }
  return false;
}

ParseResult parse(const Source& source, Arena& arena, TokenCursor::Start start) {
  ParseResult result;
  TokenList tokens = tokenize(source, result.diagnostics);
  const size_t token_faults = result.diagnostics.all().size();
  TokenCursor cursor(tokens, start);
  AstBuilder builder(source, tokens, arena, result.diagnostics);
  Parser parser(builder, cursor, source);
  bool accepted = parser.parse() == 0;
  result.is_incomplete =
      tokens.incomplete && !found_fault_inside(source, result.diagnostics, token_faults, cursor.first_fault());
  result.diagnostics.sort();
  if (accepted && !result.diagnostics.has_errors()) result.module = builder.module();
  return result;
}

}  // namespace

// ---- What the generated parser calls

int yylex(Parser::semantic_type* value, Span* location, TokenCursor& cursor) {
  const Token* token = cursor.next();
  if (!token)
    return cursor.start() == TokenCursor::Start::Module ? Parser::token::TOK_START_MODULE
                                                        : Parser::token::TOK_START_EXPRESSION;
  value->token = token;
  *location = token->span;
  return kParserToken[static_cast<size_t>(token->kind)];
}

void Parser::report_syntax_error(const context& yyctx) const {
  symbol_kind_type kinds[symbol_kind::YYNTOKENS];
  const int count = yyctx.expected_tokens(kinds, symbol_kind::YYNTOKENS);
  TokenSet expected;
  for (int i = 0; i < count; ++i)
    for (size_t token = 0; token < std::size(kParserToken); ++token)
      if (kParserToken[token] == static_cast<int>(kinds[i])) expected.set(token);
  tsc::lang::report_syntax_error(b, source, cursor, expected);
  cursor.synchronize();
}

void Parser::error(const location_type& place, const std::string& message) {
  b.error(Code::InvalidSyntax, place, message);
}

// ----

ParseResult parse_module(const Source& source, Arena& arena) {
  return parse(source, arena, TokenCursor::Start::Module);
}

ParseResult parse_expression(const Source& source, Arena& arena) {
  return parse(source, arena, TokenCursor::Start::Expression);
}

}  // namespace tsc::lang
