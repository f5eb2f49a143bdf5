#include "jit/autodiff/loop_turn.h"

#include <algorithm>

#include "jit/autodiff/rules.h"

namespace tsc::jit {

void LoopTurnBackward::refuse(const char* why) {
  throw Error(ErrorKind::NotImplementedError, std::string("gradients through this loop are not compiled: ") + why);
}

LoopTurnBackward::LoopTurnBackward(RegionBuilder& builder, size_t loop, size_t way, bool saves, const ValueSet& stops,
                                   const std::function<bool(ValueId)>& needed)
    : builder_(builder), emit_(builder), loop_(loop), number_of_way_(way), stops_(stops),
      way_(way_of_turn(builder, builder.region().body.instructions[loop], way)) {
  BlockRegion turn = region_of_block(builder, block());
  turn_ = std::move(turn.region);
  own_ = std::move(turn.own);
  outer_ = std::move(turn.outer);
  find_outputs(needed);
  find_targets(needed);
  if (outputs_.empty() || targets_.empty()) return;
  if (!is_while()) check_order();
  stack_saved(saves);
}

bool LoopTurnBackward::is_differentiable_tensor(ValueId value) const {
  const Type& type = turn_.type(value);
  return type.kind == ValueKind::Tensor && is_differentiable(type.dtype);
}

// ---- from where, and to where ----

void LoopTurnBackward::find_outputs(const std::function<bool(ValueId)>& needed) {
  const auto& results = instruction().results;
  const auto place_of = [&](ValueId value, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (yielded(i) == value && needed(results[i])) return i;
    return kNone;
  };
  // What is carried comes behind what is stacked: the gradients of rows have arrived before those of turns.
  for (size_t i = carried(); i < results.size(); ++i)
    if (needed(results[i]) && !own_.count(yielded(i))) refuse("it stacks a tensor from outside");
  for (size_t i = carried(); i < results.size(); ++i)
    if (needed(results[i]) &&
        (is_while() || (place_of(yielded(i), 0, carried()) == kNone && place_of(yielded(i), carried(), i) == kNone)))
      outputs_.push_back({i, false});
  for (size_t i = 0; i < carried(); ++i)
    if (needed(results[i])) outputs_.push_back({i, true});
}

void LoopTurnBackward::find_targets(const std::function<bool(ValueId)>& needed) {
  for (size_t i = 0; i < carried(); ++i) {
    const ValueId parameter = block().parameters[1 + i];
    if (!needed(parameter)) continue;
    Target target{Target::Kind::Carried, parameter, i};
    for (size_t k = carried(); !is_while() && k < instruction().results.size() && target.stack == kNone; ++k)
      if (yielded(k) == yielded(i) && needed(instruction().results[k])) target.stack = k;
    targets_.push_back(target);
  }
  for (ValueId value : outer_) {
    if (!is_differentiable_tensor(value) || !needed(value)) continue;
    const std::optional<Target> slice = slice_of(value);
    targets_.push_back(slice ? *slice : Target{Target::Kind::Outside, value});
  }
}

// Sums whose terms would come in another order than on the tape.
void LoopTurnBackward::check_order() const {
  const auto is_target = [&](ValueId value) {
    return std::any_of(targets_.begin(), targets_.end(),
                       [&](const Target& target) { return target.value == value || target.whole == value; });
  };
  const std::vector<ValueId>& parameters = block().parameters;
  for (const Target& target : targets_) {
    if (target.kind != Target::Kind::Carried) continue;
    const ValueId initial = instruction().operands[1 + target.place], becomes = yielded(target.place);
    if (is_target(initial)) refuse("it begins with a tensor that its turns read, too");
    for (const Target& other : targets_) {
      if (other.kind != Target::Kind::Carried || other.place == target.place) continue;
      if (instruction().operands[1 + other.place] == initial) refuse("two carried tensors begin as one");
      if (yielded(other.place) == becomes) refuse("two carried tensors are one");
      if (parameters[1 + other.place] != becomes) continue;
      for (size_t k = carried(); k < instruction().results.size(); ++k)
        if (!is_read_back(k) && (yielded(k) == becomes || yielded(k) == yielded(other.place)))
          refuse("a tensor that is carried on is stacked, too");
    }
  }
}

// The turn's slices of a value lie side by side if they begin one length further on each time, or back.
std::optional<LoopTurnBackward::Target> LoopTurnBackward::slice_of(ValueId whole) {
  const Instruction* slice = nullptr;
  for (const Instruction& one : block().instructions) {
    const auto uses = std::count(one.operands.begin(), one.operands.end(), whole);
    if (uses == 0) continue;
    if (slice || uses != 1 || one.code != Code::Op || one.op != Op::slice || one.operands[0] != whole)
      return std::nullopt;
    slice = &one;
  }
  if (!slice || builder_.known_int(slice->operands[3]) != 1) return std::nullopt;
  const auto form = linear(slice->operands[1]);
  const auto length = builder_.known_int(slice->operands[2]);
  if (!form || !length || *length == 0 || (form->first != *length && form->first != -*length)) return std::nullopt;
  Target target{Target::Kind::Slice, slice->results[0]};
  target.whole = whole;
  target.base = form->second;
  target.step = form->first;
  target.length = slice->operands[2];
  target.axis = slice->attributes.axes[0];
  return target;
}

std::optional<std::pair<int64_t, ValueId>> LoopTurnBackward::linear(ValueId value) {
  if (value == number()) return std::pair(int64_t{1}, builder_.constant(int64_t{0}));
  if (!own_.count(value)) return std::pair(int64_t{0}, value);
  const auto& code = block().instructions;
  const auto maker = std::find_if(code.begin(), code.end(), [&](const Instruction& one) {
    return !one.results.empty() && one.results[0] == value;
  });
  if (maker == code.end() || maker->code != Code::Scalar || maker->operands.size() != 2) return std::nullopt;
  const ScalarOp op = maker->scalar_op;
  const ValueId left = maker->operands[0], right = maker->operands[1];
  const auto a = linear(left), b = linear(right);
  if (!a || !b) return std::nullopt;
  if (op == ScalarOp::mul) {
    const auto &factor = a->first == 0 ? *a : *b, &other = a->first == 0 ? *b : *a;
    const auto known = builder_.known_int(factor.second);
    if (factor.first != 0 || !known) return std::nullopt;
    const ValueId operands[] = {factor.second, other.second};
    int64_t coefficient = 0;
    if (__builtin_mul_overflow(*known, other.first, &coefficient)) return std::nullopt;
    return std::pair(coefficient, builder_.scalar(ScalarOp::mul, operands));
  }
  if (op != ScalarOp::add && op != ScalarOp::sub) return std::nullopt;
  const ValueId operands[] = {a->second, b->second};
  int64_t coefficient = 0;
  const bool overflows = op == ScalarOp::add ? __builtin_add_overflow(a->first, b->first, &coefficient)
                                             : __builtin_sub_overflow(a->first, b->first, &coefficient);
  if (overflows) return std::nullopt;
  return std::pair(coefficient, builder_.scalar(op, operands));
}

// ---- its backward ----

bool LoopTurnBackward::contributes(size_t output, const std::vector<bool>& present) const {
  const ValueSet reached = computed_from(turn_, {yielded(outputs_[output].place)}, stops_);
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (i != output && present[i] && reached.count(yielded(outputs_[i].place))) return true;
  return false;
}

const SplitBackward& LoopTurnBackward::backward(const std::vector<bool>& present) {
  const auto found = backwards_.find(present);
  if (found != backwards_.end()) return found->second;
  std::vector<ValueId> outputs, wrt;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const ValueId value = yielded(outputs_[i].place);
    if (is_while() && present[i] && outputs_[i].is_carried)
      for (size_t k = 0; k < i; ++k)
        if (present[k] && outputs_[k].is_carried && outputs[k] == value) refuse("two carried tensors are one");
    outputs.push_back(value);
  }
  for (const Target& target : targets_) wrt.push_back(target.value);
  const ValueSet nothing;
  const SplitBackward& made = backwards_
                                  .emplace(present, split_backward(turn_, outputs, wrt, stops_, present,
                                                                   keep_.empty() ? nullptr : &keep_, &nothing))
                                  .first->second;
  if (!made.conditions.empty()) refuse("only the run knows in which turns they arrive");
  return made;
}

