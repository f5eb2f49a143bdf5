// Match statements of the AstBuilder.
#include <unordered_set>

#include "lang/ast_builder.h"

namespace tsc::lang {

namespace {

constexpr std::string_view kWildcard = "_";

}  // namespace

Stmt* AstBuilder::match_stmt(Expr* subject, Chain<MatchCase*>* cases, Span span) {
  auto* s = stmt<Match>(span, {subject});
  s->subject = subject;
  s->cases = list_of(cases);
  for (MatchCase* c : s->cases) {
    deepen(*s, c->guard);
    for (Stmt* child : c->body) deepen(*s, child);
    s->span.end = c->span.end;
  }
  return s;
}

MatchCase* AstBuilder::match_case(Pattern* pattern, Expr* guard, Chain<Stmt*>* statements, Span span) {
  auto* c = arena_.make<MatchCase>();
  c->pattern = pattern;
  c->guard = guard;
  c->body = list_of(statements);
  c->span = {span.begin, c->body.empty() ? span.end : c->body.back()->span.end};
  return c;
}

Pattern* AstBuilder::lone_star_pattern(Pattern* star) {
  error(Code::InvalidPattern, star->span, "a starred pattern cannot stand alone")
      .help("write a comma after it to match a sequence")
      .fix({{{star->span.end, star->span.end}, ","}}, Applicability::MaybeIncorrect);
  return star;
}

Pattern* AstBuilder::sequence_pattern(Chain<Pattern*>* patterns, Span span) {
  auto* p = pattern<MatchSequence>(span);
  p->patterns = list_of(patterns);
  const Pattern* star = nullptr;
  for (const Pattern* item : p->patterns) {
    if (item->kind != PatternKind::MatchStar) continue;
    if (star)
      error(Code::InvalidPattern, item->span, "two starred patterns in one sequence")
          .label(star->span, "the first one");
    star = item;
  }
  return p;
}

Pattern* AstBuilder::as_pattern(Pattern* inner, const Token* name, Span span) {
  auto* p = pattern<MatchAs>(span);
  p->pattern = inner;
  p->name = identifier(*name);
  if (p->name == kWildcard)
    error(Code::InvalidPattern, name->span, "cannot use '_' as a target")
        .note("'_' matches anything and binds nothing");
  return p;
}

Pattern* AstBuilder::or_pattern(Chain<Pattern*>* alternatives, Span span) {
  if (alternatives->count == 1) return alternatives->first->item;
  auto* p = pattern<MatchOr>(span);
  p->patterns = list_of(alternatives);
  return p;
}

Pattern* AstBuilder::star_pattern(const Token* name, Span span) {
  auto* p = pattern<MatchStar>(span);
  Identifier id = identifier(*name);
  if (id != kWildcard) p->name = id;
  return p;
}

Pattern* AstBuilder::capture_pattern(const Token* name) {
  auto* p = pattern<MatchAs>(name->span);
  Identifier id = identifier(*name);
  if (id != kWildcard) p->name = id;
  return p;
}

Pattern* AstBuilder::value_pattern(Expr* value, Span span) {
  if (value->kind == ExprKind::JoinedStr)
    error(Code::InvalidPattern, value->span, "an f-string cannot be a pattern")
        .help("compare in a guard: case name if name == f\"...\"");
  auto* p = pattern<MatchValue>(span);
  p->value = value;
  return p;
}

// A complex number: a real part and an imaginary one.
Pattern* AstBuilder::complex_pattern(Expr* real, Operator op, Expr* imaginary, Span span) {
  const auto is_kind = [](const Expr* e, bool wanted) {
    if (auto* minus = try_as<const UnaryOp>(e)) e = minus->operand;
    auto* number = try_as<const Constant>(e);
    return number && (number->value_kind == ConstantKind::Imaginary) == wanted;
  };
  if (!is_kind(real, false) || !is_kind(imaginary, true))
    error(Code::InvalidPattern, span, "a pattern cannot compute").help("compare in a guard: case n if n == ...");
  return value_pattern(binary(real, op, imaginary, span, span), span);
}

Pattern* AstBuilder::singleton_pattern(ConstantKind kind, Span span) {
  auto* p = pattern<MatchSingleton>(span);
  p->value = kind;
  return p;
}

namespace {

// Two keys that are written as one constant. Others may be equal when the pattern is matched, which is ValueError then.
bool are_one_constant(const Expr* a, const Expr* b) {
  if (a->kind != ExprKind::Constant || b->kind != ExprKind::Constant) return false;
  const auto *one = as<const Constant>(a), *other = as<const Constant>(b);
  return one->value_kind == other->value_kind && one->integer == other->integer && one->floating == other->floating &&
         one->text == other->text;
}

}  // namespace

Pattern* AstBuilder::mapping_pattern(Chain<MappingItem>* items, Span span) {
  auto* p = pattern<MatchMapping>(span);
  Chain<Expr*>* keys = chain<Expr*>();
  Chain<Pattern*>* patterns = chain<Pattern*>();
  List<MappingItem> all = list_of(items);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].rest) {
      for (size_t k = 0; k < i; ++k)
        if (!all[k].rest && are_one_constant(all[k].key, all[i].key))
          error(Code::InvalidPattern, all[i].key->span, "mapping pattern checks duplicate key")
              .label(all[k].key->span, "checked here first");
      append(keys, all[i].key);
      append(patterns, all[i].pattern);
      continue;
    }
    p->rest = identifier(*all[i].rest);
    p->rest_span = all[i].rest->span;
    if (i + 1 != all.size()) error(Code::InvalidPattern, p->rest_span, "'**' must stand last in a mapping pattern");
    if (p->rest == kWildcard)
      error(Code::InvalidPattern, p->rest_span, "'**_' is not allowed")
          .note("a mapping pattern ignores keys that it does not name anyway");
  }
  p->keys = list_of(keys);
  p->patterns = list_of(patterns);
  return p;
}

Pattern* AstBuilder::class_pattern(Expr* cls, Chain<ClassPatternItem>* items, Span span) {
  auto* p = pattern<MatchClass>(span);
  p->cls = cls;
  Chain<Pattern*>* positional = chain<Pattern*>();
  Chain<Pattern*>* named = chain<Pattern*>();
  Chain<Identifier>* names = chain<Identifier>();
  std::unordered_set<Identifier> seen;
  for (const ClassPatternItem& item : list_of(items)) {
    if (!item.name) {
      if (named->count) error(Code::InvalidPattern, item.pattern->span, "positional pattern follows keyword pattern");
      append(positional, item.pattern);
      continue;
    }
    Identifier name = identifier(*item.name);
    if (!seen.insert(name).second)
      error(Code::DuplicateKeyword, item.name->span, "attribute repeated in the pattern: " + std::string(name));
    append(names, name);
    append(named, item.pattern);
  }
  p->patterns = list_of(positional);
  p->kwd_attrs = list_of(names);
  p->kwd_patterns = list_of(named);
  return p;
}

}  // namespace tsc::lang
