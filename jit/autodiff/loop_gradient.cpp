#include "jit/autodiff/loop_gradient.h"

#include <algorithm>
#include <map>

#include "jit/autodiff/loop_turn.h"
#include "jit/autodiff/rules_support.h"

namespace tsc::jit {
namespace {

class LoopBackward {
 public:
  LoopBackward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
               std::vector<ValueId>* saving)
      : builder_(builder), region_(builder.region()), emit_(builder), loop_(loop), sums_(sums), saving_(saving),
        turn_(builder, loop, stops, [&](ValueId value) { return sums.needed(value); }) {}

  void run() {
    if (turn_.outputs().empty() || turn_.targets().empty()) return;
    builder_.origin = instruction().origin;
    trips_ = instruction().operands[0];
    take_arrived();
    for (int written = 0;; ++written) {
      if (is_settled()) return roll(written);
      if (written == kMostTurnsWrittenOut) LoopTurnBackward::refuse("its gradients arrive at later turns one by one");
      write_out(written);
    }
  }

 private:
  using Output = LoopTurnBackward::Output;
  using Target = LoopTurnBackward::Target;

  const Instruction& instruction() const { return region_.body.instructions[loop_]; }
  ValueId result(size_t place) const { return instruction().results[place]; }

  // ---- what arrives ----

  void take_arrived() {
    for (const Output& output : turn_.outputs()) arrived_.push_back(sums_.so_far(result(output.place)));
    rows_in_front_.resize(turn_.targets().size(), kNoValue);
    for (size_t i = 0; i < turn_.targets().size(); ++i)
      if (const size_t stack = turn_.targets()[i].stack; stack != LoopTurnBackward::kNone)
        rows_in_front_[i] = sums_.so_far(result(stack));
  }
  std::vector<bool> present() const {
    std::vector<bool> flags;
    for (ValueId gradient : arrived_) flags.push_back(gradient != kNoValue);
    return flags;
  }

  // Whether the turn hands on gradients to the same carried values that it gets some of. Where one has none yet, and
  // the turn itself contributes to it, it begins with a negative zero, which changes no sum.
  bool is_settled() {
    for (bool again = true; again;) {
      again = false;
      const std::vector<bool> now = present(), next = handed_on(now);
      for (size_t i = 0; i < now.size(); ++i) {
        if (now[i] || !next[i] || !turn_.contributes(i, now)) continue;
        arrived_[i] = emit_.like(result(turn_.outputs()[i].place), -0.0);
        again = true;
      }
      if (!again) return now == next;
    }
    return true;
  }
  std::vector<bool> reached_by(const std::vector<bool>& present) {
    std::vector<bool> reached(turn_.targets().size());
    for (size_t part : turn_.backward(present).parts) reached[part] = true;
    return reached;
  }
  std::vector<bool> handed_on(const std::vector<bool>& present) {
    std::vector<bool> next = present;
    const std::vector<bool> reached = reached_by(present);
    for (size_t i = 0; i < turn_.targets().size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind != Target::Kind::Carried) continue;
      if (const auto place = output_of(target)) next[*place] = rows_in_front_[i] != kNoValue || reached[i];
    }
    return next;
  }
  std::optional<size_t> output_of(const Target& target) const {
    for (size_t i = 0; i < turn_.outputs().size(); ++i)
      if (turn_.outputs()[i].is_carried && turn_.outputs()[i].place == target.place) return i;
    return std::nullopt;
  }

  // ---- one turn ----

  ValueId row(ValueId stack, ValueId number) {
    const ValueId one = emit_.slice(stack, 0, number, emit_.number(1));
    Values sizes = emit_.sizes(stack);
    sizes.erase(sizes.begin());
    return emit_.reshape(one, sizes);
  }
  ValueId saved(ValueId value, ValueId number) {
    if (value == turn_.number()) return number;
    if (!turn_.is_own(value)) return value;
    const ValueId one = row(turn_.stack_of(value), number);
    const ValueKind kind = region_.type(value).kind;
    return kind == ValueKind::Tensor ? one : builder_.read(one, kind);
  }
  // The sums of the targets behind the backward of one turn; what they began with is in `sums`.
  void emit_turn(ValueId number, const std::vector<ValueId>& carried, std::vector<ValueId>* sums) {
    const std::vector<bool> flags = present();
    const SplitBackward& backward = turn_.backward(flags);
    std::vector<ValueId> inputs;
    for (ValueId value : backward.saved) inputs.push_back(saved(value, number));
    for (size_t i = 0; i < flags.size(); ++i)
      if (flags[i]) inputs.push_back(turn_.outputs()[i].is_carried ? carried[i] : row(arrived_[i], number));
    for (size_t part : backward.taking) {
      ValueId& sum = (*sums)[part];
      if (sum == kNoValue) sum = emit_.like(turn_.like(part), -0.0);
      inputs.push_back(sum);
    }
    const uint32_t origin = builder_.origin;
    const std::vector<ValueId> terms = replay(builder_, backward.backward, inputs);
    builder_.origin = origin;
    for (size_t i = 0; i < terms.size(); ++i) {
      ValueId& sum = (*sums)[backward.parts[i]];
      const bool is_whole = std::find(backward.taking.begin(), backward.taking.end(), backward.parts[i]) !=
                            backward.taking.end();  // a branch or loop in the turn has gone on from the sum
      sum = sum == kNoValue || is_whole ? terms[i] : emit_.add(sum, terms[i]);
    }
    if (saving_) saving_->insert(saving_->end(), backward.saving.begin(), backward.saving.end());
  }

