#include "jit/autodiff/gradient.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "jit/autodiff/branch_gradient.h"
#include "jit/autodiff/loop_gradient.h"
#include "jit/autodiff/rules.h"
#include "jit/autodiff/sliced_gradient.h"
#include "jit/region/liveness.h"

namespace tsc::jit {
namespace {

class Backward final : private GradientSums {
 public:
  Backward(RegionBuilder& builder, const ValueSet& stops)
      : builder_(builder), region_(builder.region()), stops_(stops) {}

  const std::vector<ValueId>& saving() const { return parts_.saving; }

  BackwardParts run_parts(std::span<const GradientSeed> seeds, std::span<const ValueId> wrt, bool add_up,
                          const InspectedValues& inspected) {
    add_up_ = add_up;
    for (size_t i = 0; i < wrt.size(); ++i)
      if (wrt[i] != kNoValue) separate_.emplace(wrt[i], i);
    inspected_ = inspected;
    run(seeds, wrt);
    for (const GradientSeed& seed : seeds) parts_.whole.push_back(needed(seed.value) ? gradient(seed.value) : kNoValue);
    put_joined_behind();
    return std::move(parts_);
  }

  std::vector<ValueId> run(std::span<const GradientSeed> seeds, std::span<const ValueId> wrt) {
    const uint32_t origin = builder_.origin;
    const size_t count = region_.body.instructions.size();
    ValueSet roots = inspected_.wanted;
    for (ValueId value : wrt)
      if (value != kNoValue) roots.insert(value);
    needed_ = computed_from(region_, std::move(roots), stops_);
    for (const Instruction& instruction : region_.body.instructions) {
      if (instruction.code == Code::Op && instruction.op == Op::save_for_backward && instruction.attributes.mode == 1)
        same_[instruction.results[0]] = instruction.operands[0];
      if (instruction.code == Code::Loop && instruction.attributes.mode != kWhile) take_loop(instruction);
      if (!instruction.blocks.empty()) take_sums(instruction);
    }
    for (const GradientSeed& seed : seeds) {
      add(seed.value, seed.gradient, kNoValue);
      if (separate_.empty()) continue;
      const ValueId value = itself(seed.value);
      sums_.insert(value);
      if (const ValueId arrived = gradient(value); arrived != kNoValue) from_behind_[value] = arrived;
    }
    for (size_t i = count; i-- > 0;) visit(i);
    builder_.origin = origin;
    std::vector<ValueId> gradients;
    for (ValueId value : wrt) {
      gradients.push_back(value == kNoValue ? kNoValue : gradient(value));
      if (value != kNoValue && !separate_.count(value) && condition(value) != kNoValue) refuse_condition();
    }
    return gradients;
  }

 private:
  bool is_differentiable_tensor(ValueId value) const {
    const Type& type = region_.type(value);
    return type.kind == ValueKind::Tensor && is_differentiable(type.dtype);
  }
  bool needed(ValueId value) const override { return needed_.count(value) && is_differentiable_tensor(value); }

