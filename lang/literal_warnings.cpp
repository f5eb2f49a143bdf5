#include "lang/literal_warnings.h"

#include <algorithm>
#include <string>

namespace tsc::lang {
namespace {

std::string_view constant_type(const Constant& constant) {
  switch (constant.value_kind) {
    case ConstantKind::None: return "NoneType";
    case ConstantKind::False:
    case ConstantKind::True: return "bool";
    case ConstantKind::Ellipsis: return "ellipsis";
    case ConstantKind::Int: return "int";
    case ConstantKind::Float: return "float";
    case ConstantKind::Imaginary: return "complex";
    case ConstantKind::Str: return "str";
    case ConstantKind::Bytes: return "bytes";
  }
  return "";
}

// The type of what is written out; "" of everything else.
std::string_view literal_type(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant: return constant_type(*as<const Constant>(e));
    case ExprKind::Tuple: return "tuple";
    case ExprKind::ListExpr:
    case ExprKind::ListComp: return "list";
    case ExprKind::Dict:
    case ExprKind::DictComp: return "dict";
    case ExprKind::Set:
    case ExprKind::SetComp: return "set";
    case ExprKind::GeneratorExp: return "generator";
    case ExprKind::Lambda: return "function";
    case ExprKind::JoinedStr:
    case ExprKind::FormattedValue: return "str";
    default: return "";
  }
}

// A number or text, or a tuple of such: which object stands for it is nobody's business.
bool is_value_literal(const Expr* e) {
  if (auto* sign = try_as<const UnaryOp>(e))
    return sign->op != UnaryOperator::Not && sign->operand->kind == ExprKind::Constant &&
           is_value_literal(sign->operand);
  if (auto* tuple = try_as<const Tuple>(e))
    return std::all_of(tuple->elts.begin(), tuple->elts.end(),
                       [](const Expr* part) { return is_value_literal(part) || part->kind == ExprKind::Constant; });
  auto* constant = try_as<const Constant>(e);
  return constant && constant->value_kind >= ConstantKind::Int;
}

void warn_of_comma(Diagnostics& diagnostics, Span span, std::string message) {
  diagnostics.warning(Code::MissedComma, span, std::move(message)).help("perhaps you missed a comma?");
}

std::string object_of(std::string_view type) { return "'" + std::string(type) + "' object"; }

}  // namespace

void warn_of_identity(Diagnostics& diagnostics, const Compare& node) {
  bool is_left_literal = is_value_literal(node.left);
  for (size_t i = 0; i < node.ops.size(); ++i) {
    const bool is_right_literal = is_value_literal(node.comparators[i]);
    const CompareOperator op = node.ops[i];
    if ((op == CompareOperator::Is || op == CompareOperator::IsNot) && (is_left_literal || is_right_literal)) {
      const bool negates = op == CompareOperator::IsNot;
      diagnostics
          .warning(Code::LiteralIdentity, node.span, negates ? "\"is not\" with a literal" : "\"is\" with a literal")
          .help(negates ? "did you mean \"!=\"?" : "did you mean \"==\"?");
      return;
    }
    is_left_literal = is_right_literal;
  }
}

void warn_of_call(Diagnostics& diagnostics, const Call& node) {
  const std::string_view type = literal_type(node.func);
  if (!type.empty() && type != "function") warn_of_comma(diagnostics, node.span, object_of(type) + " is not callable");
}

void warn_of_subscript(Diagnostics& diagnostics, const Subscript& node) {
  if (node.ctx != ExprContext::Load) return;
  const std::string_view type = literal_type(node.value), index = literal_type(node.slice);
  static constexpr std::string_view kSequences[] = {"str", "bytes", "tuple", "list"};
  const bool is_sequence = std::find(std::begin(kSequences), std::end(kSequences), type) != std::end(kSequences);
  if (!type.empty() && !is_sequence && type != "dict")
    warn_of_comma(diagnostics, node.span, object_of(type) + " is not subscriptable");
  else if (is_sequence && !index.empty() && index != "int" && index != "bool")
    warn_of_comma(diagnostics, node.span,
                  std::string(type) + " indices must be integers or slices, not " + std::string(index));
}

}  // namespace tsc::lang