ValueId LoopTurnBackward::like(size_t target) const {
  const Target& one = targets_[target];
  if (one.kind == Target::Kind::Slice) refuse("a branch or loop in the turn reads a slice");
  return one.kind == Target::Kind::Carried ? instruction().operands[1 + one.place] : one.value;
}

// Of carried values that are one the first: gradients do not arrive at two of them.
std::vector<bool> LoopTurnBackward::all_outputs() const {
  std::vector<bool> present(outputs_.size(), true);
  for (size_t i = 0; is_while() && i < present.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (outputs_[i].is_carried && outputs_[k].is_carried && yielded(outputs_[i].place) == yielded(outputs_[k].place))
        present[i] = false;
  return present;
}

// What the backward reads when all gradients have arrived serves all others, and stays what it is when gradients arrive
// at the stacks of it, too.
void LoopTurnBackward::stack_saved(bool saves) {
  if (saves)
    for (ValueId value : backward(all_outputs()).saved) {
      if (!own_.count(value) || value == number()) continue;
      stack(value);
    }
  way_ = way_of_turn(builder_, builder_.region().body.instructions[loop_], number_of_way_);
  for (int64_t place : instruction().attributes.axes) {
    const auto its = static_cast<size_t>(place < 0 ? ~place : place);
    const ValueId value = place < 0 ? number_in(yielded(its)) : yielded(its);
    if (!is_own(value)) continue;  // this way ends in front of it
    keep_.push_back(value);
    stacks_[value] = instruction().results[its];
  }
  const std::vector<ValueId>& parameters = turn_.body.parameters;
  for (ValueId value : parameters)
    if (!own_.count(value) || value == number()) keep_.push_back(value);
  backwards_.clear();
}

// The number that the tensor of the turn holds; kNoValue: it is no number of this way.
ValueId LoopTurnBackward::number_in(ValueId tensor) const {
  const auto& code = block().instructions;
  const auto maker = std::find_if(code.begin(), code.end(), [&](const Instruction& one) {
    return !one.results.empty() && one.results[0] == tensor;
  });
  return maker == code.end() || maker->op != Op::full ? kNoValue : maker->operands[0];
}

void LoopTurnBackward::stack(ValueId value) {
  Region& region = builder_.region();
  const bool is_number = region.type(value).kind != ValueKind::Tensor;
  for (ValueId size : region.type(value).sizes)
    if (own_.count(size)) refuse("they read a tensor whose sizes change");
  OpAttributes& attributes = region.body.instructions[loop_].attributes;
  way_ = way_of_turn(builder_, region.body.instructions[loop_], number_of_way_);
  for (size_t i = carried(); i < instruction().results.size(); ++i)
    if (yielded(i) == value || (is_number && region.type(yielded(i)).sizes.empty() && number_in(yielded(i)) == value)) {
      const auto place = static_cast<int64_t>(i);
      if (!is_read_back(i)) attributes.axes.push_back(is_number ? ~place : place);
      return;
    }
  const auto place = static_cast<int64_t>(yield_from_turn(builder_, loop_, value));
  Instruction& loop = region.body.instructions[loop_];
  Type type = region.type(loop.blocks[0]->instructions.back().operands[static_cast<size_t>(place)]);
  type.sizes.insert(0, is_while() ? loop.results[1] : loop.operands[0]);
  const ValueId result = region.add_value(std::move(type));
  region.body.instructions[loop_].results.push_back(result);
  attributes.axes.push_back(is_number ? ~place : place);
}

// ---- the way back ----

ValueId LoopTurnBackward::row(ValueId stack, ValueId number) {
  const ValueId one = emit_.slice(stack, 0, number, emit_.number(1));
  Values sizes = emit_.sizes(stack);
  sizes.erase(sizes.begin());
  return emit_.reshape(one, sizes);
}

ValueId LoopTurnBackward::saved(ValueId value, ValueId turn) {
  if (value == number()) return turn;
  if (!is_own(value)) return value;
  const ValueId one = row(stacks_.at(value), turn);
  const ValueKind kind = turn_.type(value).kind;
  return kind == ValueKind::Tensor ? one : builder_.read(one, kind);
}

void LoopTurnBackward::go_back(ValueId number, const std::vector<bool>& present, const std::vector<ValueId>& arrived,
                               std::vector<ValueId>* sums, std::vector<ValueId>* saving) {
  const SplitBackward& its = backward(present);
  std::vector<ValueId> inputs;
  for (ValueId value : its.saved) inputs.push_back(saved(value, number));
  for (size_t i = 0; i < present.size(); ++i)
    if (present[i]) inputs.push_back(outputs_[i].is_carried ? arrived[i] : row(arrived[i], number));
  for (size_t part : its.taking) {
    ValueId& sum = (*sums)[part];
    if (sum == kNoValue) sum = emit_.like(like(part), -0.0);
    inputs.push_back(sum);
  }
  const uint32_t origin = builder_.origin;
  const std::vector<ValueId> terms = replay(builder_, its.backward, inputs);
  builder_.origin = origin;
  for (size_t i = 0; i < terms.size(); ++i) {
    ValueId& sum = (*sums)[its.parts[i]];
    const bool is_whole = std::find(its.taking.begin(), its.taking.end(), its.parts[i]) !=
                          its.taking.end();  // a branch or loop in the turn has gone on from the sum
    sum = sum == kNoValue || is_whole ? terms[i] : emit_.add(sum, terms[i]);
  }
  if (saving) saving->insert(saving->end(), its.saving.begin(), its.saving.end());
}

std::optional<size_t> LoopTurnBackward::output_of(const Target& target) const {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].is_carried && outputs_[i].place == target.place) return i;
  return std::nullopt;
}

