#include "jit/autodiff/loop_turn.h"

#include <algorithm>

#include "jit/autodiff/rules.h"

namespace tsc::jit {

void LoopTurnBackward::refuse(const char* why) {
  throw Error(ErrorKind::NotImplementedError, std::string("gradients through this loop are not compiled: ") + why);
}

LoopTurnBackward::LoopTurnBackward(RegionBuilder& builder, size_t loop, const ValueSet& stops,
                                   const std::function<bool(ValueId)>& needed)
    : builder_(builder), loop_(loop), stops_(stops) {
  BlockRegion turn = region_of_block(builder, block());
  turn_ = std::move(turn.region);
  own_ = std::move(turn.own);
  outer_ = std::move(turn.outer);
  find_outputs(needed);
  find_targets(needed);
  if (outputs_.empty() || targets_.empty()) return;
  check_order();
  stack_saved();
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
    if (needed(results[i]) && place_of(yielded(i), 0, carried()) == kNone &&
        place_of(yielded(i), carried(), i) == kNone)
      outputs_.push_back({i, false});
  for (size_t i = 0; i < carried(); ++i)
    if (needed(results[i])) outputs_.push_back({i, true});
}

void LoopTurnBackward::find_targets(const std::function<bool(ValueId)>& needed) {
  for (size_t i = 0; i < carried(); ++i) {
    const ValueId parameter = block().parameters[1 + i];
    if (!needed(parameter)) continue;
    Target target{Target::Kind::Carried, parameter, i};
    for (size_t k = carried(); k < instruction().results.size() && target.stack == kNone; ++k)
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
  for (const Output& output : outputs_) outputs.push_back(yielded(output.place));
  for (const Target& target : targets_) wrt.push_back(target.value);
  const ValueSet nothing;
  const SplitBackward& made =
      backwards_
          .emplace(present,
                   split_backward(turn_, outputs, wrt, stops_, present, keep_.empty() ? nullptr : &keep_, &nothing))
          .first->second;
  if (!made.conditions.empty()) refuse("only the run knows in which turns they arrive");
  return made;
}

ValueId LoopTurnBackward::like(size_t target) const {
  const Target& one = targets_[target];
  if (one.kind == Target::Kind::Slice) refuse("a branch or loop in the turn reads a slice");
  return one.kind == Target::Kind::Carried ? instruction().operands[1 + one.place] : one.value;
}

// What the backward reads when all gradients have arrived serves all others, and stays what it is when gradients arrive
// at the stacks of it, too.
void LoopTurnBackward::stack_saved() {
  if (instruction().attributes.axes.empty())
    for (ValueId value : backward(std::vector<bool>(outputs_.size(), true)).saved) {
      if (!own_.count(value) || value == number()) continue;
      stack(value);
    }
  for (int64_t place : instruction().attributes.axes) {
    const auto its = static_cast<size_t>(place < 0 ? ~place : place);
    keep_.push_back(place < 0 ? number_in(yielded(its)) : yielded(its));
    stacks_[keep_.back()] = instruction().results[its];
  }
  const std::vector<ValueId>& parameters = turn_.body.parameters;
  for (ValueId value : parameters)
    if (!own_.count(value) || value == number()) keep_.push_back(value);
  backwards_.clear();
}

// The number that the tensor of the turn holds.
ValueId LoopTurnBackward::number_in(ValueId tensor) const {
  const auto& code = block().instructions;
  return std::find_if(code.begin(), code.end(), [&](const Instruction& one) {
           return !one.results.empty() && one.results[0] == tensor;
         })->operands[0];
}

// A number of the turn as a tensor, which the loop can stack.
ValueId LoopTurnBackward::tensor_of(ValueId number) {
  Region& region = builder_.region();
  const ValueKind kind = region.type(number).kind;
  const DType dtype = kind == ValueKind::Int ? DType::I64 : kind == ValueKind::Float ? DType::F64 : DType::Bool;
  Instruction full;
  full.code = Code::Op;
  full.op = Op::full;
  full.origin = instruction().origin;
  full.attributes.dtype = dtype;
  full.operands = {number};
  const ValueId tensor = region.add_value({ValueKind::Tensor, dtype, {}});
  full.results.push_back(tensor);
  auto& code = region.body.instructions[loop_].blocks[0]->instructions;
  code.insert(code.end() - 1, std::move(full));
  return tensor;
}

void LoopTurnBackward::stack(ValueId value) {
  Region& region = builder_.region();
  const bool is_number = region.type(value).kind != ValueKind::Tensor;
  if (is_number) value = tensor_of(value);
  OpAttributes& attributes = region.body.instructions[loop_].attributes;
  for (size_t i = carried(); i < instruction().results.size(); ++i)
    if (yielded(i) == value) {
      attributes.axes.push_back(static_cast<int64_t>(i));
      return;
    }
  Type type = region.type(value);
  for (ValueId size : type.sizes)
    if (own_.count(size)) refuse("they read a tensor whose sizes change");
  type.sizes.insert(0, instruction().operands[0]);
  const ValueId result = region.add_value(std::move(type));
  Instruction& loop = region.body.instructions[loop_];
  loop.blocks[0]->instructions.back().operands.push_back(value);
  const auto place = static_cast<int64_t>(loop.results.size());
  attributes.axes.push_back(is_number ? ~place : place);
  loop.results.push_back(result);
}

}  // namespace tsc::jit
