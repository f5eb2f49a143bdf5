// Asserts that tell what they compared. The operands are kept in registers past the comparison, so
// each is evaluated once and the message shows the very values that were compared.
#include "lang/emit/emitter.h"
#include "lang/emit/operators.h"

namespace tsc::lang {

namespace {

// In the order of enum CompareOperator.
constexpr std::string_view kSpellings[] = {" == ", " != ", " < ",      " <= ", " > ",
                                           " >= ", " is ", " is not ", " in ", " not in "};

const Compare* comparison_of(const Assert& node) {
  auto* comparison = try_as<const Compare>(node.test);
  return comparison && comparison->ops.size() == 1 ? comparison : nullptr;
}

}  // namespace

void Emitter::emit_explained_assert(const Assert& node) {
  const Compare* comparison = comparison_of(node);
  JumpLabel holds = b_.make_label();
  const Reg mark = b_.top();
  const Reg left = expr_next(comparison ? comparison->left : node.test);
  Reg right = left, truth = left;
  if (comparison) {
    right = expr_next(comparison->comparators[0]);
    truth = b_.allocate();
    b_.binary(compare_ops(comparison->ops[0]).value, truth, {left, false}, {right, false}, at(comparison));
  }
  b_.jump_if(Op::JumpIfTrue, {truth, comparison != nullptr}, holds, at(node.test));
  explain_assert(node, left, right);
  b_.place(holds);
  b_.emit(Op::Clear, left, 0, 0, at(node.span));
  if (comparison) b_.emit(Op::Clear, right, 0, 0, at(node.span));
  b_.reset(mark);
}

// Raises AssertionError("message: left == right").
void Emitter::explain_assert(const Assert& node, Reg left, Reg right) {
  constexpr uint32_t kStr = 1, kRepr = 2;
  const InstructionSpan where = at(node.span);
  const Compare* comparison = comparison_of(node);
  const Reg error = b_.allocate();
  b_.emit(Op::LoadAssertionError, error, 0, 0, where);
  const Reg first = b_.top();
  const auto show = [&](Operand value, uint32_t mode) {
    b_.unary(Op::FormatValue, b_.allocate(), value, 0, where, mode);
  };
  const auto text = [&](std::string_view literal) { constant(str_literal(literal), b_.allocate(), where); };
  if (node.msg) {
    const Reg message = expr_next(node.msg);
    b_.unary(Op::FormatValue, message, {message, false}, 0, where, kStr);
    text(": ");
  }
  show({left, false}, kRepr);
  if (comparison) {
    text(kSpellings[static_cast<size_t>(comparison->ops[0])]);
    show({right, false}, kRepr);
  }
  b_.emit(Op::BuildString, first, first, b_.top() - first, where);
  b_.reset(first + 1);
  b_.emit(Op::Call, error, error, 1, where);
  b_.effect(Op::Raise, {error, true}, at(node.span, node.test->span));
  b_.reset(error);
}

}  // namespace tsc::lang
