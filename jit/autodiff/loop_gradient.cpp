#include "jit/autodiff/loop_gradient.h"

#include <algorithm>
#include <map>

#include "jit/autodiff/loop_turn.h"
#include "jit/autodiff/while_gradient.h"

namespace tsc::jit {
namespace {

class LoopBackward {
 public:
  LoopBackward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
               std::vector<ValueId>* saving)
      : builder_(builder), region_(builder.region()), emit_(builder), loop_(loop), sums_(sums), saving_(saving),
        turn_(builder, loop, 0, builder.region().body.instructions[loop].attributes.axes.empty(), stops,
              [&](ValueId value) { return sums.needed(value); }) {}

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
      const std::vector<bool> now = present(), next = turn_.handed_on(now, rows_in_front_);
      for (size_t i = 0; i < now.size(); ++i) {
        if (now[i] || !next[i] || !turn_.contributes(i, now)) continue;
        arrived_[i] = emit_.like(result(turn_.outputs()[i].place), -0.0);
        again = true;
      }
      if (!again) return now == next;
    }
    return true;
  }

  // ---- turns that are written out ----

  ValueId from_end(int64_t count) { return emit_.scalar(ScalarOp::sub, trips_, emit_.number(count)); }

  void write_out(int written) {
    const ValueId number = from_end(written + 1);
    std::vector<ValueId> sums(turn_.targets().size(), kNoValue);
    const std::vector<bool> reached = turn_.reached(present());
    for (size_t i = 0; i < sums.size(); ++i) {
      if (rows_in_front_[i] != kNoValue) sums[i] = turn_.row(rows_in_front_[i], from_end(written + 2));
      if (turn_.targets()[i].kind == Target::Kind::Outside && reached[i])
        sums[i] = sums_.so_far(turn_.targets()[i].value);
    }
    turn_.go_back(number, present(), arrived_, &sums, saving_);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        if (const auto place = turn_.output_of(target)) arrived_[*place] = sums[i];
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
    rolled.reached = turn_.reached(flags);
    for (size_t i = 0; i < flags.size(); ++i) {
      if (!flags[i] || !turn_.outputs()[i].is_carried) continue;
      rolled.outputs.push_back(i);
      rolled.initial.push_back(arrived_[i]);
    }
    rolled.begins.resize(turn_.targets().size(), kNoValue);
    for (size_t i = 0; i < turn_.targets().size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        const auto place = turn_.output_of(target);
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
    std::vector<ValueId> carried = arrived_, sums(turn_.targets().size(), kNoValue);
    for (size_t i = 0; i < rolled.outputs.size(); ++i) carried[rolled.outputs[i]] = inputs[1 + i];
    for (size_t i = 0; i < rolled.targets.size(); ++i) sums[rolled.targets[i]] = inputs[1 + rolled.outputs.size() + i];
    for (size_t i = 0; i < sums.size(); ++i)
      if (rolled.begins[i] != kNoValue) sums[i] = turn_.row(rolled.begins[i], inputs[0]);
    turn_.go_back(inputs[0], present(), carried, &sums, saving_);
    std::vector<ValueId> next, stacked;
    next.resize(rolled.outputs.size(), kNoValue);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Target& target = turn_.targets()[i];
      if (target.kind == Target::Kind::Carried) {
        const auto place = turn_.output_of(target);
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
        sums_.add_slice(target.whole, turn_.side_by_side(target, results[next++], turns));
    }
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
    return append_while_backward(builder, loop, stops, sums, saving);
  LoopBackward(builder, loop, stops, sums, saving).run();
}

}  // namespace tsc::jit
