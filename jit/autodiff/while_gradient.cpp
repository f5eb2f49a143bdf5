#include "jit/autodiff/while_gradient.h"

#include <algorithm>

#include "jit/autodiff/loop_turn.h"
#include "jit/autodiff/rules_support.h"

namespace tsc::jit {
namespace {

using Flags = std::vector<bool>;

class WhileBackward {
 public:
  WhileBackward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
                std::vector<ValueId>* saving)
      : builder_(builder), region_(builder.region()), emit_(builder), loop_(loop), sums_(sums), saving_(saving) {
    const bool saves = instruction().attributes.axes.empty();
    const size_t ways = count_ways(builder, instruction());
    for (size_t way = 0; way < ways; ++way)
      ways_.push_back(std::make_unique<LoopTurnBackward>(builder, loop, way, saves, stops,
                                                         [&](ValueId value) { return sums.needed(value); }));
  }

  void run() {
    if (whole_turn().outputs().empty() || whole_turn().targets().empty()) return;
    builder_.origin = instruction().origin;
    for (const Output& output : whole_turn().outputs()) arrived_.push_back(sums_.so_far(result(output.place)));
    Flags present;
    for (ValueId gradient : arrived_) present.push_back(gradient != kNoValue);
    if (std::find(present.begin(), present.end(), true) == present.end()) return;
    turns_ = result(1);
    const auto begins = builder_.known(instruction().operands[1]);
    is_certain_ = begins && begins->i;
    has_turns_ = is_certain_ ? builder_.constant_bool(true) : at_least(1);
    find_outside(present);
    find_begins(present);
    arrived_in_front_ = arrived_;
    const std::optional<Flags> settled = ways_.size() == 1 ? settle(present) : std::nullopt;
    if (settled) return go_back_all(present, *settled);
    go_back_from_last(present);
  }

 private:
  using Output = LoopTurnBackward::Output;
  using Target = LoopTurnBackward::Target;
  using Kind = Target::Kind;

  // A tensor from outside that turns lead gradients to.
  struct Outside {
    ValueId value, sum;
    ValueId arrives = kNoValue;  // the Bool by which they do
  };
  // A slice that a way takes of a tensor from outside, in the last turn.
  struct LastSlice {
    size_t way, target;
    ValueId gradient = kNoValue;
  };

  const Instruction& instruction() const { return region_.body.instructions[loop_]; }
  ValueId result(size_t place) const { return instruction().results[place]; }
  ValueId initial(size_t output) const { return instruction().operands[1 + whole_turn().outputs()[output].place]; }
  LoopTurnBackward& whole_turn() { return *ways_[0]; }
  const LoopTurnBackward& whole_turn() const { return *ways_[0]; }
  bool is_carried(size_t output) const { return whole_turn().outputs()[output].is_carried; }

  // ---- numbers of the run ----

  ValueId at_least(int64_t turns) { return emit_.scalar(ScalarOp::le, emit_.number(turns), turns_); }
  ValueId both(ValueId a, ValueId b) { return emit_.scalar(ScalarOp::logical_and, a, b); }
  // kNoValue: never.
  ValueId any(ValueId a, ValueId b) {
    if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
    if (a == has_turns_ || b == has_turns_) return has_turns_;
    return a == b ? a : emit_.scalar(ScalarOp::logical_or, a, b);
  }
  // Whether the last turn took that way.
  ValueId took(size_t way) {
    if (ways_.size() == 1) return has_turns_;
    const ValueId its = emit_.scalar(ScalarOp::eq, result(2), emit_.number(static_cast<int64_t>(way)));
    return way == 0 ? both(has_turns_, its) : its;
  }

  // ---- which gradients there are ----

  Flags handed_on(size_t way, const Flags& present) {
    return ways_[way]->handed_on(present, std::vector<ValueId>(ways_[way]->targets().size(), kNoValue));
  }
  // With those that a whole turn contributes to itself, which begin with a negative zero, it hands on gradients to the
  // same carried values that it gets some of. Empty: it does not.
  std::optional<Flags> settle(Flags present) {
    for (bool again = true; again;) {
      again = false;
      const Flags next = handed_on(0, present);
      for (size_t i = 0; i < present.size(); ++i)
        if (!present[i] && next[i] && whole_turn().contributes(i, present)) present[i] = again = true;
    }
    return handed_on(0, present) == present ? std::optional(present) : std::nullopt;
  }

