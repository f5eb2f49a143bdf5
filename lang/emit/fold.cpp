// What is known before the program runs. Only results that are exactly those of run time: integers
// that do not overflow, IEEE doubles, tuples and slices of such.
#include <cmath>

#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

Literal float_literal(double value) {
  Literal out;
  out.kind = LiteralKind::Float;
  out.real = value;
  return out;
}

std::optional<Literal> fold_constant(const Constant& node) {
  Literal out;
  switch (node.value_kind) {
    case ConstantKind::None: out.kind = LiteralKind::None; break;
    case ConstantKind::False: out.kind = LiteralKind::False; break;
    case ConstantKind::True: out.kind = LiteralKind::True; break;
    case ConstantKind::Ellipsis: out.kind = LiteralKind::Ellipsis; break;
    case ConstantKind::Int:
      if (node.text.empty()) return int_literal(node.integer);
      out.kind = LiteralKind::BigInt;
      out.text = node.text;
      break;
    case ConstantKind::Float: return float_literal(node.floating);
    case ConstantKind::Imaginary:
      out = float_literal(node.floating);
      out.kind = LiteralKind::Imaginary;
      break;
    case ConstantKind::Str: return str_literal(node.text);
    case ConstantKind::Bytes:
      out.kind = LiteralKind::Bytes;
      out.text = node.text;
      break;
  }
  return out;
}

std::optional<Literal> fold_unary(const UnaryOp& node) {
  if (auto* number = try_as<const Constant>(node.operand);
      number && number->needs_negation && node.op == UnaryOperator::USub) {
    return int_literal(INT64_MIN);
  }
  std::optional<Literal> value = fold(node.operand);
  if (!value) return std::nullopt;
  if (node.op == UnaryOperator::USub && value->kind == LiteralKind::Float) {
    return float_literal(-value->real);
  }
  if (value->kind != LiteralKind::Int) return std::nullopt;
  if (node.op == UnaryOperator::Invert) return int_literal(~value->integer);
  if (node.op == UnaryOperator::UAdd) return value;
  if (node.op != UnaryOperator::USub || value->integer == INT64_MIN) return std::nullopt;
  return int_literal(-value->integer);
}

std::optional<Literal> fold_power(int64_t base, int64_t exponent) {
  if (exponent < 0 || exponent > 63) return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return int_literal(result);
}

std::optional<Literal> fold_integers(Operator op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Operator::Add:
      if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
      break;
    case Operator::Sub:
      if (__builtin_sub_overflow(a, b, &out)) return std::nullopt;
      break;
    case Operator::Mult:
      if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
      break;
    case Operator::BitOr: out = a | b; break;
    case Operator::BitAnd: out = a & b; break;
    case Operator::BitXor: out = a ^ b; break;
    case Operator::Pow: return fold_power(a, b);
    default: return std::nullopt;
  }
  return int_literal(out);
}

std::optional<Literal> fold_floats(Operator op, double a, double b) {
  switch (op) {
    case Operator::Add: return float_literal(a + b);
    case Operator::Sub: return float_literal(a - b);
    case Operator::Mult: return float_literal(a * b);
    case Operator::Div:
      if (b == 0) return std::nullopt;
      return float_literal(a / b);
    default: return std::nullopt;
  }
}

std::optional<Literal> fold_bin_op(const BinOp& node) {
  std::optional<Literal> right = fold(node.right);
  if (!right || (right->kind != LiteralKind::Int && right->kind != LiteralKind::Float)) return std::nullopt;
  std::optional<Literal> left = fold(node.left);
  if (!left) return std::nullopt;
  if (left->kind == LiteralKind::Int && right->kind == LiteralKind::Int) {
    return fold_integers(node.op, left->integer, right->integer);
  }
  if (left->kind == LiteralKind::Float && right->kind == LiteralKind::Float) {
    return fold_floats(node.op, left->real, right->real);
  }
  return std::nullopt;
}

std::optional<Literal> fold_tuple(const Tuple& node) {
  Literal out;
  out.kind = LiteralKind::Tuple;
  for (const Expr* element : node.elts) {
    std::optional<Literal> item = fold(element);
    if (!item) return std::nullopt;
    out.items.push_back(std::move(*item));
  }
  return out;
}

std::optional<Literal> fold_slice(const Slice& node) {
  Literal out;
  out.kind = LiteralKind::Slice;
  for (const Expr* part : {node.lower, node.upper, node.step}) {
    std::optional<Literal> item = part ? fold(part) : none_literal();
    bool is_index = item && (item->kind == LiteralKind::Int || item->kind == LiteralKind::None);
    if (!is_index) return std::nullopt;
    out.items.push_back(std::move(*item));
  }
  return out;
}

}  // namespace

Literal none_literal() { return {}; }

Literal int_literal(int64_t value) {
  Literal out;
  out.kind = LiteralKind::Int;
  out.integer = value;
  return out;
}

Literal str_literal(std::string_view text) {
  Literal out;
  out.kind = LiteralKind::Str;
  out.text = text;
  return out;
}

std::optional<Literal> fold(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant: return fold_constant(*as<const Constant>(e));
    case ExprKind::UnaryOp: return fold_unary(*as<const UnaryOp>(e));
    case ExprKind::BinOp: return fold_bin_op(*as<const BinOp>(e));
    case ExprKind::Tuple: return fold_tuple(*as<const Tuple>(e));
    case ExprKind::Slice: return fold_slice(*as<const Slice>(e));
    default: return std::nullopt;
  }
}

}  // namespace tsc::lang
