// Storing into names, attributes, items and patterns of targets; augmented and annotated
// assignment; del.
#include "lang/emit/emitter.h"
#include "lang/emit/operators.h"

namespace tsc::lang {
namespace {

List<Expr*> sequence_elements(const Expr* e, bool& is_sequence) {
  is_sequence = true;
  if (auto* tuple = try_as<const Tuple>(e)) return tuple->elts;
  if (auto* list = try_as<const ListExpr>(e)) return list->elts;
  is_sequence = false;
  return {};
}

}  // namespace

std::optional<Reg> Emitter::variable_register(const Expr* target) const {
  auto* name = try_as<const Name>(target);
  if (!name || name->binding.access != Access::Local) return std::nullopt;
  return local_register(name->binding.index);
}

void Emitter::emit_assign(const Assign& node) {
  Reg mark = b_.top();
  if (node.targets.size() == 1) {
    if (auto variable = variable_register(node.targets[0])) {
      expr_to(node.value, *variable);
      return b_.reset(mark);
    }
    if (assign_pairwise(node.targets[0], node.value)) return b_.reset(mark);
  }
  Operand value = expr(node.value);
  for (const Expr* target : node.targets) {
    if (value.is_temporary || !may_assign(target)) continue;
    Reg copy = b_.allocate();
    b_.move(copy, value, at(node.value));
    value = {copy, true};
  }
  for (size_t i = 0; i < node.targets.size(); ++i) {
    bool is_last = i + 1 == node.targets.size();
    store(node.targets[i], is_last ? value : value.kept());
  }
  b_.reset(mark);
}

// a, b = x, y without making the tuple: all values first, then the stores.
bool Emitter::assign_pairwise(const Expr* target, const Expr* value) {
  bool is_pattern = false, is_display = false;
  List<Expr*> targets = sequence_elements(target, is_pattern);
  List<Expr*> values = sequence_elements(value, is_display);
  constexpr size_t kMost = 8;
  if (!is_pattern || !is_display || targets.size() != values.size() || targets.size() > kMost) return false;
  bool all_constant_into_variables = true;
  for (size_t i = 0; i < targets.size(); ++i) {
    bool is_starred = targets[i]->kind == ExprKind::Starred || values[i]->kind == ExprKind::Starred;
    if (is_starred || may_assign(target)) return false;
    all_constant_into_variables &= fold(values[i]) && variable_register(targets[i]);
  }
  if (all_constant_into_variables) {
    for (size_t i = 0; i < targets.size(); ++i) expr_to(values[i], *variable_register(targets[i]));
    return true;
  }
  Reg first = b_.top();
  for (const Expr* item : values) expr_next(item);
  for (size_t i = 0; i < targets.size(); ++i) {
    store(targets[i], {first + static_cast<Reg>(i), true});
  }
  return true;
}

void Emitter::store(const Expr* target, Operand value) {
  Reg mark = b_.top();
  switch (target->kind) {
    case ExprKind::Name: {
      auto& node = *as<const Name>(target);
      store_binding(node.binding, node.id, value, at(target));
      break;
    }
    case ExprKind::Attribute: {
      auto& node = *as<const Attribute>(target);
      Operand object = expr(node.value);
      b_.effect(Op::StoreAttr, object, value, at_attribute(node, node.span), b_.site(SiteKind::Attribute, node.attr));
      break;
    }
    case ExprKind::Subscript: {
      auto& node = *as<const Subscript>(target);
      Operand object = stable(node.value, {node.slice});
      Operand key = expr(node.slice);
      b_.effect(Op::StoreSubscr, object, key, value, at_item(node));
      break;
    }
    case ExprKind::Tuple: unpack(as<const Tuple>(target)->elts, value, target->span); break;
    case ExprKind::ListExpr: unpack(as<const ListExpr>(target)->elts, value, target->span); break;
    default: TSC_CHECK(false, "an expression that is no target");
  }
  b_.reset(mark);
}

void Emitter::store_binding(Binding binding, Identifier name, Operand value, InstructionSpan where) {
  binding = at_top(binding, name);
  switch (binding.access) {
    case Access::Local: b_.move(local_register(binding.index), value, where); break;
    case Access::Cell: b_.effect(Op::StoreCell, {cell_register(binding.index), false}, value, where); break;
    case Access::Free: b_.unary(Op::StoreFree, binding.index, value, 0, where); break;
    case Access::Global: b_.unary(Op::StoreGlobal, b_.site(SiteKind::Global, name), value, 0, where); break;
    case Access::Class: b_.unary(Op::StoreName, b_.site(SiteKind::Name, name), value, 0, where); break;
    case Access::Unresolved: TSC_CHECK(false, "unresolved name " + std::string(name));
  }
}

void Emitter::delete_binding(Binding binding, Identifier name, InstructionSpan where) {
  binding = at_top(binding, name);
  switch (binding.access) {
    case Access::Local:
      b_.emit(Op::CheckBound, local_register(binding.index), b_.name(name), 0, where);
      b_.emit(Op::Clear, local_register(binding.index), 0, 0, where);
      break;
    case Access::Cell: b_.emit(Op::DeleteCell, cell_register(binding.index), b_.name(name), 0, where); break;
    case Access::Free: b_.emit(Op::DeleteFree, binding.index, 0, 0, where); break;
    case Access::Global: b_.emit(Op::DeleteGlobal, b_.site(SiteKind::Global, name), 0, 0, where); break;
    case Access::Class: b_.emit(Op::DeleteName, b_.site(SiteKind::Name, name), 0, 0, where); break;
    case Access::Unresolved: TSC_CHECK(false, "unresolved name " + std::string(name));
  }
}

void Emitter::unpack(List<Expr*> targets, Operand value, Span span) {
  size_t star = 0;
  while (star < targets.size() && targets[star]->kind != ExprKind::Starred) ++star;
  uint32_t count = static_cast<uint32_t>(targets.size());
  // Variables side by side are filled by the one instruction.
  std::optional<Reg> first_variable = count ? variable_register(targets[0]) : std::nullopt;
  bool side_by_side = first_variable && star == count;
  for (uint32_t i = 0; side_by_side && i < count; ++i) {
    auto variable = variable_register(targets[i]);
    side_by_side = variable && *variable == *first_variable + i;
  }
  if (side_by_side) {
    b_.unary(Op::UnpackSequence, *first_variable, value, count, at(span));
    return;
  }
  Reg first = b_.allocate(count);
  if (star == targets.size()) {
    b_.unary(Op::UnpackSequence, first, value, count, at(span));
  } else {
    size_t after = targets.size() - star - 1;
    if (star > 255 || after > 255) throw CodeLimit{"targets on one side of a starred one"};
    b_.unary(Op::UnpackEx, first, value, static_cast<uint32_t>(star | after << 8), at(span));
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const Expr* target = i == star ? as<const Starred>(static_cast<const Expr*>(targets[i]))->value : targets[i];
    store(target, {first + static_cast<Reg>(i), true});
  }
}

void Emitter::inplace(Operator op, Reg to, Operand left, const Expr* value, InstructionSpan where) {
  const BinaryOps& ops = binary_ops(op);
  if (ops.inplace_constant != Op::Nop) {
    if (auto index = number_constant(value)) {
      return b_.unary(ops.inplace_constant, to, left, *index, where);
    }
  }
  Operand right = expr(value);
  b_.binary(ops.inplace, to, left, right, where);
}

void Emitter::emit_aug_assign(const AugAssign& node) {
  Reg mark = b_.top();
  InstructionSpan where = at(node.span);
  if (auto variable = variable_register(node.target)) {
    Operand left = stable(node.target, {node.value});
    inplace(node.op, *variable, left, node.value, where);
  } else if (auto* name = try_as<const Name>(node.target)) {
    Reg value = expr_next(name);
    inplace(node.op, value, {value, true}, node.value, where);
    store_binding(name->binding, name->id, {value, true}, where);
  } else if (auto* attribute = try_as<const Attribute>(node.target)) {
    Operand object = stable(attribute->value, {node.value});
    Reg value = b_.allocate();
    InstructionSpan place = at_attribute(*attribute, attribute->span);
    b_.unary(Op::LoadAttr, value, object.kept(), b_.site(SiteKind::Attribute, attribute->attr), place);
    inplace(node.op, value, {value, true}, node.value, where);
    b_.effect(Op::StoreAttr, object, {value, true}, place, b_.site(SiteKind::Attribute, attribute->attr));
  } else {
    auto& item = *as<const Subscript>(static_cast<const Expr*>(node.target));
    Operand object = stable(item.value, {item.slice, node.value});
    Operand key = stable(item.slice, {node.value});
    Reg value = b_.allocate();
    b_.binary(Op::LoadSubscr, value, object.kept(), key.kept(), at_item(item));
    inplace(node.op, value, {value, true}, node.value, where);
    b_.effect(Op::StoreSubscr, object, key, {value, true}, at_item(item));
  }
  b_.reset(mark);
}

void Emitter::emit_ann_assign(const AnnAssign& node) {
  Reg mark = b_.top();
  if (node.value) {
    if (auto variable = variable_register(node.target)) expr_to(node.value, *variable);
    else store(node.target, expr(node.value));
    b_.reset(mark);
  }
  const CodeKind kind = b_.code().kind;
  if (kind != CodeKind::ClassBody && kind != CodeKind::Module) return;
  annotates_at_once() ? annotate_at_once(node) : note_annotation(node);
}

void Emitter::emit_delete(const Expr* target) {
  Reg mark = b_.top();
  bool is_sequence = false;
  List<Expr*> elements = sequence_elements(target, is_sequence);
  if (is_sequence) {
    for (const Expr* element : elements) emit_delete(element);
  } else if (auto* name = try_as<const Name>(target)) {
    delete_binding(name->binding, name->id, at(target));
  } else if (auto* attribute = try_as<const Attribute>(target)) {
    Operand object = expr(attribute->value);
    b_.effect(Op::DeleteAttr, object, 0, b_.site(SiteKind::Attribute, attribute->attr),
              at_attribute(*attribute, attribute->span));
  } else {
    auto& item = *as<const Subscript>(target);
    Operand object = stable(item.value, {item.slice});
    Operand key = expr(item.slice);
    b_.effect(Op::DeleteSubscr, object, key, at_item(item));
  }
  b_.reset(mark);
}

}  // namespace tsc::lang