  void find_outside(const Flags& present) {
    for (const auto& way : ways_) {
      const Flags reached = way->reached(present);
      for (size_t i = 0; i < reached.size(); ++i)
        if (reached[i] && way->targets()[i].kind == Kind::Outside) outside(way->targets()[i].value);
    }
  }
  Outside& outside(ValueId value) {
    const auto found =
        std::find_if(outside_.begin(), outside_.end(), [&](const Outside& one) { return one.value == value; });
    if (found != outside_.end()) return *found;
    const ValueId so_far = sums_.so_far(value);
    outside_.push_back({value, so_far == kNoValue ? emit_.like(value, -0.0) : so_far});
    return outside_.back();
  }

  // What has arrived in front of the loop joins the terms of its first turn one by one, where there is a turn. Else it
  // is the loop's own result that it joins: a sum of two is the same in any order.
  void find_begins(const Flags& present) {
    bool is_of_saved = false;  // a gradient of a gradient, whose terms have no order of their own
    for (size_t i = 0; i < present.size(); ++i) is_of_saved = is_of_saved || (present[i] && !is_carried(i));
    begins_.resize(whole_turn().outputs().size(), kNoValue);
    for (size_t i = 0; i < begins_.size(); ++i) {
      if (!is_carried(i) || !sums_.needed(initial(i))) continue;
      const ValueId so_far = sums_.so_far(initial(i));
      const auto is_it = [&](const Outside& one) { return one.value == initial(i); };
      const bool is_outside = std::any_of(outside_.begin(), outside_.end(), is_it);
      if ((so_far == kNoValue && !is_outside) || (is_of_saved && is_outside)) continue;
      const bool is_pair =
          !present[i] || (sums_.is_one_term(initial(i)) && sums_.is_one_term(result(whole_turn().outputs()[i].place)));
      if ((!is_certain_ && !is_of_saved && !is_pair) || is_outside)
        LoopTurnBackward::refuse("it begins with a tensor that is used elsewhere, too");
      Values sizes = emit_.sizes(initial(i));
      sizes.insert(sizes.begin(), emit_.number(1));
      const ValueId nothing = builder_.fill(builder_.constant(-0.0), sizes, builder_.dtype(initial(i)));
      begins_[i] = emit_.op(Op::concat, {emit_.reshape(so_far, sizes), nothing}, {}, {0});
    }
  }
  // Of turn `number`.
  void begin_sums(LoopTurnBackward& turn, ValueId number, std::vector<ValueId>* sums) {
    for (size_t i = 0; i < turn.targets().size(); ++i) {
      const Target& target = turn.targets()[i];
      const auto output = target.kind == Kind::Carried ? turn.output_of(target) : std::nullopt;
      if (!output || begins_[*output] == kNoValue) continue;
      (*sums)[i] = turn.row(begins_[*output], emit_.scalar(ScalarOp::minimum, number, emit_.number(1)));
    }
  }

  // ---- the last turn ----

  // What the last turn hands on: the gradients of the carried values (kNoValue: none), the sums outside, and what its
  // slices get.
  struct Handed {
    std::vector<ValueId> carried, outside, slices;
    std::vector<ValueId> all() const {
      std::vector<ValueId> values = carried;
      std::erase(values, kNoValue);
      values.insert(values.end(), outside.begin(), outside.end());
      values.insert(values.end(), slices.begin(), slices.end());
      return values;
    }
  };

