#include "jit/autodiff/gradient.h"

#include <algorithm>

#include "jit/autodiff/rules.h"
#include "jit/autodiff/sliced_gradient.h"
#include "jit/region/liveness.h"

namespace tsc::jit {
namespace {

class Backward {
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
    return std::move(parts_);
  }

  std::vector<ValueId> run(std::span<const GradientSeed> seeds, std::span<const ValueId> wrt) {
    const uint32_t origin = builder_.origin;
    const size_t count = region_.body.instructions.size();
    ValueSet roots = inspected_.wanted;
    for (ValueId value : wrt)
      if (value != kNoValue) roots.insert(value);
    needed_ = computed_from(region_, std::move(roots), stops_);
    for (const Instruction& instruction : region_.body.instructions)
      if (instruction.code == Code::Op && instruction.op == Op::save_for_backward && instruction.attributes.mode == 1)
        same_[instruction.results[0]] = instruction.operands[0];
    for (const GradientSeed& seed : seeds) add(seed.value, seed.gradient);
    for (size_t i = count; i-- > 0;) visit(i);
    builder_.origin = origin;
    std::vector<ValueId> gradients;
    for (ValueId value : wrt) gradients.push_back(value == kNoValue ? kNoValue : gradient(value));
    return gradients;
  }

 private:
  bool is_differentiable_tensor(ValueId value) const {
    const Type& type = region_.type(value);
    return type.kind == ValueKind::Tensor && is_differentiable(type.dtype);
  }
  bool needed(ValueId value) const { return needed_.count(value) && is_differentiable_tensor(value); }

  ValueId gradient(ValueId value) {
    put_together(value);
    const auto found = gradients_.find(value);
    return found == gradients_.end() ? kNoValue : found->second;
  }
  // An argument that a function says it saves (mode 1) is that value itself: its terms join the others one by one, as
  // on the eager tape, where the function's saving is no step.
  ValueId itself(ValueId value) {
    for (auto found = same_.find(value); found != same_.end(); found = same_.find(value)) {
      if (said_.insert(value)) parts_.saving.push_back(value);
      value = found->second;
    }
    return value;
  }
  void add(ValueId value, ValueId gradient) {
    value = itself(value);
    put_together(value);
    if (const auto place = separate_.find(value); place != separate_.end())
      return add_term(place->second, gradient);
    const auto [place, fresh] = gradients_.emplace(value, gradient);
    if (!fresh) place->second = sum(place->second, gradient);
  }
  void add_term(size_t wrt, ValueId gradient) {
    for (Contribution& term : parts_.terms) {
      if (!add_up_ || term.wrt != wrt) continue;
      term.gradient = sum(term.gradient, gradient);
      return;
    }
    parts_.terms.push_back({wrt, gradient});
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
    if ( separate_.count(value) || gradients_.count(value)) return false;
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
    if (!instruction.blocks.empty()) {
      throw Error(ErrorKind::NotImplementedError,
                  "gradients through control flow on tensor data are not compiled");
    }
    if (instruction.code != Code::Op || !is_differentiable(instruction.op)) return;
    if (instruction.op == Op::slice && waits(instruction)) return;
    apply_rule(region_.body.instructions[index]);
  }

  void inspect(ValueId value) {
    const auto found = gradients_.find(value);
    if (found == gradients_.end() || !inspected_.all.count(value) || !needed(value)) return;
    const ValueId gradient = found->second;
    found->second = builder_.op(Op::copy, {&gradient, 1}, {}, {});
    parts_.inspected.push_back({value, found->second});
  }

  // Copies what it needs: emitting moves the region's instructions.
  void apply_rule(const Instruction& instruction) {
    builder_.origin = instruction.origin;
    const Op op = instruction.op;
    const OpAttributes attributes = instruction.attributes;
    const size_t count = tensor_count(instruction);
    const std::vector<ValueId> operands(instruction.operands.begin(),
                                        instruction.operands.begin() + count);
    const std::vector<ValueId> scalars(instruction.operands.begin() + count,
                                       instruction.operands.end());
    std::vector<ValueId> results(instruction.results.begin(), instruction.results.end());
    std::vector<ValueId> gradients;
    for (ValueId result : results)
      gradients.push_back(needed(result) ? gradient(result) : kNoValue);
    SmallVector<bool, 8> wanted;
    for (ValueId operand : operands) wanted.push_back(needed(operand));
    if (std::none_of(wanted.begin(), wanted.end(), [](bool each) { return each; })) return;
    if (saved_set(op, wanted)) parts_.saving.push_back(results[0]);
    std::vector<ValueId> out(count, kNoValue);
    GradientCall call{builder_,  operands,   scalars,       results,
                      gradients, attributes, wanted.data(), out.data()};
    gradient_row(op).rule(call);
    for (size_t i = 0; i < count; ++i)
      if (wanted[i] && out[i] != kNoValue) add(operands[i], out[i]);
  }

  RegionBuilder& builder_;
  Region& region_;
  const ValueSet& stops_;
  ValueSet needed_;  // values through which a wrt value reaches others
  InspectedValues inspected_;
  ValueMap<ValueId> gradients_;
  ValueMap<SlicedGradient> slices_;  // what has not become a gradient yet
  ValueMap<ValueId> same_;     // results of save_for_backward with mode 1, and their operands
  ValueSet said_;              // those of them that a gradient has come to
  ValueMap<size_t> separate_;  // places of the wrt values whose terms stay apart
  BackwardParts parts_;
  bool add_up_ = false;
};

}  // namespace

ValueSet computed_from(const Region& region, ValueSet values, const ValueSet& stops) {
  for (const Instruction& instruction : region.body.instructions) {
    const bool nested = !instruction.blocks.empty();
    if (!nested && (instruction.code != Code::Op || !is_differentiable(instruction.op))) continue;
    bool reached = false;
    for_each_use(instruction, [&](ValueId value) { reached |= values.count(value) != 0; });
    if (!reached) continue;
    for (ValueId result : instruction.results)
      if (!stops.count(result)) values.insert(result);
  }
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
                                    std::span<const ValueId> wrt, const ValueSet& stops,
                                    bool add_up, const InspectedValues& inspected) {
  return Backward(builder, stops).run_parts(seeds, wrt, add_up, inspected);
}

}  // namespace tsc::jit
