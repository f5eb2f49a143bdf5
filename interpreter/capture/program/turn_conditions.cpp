// What a turn that stands for many decides by its number: a relation of numbers that are linear in it holds for all
// turns if it holds for the first and for the last.
#include "interpreter/capture/program/turn_conditions.h"

#include <algorithm>
#include <utility>

#include "interpreter/capture/entry/conditions.h"

namespace tsc::interp {

using jit::ScalarKey;
using jit::ScalarOp;

// The innermost turn that it belongs to, from 1; 0: it belongs to none.
size_t TurnConditions::level_of(ValueId id) const {
  const size_t depth = builder_.depth_of(id);
  size_t level = open_.size();
  while (level > 0 && open_[level - 1].depth > depth) --level;
  return level;
}

bool TurnConditions::is_linear(ValueId number, size_t level) const {
  if (is_outside(number, level) || number == open_[level - 1].number) return true;
  const ScalarKey* made = builder_.made_by(number);
  if (!made || region_.type(number).kind != jit::ValueKind::Int) return false;
  const auto [left, right, third] = made->operands;
  switch (made->op) {
    case ScalarOp::neg: return is_linear(left, level);
    case ScalarOp::add:
    case ScalarOp::sub: return is_linear(left, level) && is_linear(right, level);
    case ScalarOp::mul:
      return (is_outside(left, level) || is_outside(right, level)) && is_linear(left, level) && is_linear(right, level);
    default: return false;
  }
}

bool TurnConditions::is_linear(ValueId number) const {
  const size_t level = level_of(number);
  return level > 0 && is_linear(number, level);
}

// Its factor and its constant, where both are known.
std::optional<std::pair<int64_t, int64_t>> TurnConditions::linear_form(ValueId id, ValueId number) const {
  using Form = std::pair<int64_t, int64_t>;
  if (id == number) return Form{1, 0};
  if (const auto known = builder_.known_int(id)) return Form{0, *known};
  const ScalarKey* made = builder_.made_by(id);
  if (!made || made->operands[1] == kNoValue) return std::nullopt;
  const auto left = linear_form(made->operands[0], number), right = linear_form(made->operands[1], number);
  if (!left || !right) return std::nullopt;
  Form out;
  const auto combine = [&](auto&& each) {
    return !each(left->first, right->first, &out.first) && !each(left->second, right->second, &out.second);
  };
  switch (made->op) {
    case ScalarOp::add:
      if (combine([](int64_t a, int64_t b, int64_t* to) { return __builtin_add_overflow(a, b, to); })) return out;
      return std::nullopt;
    case ScalarOp::sub:
      if (combine([](int64_t a, int64_t b, int64_t* to) { return __builtin_sub_overflow(a, b, to); })) return out;
      return std::nullopt;
    case ScalarOp::mul: {
      if (left->first != 0 && right->first != 0) return std::nullopt;
      const Form& form = left->first != 0 ? *left : *right;
      const int64_t by = left->first != 0 ? right->second : left->second;
      if (__builtin_mul_overflow(form.first, by, &out.first) || __builtin_mul_overflow(form.second, by, &out.second))
        return std::nullopt;
      return out;
    }
    default: return std::nullopt;
  }
}

// A linear number as it is in that turn.
ValueId TurnConditions::at_turn(ValueId id, size_t level, ValueId turn) {
  if (is_outside(id, level)) return id;
  if (id == open_[level - 1].number) return turn;
  const ScalarKey made = *builder_.made_by(id);
  std::vector<ValueId> operands;
  for (ValueId operand : made.operands)
    if (operand != kNoValue) operands.push_back(at_turn(operand, level, turn));
  return builder_.scalar(made.op, operands);
}

void TurnConditions::note_ends(ScalarOp op, const ValueId* left, const ValueId* right, size_t level) {
  std::optional<Scalar> ends[2];
  for (int end = 0; end < 2; ++end) ends[end] = conditions_.find_hint(conditions_.combined(op, left[end], right[end]));
  if (ends[0] && ends[1] && ends[0]->i != ends[1]->i) open_[level - 1].ends_differ = true;
}

std::optional<TurnConditions::Decision> TurnConditions::decide_relation(const ScalarKey& relation, size_t level) {
  const ValueId a = relation.operands[0], b = relation.operands[1];
  if (region_.type(a).kind != jit::ValueKind::Int || !is_linear(a, level) || !is_linear(b, level)) return std::nullopt;
  const bool asked = std::exchange(builder_.appends_questions, true);
  const auto decision = decide_linear(relation.op, a, b, level);
  builder_.appends_questions = asked;
  return decision;
}

std::optional<TurnConditions::Decision> TurnConditions::decide_linear(ScalarOp op, ValueId a, ValueId b, size_t level) {
  const ValueId first = builder_.constant(int64_t{0});
  const ValueId last = conditions_.combined(ScalarOp::sub, open_[level - 1].trips, builder_.constant(int64_t{1}));
  const ValueId left[] = {at_turn(a, level, first), at_turn(a, level, last)};
  const ValueId right[] = {at_turn(b, level, first), at_turn(b, level, last)};
  const auto holds_at_both = [&](ScalarOp op, const ValueId* one, const ValueId* other) -> std::optional<Decision> {
    Decision found{true, {}};
    for (int end = 0; end < 2; ++end) {
      const ValueId condition = conditions_.combined(op, one[end], other[end]);
      const std::optional<Scalar> now = conditions_.find_hint(condition);
      if (!now || now->i == 0) return std::nullopt;
      if (!builder_.known(condition)) found.conditions.push_back(condition);
    }
    return found;
  };
  const auto negated = [](std::optional<Decision> found) {
    if (found) found->holds = false;
    return found;
  };
  note_ends(op, left, right, level);
  switch (op) {
    case ScalarOp::lt:
      if (auto found = holds_at_both(ScalarOp::lt, left, right)) return found;
      return negated(holds_at_both(ScalarOp::le, right, left));
    case ScalarOp::le:
      if (auto found = holds_at_both(ScalarOp::le, left, right)) return found;
      return negated(holds_at_both(ScalarOp::lt, right, left));
    case ScalarOp::eq:
    case ScalarOp::ne: {  // two lines that do not cross
      auto apart = holds_at_both(ScalarOp::lt, left, right);
      if (!apart) apart = holds_at_both(ScalarOp::lt, right, left);
      if (apart) apart->holds = op == ScalarOp::ne;
      return apart;
    }
    default: return std::nullopt;
  }
}

std::optional<TurnConditions::Decision> TurnConditions::decide(ValueId condition) {
  const size_t level = level_of(condition);
  if (level == 0) return std::nullopt;
  const ScalarKey* found = builder_.made_by(condition);
  if (!found) return std::nullopt;
  const ScalarKey made = *found;
  if (made.op != ScalarOp::logical_not) return decide_relation(made, level);
  auto inner = decide(made.operands[0]);
  if (inner) inner->holds = !inner->holds;
  return inner;
}

ValueId TurnConditions::in_all_turns(ScalarOp op, std::span<const ValueId> operands) {
  const bool least = op == ScalarOp::minimum;
  if ((least || op == ScalarOp::maximum) && region_.type(operands[0]).kind == jit::ValueKind::Int)
    for (size_t smaller : {0, 1}) {
      const ValueId holds = conditions_.combined(ScalarOp::le, operands[smaller], operands[1 - smaller]);
      if (assume_always(holds)) return operands[least ? smaller : 1 - smaller];
    }
  const ValueId result = builder_.scalar(op, operands);
  const size_t level = level_of(result);
  if (op != ScalarOp::sub || level == 0) return result;
  const auto form = linear_form(result, open_[level - 1].number);
  return form && form->first == 0 ? builder_.constant(form->second) : result;
}

std::optional<bool> TurnConditions::decided(ValueId condition) {
  const auto found = decide(condition);
  return found ? std::optional(found->holds) : std::nullopt;
}

bool TurnConditions::assume_always(ValueId condition) {
  const auto found = decide(condition);
  return found && found->holds && std::all_of(found->conditions.begin(), found->conditions.end(), [&](ValueId end) {
           return conditions_.assume_at_entry(end);
         });
}

}  // namespace tsc::interp