  ValueId gradient(ValueId value) {
    put_together(value);
    const auto found = gradients_.find(value);
    return found == gradients_.end() ? kNoValue : found->second;
  }
  // Without its consequences.
  ValueId original(ValueId value) const {
    for (auto found = same_.find(value); found != same_.end(); found = same_.find(value)) value = found->second;
    return value;
  }
  // An argument that a function says it saves (mode 1) is that value itself: its terms join the others one by one, as
  // on the eager tape, where the function's saving is no step.
  ValueId itself(ValueId value) {
    if (const auto stack = one_stack_.find(value); stack != one_stack_.end()) value = stack->second;
    for (auto found = same_.find(value); found != same_.end(); found = same_.find(value)) {
      if (said_.insert(value)) parts_.saving.push_back(value);
      value = found->second;
    }
    return value;
  }
  // `holds`: the term is none unless that Bool value is true, and may be anything then.
  void add(ValueId value, ValueId gradient, ValueId holds) override {
    value = itself(value);
    put_together(value);
    add_last_row(value, gradient, holds);
    if (holds != kNoValue || condition(value) != kNoValue) return add_in_some_runs(value, gradient, holds);
    if (const auto place = separate_.find(value); place != separate_.end()) return add_term(place->second, gradient);
    const auto [place, fresh] = gradients_.emplace(value, gradient);
    if (fresh) return;
    sums_.insert(value);
    place->second = sum(place->second, gradient);
  }
  bool is_one(size_t wrt) const { return add_up_ || joined_.count(wrt) != 0; }
  void add_term(size_t wrt, ValueId gradient) {
    Contribution* term = is_one(wrt) ? term_of(wrt) : nullptr;
    const ValueId before = term ? term->gradient : is_one(wrt) ? taken(wrt) : kNoValue;
    const ValueId after = before == kNoValue ? gradient : sum(before, gradient);
    if (term) term->gradient = after;
    else parts_.terms.push_back({wrt, after});
  }
  Contribution* term_of(size_t wrt) {
    for (Contribution& term : parts_.terms)
      if (term.wrt == wrt) return &term;
    return nullptr;
  }

  // ---- gradients that arrive in some runs alone ----

  // The term, or what has arrived before, comes in some runs alone.
  void add_in_some_runs(ValueId value, ValueId gradient, ValueId holds) {
    if (const auto place = separate_.find(value); place != separate_.end() && !is_one(place->second))
      return parts_.terms.push_back({place->second, gradient, holds});
    const ValueId own = condition(value), before = arrived(value);
    if (before == kNoValue) return set(value, gradient, holds, false);
    const bool is_whole = own == kNoValue || filled_.count(value) != 0;  // what has arrived is a gradient in any run
    const auto both = [&] { return sum(before, gradient); };
    const auto alone = [&] { return gradient; };
    const auto after = [&] { return is_whole || own == holds ? both() : either(own, both, alone); };
    if (holds == kNoValue) return set(value, after(), kNoValue);
    if (own == holds) return set(value, after(), holds, is_whole);
    const ValueId sum_of_both = either(holds, after, [&] { return before; });
    if (has_arrived(value)) return set(value, sum_of_both, kNoValue);
    set(value, sum_of_both, own == kNoValue ? holds : any_of(own, holds), is_whole);
  }
  ValueId any_of(ValueId a, ValueId b) {
    const ValueId both[] = {a, b};
    return builder_.scalar(ScalarOp::logical_or, both);
  }
  template <class First, class Second>
  ValueId either(ValueId condition, const First& first, const Second& second) {
    return builder_.branch(
        condition, [&] { return std::vector<ValueId>{first()}; }, [&] { return std::vector<ValueId>{second()}; })[0];
  }
  // What holds where the gradients of these arrive; kNoValue: always. NotImplementedError: it is not one.
  ValueId condition_of(const SmallVector<ValueId, 2>& results) {
    std::optional<ValueId> found;
    for (ValueId result : results) {
      if (!needed(result) || gradient(result) == kNoValue) continue;
      const ValueId its = condition(result);
      if (found && *found != its) refuse_condition();
      found = its;
    }
    return found.value_or(kNoValue);
  }
  [[noreturn]] static void refuse_condition() {
    throw Error(ErrorKind::NotImplementedError,
                "gradients through this branch are not compiled: one way alone leads to a tensor that has no other "
                "gradient");
  }

  // ---- loops ----