  // ---- turns that are written out ----

  ValueId from_end(int64_t count) { return emit_.scalar(ScalarOp::sub, trips_, emit_.number(count)); }

  void write_out(int written) {
    const ValueId number = from_end(written + 1);
    std::vector<ValueId> sums(turn_.targets().size(), kNoValue);
    const std::vector<bool> reached = reached_by(present());
    for (size_t i = 0; i < sums.size(); ++i) {
      if (rows_in_front_[i] != kNoValue) sums[i] = row(rows_in_front_[i], from_end(written + 2));
      if (turn_.targets()[i].kind == Target::Kind::Outside && reached[i])
        sums[i] = sums_.so_far(turn_.targets()[i].value);
    }
    emit_turn(number, arrived_, &sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        if (const auto place = output_of(target)) arrived_[*place] = sums[i];
      } else if (sums[i] == kNoValue) {
        continue;
      } else if (target.kind == Target::Kind::Outside) {
        sums_.set(target.value, sums[i]);
      } else {
        const ValueId by = emit_.scalar(ScalarOp::mul, number, emit_.number(target.step));
        sums_.add_slice(target.whole, {target.axis, emit_.scalar(ScalarOp::add, target.base, by), target.length,
                                       sums[i], builder_.origin});
      }
    }
  }

  // ---- the others ----

  // What the sum of a carried value begins with in each turn: the rows that a stack of it has got, the one of what the
  // loop began with in front of them. kNoValue: there is nothing.
  ValueId begins_of(size_t target, ValueId turns) {
    const ValueId initial = instruction().operands[1 + turn_.targets()[target].place], rows = rows_in_front_[target];
    const ValueId first = sums_.needed(initial) ? sums_.so_far(initial) : kNoValue;
    if (first == kNoValue && rows == kNoValue) return kNoValue;
    const ValueId others = emit_.scalar(ScalarOp::sub, turns, emit_.number(1));
    Values sizes = emit_.sizes(initial);
    sizes.insert(sizes.begin(), emit_.number(1));
    const ValueId begin = first == kNoValue ? emit_.like(initial, -0.0) : first;
    sizes[0] = emit_.number(1);
    const ValueId front = emit_.reshape(begin, sizes);
    sizes[0] = others;
    const ValueId behind = rows == kNoValue ? builder_.fill(builder_.constant(-0.0), sizes, builder_.dtype(initial))
                                            : emit_.slice(rows, 0, emit_.number(0), others);
    const ValueId whole = emit_.op(Op::concat, {front, behind}, {}, {0});
    sizes[0] = turns;
    return emit_.reshape(whole, sizes);
  }

  // A loop of the region that counts down: carried are the gradients of the carried values and the sums of what comes
  // from outside.
  struct Rolled {
    std::vector<size_t> outputs;  // by carried value: its place among the outputs,
    std::vector<size_t> targets;  // or, behind those, among the targets
    std::vector<ValueId> initial;
    std::vector<ValueId> begins;  // by target
    std::vector<bool> reached;    // by target
  };

  void roll(int written) {
    const std::vector<bool> flags = present();
    if (std::find(flags.begin(), flags.end(), true) == flags.end()) return;
    const ValueId turns = written == 0 ? trips_ : from_end(written);
    Rolled rolled;
    rolled.reached = reached_by(flags);
    for (size_t i = 0; i < flags.size(); ++i) {
      if (!flags[i] || !turn_.outputs()[i].is_carried) continue;
      rolled.outputs.push_back(i);
      rolled.initial.push_back(arrived_[i]);
    }
    rolled.begins.resize(turn_.targets().size(), kNoValue);
    for (size_t i = 0; i < turn_.targets().size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        const auto place = output_of(target);
        if (place && flags[*place]) rolled.begins[i] = begins_of(i, turns);
      } else if (target.kind == Target::Kind::Outside && rolled.reached[i]) {
        const ValueId so_far = sums_.so_far(target.value);
        rolled.targets.push_back(i);
        rolled.initial.push_back(so_far == kNoValue ? emit_.like(target.value, -0.0) : so_far);
      }
    }
    hand_over(rolled, turns, emit_loop(rolled, turns));
  }

  std::vector<ValueId> emit_loop(const Rolled& rolled, ValueId turns) {
    std::vector<Type> types;
    for (ValueId value : rolled.initial) types.push_back(region_.type(value));
    const std::vector<ValueId> inputs = builder_.begin_loop(types);
    std::vector<ValueId> carried(turn_.outputs().size(), kNoValue), sums(turn_.targets().size(), kNoValue);
    for (size_t i = 0; i < rolled.outputs.size(); ++i) carried[rolled.outputs[i]] = inputs[1 + i];
    for (size_t i = 0; i < rolled.targets.size(); ++i) sums[rolled.targets[i]] = inputs[1 + rolled.outputs.size() + i];
    for (size_t i = 0; i < sums.size(); ++i)
      if (rolled.begins[i] != kNoValue) sums[i] = row(rolled.begins[i], inputs[0]);
    emit_turn(inputs[0], carried, &sums);
    std::vector<ValueId> next, stacked;
    next.resize(rolled.outputs.size(), kNoValue);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        const auto place = output_of(target);
        const auto at = place ? std::find(rolled.outputs.begin(), rolled.outputs.end(), *place) : rolled.outputs.end();
        if (at != rolled.outputs.end()) next[static_cast<size_t>(at - rolled.outputs.begin())] = sums[i];
      } else if (target.kind == Target::Kind::Slice && rolled.reached[i]) {
        stacked.push_back(sums[i]);
      }
    }
    for (size_t target : rolled.targets) next.push_back(sums[target]);
    for (size_t i = 0; i < next.size(); ++i) keep_sizes(next[i], types[i]);
    return builder_.end_loop(turns, rolled.initial, next, stacked, kCountsDown);
  }
  // The forward has proved by running that they are equal.
  void keep_sizes(ValueId value, const Type& type) {
    for (size_t k = 0; k < type.sizes.size(); ++k) builder_.assume_equal(region_.type(value).sizes[k], type.sizes[k]);
  }

  // Of what a turn gives no gradient, the loop's beginning gets none.
  bool arrives_at_beginning(const Rolled& rolled, size_t place) const {
    for (size_t i = 0; i < turn_.targets().size(); ++i)
      if (turn_.targets()[i].kind == Target::Kind::Carried && turn_.targets()[i].place == place)
        return rolled.reached[i];
    return false;
  }
  void hand_over(const Rolled& rolled, ValueId turns, const std::vector<ValueId>& results) {
    for (size_t i = 0; i < rolled.outputs.size(); ++i) {
      const size_t place = turn_.outputs()[rolled.outputs[i]].place;
      const ValueId initial = instruction().operands[1 + place];
      if (sums_.needed(initial) && arrives_at_beginning(rolled, place)) sums_.set(initial, results[i]);
    }
    for (size_t i = 0; i < rolled.targets.size(); ++i)
      sums_.set(turn_.targets()[rolled.targets[i]].value, results[rolled.outputs.size() + i]);
    size_t next = rolled.initial.size();
    for (size_t i = 0; i < turn_.targets().size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Slice && rolled.reached[i])
        sums_.add_slice(target.whole, joined(target, results[next++], turns));
    }
  }
  // The rows side by side, as one slice of the whole.
  SlicePart joined(const Target& target, ValueId rows, ValueId turns) {
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

  RegionBuilder& builder_;
  Region& region_;
  Emit emit_;
  const size_t loop_;
  GradientSums& sums_;
  std::vector<ValueId>* saving_;
  LoopTurnBackward turn_;
  ValueId trips_ = kNoValue;
  std::vector<ValueId> arrived_;        // by output: of a carried value, its gradient behind the turn; else of all rows
  std::vector<ValueId> rows_in_front_;  // by target: gradients of a stack of a carried value, whose row in front of a
                                        // turn is what that is given
};

}  // namespace

void append_loop_backward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
                          std::vector<ValueId>* saving) {
  if (builder.region().body.instructions[loop].attributes.mode == kWhile)
    LoopTurnBackward::refuse("only the run knows how many turns it has");
  LoopBackward(builder, loop, stops, sums, saving).run();
}

}  // namespace tsc::jit