std::vector<bool> LoopTurnBackward::reached(const std::vector<bool>& present) {
  std::vector<bool> found(targets_.size());
  for (size_t part : backward(present).parts) found[part] = true;
  return found;
}

std::vector<bool> LoopTurnBackward::handed_on(const std::vector<bool>& present, const std::vector<ValueId>& rows) {
  std::vector<bool> next = present;
  const std::vector<bool> its = reached(present);
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].kind != Target::Kind::Carried) continue;
    if (const auto place = output_of(targets_[i])) next[*place] = rows[i] != kNoValue || its[i];
  }
  return next;
}

SlicePart LoopTurnBackward::side_by_side(const Target& target, ValueId rows, ValueId turns) {
  if (target.step < 0) rows = emit_.flip(rows, 0);
  const Values sizes = emit_.sizes(rows);
  Sizes axes;
  for (int64_t axis = 1; axis < static_cast<int64_t>(sizes.size()); ++axis) axes.push_back(axis);
  axes.insert(static_cast<size_t>(target.axis), 0);
  Values merged(sizes.begin() + 1, sizes.end());
  merged[static_cast<size_t>(target.axis)] = emit_.scalar(ScalarOp::mul, turns, target.length);
  ValueId start = target.base;
  if (target.step < 0) {
    const ValueId last =
        emit_.scalar(ScalarOp::mul, emit_.scalar(ScalarOp::sub, turns, emit_.number(1)), emit_.number(target.step));
    start = emit_.scalar(ScalarOp::add, start, last);
  }
  const ValueId moved = target.axis == 0 ? rows : emit_.permute(rows, axes);
  return {target.axis,     start, merged[static_cast<size_t>(target.axis)], emit_.reshape(moved, merged),
          builder_.origin, true};
}

}  // namespace tsc::jit
