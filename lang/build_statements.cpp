// Statements of the AstBuilder, and what all its parts share.
#include <utf8proc.h>

#include <cstdlib>

#include "lang/ast_builder.h"

namespace tsc::lang {

// ---- Shared

Diagnostic& AstBuilder::error(Code code, Span span, std::string message) {
  if (replaced_) return *replaced_ = {code, Severity::Error, std::move(message), {span, {}}, {}, {}, {}, {}};
  if (tokens_.is_damaged(span.begin)) return suppressed_.error(code, span, std::move(message));
  return diagnostics_.error(code, span, std::move(message));
}

bool AstBuilder::is_reported(uint32_t offset) const {
  return std::any_of(diagnostics_.all().begin(), diagnostics_.all().end(),
                     [&](const Diagnostic& d) { return d.primary.span.begin == offset; });
}

Diagnostic* AstBuilder::unclosed_before(uint32_t offset) {
  return diagnostics_.find([&](const Diagnostic& d) {
    const uint32_t bracket = d.primary.span.begin;
    return d.code == Code::UnclosedBracket && bracket < offset && source_.line_of(bracket) == source_.line_of(offset);
  });
}

void AstBuilder::too_deep(Span span) {
  if (too_deep_reported_) return;
  too_deep_reported_ = true;
  error(Code::TooDeep, span, "expressions or statements nested too deeply")
      .note("at most " + std::to_string(kMaxDepth) + " levels, counting each operator of a chain")
      .help("split it up with variables, a list or a loop");
}

Chain<Stmt*>* AstBuilder::join(Chain<Stmt*>* chain, Chain<Stmt*>* more) {
  if (!more->count) return chain;
  (chain->last ? chain->last->next : chain->first) = more->first;
  chain->last = more->last;
  chain->count += more->count;
  return chain;
}

// Names that look alike are the same name (NFKC), as in Python.
Identifier AstBuilder::identifier(const Token& token) {
  std::string_view text = source_.slice(token.span);
  bool ascii = true;
  for (char c : text) ascii &= !(c & 0x80);
  if (ascii || token.bad) return text;
  utf8proc_uint8_t* normal = nullptr;
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                             static_cast<utf8proc_ssize_t>(text.size()), &normal, options);
  if (length > 0) text = arena_.text({reinterpret_cast<char*>(normal), static_cast<size_t>(length)});
  std::free(normal);
  return text;
}

List<Identifier> AstBuilder::identifiers(const Chain<const Token*>* names) {
  List<Identifier> out = arena_.list<Identifier>(names->count);
  size_t i = 0;
  for (auto* link = names->first; link; link = link->next) out[i++] = identifier(*link->item);
  return out;
}

Identifier AstBuilder::dotted(const Chain<const Token*>* parts) {
  if (parts->count == 1) return identifier(*parts->first->item);
  std::string joined;
  for (auto* link = parts->first; link; link = link->next) {
    if (!joined.empty()) joined += '.';
    joined += identifier(*link->item);
  }
  return arena_.text(joined);
}

List<Stmt*> AstBuilder::body(Stmt& parent, const Chain<Stmt*>* chain) {
  List<Stmt*> out = list_of(chain);
  for (Stmt* child : out) deepen(parent, child);
  if (!out.empty()) parent.span.end = out.back()->span.end;
  return out;
}

// ---- Whole texts

void AstBuilder::finish_module(Chain<Stmt*>* statements) {
  module_ = arena_.make<Module>();
  module_->body = list_of(statements);
  module_->span = {0, static_cast<uint32_t>(source_.text().size())};
  module_->reads_annotations = reads_annotations_;
  module_->postpones_annotations = postpones_annotations_;
}

void AstBuilder::finish_expression(Expr* value) { finish_module(one(expression_stmt(value))); }

Chain<Stmt*>* AstBuilder::recovered(Span span) {
  recovered_until_ = span.end;
  return chain<Stmt*>();
}

// ---- Simple statements

Stmt* AstBuilder::return_stmt(Expr* value, Span span) {
  auto* s = stmt<Return>(span, {value});
  s->value = value;
  return s;
}

Stmt* AstBuilder::raise_stmt(Expr* exc, Expr* cause, Span span) {
  auto* s = stmt<Raise>(span, {exc, cause});
  s->exc = exc;
  s->cause = cause;
  return s;
}

