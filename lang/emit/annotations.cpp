// Annotations: the code that evaluates them when somebody asks, and where they are evaluated as they stand.
#include <algorithm>

#include "lang/emit/emitter.h"
#include "lang/emit/operators.h"

namespace tsc::lang {
namespace {

Literal tuple_literal(std::vector<Literal> items) {
  Literal tuple;
  tuple.kind = LiteralKind::Tuple;
  tuple.items = std::move(items);
  return tuple;
}

}  // namespace

// if number == 0: return the first; if number == 1: return the second; ...
void Emitter::emit_annotations(const std::vector<Annotated>& annotations) {
  std::vector<Literal> names;
  for (const Annotated& a : annotations) {
    Literal name = str_literal(a.name);
    names.push_back(a.may_be_passed_by ? tuple_literal({std::move(name)}) : std::move(name));
  }
  b_.constant(tuple_literal(std::move(names)));
  prologue();
  const Reg mark = b_.top();
  for (size_t i = 0; i < annotations.size(); ++i) {
    const Expr* annotation = annotations[i].annotation;
    const InstructionSpan where = at(annotation);
    const JumpLabel next = b_.make_label();
    const bool is_last = i + 1 == annotations.size();
    const size_t statement = b_.begin_statement(annotation->span);
    if (!is_last)
      jump_if_pair(CompareOperator::NotEq, annotation, {local_register(0), false}, {},
                   b_.constant(int_literal(static_cast<int64_t>(i))), true, next, where);
    Operand value = context_.postpones_annotations
                        ? constant(str_literal(expression_text(annotation, *context_.source)), {}, where)
                        : annotation_value(annotation);
    b_.effect(Op::Return, value, where);
    b_.reset(mark);
    b_.place(next);
    b_.end_statement(statement);
  }
}

// That of `*args: *Ts` is the one item that the starred value has.
Operand Emitter::annotation_value(const Expr* annotation) {
  const auto* starred = try_as<const Starred>(annotation);
  if (!starred) return expr(annotation);
  const Operand value = expr(starred->value);
  const Reg item = b_.allocate();
  b_.unary(Op::UnpackSequence, item, value, 1, at(annotation));
  return {item, true};
}

CodeRef Emitter::annotations_code(const Scope& scope, const std::vector<Annotated>& annotations, Span span) const {
  return nested_code(scope, CodeKind::Annotations, span, nullptr,
                     [&](Emitter& inner) { inner.emit_annotations(annotations); });
}

// At the top of a class body or module.
void Emitter::begin_annotations(List<Stmt*> body, Span span) {
  annotated_ = annotated_names(body);
  const bool reads_other_texts =
      context_.reads_annotations && b_.code().kind == CodeKind::Module && !context_.options.own_names;
  if (annotated_.empty() && !reads_other_texts) return;
  const Reg mark = b_.top();
  if (annotates_at_once()) {
    b_.load_constant(b_.allocate(), none_literal(), at(span));
    b_.effect(Op::KeepAnnotations, {mark, true}, at(span));
    b_.code().instructions.back().flags |= 1 << 3;
    return b_.reset(mark);
  }
  for (uint32_t i = 0; i < scope_.cells.size(); ++i) {
    if (scope_.cells[i].name != Scope::kReached) continue;
    b_.emit(Op::BuildSet, b_.allocate(), mark, 0, at(span));
    b_.effect(Op::StoreCell, {cell_register(i), false}, {mark, true}, at(span));
    b_.reset(mark);
  }
  Operand evaluator =
      make_function(*scope_.annotations, annotations_code(*scope_.annotations, annotated_, span), nullptr, span, {});
  b_.effect(Op::KeepAnnotations, evaluator, at(span));
  b_.reset(mark);
}

// One that may be passed by was reached.
void Emitter::note_annotation(const AnnAssign& node) {
  const auto found =
      std::find_if(annotated_.begin(), annotated_.end(), [&](const Annotated& a) { return a.statement == &node; });
  if (found == annotated_.end() || !found->may_be_passed_by) return;
  const InstructionSpan where = at(node.annotation);
  const Reg mark = b_.top();
  for (uint32_t i = 0; i < scope_.cells.size(); ++i) {
    if (scope_.cells[i].name != Scope::kReached) continue;
    const Reg set = b_.allocate();
    b_.emit(Op::LoadCell, set, cell_register(i), b_.name(Scope::kReached), where);
    const Operand number = constant(int_literal(found - annotated_.begin()), {}, where);
    b_.effect(Op::SetAdd, {set, true}, number, where);
  }
  b_.reset(mark);
}

void Emitter::annotate_at_once(const AnnAssign& node) {
  const InstructionSpan where = at(node.annotation);
  const Reg mark = b_.top();
  if (!node.simple) {
    if (!context_.postpones_annotations) discard(node.annotation);
    return b_.reset(mark);
  }
  const Access access = b_.code().kind == CodeKind::ClassBody ? Access::Class : Access::Global;
  Operand value = {b_.allocate(), true};
  if (context_.postpones_annotations)
    b_.load_constant(value.reg, str_literal(expression_text(node.annotation, *context_.source)), where);
  else expr_to(node.annotation, value.reg);
  Operand map = load_binding({access, 0}, "__annotations__", {}, where);
  const Identifier name = as<const Name>(static_cast<const Expr*>(node.target))->id;
  Operand key = constant(str_literal(name), {}, where);
  b_.effect(Op::StoreSubscr, map, key, value, where);
  b_.reset(mark);
}

}  // namespace tsc::lang
