#pragma once
// Small answers about small texts: tokens, trees and faults as strings.
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lang/ast_print.h"
#include "lang/layout.h"
#include "lang/parse.h"
#include "lang/resolve.h"

namespace tsc::lang {

// "DEF NAME LPAR ..." without places.
inline std::string token_names(const std::string& text) {
  Source source("test.tsc", text);
  Diagnostics diagnostics;
  std::string out;
  for (const Token& token : tokenize(source, diagnostics).tokens)
    (out += out.empty() ? "" : " ") += token_name(token.kind);
  return out;
}

// Faults of parsing and resolving: "2:5 E0301" each.
inline std::vector<std::string> faults(const std::string& text) {
  Source source("test.tsc", text);
  Arena arena;
  ParseResult result = parse_module(source, arena);
  if (result.module) resolve(*result.module, arena, result.diagnostics);
  std::vector<std::string> out;
  for (const Diagnostic& d : result.diagnostics.all()) {
    LineColumn at = source.locate(d.primary.span.begin);
    out.push_back(std::to_string(at.line) + ":" + std::to_string(at.column) + " " + code_text(d.code));
  }
  return out;
}

// All reports as a person sees them.
inline std::string report(const std::string& text, const RenderOptions& options = {}) {
  Source source("test.tsc", text);
  Arena arena;
  ParseResult result = parse_module(source, arena);
  if (result.module) resolve(*result.module, arena, result.diagnostics);
  return render_all(result.diagnostics, source, options);
}

// The statements of a module, as printed trees.
inline std::string tree(const std::string& text) {
  Source source("test.tsc", text);
  Arena arena;
  ParseResult result = parse_module(source, arena);
  INFO(text << render_all(result.diagnostics, source));
  REQUIRE(result.module);
  std::string printed = print_ast(*result.module);
  const std::string head = "Module(body=[", tail = "], type_ignores=[])";
  return printed.substr(head.size(), printed.size() - head.size() - tail.size());
}

// The tree of one expression, with contexts left out.
inline std::string expression(const std::string& text) {
  Source source("test.tsc", text);
  Arena arena;
  ParseResult result = parse_expression(source, arena);
  INFO(text << render_all(result.diagnostics, source));
  REQUIRE(result.module);
  std::string printed = print_ast(*as<ExprStmt>(result.module->body[0])->value);
  for (size_t at; (at = printed.find(", ctx=Load()")) != printed.npos;) printed.erase(at, 12);
  return printed;
}

inline bool incomplete(const std::string& text) {
  Source source("<stdin>", text);
  Arena arena;
  return parse_module(source, arena).is_incomplete;
}

using Faults = std::vector<std::string>;

}  // namespace tsc::lang
