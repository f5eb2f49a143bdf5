#pragma once
// One way through a turn of a Loop as a region of its own, and its backward: what the turn's gradients go from and to,
// which values of the turn they read, and where the loop stacks those. Private to loop_gradient.cpp and
// while_gradient.cpp.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "jit/autodiff/block_region.h"
#include "jit/autodiff/rules_support.h"
#include "jit/autodiff/sliced_gradient.h"
#include "jit/autodiff/split.h"
#include "jit/autodiff/turn_ways.h"

namespace tsc::jit {

class LoopTurnBackward {
 public:
  static constexpr size_t kNone = ~size_t{0};
  // A value that the turn yields and that gradients may arrive at. Stacks of what is carried, too, are none: their rows
  // join the gradients of that (Target::stack).
  struct Output {
    size_t place;  // among the loop's results
    bool is_carried;
  };
  // What gets gradients from the turn: a carried value, one from outside, or the only slice that the turn takes of one
  // from outside, side by side with those of the other turns.
  struct Target {
    enum class Kind { Carried, Outside, Slice } kind;
    ValueId value;         // of the turn, or from outside
    size_t place = kNone;  // Carried: among the carried values
    size_t stack = kNone;  // and the place among the results of a stack of what it becomes
    ValueId whole = kNoValue, base = kNoValue, length = kNoValue;  // Slice: begins at base + step * number
    int64_t axis = 0, step = 0;
  };

  // `saves`: what a backward reads is stacked; else the loop does that already.
  LoopTurnBackward(RegionBuilder& builder, size_t loop, size_t way, bool saves, const ValueSet& stops,
                   const std::function<bool(ValueId)>& needed);
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Target>& targets() const { return targets_; }
  std::optional<size_t> output_of(const Target& target) const;
  // A tensor in front of the loop that is like that target.
  ValueId like(size_t target) const;
  // One row of a stack.
  ValueId row(ValueId stack, ValueId number);
  // Appends the backward of turn `number`. `arrived`: the gradients of the outputs that have one, of a stack that of
  // all rows. `sums`, by target: what they began with; it is added to them.
  void go_back(ValueId number, const std::vector<bool>& present, const std::vector<ValueId>& arrived,
               std::vector<ValueId>* sums, std::vector<ValueId>* saving);
  // The rows that so many turns have for a slice side by side, as one slice of the whole.
  SlicePart side_by_side(const Target& target, ValueId rows, ValueId turns);
  // The targets that it reaches, and the outputs that have a gradient in front of the turn where `rows`, by target, are
  // what its stack has got.
  std::vector<bool> reached(const std::vector<bool>& present);
  std::vector<bool> handed_on(const std::vector<bool>& present, const std::vector<ValueId>& rows);
  // For those outputs that have a gradient. Its parts are places among the targets, its saved values those of the turn.
  const SplitBackward& backward(const std::vector<bool>& present);
  // Whether the turn contributes to the gradient of what output number `output` yields.
  bool contributes(size_t output, const std::vector<bool>& present) const;
  [[noreturn]] static void refuse(const char* why);

 private:
  const Instruction& instruction() const { return builder_.region().body.instructions[loop_]; }
  const Block& block() const { return way_.block; }
  ValueId yielded(size_t place) const { return block().instructions.back().operands[place]; }
  // Of a stack that a backward reads: the others were there when the loop was closed, and were looked at then.
  bool is_read_back(size_t place) const {
    const auto& places = instruction().attributes.axes;
    return std::any_of(places.begin(), places.end(),
                       [&](int64_t one) { return static_cast<size_t>(one < 0 ? ~one : one) == place; });
  }
  ValueId number() const { return turn_.body.parameters[0]; }
  bool is_own(ValueId value) const { return own_.count(value) != 0; }
  ValueId saved(ValueId value, ValueId number);
  size_t carried() const { return instruction().operands.size() - 1; }
  bool is_while() const { return instruction().attributes.mode == kWhile; }
  bool is_differentiable_tensor(ValueId value) const;
  void find_outputs(const std::function<bool(ValueId)>& needed);
  void find_targets(const std::function<bool(ValueId)>& needed);
  void check_order() const;
  std::optional<Target> slice_of(ValueId whole);
  // value = coefficient * number + base, where that is known.
  std::optional<std::pair<int64_t, ValueId>> linear(ValueId value);
  std::vector<bool> all_outputs() const;
  void stack_saved(bool saves);
  void stack(ValueId value);
  ValueId number_in(ValueId tensor) const;

  RegionBuilder& builder_;
  Emit emit_;
  const size_t loop_, number_of_way_;
  const ValueSet& stops_;
  WayOfTurn way_;
  Region turn_;
  ValueSet own_;                // parameters, and what the turn makes
  std::vector<ValueId> outer_;  // what it uses of others, in the order of the first use
  std::vector<Output> outputs_;
  std::vector<Target> targets_;
  std::vector<ValueId> keep_;
  ValueMap<ValueId> stacks_;
  std::map<std::vector<bool>, SplitBackward> backwards_;
};

}  // namespace tsc::jit