  void take_loop(const Instruction& loop) {
    const ValueList& yielded = loop.blocks[0]->instructions.back().operands;
    const size_t carried = loop.operands.size() - 1;
    for (size_t i = carried; i < yielded.size(); ++i) {
      if (!needed(loop.results[i])) continue;
      for (size_t k = 0; k < i; ++k) {
        if (yielded[k] != yielded[i] || !needed(loop.results[k])) continue;
        if (k < carried) last_rows_[loop.results[i]] = {loop.results[k], loop.operands[0]};
        else one_stack_.emplace(loop.results[i], loop.results[k]);
      }
    }
  }
  // Its backward goes on from what has arrived.
  void take_sums(const Instruction& instruction) {
    for_each_use(instruction, [&](ValueId value) {
      if (const auto place = separate_.find(original(value)); place != separate_.end()) joined_.insert(place->second);
    });
  }
  // A row of a stack is the carried value of that turn: the gradient of the last is one of the loop's result.
  void add_last_row(ValueId value, ValueId gradient, ValueId holds) {
    const auto found = last_rows_.find(value);
    if (found == last_rows_.end()) return;
    if (holds != kNoValue) refuse_condition();
    const auto [result, trips] = found->second;
    const ValueId one = builder_.constant(int64_t{1});
    const ValueId last[] = {builder_.scalar(ScalarOp::sub, std::array{trips, one}), one, one};
    OpAttributes first_axis;
    first_axis.axes = {0};
    const ValueId row = builder_.op(Op::slice, {&gradient, 1}, last, first_axis);
    const ValueList sizes = region_.type(result).sizes;
    add(result, builder_.op(Op::reshape, {&row, 1}, sizes, {}), kNoValue);
  }
  // What arrives at a wrt value that loops contribute to goes on from what other nodes have contributed.
  ValueId taken(size_t wrt) {
    if (add_up_) return kNoValue;
    for (const Contribution& taking : parts_.taking)
      if (taking.wrt == wrt) return taking.gradient;
    for (const auto& [value, place] : separate_)
      if (place == wrt) {
        const ValueId arrived = region_.add_value(Type(region_.type(value)));
        parts_.taking.push_back({wrt, arrived});
        return arrived;
      }
    return kNoValue;
  }
  ValueId so_far(ValueId value) override {
    value = itself(value);
    const ValueId holds = condition(value);
    if (holds == kNoValue || filled_.count(value)) return arrived(value);
    const ValueList sizes = region_.type(value).sizes;
    const auto nothing = [&] { return builder_.fill(builder_.constant(-0.0), sizes, builder_.dtype(value)); };
    set(value, either(holds, [&] { return arrived(value); }, nothing), holds, true);
    return arrived(value);
  }
  ValueId arrived(ValueId value) {
    const auto place = separate_.find(value);
    if (place == separate_.end()) return gradient(value);
    const Contribution* term = term_of(place->second);
    return term ? term->gradient : taken(place->second);
  }
  bool has_arrived(ValueId value) override {
    value = itself(value);
    if (conditions_.count(value)) return false;
    const auto place = separate_.find(value);
    return place == separate_.end() ? gradient(value) != kNoValue : term_of(place->second) != nullptr;
  }
  bool is_one_term(ValueId value) override {
    value = itself(value);
    return !separate_.count(value) && !sums_.count(value) && gradient(value) != kNoValue;
  }
  bool is_from_behind(ValueId value) override {
    const auto found = from_behind_.find(itself(value));
    return found != from_behind_.end() && found->second == gradient(found->first);
  }
  ValueId condition(ValueId value) override {
    const auto found = conditions_.find(itself(value));
    return found == conditions_.end() ? kNoValue : found->second;
  }
  void set(ValueId value, ValueId gradient, ValueId holds) override { set(value, gradient, holds, true); }
  // `is_filled`: it is what it was before, or a negative zero, where nothing arrives.
  void set(ValueId value, ValueId gradient, ValueId holds, bool is_filled) {
    value = itself(value);
    conditions_.erase(value);
    filled_.erase(value);
    if (holds != kNoValue) conditions_[value] = holds;
    if (holds != kNoValue && is_filled) filled_.insert(value);
    sums_.insert(value);
    const auto place = separate_.find(value);
    if (place == separate_.end()) {
      gradients_[value] = gradient;
    } else if (Contribution* term = term_of(place->second)) {
      *term = {place->second, gradient, holds};
    } else {
      parts_.terms.push_back({place->second, gradient, holds});
    }
  }
  void add_slice(ValueId whole, const SlicePart& part, ValueId holds) override {
    whole = itself(whole);
    if (holds == kNoValue && !separate_.count(whole) && !gradients_.count(whole) && slices_[whole].take(builder_, part))
      return;
    SlicedGradient one;
    one.take(builder_, part);
    add(whole, one.whole(builder_, whole), holds);
  }
  // Their terms have a place of their own, whichever gradient comes first.
  void put_joined_behind() {
    std::stable_sort(parts_.terms.begin(), parts_.terms.end(), [&](const Contribution& a, const Contribution& b) {
      const bool first = joined_.count(a.wrt), second = joined_.count(b.wrt);
      return first != second ? second : first && a.wrt < b.wrt;
    });
  }

