// Expressions and targets of the AstBuilder.
#include "lang/ast_builder.h"

namespace tsc::lang {

std::string_view describe(const Expr* e) {
  static constexpr std::string_view kNames[] = {"a boolean expression",
                                                "an assignment expression",
                                                "an expression",
                                                "an expression",
                                                "a lambda",
                                                "a conditional expression",
                                                "a dict literal",
                                                "a set literal",
                                                "a list comprehension",
                                                "a set comprehension",
                                                "a dict comprehension",
                                                "a generator expression",
                                                "a yield expression",
                                                "a yield expression",
                                                "a comparison",
                                                "a function call",
                                                "an f-string",
                                                "an f-string",
                                                "a literal",
                                                "an attribute",
                                                "a subscript",
                                                "a starred expression",
                                                "a name",
                                                "a list",
                                                "a tuple",
                                                "a slice"};
  static_assert(std::size(kNames) == static_cast<size_t>(ExprKind::Slice) + 1);
  if (e->kind == ExprKind::Constant) {
    switch (static_cast<const Constant*>(e)->value_kind) {
      case ConstantKind::None: return "None";
      case ConstantKind::True: return "True";
      case ConstantKind::False: return "False";
      case ConstantKind::Ellipsis: return "an ellipsis";
      default: break;
    }
  }
  return kNames[static_cast<size_t>(e->kind)];
}

// ---- Targets

void AstBuilder::make_target(Expr* target, ExprContext context) {
  const bool deletes = context == ExprContext::Del;
  const auto each = [&](List<Expr*> elements) {
    Expr* star = nullptr;
    for (Expr* element : elements) {
      auto* starred = try_as<Starred>(element);
      if (starred && star && !deletes)
        error(Code::SeveralStarred, element->span, "two starred targets in one assignment")
            .label(star->span, "the first one");
      if (!starred) {
        make_target(element, context);
      } else if (deletes) {
        error(Code::InvalidTarget, element->span, "cannot delete a starred expression");
      } else {
        star = element;
        starred->ctx = context;
        make_target(starred->value, context);
      }
    }
  };
  switch (target->kind) {
    case ExprKind::Name: as<Name>(target)->ctx = context; return;
    case ExprKind::Attribute: as<Attribute>(target)->ctx = context; return;
    case ExprKind::Subscript: as<Subscript>(target)->ctx = context; return;
    case ExprKind::Tuple: as<Tuple>(target)->ctx = context; return each(as<Tuple>(target)->elts);
    case ExprKind::ListExpr: as<ListExpr>(target)->ctx = context; return each(as<ListExpr>(target)->elts);
    case ExprKind::Starred: return;  // tuple_or_single has reported it
    default: break;
  }
  Diagnostic& d = error(Code::InvalidTarget, target->span,
                        std::string("cannot ") + (deletes ? "delete " : "assign to ") + std::string(describe(target)));
  if (!deletes && target->kind == ExprKind::Compare) d.help("a comparison cannot stand left of '='");
}

void AstBuilder::make_name_target(Expr* target, std::string_view what) {
  if (target->kind == ExprKind::Name && !target->parenthesized) {
    as<Name>(target)->ctx = ExprContext::Store;
    return;
  }
  error(Code::InvalidWalrus, target->span, "cannot use " + std::string(what) + " with " + std::string(describe(target)))
      .note("only a plain name can stand left of ':='");
}

// ---- Operators

Expr* AstBuilder::named(Expr* target, Expr* value, Span, Span span) {
  make_name_target(target, "an assignment expression");
  auto* e = expr<NamedExpr>(span, {target, value});
  auto* name = try_as<Name>(target);
  e->target = name ? name : expr<Name>(target->span);
  e->value = value;
  return e;
}

Expr* AstBuilder::if_exp(Expr* test, Expr* then, Expr* orelse, Span span) {
  auto* e = expr<IfExp>(span, {test, then, orelse});
  e->test = test;
  e->body = then;
  e->orelse = orelse;
  return e;
}

Expr* AstBuilder::lambda(Chain<ParameterItem*>* parameters, Expr* value, Span span) {
  auto* e = expr<Lambda>(span, {value});
  e->args = arguments_of(*e, parameters);
  e->body = value;
  return e;
}

Expr* AstBuilder::unary(UnaryOperator op, Expr* operand, Span span) {
  auto* literal = try_as<Constant>(operand);
  if (op == UnaryOperator::USub && literal && literal->needs_negation) {
    // -9223372036854775808: the one integer whose magnitude is no 64-bit integer.
    auto* e = expr<Constant>(span);
    e->value_kind = ConstantKind::Int;
    e->integer = INT64_MIN;
    return e;
  }
  auto* e = expr<UnaryOp>(span, {operand});
  e->op = op;
  e->operand = operand;
  return e;
}

namespace {

// Adds an item to a list that has grown from two items by this function only: its memory is a power
// of two, so a long chain of operators costs linear time.
template <class T>
List<T> grown(Arena& arena, List<T> items, T item) {
  const size_t count = items.size();
  if ((count & (count - 1)) == 0) {
    List<T> bigger = arena.list<T>(count * 2);
    std::copy(items.begin(), items.end(), bigger.begin());
    items = bigger;
  }
  items.data()[count] = item;
  return {items.data(), count + 1};
}

}  // namespace

Expr* AstBuilder::boolean(BoolOperator op, Expr* left, Expr* right, Span span) {
  auto* chain = try_as<BoolOp>(left);
  if (chain && chain->op == op && !chain->parenthesized) {
    chain->values = grown(arena_, chain->values, right);
    chain->span = span;
    deepen(*chain, right);
    return chain;
  }
  auto* e = expr<BoolOp>(span, {left, right});
  e->op = op;
  e->values = arena_.list<Expr*>(2);
  e->values[0] = left;
  e->values[1] = right;
  return e;
}

Expr* AstBuilder::compare(Expr* left, CompareOperator op, Expr* right, Span span) {
  auto* chain = try_as<Compare>(left);
  if (chain && !chain->parenthesized) {
    chain->ops = grown(arena_, chain->ops, op);
    chain->comparators = grown(arena_, chain->comparators, right);
    chain->span = span;
    deepen(*chain, right);
    return chain;
  }
  auto* e = expr<Compare>(span, {left, right});
  e->left = left;
  e->ops = arena_.list<CompareOperator>(1);
  e->ops[0] = op;
  e->comparators = arena_.list<Expr*>(1);
  e->comparators[0] = right;
  return e;
}

Expr* AstBuilder::binary(Expr* left, Operator op, Expr* right, Span op_span, Span span) {
  auto* e = expr<BinOp>(span, {left, right});
  e->left = left;
  e->op = op;
  e->right = right;
  e->op_span = op_span;
  return e;
}

// ---- Primaries

Expr* AstBuilder::attribute(Expr* value, const Token* token, Span span) {
  auto* e = expr<Attribute>(span, {value});
  e->value = value;
  e->attr = identifier(*token);
  e->attr_span = token->span;
  return e;
}

Expr* AstBuilder::subscript(Expr* value, Expr* index, Span span) {
  auto* e = expr<Subscript>(span, {value, index});
  e->value = value;
  e->slice = index;
  return e;
}

Expr* AstBuilder::subscript_tuple(Chain<Expr*>* items, bool comma, Span span) {
  bool single = items->count == 1 && !comma && items->first->item->kind != ExprKind::Starred;
  return single ? items->first->item : sequence<Tuple>({items, comma}, span);
}

Expr* AstBuilder::slice(Expr* lower, Expr* upper, Expr* step, Span span) {
  auto* e = expr<Slice>(span, {lower, upper, step});
  e->lower = lower;
  e->upper = upper;
  e->step = step;
  return e;
}

Expr* AstBuilder::name(const Token* token) {
  auto* e = expr<Name>(token->span);
  e->id = identifier(*token);
  reads_annotations_ |= e->id == "__annotations__";
  return e;
}

Expr* AstBuilder::starred(Expr* value, Span span) {
  auto* e = expr<Starred>(span, {value});
  e->value = value;
  return e;
}

Expr* AstBuilder::yield(Expr* value, Span span) {
  auto* e = expr<Yield>(span, {value});
  e->value = value;
  return e;
}

Expr* AstBuilder::yield_from(Expr* value, Span span) {
  auto* e = expr<YieldFrom>(span, {value});
  e->value = value;
  return e;
}

// ---- Brackets

Expr* AstBuilder::parenthesized(Expr* value) {
  value->parenthesized = true;
  return value;
}

Expr* AstBuilder::group(Expr* value, Span span) {
  if (value->kind == ExprKind::Tuple && !value->parenthesized) value->span = span;
  return parenthesized(value);
}

template <class T>
T* AstBuilder::sequence(Elements elements, Span span) {
  auto* e = expr<T>(span);
  e->elts = children(*e, elements.items);
  return e;
}

Expr* AstBuilder::tuple(Elements elements, Span span) { return parenthesized(sequence<Tuple>(elements, span)); }

Expr* AstBuilder::list(Elements elements, Span span) { return sequence<ListExpr>(elements, span); }

Expr* AstBuilder::set(Elements elements, Span span) { return sequence<Set>(elements, span); }

Expr* AstBuilder::tuple_or_single(Elements elements, Span span) {
  if (elements.items->count != 1 || elements.comma) return sequence<Tuple>(elements, span);
  Expr* single = elements.items->first->item;
  if (single->kind == ExprKind::Starred)
    error(Code::InvalidStarred, single->span, "a starred expression cannot stand alone")
        .help("write a comma after it to make a tuple")
        .fix({{{single->span.end, single->span.end}, ","}}, Applicability::MaybeIncorrect);
  return single;
}

Expr* AstBuilder::dict(Chain<Entry>* entries, Span span) {
  auto* e = expr<Dict>(span);
  List<Entry> all = list_of(entries);
  e->keys = arena_.list<Expr*>(all.size());
  e->values = arena_.list<Expr*>(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    e->keys[i] = all[i].key;
    e->values[i] = all[i].value;
    deepen(*e, all[i].key);
    deepen(*e, all[i].value);
  }
  return e;
}

// ---- Comprehensions

Clause AstBuilder::for_clause(Expr* target, Expr* iter) {
  make_target(target, ExprContext::Store);
  return {target, iter};
}

template <class Parent>
List<Comprehension*> AstBuilder::comprehensions(Parent& parent, const Chain<Clause>* clauses) {
  Chain<Comprehension*>* out = chain<Comprehension*>();
  Chain<Expr*>* ifs = nullptr;
  for (auto* link = clauses->first; link; link = link->next) {
    const Clause& clause = link->item;
    deepen(parent, clause.value);
    if (clause.target) {
      deepen(parent, clause.target);
      if (out->last) out->last->item->ifs = list_of(ifs);
      ifs = chain<Expr*>();
      append(out, arena_.make<Comprehension>(clause.target, clause.value, List<Expr*>()));
    } else {
      append(ifs, clause.value);
    }
  }
  out->last->item->ifs = list_of(ifs);
  return list_of(out);
}

template <class T>
Expr* AstBuilder::element_comp(Expr* element, const Chain<Clause>* clauses, Span span) {
  if (element->kind == ExprKind::Starred)
    error(Code::InvalidStarred, element->span, "a comprehension's element cannot be starred")
        .help("write a second `for` clause over the inner values");
  auto* e = expr<T>(span, {element});
  e->elt = element;
  e->generators = comprehensions(*e, clauses);
  return e;
}

Expr* AstBuilder::generator(Expr* element, Chain<Clause>* clauses, Span span) {
  return parenthesized(element_comp<GeneratorExp>(element, clauses, span));
}

Expr* AstBuilder::list_comp(Expr* element, Chain<Clause>* clauses, Span span) {
  return element_comp<ListComp>(element, clauses, span);
}

Expr* AstBuilder::set_comp(Expr* element, Chain<Clause>* clauses, Span span) {
  return element_comp<SetComp>(element, clauses, span);
}

Expr* AstBuilder::dict_comp(Entry entry, Chain<Clause>* clauses, Span span) {
  if (!entry.key)
    error(Code::InvalidStarred, entry.value->span, "a dict comprehension cannot unpack with '**'")
        .help("write `key: value` and a second `for` clause over the inner items");
  auto* e = expr<DictComp>(span, {entry.key, entry.value});
  e->key = entry.key;
  e->value = entry.value;
  e->generators = comprehensions(*e, clauses);
  return e;
}

Argument* AstBuilder::generator_argument(Expr* element, Chain<Clause>* clauses, Span span) {
  return make_argument(Argument::Generator, element_comp<GeneratorExp>(element, clauses, span), span);
}

}  // namespace tsc::lang