Stmt* AstBuilder::delete_stmt(Expr* targets, Span span) {
  auto* s = stmt<Delete>(span, {targets});
  make_target(targets, ExprContext::Del);
  auto* several = try_as<Tuple>(targets);
  s->targets = several && !several->parenthesized ? several->elts : list_of(one(targets));
  return s;
}

Stmt* AstBuilder::assert_stmt(Expr* test, Expr* msg, Span span) {
  auto* s = stmt<Assert>(span, {test, msg});
  s->test = test;
  s->msg = msg;
  auto* pair = try_as<Tuple>(test);
  if (pair && !pair->elts.empty())
    diagnostics_.warning(Code::InvalidSyntax, test->span, "this assertion is always true: a tuple is tested")
        .help("leave out the brackets: assert condition, message");
  return s;
}

Stmt* AstBuilder::global_stmt(Chain<const Token*>* names, Span span) {
  auto* s = stmt<Global>(span);
  s->names = identifiers(names);
  return s;
}

Stmt* AstBuilder::nonlocal_stmt(Chain<const Token*>* names, Span span) {
  auto* s = stmt<Nonlocal>(span);
  s->names = identifiers(names);
  return s;
}

Stmt* AstBuilder::expression_stmt(Expr* value) {
  auto* s = stmt<ExprStmt>(value->span, {value});
  s->value = value;
  return s;
}

Stmt* AstBuilder::assign(Chain<Expr*>* parts, Span span) {
  auto* s = stmt<Assign>(span);
  List<Expr*> all = children(*s, parts);
  s->targets = all.first(all.size() - 1);
  s->value = all.back();
  for (Expr* target : s->targets) make_target(target, ExprContext::Store);
  return s;
}

Stmt* AstBuilder::augmented_assign(Expr* target, Operator op, Expr* value, Span op_span, Span span) {
  auto* s = stmt<AugAssign>(span, {target, value});
  s->target = target;
  s->op = op;
  s->value = value;
  if (target->kind == ExprKind::Tuple || target->kind == ExprKind::ListExpr)
    error(Code::InvalidTarget, target->span,
          "augmented assignment needs one target, not " + std::string(describe(target)))
        .label(op_span, "this operator works on one value");
  else make_target(target, ExprContext::Store);
  return s;
}

Stmt* AstBuilder::annotated_assign(Expr* target, Expr* annotation, Expr* value, Span span) {
  auto* s = stmt<AnnAssign>(span, {target, annotation, value});
  s->target = target;
  s->annotation = annotation;
  s->value = value;
  s->simple = target->kind == ExprKind::Name && !target->parenthesized;
  if (target->kind == ExprKind::Tuple || target->kind == ExprKind::ListExpr)
    error(Code::InvalidTarget, target->span,
          "only a single target can be annotated, not " + std::string(describe(target)));
  else make_target(target, ExprContext::Store);
  return s;
}

// ---- Imports

Alias* AstBuilder::alias(Chain<const Token*>* name, const Token* asname, Span span) {
  auto* a = arena_.make<Alias>();
  a->name = dotted(name);
  if (asname) a->asname = identifier(*asname);
  a->span = span;
  return a;
}

Stmt* AstBuilder::import_stmt(Chain<Alias*>* names, Span span) {
  auto* s = stmt<Import>(span);
  s->names = list_of(names);
  return s;
}

Stmt* AstBuilder::import_from(FromSource from, Chain<Alias*>* names, Span span) {
  auto* s = stmt<ImportFrom>(span);
  s->names = list_of(names);
  if (from.module) s->module = dotted(from.module);
  if (from.dots)
    for (auto* link = from.dots->first; link; link = link->next)
      s->level += link->item->kind == TokenKind::ELLIPSIS ? 3 : 1;
  if (s->level == 0 && s->module == "__future__")
    for (const Alias* a : s->names) postpones_annotations_ |= a->name == "annotations";
  return s;
}

Stmt* AstBuilder::import_star(FromSource from, Span star, Span span) {
  auto* a = arena_.make<Alias>();
  a->name = source_.slice(star);
  a->span = star;
  return import_from(from, one(a), span);
}

// ---- Compound statements

