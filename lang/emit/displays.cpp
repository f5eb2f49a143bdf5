// Lists, tuples, dicts, sets, comprehensions, generator expressions and f-strings.
#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

// Beyond this many parts a display grows piece by piece instead of filling that many registers.
constexpr size_t kMaxWindow = 64;
constexpr size_t kMinConstantList = 17;

bool has_starred(List<Expr*> elts) {
  for (const Expr* element : elts) {
    if (element->kind == ExprKind::Starred) return true;
  }
  return false;
}

std::optional<Literal> fold_items(List<Expr*> elts) {
  Literal out;
  out.kind = LiteralKind::Tuple;
  for (const Expr* element : elts) {
    std::optional<Literal> item = fold(element);
    if (!item) return std::nullopt;
    out.items.push_back(std::move(*item));
  }
  return out;
}

}  // namespace

Operand Emitter::emit_sequence(List<Expr*> elts, Op build, Span span, Want want) {
  Reg mark = b_.top();
  bool is_long = elts.size() > kMaxWindow;
  if (!has_starred(elts) && !is_long) {
    std::optional<Literal> items;
    if (elts.size() < kMinConstantList || !(items = fold_items(elts))) {
      for (const Expr* element : elts) expr_next(element);
      Reg to = destination(want, mark);
      b_.emit(build, to, mark, static_cast<uint32_t>(elts.size()), at(span));
      return result(want, to);
    }
  }
  Operand list = emit_starred_list(elts, span);
  Reg to = destination(want, mark);
  if (build == Op::BuildTuple) b_.unary(Op::ListToTuple, to, list, 0, at(span));
  else b_.move(to, list, at(span));
  return result(want, to);
}

// A list, grown item by item, in a new temporary.
Operand Emitter::emit_starred_list(List<Expr*> elts, Span span) {
  Reg list = b_.allocate();
  b_.emit(Op::BuildList, list, list, 0, at(span));
  if (auto items = elts.empty() ? std::nullopt : fold_items(elts)) {
    Operand all = constant(std::move(*items), {}, at(span));
    b_.effect(Op::ListExtend, {list, false}, all, at(span));
    b_.reset(list + 1);
    return {list, true};
  }
  for (const Expr* element : elts) {
    if (auto* starred = try_as<const Starred>(element)) {
      Operand value = expr(starred->value);
      b_.effect(Op::ListExtend, {list, false}, value, at(element));
    } else {
      Operand value = expr(element);
      b_.effect(Op::ListAppend, {list, false}, value, at(element));
    }
    b_.reset(list + 1);
  }
  return {list, true};
}

Operand Emitter::emit_dict(const Dict& node, Want want) {
  Reg mark = b_.top();
  bool by_window = node.keys.size() <= kMaxWindow / 2;
  for (const Expr* key : node.keys) by_window &= key != nullptr;
  if (by_window) {
    for (size_t i = 0; i < node.keys.size(); ++i) {
      expr_next(node.keys[i]);
      expr_next(node.values[i]);
    }
    Reg to = destination(want, mark);
    b_.emit(Op::BuildMap, to, mark, static_cast<uint32_t>(node.keys.size()), at(&node));
    return result(want, to);
  }
  Reg map = b_.allocate();
  b_.emit(Op::BuildMap, map, map, 0, at(&node));
  for (size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i]) {
      Operand key = stable(node.keys[i], {node.values[i]});
      Operand value = expr(node.values[i]);
      b_.effect(Op::MapAdd, {map, false}, key, value, at(node.keys[i]));
    } else {
      Operand value = expr(node.values[i]);
      b_.effect(Op::MapUpdate, {map, false}, value, at(node.span));
    }
    b_.reset(map + 1);
  }
  Reg to = destination(want, mark);
  b_.move(to, {map, true}, at(&node));
  return result(want, to);
}

Operand Emitter::emit_set(const Set& node, Want want) {
  Reg mark = b_.top();
  if (!has_starred(node.elts) && node.elts.size() <= kMaxWindow) {
    for (const Expr* element : node.elts) expr_next(element);
    Reg to = destination(want, mark);
    b_.emit(Op::BuildSet, to, mark, static_cast<uint32_t>(node.elts.size()), at(&node));
    return result(want, to);
  }
  Reg set = b_.allocate();
  b_.emit(Op::BuildSet, set, set, 0, at(&node));
  for (const Expr* element : node.elts) {
    auto* starred = try_as<const Starred>(element);
    Operand value = expr(starred ? starred->value : element);
    b_.effect(starred ? Op::SetUpdate : Op::SetAdd, {set, false}, value, at(element));
    b_.reset(set + 1);
  }
  Reg to = destination(want, mark);
  b_.move(to, {set, true}, at(&node));
  return result(want, to);
}

Operand Emitter::emit_joined_str(const JoinedStr& node, Want want) {
  if (node.values.empty()) return constant(str_literal(""), want, at(&node));
  if (node.values.size() == 1) return expr(node.values[0], want);
  Reg mark = b_.top();
  uint32_t pending = 0;
  for (const Expr* part : node.values) {
    if (pending == kMaxWindow) {  // join what is there into one string and go on
      b_.emit(Op::BuildString, mark, mark, pending, at(&node));
      b_.reset(mark + 1);
      pending = 1;
    }
    expr_next(part);
    ++pending;
  }
  Reg to = destination(want, mark);
  b_.emit(Op::BuildString, to, mark, pending, at(&node));
  return result(want, to);
}