  ValueId sum(ValueId before, ValueId gradient) {
    const ValueId both[] = {before, gradient};
    return builder_.op(Op::add, both, {}, {});
  }

  // The gradient of a slice waits for those of its neighbours, as long as nothing else has arrived at the value. May
  // move the region's instructions.
  bool waits(const Instruction& slice) {
    if (!needed(slice.operands[0])) return false;
    const ValueId value = itself(slice.operands[0]);
    if (separate_.count(value) || gradients_.count(value)) return false;
    if (builder_.known_int(slice.operands[3]) != 1) return false;
    const SlicePart part{slice.attributes.axes[0], slice.operands[1], slice.operands[2],
                         gradients_.at(slice.results[0]), slice.origin};
    return slices_[value].take(builder_, part);
  }
  void put_together(ValueId value) {
    const auto found = slices_.find(value);
    if (found == slices_.end()) return;
    const SlicedGradient sliced = std::move(found->second);
    slices_.erase(value);
    sums_.insert(value);
    gradients_.emplace(value, sliced.whole(builder_, value));
  }

  void visit(size_t index) {
    // Emitting moves the region's instructions.
    const SmallVector<ValueId, 2> results = region_.body.instructions[index].results;
    for (ValueId result : results) put_together(result);
    for (ValueId result : results) inspect(result);
    const Instruction& instruction = region_.body.instructions[index];
    bool arrives = false;
    for (ValueId result : instruction.results)
      arrives |= needed(result) && !stops_.count(result) && gradient(result) != kNoValue;
    if (!arrives) return;
    const ValueId holds = condition_of(results);
    if (holds != kNoValue && !instruction.blocks.empty()) refuse_condition();
    if (instruction.code == Code::Loop) return append_loop_backward(builder_, index, stops_, *this, &parts_.saving);
    if (instruction.code == Code::If) return append_branch_backward(builder_, index, stops_, *this, &parts_.saving);
    if (instruction.code != Code::Op || !is_differentiable(instruction.op)) return;
    if (instruction.op == Op::slice && holds == kNoValue && waits(instruction)) return;
    apply_rule(region_.body.instructions[index], holds);
  }

  void inspect(ValueId value) {
    const auto found = gradients_.find(value);
    if (found == gradients_.end() || !inspected_.all.count(value) || !needed(value)) return;
    const ValueId gradient = found->second;
    found->second = builder_.op(Op::copy, {&gradient, 1}, {}, {});
    parts_.inspected.push_back({value, found->second, condition(value)});
  }

  // Copies what it needs: emitting moves the region's instructions.
  void apply_rule(const Instruction& instruction, ValueId holds) {
    builder_.origin = instruction.origin;
    const Op op = instruction.op;
    const OpAttributes attributes = instruction.attributes;
    const size_t count = tensor_count(instruction);
    const std::vector<ValueId> operands(instruction.operands.begin(), instruction.operands.begin() + count);
    const std::vector<ValueId> scalars(instruction.operands.begin() + count, instruction.operands.end());
    std::vector<ValueId> results(instruction.results.begin(), instruction.results.end());
    std::vector<ValueId> gradients;
    for (ValueId result : results) gradients.push_back(needed(result) ? gradient(result) : kNoValue);
    SmallVector<bool, 8> wanted;
    for (ValueId operand : operands) wanted.push_back(needed(operand));
    if (std::none_of(wanted.begin(), wanted.end(), [](bool each) { return each; })) return;
    if (saved_set(op, wanted)) parts_.saving.push_back(results[0]);
    std::vector<ValueId> out(count, kNoValue);
    GradientCall call{builder_, operands, scalars, results, gradients, attributes, wanted.data(), out.data()};
    gradient_row(op).rule(call);
    for (size_t i = 0; i < count; ++i)
      if (wanted[i] && out[i] != kNoValue) add(operands[i], out[i], holds);
  }

