#pragma once
// The front door of lang: text in, tree or diagnostics out.
// Knows: lexer, layout, grammar. Must not know: scopes, bytecode.
#include "lang/arena.h"
#include "lang/ast.h"
#include "lang/diagnostic.h"
#include "lang/source.h"

namespace tsc::lang {

struct ParseResult {
  Module* module = nullptr;  // null when there are errors
  Diagnostics diagnostics;
  // The text so far is a proper beginning that more lines could finish: an open bracket, an open
  // block, an unterminated triple-quoted string, a line ended by a backslash. For prompts.
  bool is_incomplete = false;
};

ParseResult parse_module(const Source& source, Arena& arena);

// One expression, for eval-like uses and tests: module->body is a single ExprStmt.
ParseResult parse_expression(const Source& source, Arena& arena);

}  // namespace tsc::lang
