#include "lang/emit/compile.h"

#include "lang/arena.h"
#include "lang/emit/emitter.h"
#include "lang/parse.h"

namespace tsc::lang {
namespace {

void report_limit(const CodeLimit& limit, Span span, Diagnostics& diagnostics) {
  diagnostics.error(Code::CodeTooLarge, span, "too many " + limit.what + " in one function or module")
      .help("move a part of it into a function of its own");
}

CodeRef emit_with_context(const Module& module, const EmitContext& context, bool is_expression,
                          Diagnostics& diagnostics) {
  try {
    for (bool long_jumps : {false, true}) {
      Emitter emitter(context, *module.scope, CodeKind::Module, long_jumps);
      emitter.set_signature(module.span);
      if (is_expression) {
        emitter.emit_expression_body(as<const ExprStmt>(static_cast<const Stmt*>(module.body[0]))->value);
      } else {
        emitter.emit_module_body(module);
      }
      if (auto code = emitter.finish()) return code;
    }
    TSC_CHECK(false, "a jump beyond 32 bits");
  } catch (const CodeLimit& limit) {
    report_limit(limit, module.span, diagnostics);
  }
  return nullptr;
}

EmitContext make_context(const Module& module, std::shared_ptr<const Source> source, const CompileOptions& options,
                         Diagnostics& diagnostics) {
  EmitContext context;
  context.has_walrus = source->text().find(":=") != std::string_view::npos;
  context.source = std::move(source);
  context.options = options;
  context.reads_annotations = module.reads_annotations;
  context.annotates_at_once = module.annotates_at_once;
  context.postpones_annotations = module.postpones_annotations;
  if (options.check_shapes) {
    context.shape_names = std::make_shared<const ShapeNames>(module);
    context.diagnostics = &diagnostics;
  }
  return context;
}

CompileResult compile(std::shared_ptr<const Source> source, const CompileOptions& options, bool is_expression) {
  Arena arena;
  ParseResult parsed = is_expression ? parse_expression(*source, arena) : parse_module(*source, arena);
  CompileResult result;
  result.diagnostics = std::move(parsed.diagnostics);
  result.is_incomplete = parsed.is_incomplete;
  if (!parsed.module || result.diagnostics.has_errors()) return result;
  parsed.module->annotates_at_once = options.own_names || options.interactive;
  parsed.module->postpones_annotations |= options.postpones_annotations;
  resolve(*parsed.module, arena, result.diagnostics);
  if (result.diagnostics.has_errors()) return result;
  EmitContext context = make_context(*parsed.module, std::move(source), options, result.diagnostics);
  result.code = emit_with_context(*parsed.module, context, is_expression, result.diagnostics);
  return result;
}

}  // namespace

CompileResult compile_module(std::shared_ptr<const Source> source, const CompileOptions& options) {
  return compile(std::move(source), options, false);
}

CompileResult compile_expression(std::shared_ptr<const Source> source, const CompileOptions& options) {
  return compile(std::move(source), options, true);
}

CodeRef emit_module(const Module& module, std::shared_ptr<const Source> source, const CompileOptions& options,
                    Diagnostics& diagnostics) {
  EmitContext context = make_context(module, std::move(source), options, diagnostics);
  return emit_with_context(module, context, false, diagnostics);
}

}  // namespace tsc::lang