  RegionBuilder& builder_;
  Region& region_;
  const ValueSet& stops_;
  ValueSet needed_;  // values through which a wrt value reaches others
  InspectedValues inspected_;
  ValueMap<ValueId> gradients_;
  ValueMap<ValueId> conditions_;     // of those that arrive in some runs alone: by which Bool values
  ValueSet filled_;                  // and those of them that change no sum in the other runs
  ValueSet sums_;                    // those of several terms, as far as is known
  ValueMap<ValueId> from_behind_;    // what has arrived at values that leave the region
  ValueMap<SlicedGradient> slices_;  // what has not become a gradient yet
  ValueMap<ValueId> same_;           // results of save_for_backward with mode 1, and their operands
  ValueSet said_;                    // those of them that a gradient has come to
  ValueMap<size_t> separate_;        // places of the wrt values whose terms stay apart
  std::set<size_t> joined_;          // those that loops and branches contribute to: each has one term
  ValueMap<std::pair<ValueId, ValueId>>
      last_rows_;                // stacks of a loop's carried values: that result, and how many rows there are
  ValueMap<ValueId> one_stack_;  // stacks that hold what another one holds
  BackwardParts parts_;
  bool add_up_ = false;
};

}  // namespace

namespace {

void flow(const Block& block, const ValueSet& stops, ValueSet* values);

// Round and round, until no more of what is carried is reached.
void flow_through_loop(const Instruction& loop, const ValueSet& stops, ValueSet* values) {
  const Block& body = *loop.blocks[0];
  const ValueList& yielded = body.instructions.back().operands;
  const size_t carried = loop.operands.size() - 1;
  for (bool again = true; again;) {
    again = false;
    flow(body, stops, values);
    for (size_t i = 0; i < carried; ++i)
      if (values->count(loop.operands[1 + i]) || values->count(yielded[i]))
        again |= values->insert(body.parameters[1 + i]);
  }
  for (size_t i = 0; i < loop.results.size(); ++i)
    if (values->count(yielded[i]) && !stops.count(loop.results[i])) values->insert(loop.results[i]);
}

void flow(const Block& block, const ValueSet& stops, ValueSet* values) {
  for (const Instruction& instruction : block.instructions) {
    if (instruction.code == Code::Loop && !instruction.blocks.empty()) {
      flow_through_loop(instruction, stops, values);
      continue;
    }
    const bool nested = !instruction.blocks.empty();
    for (const auto& way : instruction.blocks) flow(*way, stops, values);
    if (!nested && (instruction.code != Code::Op || !is_differentiable(instruction.op))) continue;
    bool reached = false;
    for_each_use(instruction, [&](ValueId value) { reached |= values->count(value) != 0; });
    if (!reached) continue;
    for (ValueId result : instruction.results)
      if (!stops.count(result)) values->insert(result);
  }
}

}  // namespace

ValueSet computed_from(const Region& region, ValueSet values, const ValueSet& stops) {
  flow(region.body, stops, &values);
  return values;
}

std::vector<ValueId> append_backward(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                     std::span<const ValueId> wrt, const ValueSet& stops,
                                     std::vector<ValueId>* saving) {
  Backward backward(builder, stops);
  std::vector<ValueId> gradients = backward.run(seeds, wrt);
  if (saving) *saving = backward.saving();
  return gradients;
}

BackwardParts append_backward_parts(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                    std::span<const ValueId> wrt, const ValueSet& stops, bool add_up,
                                    const InspectedValues& inspected) {
  return Backward(builder, stops).run_parts(seeds, wrt, add_up, inspected);
}

}  // namespace tsc::jit
