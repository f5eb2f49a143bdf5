#pragma once
// Walks a module once, opens its scopes and mentions its names to the symbol tables; reports what
// stands at a place where it has no meaning (return, yield, break, import *, ...).
// Knows: the tree, the tables. Must not know: how frames are laid out.
#include <unordered_map>
#include <vector>

#include "lang/symbols.h"

namespace tsc::lang {

class Walker {
 public:
  Walker(SymbolTables& tables, Arena& arena, Diagnostics& diagnostics)
      : tables_(tables), arena_(arena), diagnostics_(diagnostics) {}

  ScopeTable* module(Module& module);
  // Names read, outside annotations.
  const std::vector<Name*>& loads() const { return loads_; }
  // Names bound under a `global` declaration.
  const std::vector<Identifier>& declared_globals() const { return declared_globals_; }

 private:
  // What surrounds the node being visited, inside its scope.
  struct Context {
    ScopeTable* scope = nullptr;
    bool in_loop = false;
    bool in_annotation = false;
    bool in_except_star = false;      // no `return` leaves it
    bool leaves_except_star = false;  // and no `break` or `continue`, which here is not about a loop inside it
    bool in_iterable = false;         // of a comprehension: ':=' is refused there
  };
  class Enter;

  // Annotations (resolve_annotations.cpp).
  void annotation(Expr* e);
  void function_annotations(FunctionDef* f);
  void variable_annotation(AnnAssign* a);
  void evaluated_later(ScopeTable* scope, Expr* e);
  ScopeTable* annotation_scope();
  ScopeTable* variable_annotations();
  bool annotates_at_once() const;
  void note_conditional(List<Stmt*> body);
  void future_import(const ImportFrom* i);

  // Statements (resolve_statements.cpp).
  void stmt(Stmt* s);
  void stmts(List<Stmt*> list);
  void simple(Stmt* s);
  void loop_body(List<Stmt*> body);
  void leaves_except_star(const Stmt* s);
  void function(FunctionDef* f);
  void class_def(ClassDef* c);
  void declaration(Stmt* s, List<Identifier> names, bool global);
  void try_stmt(Try* t);
  void match_stmt(Match* m);
  void alias(Alias* a, bool from);
  void import_from(ImportFrom* i);
  void pattern(Pattern* p);
  void bind_pattern_name(Identifier& name, Span span, Binding* out);
  void or_pattern(MatchOr* p);

  // Expressions (resolve_expressions.cpp).
  void expr(Expr* e);
  void exprs(List<Expr*> list);
  void name(Name* n);
  void named(NamedExpr* e);
  void lambda(Lambda* e);
  void yield(Expr* e, Expr* value);
  void display(Expr* e);
  void comprehension(ScopeKind kind, Identifier name, Scope*& out, List<Comprehension*> generators, Expr* element,
                     Expr* value);
  void keywords(List<Keyword*> list);
  void arguments_outside(Arguments* a);
  void parameters(ScopeTable* scope, Arguments* a);

  Symbol* use(Identifier name, Span span);
  // Marks a name as assigned in the current scope; `out` receives its binding.
  Symbol* bind(Identifier name, Span span, Binding* out);
  void mangle(Identifier& name);

  SymbolTables& tables_;
  Arena& arena_;
  Diagnostics& diagnostics_;
  Context at_;
  const Module* module_ = nullptr;
  bool at_beginning_ = true;  // nothing but the docstring and imports from __future__ so far
  std::vector<Name*> loads_;
  std::vector<Identifier> declared_globals_;
  std::unordered_map<Identifier, Span>* pattern_names_ = nullptr;
};

// Opens a scope for the time of a block and restores what surrounded it.
class Walker::Enter {
 public:
  Enter(Walker& walker, ScopeTable* scope) : walker_(walker), saved_(walker.at_) {
    walker.at_ = {};
    walker.at_.scope = scope;
  }
  ~Enter() { walker_.at_ = saved_; }

 private:
  Walker& walker_;
  Context saved_;
};

}  // namespace tsc::lang
