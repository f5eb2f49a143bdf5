#include "lang/parse.h"

#include "grammar.h"
#include "lang/layout.h"
#include "lang/token_cursor.h"

namespace tsc::lang {

namespace {

ParseResult parse(const Source& source, Arena& arena, TokenCursor::Start start) {
  ParseResult result;
  TokenList tokens = tokenize(source, result.diagnostics);
  TokenCursor cursor(tokens, start);
  AstBuilder builder(source, tokens, arena, result.diagnostics);
  Parser parser(builder, cursor, source);
  bool accepted = parser.parse() == 0;
  result.is_incomplete = tokens.incomplete;
  result.diagnostics.sort();
  if (accepted && !result.diagnostics.has_errors()) result.module = builder.module();
  return result;
}

}  // namespace

ParseResult parse_module(const Source& source, Arena& arena) {
  return parse(source, arena, TokenCursor::Start::Module);
}

ParseResult parse_expression(const Source& source, Arena& arena) {
  return parse(source, arena, TokenCursor::Start::Expression);
}

}  // namespace tsc::lang
