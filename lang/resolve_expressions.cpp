#include <string>

#include "lang/literal_warnings.h"
#include "lang/resolve_walk.h"

namespace tsc::lang {

// ---- Names

// `__x` inside class C is `_C__x`.
void Walker::mangle(Identifier& name) {
  Identifier cls = at_.scope->class_name;
  if (cls.empty() || !name.starts_with("__") || name.ends_with("__") || name.find('.') != name.npos) return;
  size_t letter = cls.find_first_not_of('_');
  if (letter == cls.npos) return;
  name = arena_.text("_" + std::string(cls.substr(letter)) + std::string(name));
}

Symbol* Walker::use(Identifier name, Span span) {
  Symbol* symbol = tables_.symbol(at_.scope, name, span);
  symbol->used = true;
  return symbol;
}

Symbol* Walker::bind(Identifier name, Span span, Binding* out) {
  Symbol* symbol = tables_.symbol(at_.scope, name, span);
  symbol->bound = true;
  if (symbol->is_global) declared_globals_.push_back(name);
  if (out) tables_.refer(symbol, out);
  return symbol;
}

void Walker::name(Name* n) {
  mangle(n->id);
  if (n->ctx != ExprContext::Load) {
    Symbol* symbol = bind(n->id, n->span, &n->binding);
    if (n->ctx == ExprContext::Del && !at_.scope->parameters.empty() && at_.scope->parameters[0] == symbol)
      at_.scope->scope->deletes_first = true;
    if (at_.scope->kind() != ScopeKind::Comprehension && at_.scope->kind() != ScopeKind::Generator) return;
    symbol->iterates = true;
    if (symbol->by_walrus)
      diagnostics_
          .error(Code::ComprehensionRebind, n->span,
                 "comprehension variable '" + std::string(n->id) + "' is also assigned with ':='")
          .label(symbol->span, "assigned here");
    return;
  }
  Symbol* symbol = use(n->id, n->span);
  // What the body of a class finds in its namespace from the start.
  if (at_.scope->kind() == ScopeKind::Class && (n->id == "__qualname__" || n->id == "__module__")) symbol->bound = true;
  tables_.refer(symbol, &n->binding);
  if (!at_.in_annotation) loads_.push_back(n);
  // super() finds its class through the implicit cell of the class body.
  if (n->id != "super" || at_.scope->class_name.empty()) return;
  for (ScopeTable* s = at_.scope->host; s; s = s->parent ? s->parent->host : nullptr) {
    if (s->kind() == ScopeKind::Class && s != at_.scope->host) {
      use("__class__", n->span);
      return;
    }
  }
}

// ':=' binds in the function around the comprehensions that it stands in.
void Walker::named(NamedExpr* e) {
  expr(e->value);
  if (at_.in_annotation) diagnostics_.error(Code::AnnotationPlacement, e->span, "':=' cannot stand in an annotation");
  Name* n = e->target;
  mangle(n->id);
  if (at_.in_iterable)
    diagnostics_.error(Code::InvalidWalrus, e->span, "':=' cannot stand in the iterable of a comprehension");
  ScopeTable* scope = at_.scope;
  Symbol* inner = tables_.symbol(scope, n->id, n->span);
  tables_.refer(inner, &n->binding);
  for (; scope->kind() == ScopeKind::Comprehension || scope->kind() == ScopeKind::Generator; scope = scope->parent) {
    Symbol* symbol = tables_.symbol(scope, n->id, n->span);
    symbol->used = symbol->by_walrus = true;
    if (!symbol->iterates) continue;
    diagnostics_
        .error(Code::ComprehensionRebind, n->span,
               "':=' cannot rebind comprehension variable '" + std::string(n->id) + "'")
        .label(symbol->span, "the variable of the comprehension");
    return;
  }
  if (scope->kind() == ScopeKind::Class && scope != at_.scope) {
    diagnostics_.error(Code::InvalidWalrus, e->span, "':=' cannot stand in a comprehension in a class body");
    return;
  }
  Symbol* target = tables_.symbol(scope, n->id, n->span);
  target->bound = true;
  if (target->is_global) declared_globals_.push_back(n->id);
}

// ---- Scopes in expressions

// Defaults are evaluated where the function is made.
void Walker::arguments_outside(Arguments* a) {
  exprs(a->defaults);
  exprs(a->kw_defaults);
}

void Walker::parameters(ScopeTable* scope, Arguments* a) {
  const auto add = [&](Parameter* p) {
    if (!p) return;
    mangle(p->name);
    Symbol* symbol = tables_.symbol(scope, p->name, p->name_span);
    if (symbol->parameter)
      diagnostics_.error(Code::DuplicateParameter, p->name_span, "duplicate parameter '" + std::string(p->name) + "'")
          .label(symbol->span, "first given here");
    else scope->parameters.push_back(symbol);
    symbol->parameter = symbol->bound = true;
  };
  for (Parameter* p : a->posonlyargs) add(p);
  for (Parameter* p : a->args) add(p);
  for (Parameter* p : a->kwonlyargs) add(p);
  add(a->vararg);
  add(a->kwarg);
}

void Walker::lambda(Lambda* e) {
  arguments_outside(e->args);
  ScopeTable* scope = tables_.open(ScopeKind::Lambda, "<lambda>", at_.scope);
  e->scope = scope->scope;
  Enter enter(*this, scope);
  parameters(scope, e->args);
  expr(e->body);
}

void Walker::yield(Expr* e, Expr* value) {
  if (value) expr(value);
  if (at_.in_annotation) diagnostics_.error(Code::AnnotationPlacement, e->span, "yield cannot stand in an annotation");
  else if (at_.scope->is_function()) at_.scope->scope->is_generator = true;
  else if (at_.scope->kind() == ScopeKind::Comprehension || at_.scope->kind() == ScopeKind::Generator)
    diagnostics_.error(Code::YieldInComprehension, e->span, "yield inside a comprehension")
        .help("write a loop instead");
  else diagnostics_.error(Code::YieldOutsideFunction, e->span, "yield outside a function");
}

void Walker::comprehension(ScopeKind kind, Identifier name, Scope*& out, List<Comprehension*> generators, Expr* element,
                           Expr* value) {
  // The outermost iterable belongs to the scope around.
  bool before = at_.in_iterable;
  at_.in_iterable = true;
  expr(generators.front()->iter);
  at_.in_iterable = before;
  ScopeTable* scope = tables_.open(kind, name, at_.scope);
  out = scope->scope;
  Enter enter(*this, scope);
  at_.in_iterable = before;
  if (kind == ScopeKind::Generator) {
    Symbol* iterable = tables_.symbol(scope, ".0", generators.front()->iter->span);
    iterable->parameter = iterable->bound = true;
    scope->parameters.push_back(iterable);
  }
  for (Comprehension* generator : generators) {
    expr(generator->target);
    if (generator != generators.front()) {
      at_.in_iterable = true;
      expr(generator->iter);
      at_.in_iterable = before;
    }
    exprs(generator->ifs);
  }
  expr(element);
  if (value) expr(value);
}

// ---- The walk

void Walker::keywords(List<Keyword*> list) {
  for (Keyword* k : list) {
    mangle(k->name);
    expr(k->value);
  }
}

void Walker::exprs(List<Expr*> list) {
  for (Expr* e : list)
    if (e) expr(e);
}

void Walker::expr(Expr* e) {
  switch (e->kind) {
    case ExprKind::Name: return name(as<Name>(e));
    case ExprKind::Constant: return;
    case ExprKind::Attribute: mangle(as<Attribute>(e)->attr); return expr(as<Attribute>(e)->value);
    case ExprKind::Call:
      warn_of_call(diagnostics_, *as<Call>(e));
      expr(as<Call>(e)->func);
      exprs(as<Call>(e)->args);
      return keywords(as<Call>(e)->keywords);
    case ExprKind::Subscript:
      warn_of_subscript(diagnostics_, *as<Subscript>(e));
      expr(as<Subscript>(e)->value);
      return expr(as<Subscript>(e)->slice);
    case ExprKind::BinOp: expr(as<BinOp>(e)->left); return expr(as<BinOp>(e)->right);
    case ExprKind::UnaryOp: return expr(as<UnaryOp>(e)->operand);
    case ExprKind::BoolOp: return exprs(as<BoolOp>(e)->values);
    case ExprKind::Compare:
      warn_of_identity(diagnostics_, *as<Compare>(e));
      expr(as<Compare>(e)->left);
      return exprs(as<Compare>(e)->comparators);
    case ExprKind::IfExp:
      expr(as<IfExp>(e)->test);
      expr(as<IfExp>(e)->body);
      return expr(as<IfExp>(e)->orelse);
    case ExprKind::NamedExpr: return named(as<NamedExpr>(e));
    case ExprKind::Lambda: return lambda(as<Lambda>(e));
    case ExprKind::Yield: return yield(e, as<Yield>(e)->value);
    case ExprKind::YieldFrom: return yield(e, as<YieldFrom>(e)->value);
    default: return display(e);
  }
}

// Expressions that are lists of others.
void Walker::display(Expr* e) {
  const auto element = [this](auto* c, ScopeKind kind, Identifier name) {
    comprehension(kind, name, c->scope, c->generators, c->elt, nullptr);
  };
  if (auto* dict = try_as<Dict>(e)) {
    exprs(dict->keys);
    exprs(dict->values);
  } else if (auto* set = try_as<Set>(e)) {
    exprs(set->elts);
  } else if (auto* list = try_as<ListExpr>(e)) {
    exprs(list->elts);
  } else if (auto* tuple = try_as<Tuple>(e)) {
    exprs(tuple->elts);
  } else if (auto* starred = try_as<Starred>(e)) {
    expr(starred->value);
  } else if (auto* slice = try_as<Slice>(e)) {
    for (Expr* part : {slice->lower, slice->upper, slice->step})
      if (part) expr(part);
  } else if (auto* joined = try_as<JoinedStr>(e)) {
    exprs(joined->values);
  } else if (auto* field = try_as<FormattedValue>(e)) {
    expr(field->value);
    if (field->format_spec) expr(field->format_spec);
  } else if (auto* list_comp = try_as<ListComp>(e)) {
    element(list_comp, ScopeKind::Comprehension, "<listcomp>");
  } else if (auto* set_comp = try_as<SetComp>(e)) {
    element(set_comp, ScopeKind::Comprehension, "<setcomp>");
  } else if (auto* dict_comp = try_as<DictComp>(e)) {
    comprehension(ScopeKind::Comprehension, "<dictcomp>", dict_comp->scope, dict_comp->generators, dict_comp->key,
                  dict_comp->value);
  } else {
    element(as<GeneratorExp>(e), ScopeKind::Generator, "<genexpr>");
  }
}

}  // namespace tsc::lang
