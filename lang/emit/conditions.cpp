// Truth: comparisons, and / or / not, as values and as jumps.
#include "lang/emit/emitter.h"
#include "lang/emit/operators.h"

namespace tsc::lang {
namespace {

std::optional<bool> known_truth(const Expr* test) {
  std::optional<Literal> literal = fold(test);
  if (!literal) return std::nullopt;
  switch (literal->kind) {
    case LiteralKind::None:
    case LiteralKind::False: return false;
    case LiteralKind::Int: return literal->integer != 0;
    case LiteralKind::Float:
    case LiteralKind::Imaginary: return literal->real != 0;
    case LiteralKind::Str:
    case LiteralKind::Bytes: return !literal->text.empty();
    case LiteralKind::Tuple: return !literal->items.empty();
    default: return true;
  }
}

bool is_none(const Expr* e) {
  auto* node = try_as<const Constant>(e);
  return node && node->value_kind == ConstantKind::None;
}

}  // namespace

void Emitter::jump_if(const Expr* test, bool sense, JumpLabel target) {
  if (auto truth = known_truth(test)) {
    if (*truth == sense) b_.jump(target, at(test));
    return;
  }
  Reg mark = b_.top();
  if (auto* inverted = try_as<const UnaryOp>(test); inverted && inverted->op == UnaryOperator::Not) {
    jump_if(inverted->operand, !sense, target);
  } else if (auto* both = try_as<const BoolOp>(test)) {
    jump_if_bool_op(*both, sense, target);
  } else if (auto* comparison = try_as<const Compare>(test)) {
    jump_if_compare(*comparison, sense, target);
  } else {
    Operand value = expr(test);
    b_.jump_if(sense ? Op::JumpIfTrue : Op::JumpIfFalse, value, target, at(test));
  }
  b_.reset(mark);
}

void Emitter::jump_if_bool_op(const BoolOp& node, bool sense, JumpLabel target) {
  // `and` is decided by the first false operand, `or` by the first true one.
  bool deciding = node.op == BoolOperator::Or;
  if (deciding == sense) {
    for (const Expr* value : node.values) jump_if(value, sense, target);
    return;
  }
  JumpLabel decided = b_.make_label();
  for (size_t i = 0; i + 1 < node.values.size(); ++i) jump_if(node.values[i], deciding, decided);
  jump_if(node.values.back(), sense, target);
  b_.place(decided);
}

void Emitter::jump_if_pair(CompareOperator op, const Expr* right, Operand left, Operand right_value,
                           std::optional<uint32_t> right_constant, bool sense, JumpLabel target,
                           InstructionSpan where) {
  bool tests_none = is_none(right) && (op == CompareOperator::Is || op == CompareOperator::IsNot);
  if (tests_none) {
    bool jumps_on_none = (op == CompareOperator::Is) == sense;
    b_.jump_if(jumps_on_none ? Op::JumpIfNone : Op::JumpIfNotNone, left, target, where);
    return;
  }
  const CompareOps& ops = compare_ops(op);
  if (ops.jump != Op::Nop && !b_.long_jumps()) {
    if (right_constant) {
      b_.jump_compare(ops.jump_constant, left, {*right_constant, false}, true, sense, target, where);
    } else {
      b_.jump_compare(ops.jump, left, right_value, false, sense, target, where);
    }
    return;
  }
  Reg to = b_.allocate();
  if (right_constant) b_.unary(ops.value_constant, to, left, *right_constant, where);
  else b_.binary(ops.value, to, left, right_value, where);
  b_.jump_if(sense ? Op::JumpIfTrue : Op::JumpIfFalse, {to, true}, target, where);
}

void Emitter::jump_if_compare(const Compare& node, bool sense, JumpLabel target) {
  Reg mark = b_.top();
  size_t count = node.ops.size();
  Operand left = count == 1 ? stable(node.left, {node.comparators[0]}) : Operand{expr_next(node.left), true};
  // A chain whose middle value is a temporary has to empty it also where the chain ends early.
  JumpLabel ended = b_.make_label();
  for (size_t i = 0; i < count; ++i) {
    const Expr* right = node.comparators[i];
    bool is_last = i + 1 == count;
    std::optional<uint32_t> index;
    Operand value;
    bool needs_value =
        !(is_last && is_none(right) && (node.ops[i] == CompareOperator::Is || node.ops[i] == CompareOperator::IsNot));
    if (is_last && compare_ops(node.ops[i]).value_constant != Op::Nop) index = number_constant(right);
    if (!is_last) value = {expr_next(right), true};
    else if (!index && needs_value) value = expr(right);
    const Expr* none_operand = is_last ? right : nullptr;
    if (is_last) {
      jump_if_pair(node.ops[i], none_operand, left, value, index, sense, target, at(&node));
    } else {
      jump_if_pair(node.ops[i], none_operand, left, value.kept(), index, false, ended, at(&node));
    }
    left = value;
  }
  if (count == 1) return b_.place(ended);
  JumpLabel done = b_.make_label();
  b_.jump(done, at(&node));
  b_.place(ended);
  for (Reg reg = mark; reg < b_.top(); ++reg) b_.emit(Op::Clear, reg, 0, 0, at(&node));
  if (!sense) b_.jump(target, at(&node));
  b_.place(done);
}

// Puts the operand into `value` and jumps if its truth is `sense`. Each object is asked for its
// truth once, also where `and` and `or` are nested: asking may run script code or wait for a
// tensor.
void Emitter::bool_operand(const Expr* e, Reg value, bool sense, JumpLabel target) {
  auto* nested = try_as<const BoolOp>(e);
  if (!nested || fold(e)) {
    expr_to(e, value);
    b_.jump_if(sense ? Op::JumpIfTrue : Op::JumpIfFalse, {value, false}, target, at(e));
    return;
  }
  bool deciding = nested->op == BoolOperator::Or;
  JumpLabel decided = b_.make_label();
  JumpLabel inner = deciding == sense ? target : decided;
  for (size_t i = 0; i + 1 < nested->values.size(); ++i) {
    bool_operand(nested->values[i], value, deciding, inner);
  }
  bool_operand(nested->values.back(), value, sense, target);
  b_.place(decided);
}

// The value of an operand chain into `value`; `end` is where its readers stand.
void Emitter::bool_value(const Expr* e, Reg value, JumpLabel end) {
  auto* node = try_as<const BoolOp>(e);
  if (!node) return expr_to(e, value);
  bool deciding = node->op == BoolOperator::Or;
  for (size_t i = 0; i + 1 < node->values.size(); ++i) {
    bool_operand(node->values[i], value, deciding, end);
  }
  bool_value(node->values.back(), value, end);
}

Operand Emitter::emit_bool_op(const BoolOp& node, Want want) {
  // A variable must not change before the last operand is known.
  Reg mark = b_.top();
  Reg value = want && b_.is_temporary(*want) ? *want : b_.allocate();
  JumpLabel end = b_.make_label();
  bool_value(&node, value, end);
  b_.place(end);
  if (!want) return {value, true};
  b_.move(*want, {value, true}, at(&node));
  b_.reset(mark);
  return {*want, false};
}

void Emitter::compare_into(Reg to, CompareOperator op, Operand left, const Expr* right, InstructionSpan where) {
  const CompareOps& ops = compare_ops(op);
  if (ops.value_constant != Op::Nop) {
    if (auto index = number_constant(right)) {
      return b_.unary(ops.value_constant, to, left, *index, where);
    }
  }
  b_.binary(ops.value, to, left, expr(right), where);
}

Operand Emitter::emit_compare(const Compare& node, Want want) {
  Reg mark = b_.top();
  size_t count = node.ops.size();
  if (count == 1) {
    Operand left = stable(node.left, {node.comparators[0]});
    const CompareOps& ops = compare_ops(node.ops[0]);
    std::optional<uint32_t> index;
    if (ops.value_constant != Op::Nop) index = number_constant(node.comparators[0]);
    Operand right = index ? Operand{} : expr(node.comparators[0]);
    Reg to = destination(want, mark);
    if (index) b_.unary(ops.value_constant, to, left, *index, at(&node));
    else b_.binary(ops.value, to, left, right, at(&node));
    return result(want, to);
  }
  Reg value = b_.allocate();
  JumpLabel end = b_.make_label();
  Operand left{expr_next(node.left), true};
  for (size_t i = 0; i < count; ++i) {
    if (i + 1 == count) {
      compare_into(value, node.ops[i], left, node.comparators[i], at(&node));
      break;
    }
    Operand right{expr_next(node.comparators[i]), true};
    b_.binary(compare_ops(node.ops[i]).value, value, left, right.kept(), at(&node));
    b_.jump_if(Op::JumpIfFalse, {value, false}, end, at(&node));
    left = right;
  }
  b_.place(end);
  for (Reg reg = value + 1; reg <= value + count; ++reg) b_.emit(Op::Clear, reg, 0, 0, at(&node));
  b_.reset(mark);
  if (!want) return {b_.allocate(), true};
  b_.move(*want, {value, true}, at(&node));
  return {*want, false};
}

}  // namespace tsc::lang