Operand Emitter::emit_formatted_value(const FormattedValue& node, Want want) {
  constexpr uint32_t kHasSpec = 4;
  uint32_t mode = 0;
  switch (node.conversion) {
    case 's': mode = 1; break;
    case 'r': mode = 2; break;
    case 'a': mode = 3; break;
    default: break;
  }
  Reg mark = b_.top();
  Operand value = stable(node.value, {node.format_spec});
  if (!node.format_spec) {
    Reg to = destination(want, mark);
    b_.unary(Op::FormatValue, to, value, 0, at(&node), mode);
    return result(want, to);
  }
  Operand spec = expr(node.format_spec);
  Reg to = destination(want, mark);
  b_.binary(Op::FormatValue, to, value, spec, at(&node), mode | kHasSpec);
  return result(want, to);
}

Operand Emitter::emit_comprehension(const ComprehensionParts& parts, Want want) {
  Reg mark = b_.top();
  Reg collection = b_.allocate();
  Op build = parts.kind == ExprKind::ListComp  ? Op::BuildList
             : parts.kind == ExprKind::SetComp ? Op::BuildSet
                                               : Op::BuildMap;
  b_.emit(build, collection, collection, 0, at(parts.span));
  // With one loop every variable is set before it can be read.
  if (parts.generators.size() > 1) {
    for (uint32_t slot : parts.scope->own_slots) b_.emit(Op::Clear, slot, 0, 0, at(parts.span));
  }
  for (uint32_t cell : parts.scope->own_cells) {
    b_.emit(Op::Clear, cell_register(cell), 0, 0, at(parts.span));
    b_.emit(Op::MakeCell, cell_register(cell), 0, 0, at(parts.span));
  }
  comprehension_loops(parts, 0, {collection, false});
  for (uint32_t slot : parts.scope->own_slots) b_.emit(Op::Clear, slot, 0, 0, at(parts.span));
  for (uint32_t cell : parts.scope->own_cells) {
    b_.emit(Op::Clear, cell_register(cell), 0, 0, at(parts.span));
  }
  Reg to = destination(want, mark);
  b_.move(to, {collection, true}, at(parts.span));
  return result(want, to);
}

void Emitter::comprehension_loops(const ComprehensionParts& parts, size_t depth, Operand collection) {
  if (depth == parts.generators.size()) return comprehension_element(parts, collection);
  const Comprehension& loop = *parts.generators[depth];
  Reg mark = b_.top();
  Reg iterator;
  bool is_outermost_of_generator = parts.kind == ExprKind::GeneratorExp && depth == 0;
  if (is_outermost_of_generator) {
    iterator = local_register(0);  // the parameter: iter() was called outside
  } else {
    Operand iterable = expr(loop.iter);
    b_.reset(mark);
    iterator = b_.allocate();
    b_.unary(Op::GetIter, iterator, iterable, 0, at(loop.iter));
  }
  if (depth == 0) ++comprehensions_;
  JumpLabel head = b_.make_label(), next = b_.make_label(), exhausted = b_.make_label();
  for_step(loop.target, iterator, head, exhausted, at(loop.iter));
  for (const Expr* condition : loop.ifs) jump_if(condition, false, next);
  comprehension_loops(parts, depth + 1, collection);
  b_.place(next);
  b_.jump_back(head, at(loop.iter));
  b_.place(exhausted);
  if (depth == 0) --comprehensions_;
  b_.reset(mark);
}

void Emitter::comprehension_element(const ComprehensionParts& parts, Operand collection) {
  Reg mark = b_.top();
  InstructionSpan where = at(parts.element);
  switch (parts.kind) {
    case ExprKind::ListComp: b_.effect(Op::ListAppend, collection, expr(parts.element), where); break;
    case ExprKind::SetComp: b_.effect(Op::SetAdd, collection, expr(parts.element), where); break;
    case ExprKind::DictComp: {
      Operand key = stable(parts.element, {parts.value});
      Operand value = expr(parts.value);
      b_.effect(Op::MapAdd, collection, key, value, where);
      break;
    }
    default: {
      Operand value = expr(parts.element);
      b_.reset(mark);
      b_.unary(Op::Yield, b_.allocate(), value, 0, where);
      break;
    }
  }
  b_.reset(mark);
}

void Emitter::emit_generator_expression(const GeneratorExp& node) {
  prologue();
  comprehension_loops({node.kind, node.elt, nullptr, node.generators, node.scope, node.span}, 0, {});
  b_.emit(Op::ReturnNone, 0, 0, 0, at(&node));
}

Operand Emitter::emit_generator_call(const GeneratorExp& node, Want want) {
  Reg mark = b_.top();
  CodeRef code = nested_code(*node.scope, CodeKind::GeneratorExpression, node.span, nullptr,
                             [&](Emitter& inner) { inner.emit_generator_expression(node); });
  Operand function = make_function(*node.scope, std::move(code), nullptr, node.span, {});
  Reg argument = b_.top();
  const Expr* iter = node.generators[0]->iter;
  Operand iterable = expr(iter);
  b_.reset(argument);
  b_.allocate();
  b_.unary(Op::GetIter, argument, iterable, 0, at(iter));
  Reg to = destination(want, mark);
  b_.emit(Op::Call, to, function.reg, 1, at(&node));
  return result(want, to);
}

}  // namespace tsc::lang
