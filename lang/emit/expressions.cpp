// Names, operators, attributes, items and the other expressions without a file of their own.
#include "lang/emit/emitter.h"
#include "lang/emit/operators.h"

namespace tsc::lang {

Reg Emitter::destination(Want want, Reg mark) {
  b_.reset(mark);
  return want ? *want : b_.allocate();
}

Operand Emitter::expr(const Expr* e, Want want) {
  if (auto literal = fold(e)) return constant(std::move(*literal), want, at(e));
  switch (e->kind) {
    case ExprKind::BoolOp: return emit_bool_op(*as<const BoolOp>(e), want);
    case ExprKind::NamedExpr: return emit_named_expr(*as<const NamedExpr>(e), want);
    case ExprKind::BinOp: return emit_bin_op(*as<const BinOp>(e), want);
    case ExprKind::UnaryOp: return emit_unary_op(*as<const UnaryOp>(e), want);
    case ExprKind::Lambda: return emit_lambda(*as<const Lambda>(e), want);
    case ExprKind::IfExp: return emit_if_exp(*as<const IfExp>(e), want);
    case ExprKind::Dict: return emit_dict(*as<const Dict>(e), want);
    case ExprKind::Set: return emit_set(*as<const Set>(e), want);
    case ExprKind::ListComp: {
      auto& node = *as<const ListComp>(e);
      return emit_comprehension({e->kind, node.elt, nullptr, node.generators, node.scope, e->span}, want);
    }
    case ExprKind::SetComp: {
      auto& node = *as<const SetComp>(e);
      return emit_comprehension({e->kind, node.elt, nullptr, node.generators, node.scope, e->span}, want);
    }
    case ExprKind::DictComp: {
      auto& node = *as<const DictComp>(e);
      return emit_comprehension({e->kind, node.key, node.value, node.generators, node.scope, e->span}, want);
    }
    case ExprKind::GeneratorExp: return emit_generator_call(*as<const GeneratorExp>(e), want);
    case ExprKind::Yield: return emit_yield(*as<const Yield>(e), want);
    case ExprKind::YieldFrom: return emit_yield_from(*as<const YieldFrom>(e), want);
    case ExprKind::Compare: return emit_compare(*as<const Compare>(e), want);
    case ExprKind::Call: return emit_call(*as<const Call>(e), want);
    case ExprKind::FormattedValue: return emit_formatted_value(*as<const FormattedValue>(e), want);
    case ExprKind::JoinedStr: return emit_joined_str(*as<const JoinedStr>(e), want);
    case ExprKind::Attribute: return emit_attribute(*as<const Attribute>(e), want);
    case ExprKind::Subscript: return emit_subscript(*as<const Subscript>(e), want);
    case ExprKind::Name: return emit_name(*as<const Name>(e), want);
    case ExprKind::ListExpr: return emit_sequence(as<const ListExpr>(e)->elts, Op::BuildList, e->span, want);
    case ExprKind::Tuple: return emit_sequence(as<const Tuple>(e)->elts, Op::BuildTuple, e->span, want);
    case ExprKind::Slice: return emit_slice(*as<const Slice>(e), want);
    case ExprKind::Constant:
    case ExprKind::Starred: break;
  }
  TSC_CHECK(false, "an expression that cannot stand alone");
  return {};
}

Reg Emitter::expr_next(const Expr* e) {
  Reg next = b_.top();
  Operand value = expr(e);
  if (!value.is_temporary) {
    b_.allocate();
    b_.move(next, value, at(e));
  }
  return next;
}

bool Emitter::may_assign(const Expr* e) const {
  return context_.has_walrus && e && context_.source->slice(e->span).find(":=") != std::string_view::npos;
}

Operand Emitter::stable(const Expr* e, std::initializer_list<const Expr*> later) {
  Operand value = expr(e);
  if (value.is_temporary) return value;
  for (const Expr* other : later) {
    if (!may_assign(other)) continue;
    Reg copy = b_.allocate();
    b_.move(copy, value, at(e));
    return {copy, true};
  }
  return value;
}

void Emitter::discard(const Expr* e) {
  if (fold(e)) return;
  Reg mark = b_.top();
  Operand value = expr(e);
  if (value.is_temporary) b_.emit(Op::Clear, value.reg, 0, 0, at(e));
  b_.reset(mark);
}

Operand Emitter::constant(Literal literal, Want want, InstructionSpan where) {
  Reg to = want ? *want : b_.allocate();
  b_.load_constant(to, std::move(literal), where);
  return result(want, to);
}

// Index of an int or float constant that fits a 16-bit operand.
std::optional<uint32_t> Emitter::number_constant(const Expr* e) {
  std::optional<Literal> literal = fold(e);
  bool is_number = literal && (literal->kind == LiteralKind::Int || literal->kind == LiteralKind::Float);
  if (!is_number) return std::nullopt;
  uint32_t index = b_.constant(std::move(*literal));
  if (index > 0xFFFF) return std::nullopt;
  return index;
}

Operand Emitter::emit_name(const Name& node, Want want) { return load_binding(node.binding, node.id, want, at(&node)); }

Operand Emitter::load_binding(Binding binding, Identifier name, Want want, InstructionSpan where) {
  binding = at_top(binding, name);
  if (binding.access == Access::Local) {
    Reg reg = local_register(binding.index);
    b_.emit(Op::CheckBound, reg, b_.name(name), 0, where);
    if (!want) return {reg, false};
    b_.move(*want, {reg, false}, where);
    return {*want, false};
  }
  Reg to = want ? *want : b_.allocate();
  // The namespace of a class may hold names that its body does not bind: the metaclass prepared it. Comprehensions
  // do not see it.
  const bool in_class = b_.code().kind == CodeKind::ClassBody && comprehensions_ == 0;
  switch (binding.access) {
    case Access::Cell: b_.emit(Op::LoadCell, to, cell_register(binding.index), b_.name(name), where); break;
    case Access::Free:
      if (in_class) b_.emit(Op::LoadNameOrFree, to, b_.site(SiteKind::Name, name), binding.index, where);
      else b_.emit(Op::LoadFree, to, binding.index, 0, where);
      break;
    case Access::Global:
      if (in_class) b_.emit(Op::LoadName, to, b_.site(SiteKind::Name, name), 0, where);
      else b_.emit(Op::LoadGlobal, to, b_.site(SiteKind::Global, name), 0, where);
      break;
    case Access::Class: b_.emit(Op::LoadName, to, b_.site(SiteKind::Name, name), 0, where); break;
    default: TSC_CHECK(false, "unresolved name " + std::string(name));
  }
  return result(want, to);
}

Operand Emitter::emit_bin_op(const BinOp& node, Want want) {
  Reg mark = b_.top();
  InstructionSpan where = at(node.span, node.op_span);
  const BinaryOps& ops = binary_ops(node.op);
  if (ops.constant != Op::Nop) {
    if (auto index = number_constant(node.right)) {
      Operand left = expr(node.left);
      Reg to = destination(want, mark);
      b_.unary(ops.constant, to, left, *index, where);
      return result(want, to);
    }
  }
  Operand left = stable(node.left, {node.right});
  Operand right = expr(node.right);
  Reg to = destination(want, mark);
  b_.binary(ops.plain, to, left, right, where);
  return result(want, to);
}

Operand Emitter::emit_unary_op(const UnaryOp& node, Want want) {
  constexpr Op kOps[] = {Op::Invert, Op::Not, Op::Positive, Op::Negative};
  Reg mark = b_.top();
  Operand value = expr(node.operand);
  Reg to = destination(want, mark);
  b_.unary(kOps[static_cast<size_t>(node.op)], to, value, 0, at(&node));
  return result(want, to);
}

InstructionSpan Emitter::at_item(const Subscript& node) const {
  const uint32_t behind = node.value->span.end;
  const size_t bracket = context_.source->text().find('[', behind);
  return at(node.span, {bracket < node.span.end ? static_cast<uint32_t>(bracket) : behind, node.span.end});
}

InstructionSpan Emitter::at_attribute(const Attribute& node, Span whole) const {
  const Source& source = *context_.source;
  if (source.line_of(node.span.begin) == source.line_of(node.span.end)) return at(whole);
  return at(Span{node.attr_span.begin, whole.end});
}

Operand Emitter::emit_attribute(const Attribute& node, Want want) {
  Reg mark = b_.top();
  Operand object = expr(node.value);
  Reg to = destination(want, mark);
  b_.unary(Op::LoadAttr, to, object, b_.site(SiteKind::Attribute, node.attr), at_attribute(node, node.span));
  return result(want, to);
}

Operand Emitter::emit_subscript(const Subscript& node, Want want) {
  Reg mark = b_.top();
  InstructionSpan where = at_item(node);
  if (auto literal = fold(node.slice)) {
    uint32_t index = b_.constant(std::move(*literal));
    if (index <= 0xFFFF) {
      Operand object = expr(node.value);
      Reg to = destination(want, mark);
      b_.unary(Op::LoadSubscrK, to, object, index, where);
      return result(want, to);
    }
  }
  Operand object = stable(node.value, {node.slice});
  Operand key = expr(node.slice);
  Reg to = destination(want, mark);
  b_.binary(Op::LoadSubscr, to, object, key, where);
  return result(want, to);
}

Operand Emitter::emit_slice(const Slice& node, Want want) {
  Reg first = b_.top();
  for (const Expr* part : {node.lower, node.upper, node.step}) {
    if (part) expr_next(part);
    else b_.load_constant(b_.allocate(), none_literal(), at(&node));
  }
  Reg to = destination(want, first);
  b_.emit(Op::BuildSlice, to, first, 0, at(&node));
  return result(want, to);
}

Operand Emitter::emit_named_expr(const NamedExpr& node, Want want) {
  const Binding& binding = node.target->binding;
  if (binding.access == Access::Local) {
    Reg variable = local_register(binding.index);
    expr_to(node.value, variable);
    if (!want) return {variable, false};
    b_.move(*want, {variable, false}, at(&node));
    return {*want, false};
  }
  Operand value = expr(node.value, want);
  store_binding(binding, node.target->id, value.kept(), at(&node));
  return value;
}

Operand Emitter::emit_if_exp(const IfExp& node, Want want) {
  JumpLabel otherwise = b_.make_label(), end = b_.make_label();
  Reg mark = b_.top();
  jump_if(node.test, false, otherwise);
  Reg to = destination(want, mark);
  expr_to(node.body, to);
  b_.jump(end, at(&node));
  b_.place(otherwise);
  expr_to(node.orelse, to);
  b_.place(end);
  return result(want, to);
}

Operand Emitter::emit_yield(const Yield& node, Want want) {
  Reg mark = b_.top();
  Operand value = node.value ? expr(node.value) : constant(none_literal(), {}, at(&node));
  Reg to = destination(want, mark);
  b_.unary(Op::Yield, to, value, 0, at(&node));
  return result(want, to);
}

Operand Emitter::emit_yield_from(const YieldFrom& node, Want want) {
  Reg mark = b_.top();
  Operand value = expr(node.value);
  b_.reset(mark);
  Reg iterator = b_.allocate();
  b_.unary(Op::GetYieldFromIter, iterator, value, 0, at(&node));
  Reg sent = b_.allocate();
  b_.load_constant(sent, none_literal(), at(&node));
  Reg to = destination(want, mark);
  b_.unary(Op::YieldFrom, to, {iterator, true}, sent, at(&node));
  b_.emit(Op::Clear, sent, 0, 0, at(&node));
  return result(want, to);
}

}  // namespace tsc::lang
