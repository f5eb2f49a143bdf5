// Calls that are compared with the annotations of the function: in front of the body, while every parameter
// is in its register, and at every way out. Outside all blocks of the function: no `except` of its own sees
// that it was called wrongly. The comparing is done by two functions among the builtins that exist when
// shapes are checked, as a class statement calls __build_class__ in Python.
#include <algorithm>

#include "lang/emit/emitter.h"

namespace tsc::lang {
namespace {

// A body that only says what subclasses are to return.
bool is_abstract(List<Stmt*> body) {
  return std::all_of(body.begin(), body.end(), [](const Stmt* s) {
    auto* expression = try_as<const ExprStmt>(s);
    return s->kind == StmtKind::Pass || s->kind == StmtKind::Raise ||
           (expression && expression->value->kind == ExprKind::Constant);
  });
}

std::string_view plain_name(const std::string& name) {
  return std::string_view(name).substr(std::min(name.find_first_not_of('*'), name.size()));
}

}  // namespace

void Emitter::check_shape_arguments(const FunctionDef& node) {
  if (!context_.shape_names) return;
  ShapeSignature signature =
      read_signature(*node.args, node.returns, *context_.source, *context_.shape_names, context_.diagnostics);
  // What a generator returns is no result of the call.
  if (scope_.is_generator || is_abstract(node.body)) signature.result = Annotation();
  const bool checks_result = signature.result.holds_tensor();
  if (signature.parameters.empty() && !checks_result) return;
  shape_constant_ = b_.constant(signature_literal(signature));
  const InstructionSpan where = at(node.name_span);
  const std::vector<std::string>& names = b_.code().parameters.names;
  const Reg state = begin_shape_call("__check_arguments__", where);
  for (const ShapeParameter& p : signature.parameters) {
    const auto found = std::find(names.begin(), names.end(), plain_name(p.name));
    b_.move(b_.allocate(), {static_cast<Reg>(found - names.begin()), false}, where);
  }
  b_.emit(Op::Call, state, state, b_.top() - state - 1, where);
  b_.reset(state + 1);
  if (checks_result) {
    shape_state_ = state;
  } else {
    b_.emit(Op::Clear, state, 0, 0, where);
    b_.reset(state);
  }
}

// The function of the machine and its first argument, the annotations.
Reg Emitter::begin_shape_call(const char* function, InstructionSpan where) {
  const Reg first = b_.allocate();
  b_.emit(Op::LoadGlobal, first, b_.site(SiteKind::Global, function), 0, where);
  b_.emit(Op::LoadConst, b_.allocate(), shape_constant_ & 0xFFFF, shape_constant_ >> 16, where);
  return first;
}

void Emitter::check_shape_result(Operand value, InstructionSpan where) {
  if (!shape_state_) return;
  const Reg call = begin_shape_call("__check_result__", where);
  b_.move(b_.allocate(), {*shape_state_, false}, where);
  b_.move(b_.allocate(), value.kept(), where);
  b_.emit(Op::Call, call, call, 3, where);
  b_.emit(Op::Clear, call, 0, 0, where);
  b_.reset(call);
}

void Emitter::emit_return_none(InstructionSpan where) {
  if (!shape_state_) return b_.emit(Op::ReturnNone, 0, 0, 0, where);
  const Reg none = b_.allocate();
  b_.load_constant(none, none_literal(), where);
  check_shape_result({none, true}, where);
  b_.effect(Op::Return, {none, true}, where);
  b_.reset(none);
}

}  // namespace tsc::lang