  void go_back_from_last(const Flags& present) {
    Flags behind(present.size());
    std::vector<Flags> next;
    for (size_t way = 0; way < ways_.size(); ++way) {
      next.push_back(handed_on(way, present));
      for (size_t i = 0; i < behind.size(); ++i) behind[i] = behind[i] || next[way][i];
    }
    const std::optional<Flags> settled = settle(behind);
    for (const Flags& one : next)
      if (!settled || settle(one) != settled)
        LoopTurnBackward::refuse("its gradients arrive at later turns one by one");
    find_last_slices(present);
    const Handed nothing = no_turn(present, *settled);
    const std::vector<ValueId> values = builder_.branch(
        has_turns_, [&] { return last_turn(1, present, *settled).all(); }, [&] { return nothing.all(); });
    take_last(values, present, *settled);
    // What it has handed on by then.
    std::vector<ValueId> arrives(present.size(), kNoValue);
    for (size_t i = 0; i < present.size(); ++i) {
      if (!is_carried(i) || !(*settled)[i]) continue;
      const bool always = std::all_of(next.begin(), next.end(), [&](const Flags& one) { return one[i]; });
      arrives[i] = always ? has_turns_ : at_least(2);
      for (size_t way = 0; way < ways_.size(); ++way)
        if (!always && next[way][i]) arrives[i] = any(arrives[i], took(way));
    }
    const ValueId others =
        emit_.scalar(ScalarOp::maximum, emit_.scalar(ScalarOp::sub, turns_, emit_.number(1)), emit_.number(0));
    const std::vector<ValueId> rolled = roll(others, at_least(2), *settled);
    hand_over_outside();
    const ValueId none = builder_.scalar(ScalarOp::logical_not, {&has_turns_, 1});
    for (size_t i = 0; i < present.size(); ++i) {
      if (!is_carried(i) || !sums_.needed(initial(i))) continue;
      if ((*settled)[i] && present[i] && !is_certain_)
        add_initial(i, rolled[i], arrives[i] == has_turns_ ? kNoValue : any(arrives[i], none));
      else if ((*settled)[i])
        add_initial(i, rolled[i], is_certain_ && arrives[i] == has_turns_ ? kNoValue : arrives[i]);
      else if (present[i] && !is_certain_) add_initial(i, arrived_in_front_[i], none);
    }
  }

  void find_last_slices(const Flags& present) {
    for (size_t way = 0; way < ways_.size(); ++way) {
      const Flags reached = ways_[way]->reached(present);
      for (size_t i = 0; i < reached.size(); ++i)
        if (reached[i] && ways_[way]->targets()[i].kind == Kind::Slice) last_slices_.push_back({way, i});
    }
  }
  ValueId no_slice(const LastSlice& slice) {
    const Target& target = ways_[slice.way]->targets()[slice.target];
    Values sizes = emit_.sizes(target.whole);
    sizes[static_cast<size_t>(target.axis)] = target.length;
    return builder_.fill(builder_.constant(-0.0), sizes, builder_.dtype(target.whole));
  }

  // Where there is no turn, what has arrived is that of the beginning.
  Handed no_turn(const Flags& present, const Flags& settled) {
    Handed out;
    for (size_t i = 0; i < settled.size(); ++i)
      out.carried.push_back(!is_carried(i) || !settled[i] ? kNoValue
                            : present[i]                  ? arrived_[i]
                                                          : emit_.like(initial(i), -0.0));
    for (const Outside& one : outside_) out.outside.push_back(one.sum);
    for (const LastSlice& slice : last_slices_) out.slices.push_back(no_slice(slice));
    return out;
  }
  // The ways from that number on, or else way 0.
  Handed last_turn(size_t way, const Flags& present, const Flags& settled) {
    if (way == ways_.size()) return last_turn_by(0, present, settled);
    Handed shape;
    const std::vector<ValueId> values = builder_.branch(
        took(way),
        [&] {
          shape = last_turn_by(way, present, settled);
          return shape.all();
        },
        [&] { return last_turn(way + 1, present, settled).all(); });
    return filled(shape, values);
  }
  static Handed filled(Handed shape, const std::vector<ValueId>& values) {
    size_t next = 0;
    for (ValueId& one : shape.carried)
      if (one != kNoValue) one = values[next++];
    for (ValueId& one : shape.outside) one = values[next++];
    for (ValueId& one : shape.slices) one = values[next++];
    return shape;
  }
  Handed last_turn_by(size_t way, const Flags& present, const Flags& settled) {
    LoopTurnBackward& turn = *ways_[way];
    const ValueId number = emit_.scalar(ScalarOp::sub, turns_, emit_.number(1));
    std::vector<ValueId> sums(turn.targets().size(), kNoValue);
    for (size_t i = 0; i < sums.size(); ++i)
      if (turn.targets()[i].kind == Kind::Outside && turn.reached(present)[i])
        sums[i] = outside(turn.targets()[i].value).sum;
    begin_sums(turn, number, &sums);
    turn.go_back(number, present, arrived_, &sums, saving_);
    Handed out;
    for (size_t i = 0; i < settled.size(); ++i) {
      ValueId gradient = kNoValue;
      if (is_carried(i) && settled[i]) {
        for (size_t k = 0; k < sums.size(); ++k)
          if (turn.targets()[k].kind == Kind::Carried && turn.output_of(turn.targets()[k]) == i) gradient = sums[k];
        if (gradient == kNoValue) gradient = emit_.like(initial(i), -0.0);
        keep_sizes(gradient, initial(i));
      }
      out.carried.push_back(gradient);
    }
    for (const Outside& one : outside_) {
      ValueId sum = one.sum;
      for (size_t k = 0; k < sums.size(); ++k)
        if (turn.targets()[k].kind == Kind::Outside && turn.targets()[k].value == one.value && sums[k] != kNoValue)
          sum = sums[k];
      keep_sizes(sum, one.value);
      out.outside.push_back(sum);
    }
    for (const LastSlice& slice : last_slices_) {
      out.slices.push_back(slice.way == way ? sums[slice.target] : no_slice(slice));
      keep_sizes(out.slices.back(), no_slice(slice));
    }
    return out;
  }
  // The forward has proved by running that they are equal.
  void keep_sizes(ValueId value, ValueId like) {
    const ValueList sizes = region_.type(value).sizes, others = region_.type(like).sizes;
    for (size_t k = 0; k < sizes.size(); ++k) builder_.assume_equal(sizes[k], others[k]);
  }

