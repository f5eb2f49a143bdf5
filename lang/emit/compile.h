#pragma once
// The whole of lang in one call: text -> tree -> scopes -> bytecode, or diagnostics.
// Knows: every stage of lang. Must not know: who runs the code.
#include <memory>

#include "lang/bytecode/bytecode.h"
#include "lang/diagnostic.h"
#include "lang/resolve.h"
#include "lang/source.h"

namespace tsc::lang {

struct CompileOptions {
  // For a prompt: when the last statement is an expression, its value goes to PrintExpr.
  bool interactive = false;
  // For tests: a failed `assert` tells the values of its comparison.
  bool explain_asserts = false;
  // Of exec and eval: names at the top live in the frame's namespace, which need not be the one of globals; what is not
  // found there is looked for among the globals.
  bool own_names = false;
  // As if the text began with `from __future__ import annotations`.
  bool postpones_annotations = false;
  // Functions compare their tensors with their annotations (shapes/annotation.h).
  bool check_shapes = false;
};

struct CompileResult {
  CodeRef code;  // null when there are errors
  Diagnostics diagnostics;
  // The text is a proper beginning that more lines could finish (see ParseResult).
  bool is_incomplete = false;
};

CompileResult compile_module(std::shared_ptr<const Source> source, const CompileOptions& options = {});

// One expression; the code returns its value. Names are read as at module level.
CompileResult compile_expression(std::shared_ptr<const Source> source, const CompileOptions& options = {});

// The last stage alone; `resolution` is that of `module`. Null when a limit was exceeded.
CodeRef emit_module(const Module& module, std::shared_ptr<const Source> source, const CompileOptions& options,
                    Diagnostics& diagnostics);

}  // namespace tsc::lang
