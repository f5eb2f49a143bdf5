// Annotations: an annotation is evaluated when somebody asks for it, by a hidden function in the scope it stands in. So
// what it reads of the functions around lies in cells. Those that nobody can ask for, of variables inside functions,
// are only looked through.
#include <algorithm>

#include "lang/annotated.h"
#include "lang/resolve_walk.h"

namespace tsc::lang {

// In the scope it stands in, where nothing comes of it.
void Walker::annotation(Expr* e) {
  if (!e) return;
  bool before = at_.in_annotation;
  at_.in_annotation = true;
  expr(e);
  at_.in_annotation = before;
}

ScopeTable* Walker::annotation_scope() {
  ScopeTable* scope = tables_.open(ScopeKind::Annotation, "__annotate__", at_.scope);
  Symbol* number = tables_.symbol(scope, ".0", {});
  number->parameter = number->bound = true;
  scope->parameters.push_back(number);
  return scope;
}

void Walker::evaluated_later(ScopeTable* scope, Expr* e) {
  if (module_->postpones_annotations) return annotation(e);
  Enter enter(*this, scope);
  annotation(e);
}

void Walker::function_annotations(FunctionDef* f) {
  const std::vector<Annotated> parts = annotated_parts(*f);
  if (parts.empty()) return;
  ScopeTable* scope = annotation_scope();
  f->annotations = scope->scope;
  for (const Annotated& part : parts) evaluated_later(scope, const_cast<Expr*>(part.annotation));
}

void Walker::variable_annotation(AnnAssign* a) {
  ScopeTable* scope = at_.scope;
  const bool is_kept = a->simple && (scope->kind() == ScopeKind::Module || scope->kind() == ScopeKind::Class);
  if (!is_kept || annotates_at_once()) return annotation(a->annotation);
  evaluated_later(variable_annotations(), a->annotation);
}

// Those of the class or module at hand.
ScopeTable* Walker::variable_annotations() {
  ScopeTable* scope = at_.scope;
  if (!scope->annotations) {
    scope->annotations = annotation_scope();
    scope->scope->annotations = scope->annotations->scope;
  }
  return scope->annotations;
}

bool Walker::annotates_at_once() const {
  return module_->reads_annotations || (module_->annotates_at_once && at_.scope->kind() == ScopeKind::Module);
}

// Where not every annotation is reached, the body notes which are, and the hidden function's closure has that note.
void Walker::note_conditional(List<Stmt*> body) {
  if (annotates_at_once()) return;
  const std::vector<Annotated> names = annotated_names(body);
  if (std::none_of(names.begin(), names.end(), [](const Annotated& a) { return a.may_be_passed_by; })) return;
  Enter enter(*this, variable_annotations());
  use(Scope::kReached, {});
}

void Walker::future_import(const ImportFrom* i) {
  static constexpr std::string_view kFeatures[] = {"nested_scopes",    "generators",     "division",
                                                   "absolute_import",  "with_statement", "print_function",
                                                   "unicode_literals", "generator_stop", "annotations"};
  if (!at_beginning_) {
    diagnostics_.error(Code::FutureImport, i->span, "imports from __future__ stand at the beginning of the file")
        .help("move it to the first line");
    return;
  }
  for (const Alias* a : i->names)
    if (std::find(std::begin(kFeatures), std::end(kFeatures), a->name) == std::end(kFeatures))
      diagnostics_.error(Code::FutureImport, a->span, "there is no future feature '" + std::string(a->name) + "'");
}

}  // namespace tsc::lang