  void take_last(const std::vector<ValueId>& values, const Flags& present, const Flags& settled) {
    size_t next = 0;
    for (size_t i = 0; i < settled.size(); ++i)
      if (is_carried(i) && settled[i]) arrived_[i] = values[next++];
    for (Outside& one : outside_) one.sum = values[next++];
    for (Outside& one : outside_) {
      const auto leads = [&](const auto& way) {
        const Flags reached = way->reached(present);
        for (size_t i = 0; i < reached.size(); ++i)
          if (reached[i] && way->targets()[i].kind == Kind::Outside && way->targets()[i].value == one.value)
            return true;
        return false;
      };
      const bool always = std::all_of(ways_.begin(), ways_.end(), leads);
      if (always) one.arrives = has_turns_;
      for (size_t way = 0; way < ways_.size(); ++way)
        if (!always && leads(ways_[way])) one.arrives = any(one.arrives, took(way));
    }
    for (LastSlice& slice : last_slices_) {
      slice.gradient = values[next++];
      const Target& target = ways_[slice.way]->targets()[slice.target];
      const ValueId number = emit_.scalar(ScalarOp::sub, turns_, emit_.number(1));
      const ValueId by = emit_.scalar(ScalarOp::mul, number, emit_.number(target.step));
      sums_.add_slice(
          target.whole,
          {target.axis, emit_.scalar(ScalarOp::add, target.base, by), target.length, slice.gradient, builder_.origin},
          took(slice.way));
    }
  }

  // ---- whole turns ----

  // All of them are; those that `settled` has more begin with a negative zero.
  void go_back_all(const Flags& present, const Flags& settled) {
    for (size_t i = 0; i < settled.size(); ++i)
      if (settled[i] && !present[i]) arrived_[i] = emit_.like(initial(i), -0.0);
    const std::vector<ValueId> rolled = roll(turns_, has_turns_, settled);
    hand_over_outside();
    for (size_t i = 0; i < settled.size(); ++i)
      if (is_carried(i) && settled[i] && sums_.needed(initial(i)))
        add_initial(i, rolled[i], present[i] || is_certain_ ? kNoValue : has_turns_);
  }

