// Statements without a file of their own.
#include "lang/emit/emitter.h"

namespace tsc::lang {

void Emitter::statements(List<Stmt*> body) {
  for (const Stmt* s : body) statement(s);
}

void Emitter::statement(const Stmt* s) {
  size_t mark = b_.begin_statement(s->span);
  switch (s->kind) {
    case StmtKind::FunctionDef: emit_function_def(*as<const FunctionDef>(s)); break;
    case StmtKind::ClassDef: emit_class_def(*as<const ClassDef>(s)); break;
    case StmtKind::Return: emit_return(*as<const Return>(s)); break;
    case StmtKind::Delete:
      for (const Expr* target : as<const Delete>(s)->targets) emit_delete(target);
      break;
    case StmtKind::Assign: emit_assign(*as<const Assign>(s)); break;
    case StmtKind::AugAssign: emit_aug_assign(*as<const AugAssign>(s)); break;
    case StmtKind::AnnAssign: emit_ann_assign(*as<const AnnAssign>(s)); break;
    case StmtKind::For: emit_for(*as<const For>(s)); break;
    case StmtKind::While: emit_while(*as<const While>(s)); break;
    case StmtKind::If: emit_if(*as<const If>(s)); break;
    case StmtKind::With: emit_with(as<const With>(s)->items, as<const With>(s)->body, s->span); break;
    case StmtKind::Match: emit_match(*as<const Match>(s)); break;
    case StmtKind::Raise: emit_raise(*as<const Raise>(s)); break;
    case StmtKind::Try: emit_try(*as<const Try>(s)); break;
    case StmtKind::Assert: emit_assert(*as<const Assert>(s)); break;
    case StmtKind::Import: emit_import(*as<const Import>(s)); break;
    case StmtKind::ImportFrom: emit_import_from(*as<const ImportFrom>(s)); break;
    case StmtKind::ExprStmt: emit_expr_stmt(*as<const ExprStmt>(s)); break;
    case StmtKind::Break: emit_break(s->span); break;
    case StmtKind::Continue: emit_continue(s->span); break;
    case StmtKind::Global: {
      const List<Identifier> names = as<const Global>(s)->names;
      if (b_.code().kind == CodeKind::Module)
        declared_at_top_.insert(declared_at_top_.end(), names.begin(), names.end());
      break;
    }
    case StmtKind::Nonlocal:
    case StmtKind::Pass: break;
  }
  b_.end_statement(mark);
}

void Emitter::emit_expr_stmt(const ExprStmt& node) {
  if (!is_last_interactive(&node)) return discard(node.value);
  Reg mark = b_.top();
  b_.effect(Op::PrintExpr, expr(node.value), at(&*node.value));
  b_.reset(mark);
}

void Emitter::emit_return(const Return& node) {
  Reg mark = b_.top();
  if (!node.value) {
    leave_blocks(0, node.span);
    emit_return_none(at(node.span));
    return resume_blocks(0);
  }
  if (blocks_.empty()) return return_value(node.value, node.span);
  // A `finally` on the way out may assign the variable that is returned.
  Operand value{expr_next(node.value), true};
  leave_blocks(0, node.span);
  check_shape_result(value, at(node.value));
  b_.effect(Op::Return, value, at(node.span));
  resume_blocks(0);
  b_.reset(mark);
}

// Outside of all blocks. Either way of a conditional expression returns by itself.
void Emitter::return_value(const Expr* value, Span where) {
  if (value->kind == ExprKind::IfExp) {
    const auto& choice = *as<const IfExp>(value);
    JumpLabel otherwise = b_.make_label();
    jump_if(choice.test, false, otherwise);
    return_value(choice.body, where);
    b_.place(otherwise);
    return return_value(choice.orelse, where);
  }
  Reg mark = b_.top();
  Operand result = expr(value);
  check_shape_result(result, at(value));
  b_.effect(Op::Return, result, at(where));
  b_.reset(mark);
}

void Emitter::emit_if(const If& node) {
  JumpLabel otherwise = b_.make_label(), end = b_.make_label();
  jump_if(node.test, false, otherwise);
  statements(node.body);
  if (!node.orelse.empty()) b_.jump(end, at(node.test));
  b_.place(otherwise);
  statements(node.orelse);
  b_.place(end);
}

void Emitter::emit_assert(const Assert& node) {
  if (context_.options.explain_asserts) return emit_explained_assert(node);
  JumpLabel holds = b_.make_label();
  Reg mark = b_.top();
  jump_if(node.test, true, holds);
  Reg error = b_.allocate();
  b_.emit(Op::LoadAssertionError, error, 0, 0, at(node.span));
  if (node.msg) {
    expr_next(node.msg);
    b_.emit(Op::Call, error, error, 1, at(node.span));
  }
  b_.effect(Op::Raise, {error, true}, at(node.test->span));
  b_.reset(mark);
  b_.place(holds);
}

void Emitter::emit_raise(const Raise& node) {
  Reg mark = b_.top();
  if (!node.exc) {
    b_.emit(Op::RaiseHandled, 0, 0, 0, at(node.span));
  } else if (!node.cause) {
    b_.effect(Op::Raise, expr(node.exc), at(node.span));
  } else {
    Operand exception = stable(node.exc, {node.cause});
    Operand cause = expr(node.cause);
    b_.effect(Op::RaiseFrom, exception, cause, at(node.span));
  }
  b_.reset(mark);
}

void Emitter::emit_import(const Import& node) {
  for (const Alias* alias : node.names) {
    Reg module = b_.allocate();
    bool wants_leaf = !alias->asname.empty();
    b_.emit(Op::ImportName, module, b_.name(alias->name), 0, at(node.span), wants_leaf);
    Identifier bound = wants_leaf ? alias->asname : alias->name.substr(0, alias->name.find('.'));
    store_binding(alias->binding, bound, {module, true}, at(node.span));
    b_.reset(module);
  }
}

void Emitter::emit_import_from(const ImportFrom& node) {
  Reg module = b_.allocate();
  b_.emit(Op::ImportName, module, b_.name(node.module), node.level, at(node.span), 1);
  for (const Alias* alias : node.names) {
    if (alias->name == "*") {
      b_.effect(Op::ImportStar, {module, false}, at(node.span));
      continue;
    }
    Reg value = b_.allocate();
    b_.unary(Op::ImportFrom, value, {module, false}, b_.name(alias->name), at(node.span));
    Identifier bound = alias->asname.empty() ? alias->name : alias->asname;
    store_binding(alias->binding, bound, {value, true}, at(node.span));
    b_.reset(value);
  }
  b_.emit(Op::Clear, module, 0, 0, at(node.span));
  b_.reset(module);
}

}  // namespace tsc::lang
