#pragma once
// The parts of a node, in the order of the text. Knows: the tree.
#include "lang/ast.h"

namespace tsc::lang {

// The operands of operators and accesses; false for other kinds.
template <class Visit>
bool each_operand(Expr* e, Visit&& one) {
  switch (e->kind) {
    case ExprKind::NamedExpr: return one(as<NamedExpr>(e)->value), true;
    case ExprKind::BinOp: return one(as<BinOp>(e)->left), one(as<BinOp>(e)->right), true;
    case ExprKind::UnaryOp: return one(as<UnaryOp>(e)->operand), true;
    case ExprKind::IfExp: return one(as<IfExp>(e)->body), one(as<IfExp>(e)->test), one(as<IfExp>(e)->orelse), true;
    case ExprKind::Yield: return one(as<Yield>(e)->value), true;
    case ExprKind::YieldFrom: return one(as<YieldFrom>(e)->value), true;
    case ExprKind::FormattedValue:
      return one(as<FormattedValue>(e)->value), one(as<FormattedValue>(e)->format_spec), true;
    case ExprKind::Attribute: return one(as<Attribute>(e)->value), true;
    case ExprKind::Subscript: return one(as<Subscript>(e)->value), one(as<Subscript>(e)->slice), true;
    case ExprKind::Starred: return one(as<Starred>(e)->value), true;
    case ExprKind::Slice: return one(as<Slice>(e)->lower), one(as<Slice>(e)->upper), one(as<Slice>(e)->step), true;
    default: return false;
  }
}

// Calls visit(Expr*) for each expression directly inside `e`, but for what has a scope of its own:
// lambdas and comprehensions are for the caller.
template <class Visit>
void each_child(Expr* e, Visit&& visit) {
  const auto one = [&](Expr* item) {
    if (item) visit(item);
  };
  const auto list = [&](List<Expr*> items) {
    for (Expr* item : items) one(item);
  };
  if (each_operand(e, one)) return;
  switch (e->kind) {
    case ExprKind::BoolOp: return list(as<BoolOp>(e)->values);
    case ExprKind::Dict:
      for (size_t i = 0; i < as<Dict>(e)->values.size(); ++i) {
        one(as<Dict>(e)->keys[i]);
        one(as<Dict>(e)->values[i]);
      }
      return;
    case ExprKind::Set: return list(as<Set>(e)->elts);
    case ExprKind::Compare: one(as<Compare>(e)->left); return list(as<Compare>(e)->comparators);
    case ExprKind::Call:
      one(as<Call>(e)->func);
      list(as<Call>(e)->args);
      for (Keyword* k : as<Call>(e)->keywords) one(k->value);
      return;
    case ExprKind::JoinedStr: return list(as<JoinedStr>(e)->values);
    case ExprKind::ListExpr: return list(as<ListExpr>(e)->elts);
    case ExprKind::Tuple: return list(as<Tuple>(e)->elts);
    default: return;
  }
}

// Calls visit(List<Stmt*>) for each block of a statement that runs in the statement's own scope.
template <class Visit>
void each_block(Stmt* s, Visit&& visit) {
  switch (s->kind) {
    case StmtKind::For: visit(as<For>(s)->body); return visit(as<For>(s)->orelse);
    case StmtKind::While: visit(as<While>(s)->body); return visit(as<While>(s)->orelse);
    case StmtKind::If: visit(as<If>(s)->body); return visit(as<If>(s)->orelse);
    case StmtKind::With: return visit(as<With>(s)->body);
    case StmtKind::Match:
      for (MatchCase* c : as<Match>(s)->cases) visit(c->body);
      return;
    case StmtKind::Try:
      visit(as<Try>(s)->body);
      for (ExceptHandler* h : as<Try>(s)->handlers) visit(h->body);
      visit(as<Try>(s)->orelse);
      return visit(as<Try>(s)->finalbody);
    default: return;
  }
}

}  // namespace tsc::lang