  // The gradients of the carried values in front of so many turns. `any_turn`: whether there are some.
  std::vector<ValueId> roll(ValueId turns, ValueId any_turn, const Flags& settled) {
    LoopTurnBackward& turn = whole_turn();
    const Flags reached = turn.reached(settled);
    std::vector<size_t> outputs, targets;
    std::vector<ValueId> begin;
    for (size_t i = 0; i < settled.size(); ++i) {
      if (!is_carried(i) || !settled[i]) continue;
      outputs.push_back(i);
      begin.push_back(arrived_[i]);
    }
    for (size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i] || turn.targets()[i].kind != Kind::Outside) continue;
      Outside& one = outside(turn.targets()[i].value);
      one.arrives = any(one.arrives, any_turn);
      targets.push_back(i);
      begin.push_back(one.sum);
    }
    std::vector<Type> types;
    for (ValueId value : begin) types.push_back(region_.type(value));
    const std::vector<ValueId> inputs = builder_.begin_loop(types);
    std::vector<ValueId> arrived = arrived_, sums(turn.targets().size(), kNoValue);
    for (size_t i = 0; i < outputs.size(); ++i) arrived[outputs[i]] = inputs[1 + i];
    for (size_t i = 0; i < targets.size(); ++i) sums[targets[i]] = inputs[1 + outputs.size() + i];
    begin_sums(turn, inputs[0], &sums);
    turn.go_back(inputs[0], settled, arrived, &sums, saving_);
    std::vector<ValueId> next(outputs.size(), kNoValue), rows;
    std::vector<size_t> slices;
    for (size_t i = 0; i < sums.size(); ++i) {
      const Target& target = turn.targets()[i];
      if (target.kind == Kind::Carried) {
        for (size_t k = 0; k < outputs.size(); ++k)
          if (turn.output_of(target) == outputs[k]) next[k] = sums[i];
      } else if (target.kind == Kind::Slice && reached[i]) {
        slices.push_back(i);
        rows.push_back(sums[i]);
      }
    }
    for (size_t target : targets) next.push_back(sums[target]);
    for (size_t i = 0; i < next.size(); ++i) {
      const ValueList sizes = region_.type(next[i]).sizes;
      for (size_t k = 0; k < sizes.size(); ++k) builder_.assume_equal(sizes[k], types[i].sizes[k]);
    }
    const std::vector<ValueId> results = builder_.end_loop(turns, begin, next, rows, kCountsDown);
    std::vector<ValueId> carried(settled.size(), kNoValue);
    for (size_t i = 0; i < outputs.size(); ++i) carried[outputs[i]] = results[i];
    for (size_t i = 0; i < targets.size(); ++i)
      outside(turn.targets()[targets[i]].value).sum = results[outputs.size() + i];
    for (size_t i = 0; i < slices.size(); ++i) {
      const Target& target = turn.targets()[slices[i]];
      sums_.add_slice(target.whole, turn.side_by_side(target, results[next.size() + i], turns), any_turn);
    }
    return carried;
  }

  // ---- in front of the loop ----

  void add_initial(size_t output, ValueId gradient, ValueId arrives) {
    const ValueId value = initial(output);
    const bool is_second = std::find(begun_.begin(), begun_.end(), value) != begun_.end();
    if (is_second && (arrives == kNoValue || begins_[output] != kNoValue))
      LoopTurnBackward::refuse("two carried tensors begin as one");
    begun_.push_back(value);
    if (begins_[output] == kNoValue) return sums_.add(value, gradient, arrives);
    // Without a turn, what has arrived there and what has arrived behind the loop.
    const ValueId before = sums_.so_far(value), behind = arrived_in_front_[output];
    const ValueId after =
        is_certain_
            ? gradient
            : builder_.branch(
                  has_turns_, [&] { return std::vector<ValueId>{gradient}; },
                  [&] { return std::vector<ValueId>{behind == kNoValue ? before : emit_.add(before, behind)}; })[0];
    const bool always = sums_.has_arrived(value) || arrives == kNoValue;
    sums_.set(value, after, always ? kNoValue : any(sums_.condition(value), arrives));
  }
  void hand_over_outside() {
    for (const Outside& one : outside_) {
      if (one.arrives == kNoValue) continue;
      const ValueId before = sums_.condition(one.value);
      const bool always = sums_.has_arrived(one.value) || (is_certain_ && one.arrives == has_turns_);
      sums_.set(one.value, one.sum, always ? kNoValue : any(before, one.arrives));
    }
  }

  RegionBuilder& builder_;
  Region& region_;
  Emit emit_;
  const size_t loop_;
  GradientSums& sums_;
  std::vector<ValueId>* saving_;
  std::vector<std::unique_ptr<LoopTurnBackward>> ways_;
  ValueId turns_ = kNoValue, has_turns_ = kNoValue;
  bool is_certain_ = false;       // that there is a turn
  std::vector<ValueId> begins_;   // by output: what has arrived in front of the loop, and a negative zero behind it
  std::vector<ValueId> arrived_;  // by output: of a carried value, its gradient behind the turn; else of all rows
  std::vector<ValueId> arrived_in_front_;  // behind the loop
  std::vector<Outside> outside_;
  std::vector<LastSlice> last_slices_;
  std::vector<ValueId> begun_;
};

}  // namespace

void append_while_backward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
                           std::vector<ValueId>* saving) {
  WhileBackward(builder, loop, stops, sums, saving).run();
}

}  // namespace tsc::jit
