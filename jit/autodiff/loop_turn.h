#pragma once
// One turn of a Loop as a region of its own, and its backward: what the turn's gradients go from and to, which values
// of the turn they read, and where the loop stacks those. Private to loop_gradient.cpp.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "jit/autodiff/block_region.h"
#include "jit/autodiff/split.h"

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

  LoopTurnBackward(RegionBuilder& builder, size_t loop, const ValueSet& stops,
                   const std::function<bool(ValueId)>& needed);
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Target>& targets() const { return targets_; }
  ValueId number() const { return turn_.body.parameters[0]; }
  // A tensor in front of the loop that is like that target.
  ValueId like(size_t target) const;
  bool is_own(ValueId value) const { return own_.count(value) != 0; }
  // The result that holds that value of all turns.
  ValueId stack_of(ValueId value) const { return stacks_.at(value); }
  // For those outputs that have a gradient. Its parts are places among the targets, its saved values those of the turn.
  const SplitBackward& backward(const std::vector<bool>& present);
  // Whether the turn contributes to the gradient of what output number `output` yields.
  bool contributes(size_t output, const std::vector<bool>& present) const;
  [[noreturn]] static void refuse(const char* why);

 private:
  const Instruction& instruction() const { return builder_.region().body.instructions[loop_]; }
  const Block& block() const { return *instruction().blocks[0]; }
  ValueId yielded(size_t place) const { return block().instructions.back().operands[place]; }
  // Of a stack that a backward reads: the others were there when the loop was closed, and were looked at then.
  bool is_read_back(size_t place) const {
    const auto& places = instruction().attributes.axes;
    return std::any_of(places.begin(), places.end(),
                       [&](int64_t one) { return static_cast<size_t>(one < 0 ? ~one : one) == place; });
  }
  size_t carried() const { return instruction().operands.size() - 1; }
  bool is_differentiable_tensor(ValueId value) const;
  void find_outputs(const std::function<bool(ValueId)>& needed);
  void find_targets(const std::function<bool(ValueId)>& needed);
  void check_order() const;
  std::optional<Target> slice_of(ValueId whole);
  // value = coefficient * number + base, where that is known.
  std::optional<std::pair<int64_t, ValueId>> linear(ValueId value);
  void stack_saved();
  void stack(ValueId value);
  ValueId tensor_of(ValueId number);
  ValueId number_in(ValueId tensor) const;

  RegionBuilder& builder_;
  const size_t loop_;
  const ValueSet& stops_;
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