Stmt* AstBuilder::if_stmt(Expr* test, Chain<Stmt*>* then, Chain<Stmt*>* orelse, Span span) {
  auto* s = stmt<If>(span, {test});
  s->test = test;
  s->body = body(*s, then);
  s->orelse = body(*s, orelse);
  return s;
}

Stmt* AstBuilder::while_stmt(Expr* test, Chain<Stmt*>* loop, Chain<Stmt*>* orelse, Span span) {
  auto* s = stmt<While>(span, {test});
  s->test = test;
  s->body = body(*s, loop);
  s->orelse = body(*s, orelse);
  return s;
}

Stmt* AstBuilder::for_stmt(Expr* target, Expr* iter, Chain<Stmt*>* loop, Chain<Stmt*>* orelse, Span span) {
  auto* s = stmt<For>(span, {target, iter});
  make_target(target, ExprContext::Store);
  s->target = target;
  s->iter = iter;
  s->body = body(*s, loop);
  s->orelse = body(*s, orelse);
  return s;
}

Stmt* AstBuilder::try_stmt(Chain<Stmt*>* tried, Chain<ExceptHandler*>* handlers, Chain<Stmt*>* orelse,
                           Chain<Stmt*>* finalbody, Span span) {
  auto* s = stmt<Try>(span);
  s->body = body(*s, tried);
  s->handlers = list_of(handlers);
  for (ExceptHandler* h : s->handlers) {
    deepen(*s, h->type);
    for (Stmt* child : h->body) deepen(*s, child);
    s->span.end = h->span.end;
    const bool star = h->star.begin != h->star.end;
    if (h == s->handlers.front()) s->is_star = star;
    if (star != s->is_star)
      error(Code::InvalidTry, {h->span.begin, star ? h->star.end : h->span.begin + 6},
            "cannot have both 'except' and 'except*' on the same 'try'")
          .help("write two try statements, one inside the other");
  }
  s->orelse = body(*s, orelse);
  s->finalbody = body(*s, finalbody);
  return s;
}

ExceptHandler* AstBuilder::handler(Expr* type, const Token* name, Chain<Stmt*>* statements, Span span) {
  auto* h = arena_.make<ExceptHandler>();
  h->type = type;
  h->body = list_of(statements);
  h->span = {span.begin, h->body.empty() ? span.end : h->body.back()->span.end};
  if (name) {
    h->name = identifier(*name);
    h->name_span = name->span;
  }
  return h;
}

ExceptHandler* AstBuilder::handler_star(Expr* type, const Token* name, Chain<Stmt*>* statements, Span star, Span span) {
  ExceptHandler* h = handler(type, name, statements, span);
  h->star = star;
  return h;
}

WithItem* AstBuilder::with_item(Expr* context, Expr* target) {
  auto* item = arena_.make<WithItem>();
  item->context_expr = context;
  item->optional_vars = target;
  if (target) make_target(target, ExprContext::Store);
  return item;
}

Stmt* AstBuilder::with_stmt(Chain<WithItem*>* items, Chain<Stmt*>* statements, Span span) {
  auto* s = stmt<With>(span);
  // `with (a, b):` manages two contexts; the grammar saw one tuple.
  WithItem* first = items->first->item;
  auto* several = try_as<Tuple>(first->context_expr);
  bool split = items->count == 1 && !first->optional_vars && several && !several->elts.empty();
  if (split)
    for (Expr* element : several->elts)
      split &= element->kind != ExprKind::Starred && (element->kind != ExprKind::NamedExpr || element->parenthesized);
  if (split) {
    items = chain<WithItem*>();
    for (Expr* element : several->elts) append(items, with_item(element, nullptr));
  }
  s->items = list_of(items);
  for (WithItem* item : s->items) {
    deepen(*s, item->context_expr);
    deepen(*s, item->optional_vars);
  }
  s->body = body(*s, statements);
  return s;
}

Stmt* AstBuilder::decorate(Chain<Expr*>* decorators, Stmt* definition) {
  List<Expr*> all = children(*definition, decorators);
  if (auto* f = try_as<FunctionDef>(definition)) f->decorator_list = all;
  else as<ClassDef>(definition)->decorator_list = all;
  return definition;
}

}  // namespace tsc::lang
