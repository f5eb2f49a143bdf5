#include "lang/emit/emitter.h"

namespace tsc::lang {

Emitter::Emitter(const EmitContext& context, const Scope& scope, CodeKind kind, bool long_jumps)
    : context_(context), scope_(scope), b_(long_jumps) {
  CodeObject& code = b_.code();
  code.kind = kind;
  code.is_generator = scope.is_generator;
  code.name = scope.name;
  code.qualname = scope.qualname;
  code.source = context.source;
  code.cell_begin = static_cast<uint32_t>(scope.locals.size());
  code.cell_end = code.cell_begin + static_cast<uint32_t>(scope.cells.size());
  std::vector<std::string> names;
  for (Identifier name : scope.locals) names.emplace_back(name);
  for (const CellVariable& cell : scope.cells) names.emplace_back(cell.name);
  b_.name_registers(std::move(names));
  for (const FreeVariable& variable : scope.frees) code.free_names.emplace_back(variable.name);
  code.postpones_annotations = context.postpones_annotations;
  if (kind == CodeKind::GeneratorExpression || kind == CodeKind::Annotations) {
    code.parameters.positional_only = code.parameters.positional = 1;
    code.parameters.names = {".0"};
  }
}

void Emitter::set_signature(Span span) {
  b_.code().span = span;
  b_.code().first_line = context_.source->line_of(span.begin);
}

Reg Emitter::cell_register(uint32_t cell) const { return static_cast<Reg>(scope_.locals.size()) + cell; }

// Puts the variables that inner functions share into cells.
void Emitter::prologue() {
  InstructionSpan where = at(b_.code().span);
  for (uint32_t i = 0; i < scope_.cells.size(); ++i) {
    Reg cell = cell_register(i);
    int32_t parameter = scope_.cells[i].parameter;
    if (parameter >= 0) {
      b_.move(cell, {static_cast<Reg>(parameter), false}, where);
      b_.emit(Op::Clear, static_cast<uint32_t>(parameter), 0, 0, where);
    }
    b_.emit(Op::MakeCell, cell, 0, 0, where);
  }
}

void Emitter::emit_module_body(const Module& module) {
  prologue();
  begin_annotations(module.body, {module.span.begin, module.span.begin});
  const Constant* text = context_.options.interactive ? nullptr : docstring(module.body);
  if (text) {
    b_.code().set_docstring(text->text);
    Operand value = constant(str_literal(text->text), {}, at(text));
    store_binding({Access::Global, 0}, "__doc__", value, at(text));
    b_.reset(value.reg);
  }
  if (context_.options.interactive && !module.body.empty()) {
    interactive_result_ = module.body.back();
  }
  statements(module.body);
  b_.emit(Op::ReturnNone, 0, 0, 0, at(module.body.empty() ? module.span : module.body.back()->span));
}

void Emitter::emit_expression_body(const Expr* value) {
  prologue();
  Operand result = expr(value);
  b_.effect(Op::Return, result, at(value));
}

void Emitter::emit_function_body(const FunctionDef& node) {
  if (const Constant* text = docstring(node.body)) b_.code().set_docstring(text->text);
  check_shape_arguments(node);
  prologue();
  statements(node.body);
  emit_return_none(at(node.body.back()->span));
}

}  // namespace tsc::lang
