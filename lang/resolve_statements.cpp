#include <algorithm>
#include <string>

#include "lang/resolve_walk.h"

namespace tsc::lang {

namespace {

// Matches whatever it is given.
bool irrefutable(const Pattern* p) {
  auto* as_pattern = try_as<const MatchAs>(p);
  if (as_pattern) return !as_pattern->pattern || irrefutable(as_pattern->pattern);
  auto* alternatives = try_as<const MatchOr>(p);
  return alternatives && !alternatives->patterns.empty() && irrefutable(alternatives->patterns.back());
}

}  // namespace

ScopeTable* Walker::module(Module& module) {
  ScopeTable* scope = tables_.open(ScopeKind::Module, "<module>", nullptr);
  module.scope = scope->scope;
  at_.scope = scope;
  module_ = &module;
  note_conditional(module.body);
  for (Stmt* s : module.body) {
    auto* import = try_as<const ImportFrom>(static_cast<const Stmt*>(s));
    const bool is_docstring = s == module.body[0] && docstring(module.body);
    at_beginning_ &= is_docstring || (import && import->module == "__future__");
    stmt(s);
  }
  return scope;
}

void Walker::stmts(List<Stmt*> list) {
  for (Stmt* s : list) stmt(s);
}

void Walker::loop_body(List<Stmt*> body) {
  const Context before = at_;
  at_.in_loop = true;
  at_.leaves_except_star = false;
  stmts(body);
  at_.in_loop = before.in_loop;
  at_.leaves_except_star = before.leaves_except_star;
}

// ---- Definitions and declarations

void Walker::function(FunctionDef* f) {
  exprs(f->decorator_list);
  arguments_outside(f->args);
  function_annotations(f);
  Identifier plain = f->name;
  mangle(f->name);
  bind(f->name, f->name_span, &f->binding);
  ScopeTable* scope = tables_.open(ScopeKind::Function, plain, at_.scope);
  f->scope = scope->scope;
  Enter enter(*this, scope);
  parameters(scope, f->args);
  stmts(f->body);
}

void Walker::class_def(ClassDef* c) {
  exprs(c->decorator_list);
  exprs(c->bases);
  keywords(c->keywords);
  Identifier plain = c->name;
  mangle(c->name);
  bind(c->name, c->name_span, &c->binding);
  ScopeTable* scope = tables_.open(ScopeKind::Class, plain, at_.scope);
  scope->class_name = plain;
  c->scope = scope->scope;
  Enter enter(*this, scope);
  note_conditional(c->body);
  stmts(c->body);
}

void Walker::declaration(Stmt* s, List<Identifier> names, bool global) {
  const std::string word = global ? "global" : "nonlocal";
  if (!global && at_.scope->kind() == ScopeKind::Module) {
    diagnostics_.error(Code::NonlocalAtModule, s->span, "nonlocal declaration at module level");
    return;
  }
  for (Identifier& name : names) {
    mangle(name);
    Symbol* symbol = tables_.symbol(at_.scope, name, s->span);
    const std::string quoted = "'" + std::string(name) + "'";
    bool other = global ? symbol->is_nonlocal : symbol->is_global;
    if (symbol->parameter || other) {
      diagnostics_
          .error(Code::ConflictingDeclaration, s->span,
                 "name " + quoted + " is both " + (other ? (global ? "nonlocal" : "global") : "a parameter") + " and " +
                     word)
          .label(other ? symbol->declared : symbol->span, other ? "declared here" : "the parameter");
    } else if (symbol->used || (symbol->bound && at_.scope->kind() != ScopeKind::Module)) {
      diagnostics_
          .error(Code::DeclarationAfterUse, s->span,
                 "name " + quoted + " is " + (symbol->bound ? "assigned" : "used") + " before its " + word +
                     " declaration")
          .label(symbol->span, symbol->bound ? "assigned here" : "used here")
          .help("move the declaration to the beginning of the function");
    }
    symbol->declared = s->span;
    (global ? symbol->is_global : symbol->is_nonlocal) = true;
  }
}

void Walker::alias(Alias* a, bool from) {
  if (a->name == "*") return;
  Identifier bound = a->asname.empty() ? a->name : a->asname;
  if (a->asname.empty() && !from) bound = bound.substr(0, bound.find('.'));
  mangle(bound);
  if (!a->asname.empty()) a->asname = bound;
  bind(bound, a->span, &a->binding);
}

void Walker::import_from(ImportFrom* i) {
  if (i->level == 0 && i->module == "__future__") future_import(i);
  for (Alias* a : i->names) {
    alias(a, true);
    if (a->name != "*") continue;
    if (at_.scope->kind() == ScopeKind::Module) at_.scope->scope->has_star_import = true;
    else
      diagnostics_.error(Code::ImportStarPlacement, i->span, "import * is allowed only at module level")
          .help("name what you need: from module import a, b");
  }
}

// ---- Try and match

void Walker::try_stmt(Try* t) {
  stmts(t->body);
  for (ExceptHandler* h : t->handlers) {
    if (!h->type && h != t->handlers.back()) {
      Span word{h->span.begin, h->span.begin + 6};
      diagnostics_.error(Code::BareExceptOrder, word, "a bare 'except:' must be the last one");
    }
    if (h->type) expr(h->type);
    if (!h->name.empty()) {
      mangle(h->name);
      bind(h->name, h->name_span, &h->binding);
    }
    const Context before = at_;
    if (t->is_star) at_.in_except_star = at_.leaves_except_star = true;
    stmts(h->body);
    at_.in_except_star = before.in_except_star;
    at_.leaves_except_star = before.leaves_except_star;
  }
  stmts(t->orelse);
  stmts(t->finalbody);
}

void Walker::match_stmt(Match* m) {
  expr(m->subject);
  for (MatchCase* c : m->cases) {
    std::unordered_map<Identifier, Span> names;
    pattern_names_ = &names;
    pattern(c->pattern);
    pattern_names_ = nullptr;
    if (irrefutable(c->pattern) && !c->guard && c != m->cases.back())
      diagnostics_.error(Code::UnreachablePattern, c->pattern->span,
                         "this pattern matches everything and hides the cases after it");
    if (c->guard) expr(c->guard);
    stmts(c->body);
  }
}

void Walker::bind_pattern_name(Identifier& name, Span span, Binding* out) {
  if (name.empty()) return;
  mangle(name);
  auto [first, fresh] = pattern_names_->try_emplace(name, span);
  if (!fresh)
    diagnostics_.error(Code::PatternNames, span, "name '" + std::string(name) + "' is bound twice in a pattern")
        .label(first->second, "first bound here");
  bind(name, span, out);
}

// All alternatives must bind the same names.
void Walker::or_pattern(MatchOr* p) {
  auto* around = pattern_names_;
  std::unordered_map<Identifier, Span> first;
  for (size_t i = 0; i < p->patterns.size(); ++i) {
    Pattern* alternative = p->patterns[i];
    if (irrefutable(alternative) && i + 1 < p->patterns.size()) {
      diagnostics_.error(Code::UnreachablePattern, alternative->span,
                         "this alternative matches everything and hides the ones after it");
      break;
    }
    std::unordered_map<Identifier, Span> names;
    pattern_names_ = &names;
    pattern(alternative);
    bool same = i == 0 || names.size() == first.size();
    for (auto& [name, span] : names) same &= i == 0 || first.count(name);
    if (!same)
      diagnostics_.error(Code::PatternNames, alternative->span, "alternatives bind different names")
          .label(p->patterns[0]->span, "compared with this alternative");
    if (i == 0) first = names;
  }
  pattern_names_ = around;
  for (auto& [name, span] : first) {
    auto [earlier, fresh] = pattern_names_->try_emplace(name, span);
    if (!fresh)
      diagnostics_.error(Code::PatternNames, span, "name '" + std::string(name) + "' is bound twice in a pattern")
          .label(earlier->second, "first bound here");
  }
}

void Walker::pattern(Pattern* p) {
  const auto each = [this](List<Pattern*> list) {
    for (Pattern* item : list) pattern(item);
  };
  switch (p->kind) {
    case PatternKind::MatchValue: return expr(as<MatchValue>(p)->value);
    case PatternKind::MatchSingleton: return;
    case PatternKind::MatchSequence: return each(as<MatchSequence>(p)->patterns);
    case PatternKind::MatchMapping: {
      auto* m = as<MatchMapping>(p);
      exprs(m->keys);
      each(m->patterns);
      return bind_pattern_name(m->rest, m->rest_span, &m->binding);
    }
    case PatternKind::MatchClass: {
      auto* c = as<MatchClass>(p);
      expr(c->cls);
      for (Identifier& attr : c->kwd_attrs) mangle(attr);
      each(c->patterns);
      return each(c->kwd_patterns);
    }
    case PatternKind::MatchStar: return bind_pattern_name(as<MatchStar>(p)->name, p->span, &as<MatchStar>(p)->binding);
    case PatternKind::MatchAs: {
      auto* a = as<MatchAs>(p);
      if (a->pattern) pattern(a->pattern);
      return bind_pattern_name(a->name, a->span, &a->binding);
    }
    case PatternKind::MatchOr: return or_pattern(as<MatchOr>(p));
  }
}

// ---- The walk

void Walker::leaves_except_star(const Stmt* s) {
  diagnostics_
      .error(Code::LeavesExceptStar, s->span, "'break', 'continue' and 'return' cannot appear in an except* block")
      .help("set a variable here, and leave behind the try statement");
}

void Walker::simple(Stmt* s) {
  switch (s->kind) {
    case StmtKind::Return:
      if (at_.in_except_star) leaves_except_star(s);
      else if (!at_.scope->is_function())
        diagnostics_.error(Code::ReturnOutsideFunction, s->span, "return outside a function");
      if (as<Return>(s)->value) expr(as<Return>(s)->value);
      return;
    case StmtKind::Break:
      if (at_.leaves_except_star) leaves_except_star(s);
      else if (!at_.in_loop) diagnostics_.error(Code::BreakOutsideLoop, s->span, "break outside a loop");
      return;
    case StmtKind::Continue:
      if (at_.leaves_except_star) leaves_except_star(s);
      else if (!at_.in_loop) diagnostics_.error(Code::ContinueOutsideLoop, s->span, "continue outside a loop");
      return;
    case StmtKind::Raise:
      if (as<Raise>(s)->exc) expr(as<Raise>(s)->exc);
      if (as<Raise>(s)->cause) expr(as<Raise>(s)->cause);
      return;
    case StmtKind::Assert:
      expr(as<Assert>(s)->test);
      if (as<Assert>(s)->msg) expr(as<Assert>(s)->msg);
      return;
    case StmtKind::Import:
      for (Alias* a : as<Import>(s)->names) alias(a, false);
      return;
    case StmtKind::ImportFrom: return import_from(as<ImportFrom>(s));
    case StmtKind::Global: return declaration(s, as<Global>(s)->names, true);
    case StmtKind::Nonlocal: return declaration(s, as<Nonlocal>(s)->names, false);
    default: return;
  }
}

void Walker::stmt(Stmt* s) {
  switch (s->kind) {
    case StmtKind::FunctionDef: return function(as<FunctionDef>(s));
    case StmtKind::ClassDef: return class_def(as<ClassDef>(s));
    case StmtKind::ExprStmt: return expr(as<ExprStmt>(s)->value);
    case StmtKind::Assign: expr(as<Assign>(s)->value); return exprs(as<Assign>(s)->targets);
    case StmtKind::AugAssign: expr(as<AugAssign>(s)->value); return expr(as<AugAssign>(s)->target);
    case StmtKind::AnnAssign:
      variable_annotation(as<AnnAssign>(s));
      if (as<AnnAssign>(s)->value) expr(as<AnnAssign>(s)->value);
      return expr(as<AnnAssign>(s)->target);
    case StmtKind::Delete: return exprs(as<Delete>(s)->targets);
    case StmtKind::For:
      expr(as<For>(s)->iter);
      expr(as<For>(s)->target);
      loop_body(as<For>(s)->body);
      return stmts(as<For>(s)->orelse);
    case StmtKind::While:
      expr(as<While>(s)->test);
      loop_body(as<While>(s)->body);
      return stmts(as<While>(s)->orelse);
    case StmtKind::If:
      expr(as<If>(s)->test);
      stmts(as<If>(s)->body);
      return stmts(as<If>(s)->orelse);
    case StmtKind::With:
      for (WithItem* item : as<With>(s)->items) {
        expr(item->context_expr);
        if (item->optional_vars) expr(item->optional_vars);
      }
      return stmts(as<With>(s)->body);
    case StmtKind::Try: return try_stmt(as<Try>(s));
    case StmtKind::Match: return match_stmt(as<Match>(s));
    case StmtKind::Return:
    case StmtKind::Raise:
    case StmtKind::Assert:
    case StmtKind::Import:
    case StmtKind::ImportFrom:
    case StmtKind::Global:
    case StmtKind::Nonlocal:
    case StmtKind::Pass:
    case StmtKind::Break:
    case StmtKind::Continue: return simple(s);
  }
}

}  // namespace tsc::lang
