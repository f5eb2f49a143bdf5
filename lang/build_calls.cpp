// Arguments, parameters and definitions of the AstBuilder.
#include <unordered_map>

#include "lang/ast_builder.h"

namespace tsc::lang {

// ---- Arguments

Argument* AstBuilder::keyword_argument(Expr* name, Expr* value, Span equal, Span span) {
  auto* target = try_as<Name>(name);
  if (!target || name->parenthesized) {
    Diagnostic& d = error(Code::AssignmentInExpression, equal, "an argument's name must be a plain name")
                        .label(name->span, "this is " + std::string(describe(name)));
    d.help("write '==' to compare").fix({{equal, "=="}}, Applicability::MaybeIncorrect);
    return make_argument(Argument::Positional, value, span);
  }
  return arena_.make<Argument>(Argument::Keyword, value, target->id, span, name->span);
}

Argument* AstBuilder::star_argument(Expr* value, Span span) {
  return make_argument(Argument::Star, starred(value, span), span);
}

Argument* AstBuilder::double_star_argument(Expr* value, Span span) {
  return make_argument(Argument::DoubleStar, value, span);
}

Chain<Argument*>* AstBuilder::check_arguments(Chain<Argument*>* arguments, bool comma) {
  const Argument* keyword = nullptr;
  const Argument* unpacking = nullptr;
  std::unordered_map<std::string_view, Span> seen;
  for (auto* link = arguments->first; link; link = link->next) {
    const Argument& a = *link->item;
    bool positional = a.kind == Argument::Positional || a.kind == Argument::Generator;
    if (a.kind == Argument::Generator && (arguments->count > 1 || comma))
      error(Code::ArgumentOrder, a.span, "a generator expression needs its own brackets beside other arguments");
    if (a.kind == Argument::DoubleStar) unpacking = &a;
    if (a.kind == Argument::Keyword) {
      if (!keyword) keyword = &a;
      auto [first, fresh] = seen.try_emplace(a.name, a.name_span);
      if (!fresh)
        error(Code::DuplicateKeyword, a.name_span, "keyword argument repeated: " + std::string(a.name))
            .label(first->second, "first given here");
    }
    if (unpacking && (positional || a.kind == Argument::Star)) {
      error(Code::ArgumentOrder, a.span,
            std::string(positional ? "positional argument" : "iterable unpacking") +
                " follows keyword argument unpacking")
          .label(unpacking->span, "the unpacking");
    } else if (keyword && positional) {
      error(Code::ArgumentOrder, a.span, "positional argument follows keyword argument")
          .label(keyword->span, "the keyword argument");
    }
  }
  return arguments;
}

void AstBuilder::add_call_arguments(const Chain<Argument*>* arguments, List<Expr*>& args, List<Keyword*>& keywords) {
  if (!arguments) return;
  Chain<Expr*>* positional = chain<Expr*>();
  Chain<Keyword*>* named = chain<Keyword*>();
  for (auto* link = arguments->first; link; link = link->next) {
    const Argument& a = *link->item;
    if (a.kind == Argument::Keyword || a.kind == Argument::DoubleStar)
      append(named, arena_.make<Keyword>(a.name, a.value, a.span, a.name_span));
    else append(positional, a.value);
  }
  args = list_of(positional);
  keywords = list_of(named);
}

Expr* AstBuilder::call(Expr* func, Chain<Argument*>* arguments, Span span) {
  auto* e = expr<Call>(span, {func});
  e->func = func;
  add_call_arguments(arguments, e->args, e->keywords);
  for (Expr* argument : e->args) deepen(*e, argument);
  for (Keyword* keyword : e->keywords) deepen(*e, keyword->value);
  return e;
}

// ---- Parameters

ParameterItem* AstBuilder::parameter(const Token* name, Expr* annotation, Expr* value, Span span) {
  Span with_annotation{span.begin, annotation ? annotation->span.end : name->span.end};
  auto* p = arena_.make<Parameter>(identifier(*name), annotation, with_annotation, name->span);
  return arena_.make<ParameterItem>(ParameterItem::Plain, p, value, span);
}

ParameterItem* AstBuilder::star_parameter(const Token* name, Expr* annotation, Span span) {
  if (!name) return arena_.make<ParameterItem>(ParameterItem::Star, nullptr, nullptr, span);
  Span own{name->span.begin, span.end};
  auto* p = arena_.make<Parameter>(identifier(*name), annotation, own, name->span);
  return arena_.make<ParameterItem>(ParameterItem::Star, p, nullptr, span);
}

ParameterItem* AstBuilder::double_star_parameter(const Token* name, Expr* annotation, Span span) {
  Span own{name->span.begin, span.end};
  auto* p = arena_.make<Parameter>(identifier(*name), annotation, own, name->span);
  return arena_.make<ParameterItem>(ParameterItem::DoubleStar, p, nullptr, span);
}

namespace {

// What has been seen of a parameter list so far.
struct ParameterState {
  const ParameterItem* slash = nullptr;
  const ParameterItem* star = nullptr;
  const ParameterItem* double_star = nullptr;
  const ParameterItem* with_default = nullptr;
  bool named_after_star = false;
  size_t count = 0;
};

// Empty when the item may stand here.
std::string_view order_fault(const ParameterState& seen, const ParameterItem& item) {
  if (seen.double_star) return "no parameter can follow '**'";
  switch (item.kind) {
    case ParameterItem::Slash:
      if (seen.slash) return "'/' may appear only once";
      if (seen.star) return "'/' must stand before '*'";
      return seen.count ? "" : "at least one parameter must stand before '/'";
    case ParameterItem::Star: return seen.star ? "'*' may appear only once" : "";
    case ParameterItem::DoubleStar:
      return seen.star && !seen.star->parameter && !seen.named_after_star ? "named parameters must follow bare '*'"
                                                                          : "";
    case ParameterItem::Plain:
      return !seen.star && seen.with_default && !item.default_value
                 ? "parameter without a default follows parameter with a default"
                 : "";
  }
  return "";
}

}  // namespace

template <class Parent>
Arguments* AstBuilder::arguments_of(Parent& parent, const Chain<ParameterItem*>* items) {
  auto* out = arena_.make<Arguments>();
  if (!items) return out;
  Chain<Parameter*>* plain = chain<Parameter*>();
  Chain<Parameter*>* keyword_only = chain<Parameter*>();
  Chain<Expr*>* defaults = chain<Expr*>();
  Chain<Expr*>* keyword_defaults = chain<Expr*>();
  ParameterState seen;
  for (auto* link = items->first; link; link = link->next) {
    const ParameterItem& item = *link->item;
    std::string_view fault = order_fault(seen, item);
    if (!fault.empty()) {
      Diagnostic& d = error(Code::ParameterOrder, item.span, std::string(fault));
      if (item.kind == ParameterItem::Plain && seen.with_default && !seen.double_star)
        d.label(seen.with_default->span, "this one has a default");
    }
    if (item.parameter) deepen(parent, item.parameter->annotation);
    deepen(parent, item.default_value);
    ++seen.count;
    if (item.kind == ParameterItem::Slash) {
      seen.slash = &item;
      out->posonlyargs = list_of(plain);
      plain = chain<Parameter*>();
    } else if (item.kind == ParameterItem::Star) {
      seen.star = &item;
      out->vararg = item.parameter;
    } else if (item.kind == ParameterItem::DoubleStar) {
      seen.double_star = &item;
      out->kwarg = item.parameter;
    } else if (seen.star) {
      seen.named_after_star = true;
      append(keyword_only, item.parameter);
      append(keyword_defaults, item.default_value);
    } else {
      append(plain, item.parameter);
      if (item.default_value) append(defaults, item.default_value);
      if (item.default_value) seen.with_default = &item;
    }
  }
  if (seen.star && !seen.star->parameter && !seen.named_after_star && !seen.double_star)
    error(Code::ParameterOrder, seen.star->span, "named parameters must follow bare '*'");
  out->args = list_of(plain);
  out->kwonlyargs = list_of(keyword_only);
  out->defaults = list_of(defaults);
  out->kw_defaults = list_of(keyword_defaults);
  return out;
}

template Arguments* AstBuilder::arguments_of(Lambda&, const Chain<ParameterItem*>*);

// ---- Definitions

Stmt* AstBuilder::function(const Token* name, Chain<ParameterItem*>* parameters, Expr* returns,
                           Chain<Stmt*>* statements, Span span) {
  auto* s = stmt<FunctionDef>(span, {returns});
  s->name = identifier(*name);
  s->name_span = name->span;
  s->args = arguments_of(*s, parameters);
  s->returns = returns;
  s->body = body(*s, statements);
  return s;
}

Stmt* AstBuilder::class_def(const Token* name, Chain<Argument*>* arguments, Chain<Stmt*>* statements, Span span) {
  auto* s = stmt<ClassDef>(span);
  s->name = identifier(*name);
  s->name_span = name->span;
  add_call_arguments(arguments, s->bases, s->keywords);
  for (Expr* base : s->bases) deepen(*s, base);
  for (Keyword* keyword : s->keywords) deepen(*s, keyword->value);
  s->body = body(*s, statements);
  return s;
}

}  // namespace tsc::lang
