#include "lang/parse.h"

#include "grammar.h"
#include "lang/layout.h"
#include "lang/token_cursor.h"

namespace tsc::lang {

namespace {

// Whether the grammar found a fault before the text's end, which no further line can mend.
bool found_fault_inside(const Source& source, const Diagnostics& diagnostics, size_t from) {
  size_t last = source.text().find_last_not_of(" \t\r\n\\");
  for (size_t i = from; i < diagnostics.all().size(); ++i) {
    const Diagnostic& d = diagnostics.all()[i];
    if (d.severity == Severity::Error && last != std::string_view::npos &&
        d.primary.span.begin <= last)
      return true;
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
      tokens.incomplete && !found_fault_inside(source, result.diagnostics, token_faults);
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
