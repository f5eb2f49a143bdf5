#include "jit/autodiff/split.h"

#include <algorithm>
#include <map>

#include "jit/autodiff/joint_builder.h"
#include "jit/autodiff/rules.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/op_cost.h"

namespace tsc::jit {
namespace {

class Splitter {
 public:
  Splitter(const Region& forward, std::span<const ValueId> outputs, std::span<const ValueId> wrt, const ValueSet& stops,
           const std::vector<bool>& present, const ValueSet* reachable, bool add_up, const InspectedValues& inspected)
      : reachable_(reachable), stops_(stops), joint_(forward.clone()) {
    auto& body = joint_.body.instructions;
    if (!body.empty() && body.back().code == Code::Exit) body.pop_back();
    first_backward_ = body.size();
    JointBuilder builder(joint_);
    std::vector<GradientSeed> seeds;
    several_ = outputs.size() > 1;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!present.empty() && !present[i]) continue;
      Type type = joint_.type(outputs[i]);
      seeds.push_back({outputs[i], joint_.add_value(std::move(type))});
      gradient_inputs_.push_back(seeds.back().gradient);
      gradient_set_.insert(seeds.back().gradient);
    }
    if (reachable) {
      BackwardParts parts = append_backward_parts(builder, seeds, wrt, stops, add_up, inspected);
      for (const Contribution& term : parts.terms) {
        parts_.push_back(term.wrt);
        results_.push_back(term.gradient);
        if (term.holds != kNoValue) conditions_.push_back({parts_.size() - 1, term.holds});
      }
      saving_ = std::move(parts.saving);
      inspected_ = std::move(parts.inspected);
      whole_ = std::move(parts.whole);
      for (const Contribution& taking : parts.taking) {
        taking_.push_back(taking.wrt);
        gradient_inputs_.push_back(taking.gradient);
        gradient_set_.insert(taking.gradient);
      }
    } else {
      results_ = append_backward(builder, seeds, wrt, stops);
    }
    for (size_t i = 0; i < body.size(); ++i)
      for (ValueId result : body[i].results) definition_[result] = i;
    for (size_t i = 0; i < first_backward_; ++i)
      TSC_CHECK(body[i].results.size() == forward.body.instructions[i].results.size(),
                "split: a loop does not stack what its backward reads");
  }

  SplitBackward run(const std::vector<ValueId>* keep) {
    mark_needed();
    if (keep) {
      for (ValueId value : *keep) (is_tensor(value) ? saved_ : saved_scalars_).push_back(value);
      saved_set_.insert(saved_.begin(), saved_.end());
    } else {
      choose_saved();
    }
    add_inputs(keep == nullptr);
    return build();
  }

 private:
  const Instruction* definition(ValueId value) const {
    const auto found = definition_.find(value);
    return found == definition_.end() ? nullptr : &joint_.body.instructions[found->second];
  }
  bool in_backward(ValueId value) const {
    const auto found = definition_.find(value);
    return found != definition_.end() && found->second >= first_backward_;
  }
  bool is_tensor(ValueId value) const { return joint_.type(value).kind == ValueKind::Tensor; }
  bool is_gradient_input(ValueId value) const { return gradient_set_.count(value) != 0; }

  // Also what nobody has asked for yet: the gradient of an output that others were computed from.
  std::vector<ValueId> everything_wanted() const {
    std::vector<ValueId> wanted = results_;
    wanted.insert(wanted.end(), whole_.begin(), whole_.end());
    for (const InspectedGradient& whole : inspected_) wanted.push_back(whole.gradient);
    std::erase(wanted, kNoValue);
    return wanted;
  }

  // Also of nested blocks: values from outside, and sizes of what is defined there.
  template <class Visit>
  void for_each_outer_use(const Instruction& instruction, const Visit& visit) const {
    for (ValueId operand : instruction.operands) visit(operand);
    if (instruction.blocks.empty()) return;
    ValueSet own;
    const auto visit_other = [&](ValueId value) {
      if (!own.count(value)) visit(value);
    };
    const auto define = [&](ValueId value) {
      for (ValueId size : joint_.type(value).sizes) visit_other(size);
      own.insert(value);
    };
    const auto see = [&](const auto& self, const Block& block) -> void {
      for (ValueId parameter : block.parameters) define(parameter);
      for (const Instruction& inner : block.instructions) {
        for (ValueId operand : inner.operands) visit_other(operand);
        for (const auto& nested : inner.blocks) self(self, *nested);
        for (ValueId result : inner.results) define(result);
      }
    };
    for (const auto& block : instruction.blocks) see(see, *block);
  }

  std::vector<ValueId> all_conditions() const {
    std::vector<ValueId> all;
    for (const auto& [part, holds] : conditions_) all.push_back(holds);
    for (const InspectedGradient& whole : inspected_)
      if (whole.holds != kNoValue) all.push_back(whole.holds);
    return all;
  }

  // The backward's instructions that lead to what is wanted, and the forward tensors that they read.
  void mark_needed() {
    std::vector<ValueId> pending = everything_wanted();
    for (ValueId holds : all_conditions()) pending.push_back(holds);
    ValueSet seen;
    while (!pending.empty()) {
      const ValueId value = pending.back();
      pending.pop_back();
      if (is_gradient_input(value) || !seen.insert(value)) continue;
      if (in_backward(value)) {
        for_each_outer_use(*definition(value), [&](ValueId operand) { pending.push_back(operand); });
      } else if (is_tensor(value)) {
        needed_.push_back(value);
      }
    }
    std::sort(needed_.begin(), needed_.end());
  }

  static bool can_be_made_again(Op op) {
    return op == Op::full || op == Op::iota || op_row(op).flags & kView || is_cheap(op);
  }

  // How a saved value is to be made again instead: by a few ops, from what is saved beside it and from what is not
  // saved yet: `leaves`, which are broadcast and have fewer elements than what is made of them, and `kept`, which the
  // program saves for the backward itself.
  struct Attempt {
    ValueId wanted;
    size_t ops = 0;
    std::vector<ValueId> visited = {}, leaves = {}, kept = {};
  };

  bool computable(Attempt& attempt, ValueId value, bool broadcast = false) const {
    const bool is_read_anyway = saved_set_.count(value) && !only_kept_.count(value);
    const bool may_change = fixed_.count(value) || !definition(value);
    if (value != attempt.wanted && is_read_anyway) return !several_ || !may_change;
    if (std::find(attempt.visited.begin(), attempt.visited.end(), value) != attempt.visited.end()) return true;
    if (kept_.count(value)) {
      attempt.kept.push_back(viewed(value));
      attempt.visited.push_back(value);
      return true;
    }
    const Attempt before = attempt;
    if (computable_by_op(attempt, value)) return true;
    attempt = before;
    const ValueId leaf = reshaped(value);
    if (!broadcast || fixed_.count(leaf) || !is_computed(leaf)) return false;
    attempt.leaves.push_back(leaf);
    attempt.visited.push_back(value);
    return true;
  }
  bool computable_by_op(Attempt& attempt, ValueId value) const {
    constexpr size_t kMostOps = 32;
    const Instruction* made = definition(value);
    if (!made || made->code != Code::Op || !can_be_made_again(made->op) || ++attempt.ops > kMostOps) return false;
    attempt.visited.push_back(value);
    for (size_t i = 0; i < tensor_count(*made); ++i)
      if (!computable(attempt, made->operands[i], made->op == Op::broadcast)) return false;
    return true;
  }
  bool is_computed(ValueId value) const {
    const Instruction* made = definition(value);
    return made && made->code == Code::Op && !(op_row(made->op).flags & kView);
  }
  ValueId reshaped(ValueId value) const {
    const Instruction* made = definition(value);
    while (made && made->code == Code::Op && made->op == Op::reshape) {
      value = made->operands[0];
      made = definition(value);
    }
    return value;
  }

  // A view is saved as what it views: the memory is the same.
  ValueId viewed(ValueId value) const {
    const Instruction* made = definition(value);
    while (made && made->code == Code::Op && op_row(made->op).flags & kView) {
      value = made->operands[0];
      made = definition(value);
    }
    return value;
  }

  // What may change before the backward runs: only the check of its version finds that out.
  void find_fixed() {
    if (!reachable_) return;
    for (ValueId value : *reachable_) fixed_.insert(viewed(value));
    for (size_t i = 0; i < first_backward_; ++i)
      if (joint_.body.instructions[i].code == Code::WriteBack)
        for (ValueId operand : joint_.body.instructions[i].operands) fixed_.insert(viewed(operand));
  }
  void find_kept() {
    for (ValueId value : saving_)
      if (const Instruction* made = definition(value);
          made && made->op == Op::save_for_backward && made->attributes.mode == 0)
        kept_.insert(value);
  }
  // What a function says that it saves, and gradients flow through.
  ValueSet said_saved() const {
    ValueSet said;
    for (ValueId value : saving_)
      if (const Instruction* made = definition(value);
          made && made->op == Op::save_for_backward && made->attributes.mode != 0)
        said.insert(viewed(value));
    return said;
  }

  void choose_saved() {
    for (ValueId value : needed_) saved_set_.insert(viewed(value));
    saved_.assign(saved_set_.begin(), saved_set_.end());
    // Latest first: results of cheap ops are made again from earlier values.
    std::sort(saved_.begin(), saved_.end());
    find_fixed();
    find_kept();
    for (ValueId value : said_saved())
      if (fixed_.count(value) || !definition(value)) saved_set_.insert(value);
    const std::vector<ValueId> candidates(saved_.rbegin(), saved_.rend());
    for (ValueId value : candidates) {
      Attempt attempt{value};
      if (fixed_.count(value) || !computable(attempt, value)) continue;
      saved_set_.erase(value);
      saved_set_.insert(attempt.leaves.begin(), attempt.leaves.end());
      for (ValueId kept : attempt.kept)
        if (saved_set_.insert(kept)) only_kept_.insert(kept);
    }
    saved_.assign(saved_set_.begin(), saved_set_.end());
    std::sort(saved_.begin(), saved_.end());
  }

  // Scalars that nothing in the backward can make.
  void need_scalar(ValueId value) {
    if (!scalars_seen_.insert(value) || bound_sizes_.count(value)) return;
    const Instruction* made = definition(value);
    if (made && made->code == Code::Const) return;
    if (is_found(value)) return found_.push_back(value);
    if (made && made->code == Code::Scalar) {
      for (ValueId operand : made->operands) need_scalar(operand);
      return;
    }
    saved_scalars_.push_back(value);
  }
  // A number that the backward finds: one of an earlier turn, which a loop has stacked, or what a branch gives.
  bool is_found(ValueId value) const {
    return in_backward(value) && definition(value)->code != Code::Const && definition(value)->code != Code::Scalar;
  }
  void need_tensors(std::vector<ValueId> pending) {
    ValueSet seen;
    while (!pending.empty() || !found_.empty()) {
      if (pending.empty()) pending.swap(found_);
      const ValueId value = pending.back();
      pending.pop_back();
      if (!seen.insert(value)) continue;
      for (ValueId size : joint_.type(value).sizes) need_scalar(size);
      if (is_gradient_input(value) || saved_set_.count(value)) continue;
      for_each_outer_use(*definition(value), [&](ValueId operand) {
        if (is_tensor(operand)) {
          pending.push_back(operand);
        } else {
          need_scalar(operand);
        }
      });
    }
    std::sort(saved_scalars_.begin(), saved_scalars_.end());
  }

  void add_inputs(bool choose_scalars) {
    const auto bind = [&](ValueId value) {
      for (ValueId size : joint_.type(value).sizes) bound_sizes_.insert(size);
    };
    for (ValueId value : saved_) bind(value);
    // An output may have no gradient another time, where others or the saved values have one: the sizes that it
    // would bring are saved.
    if (!choose_scalars || !reachable_)
      for (ValueId value : gradient_inputs_) bind(value);
    if (choose_scalars) {
      for (ValueId holds : all_conditions()) need_scalar(holds);
      need_tensors(everything_wanted());
    }
    for (ValueId value : saved_) add_tensor_input(value);
    for (ValueId value : saved_scalars_) map_[value] = out_.add_input(joint_.type(value).kind);
    for (ValueId value : gradient_inputs_) add_tensor_input(value);
  }

  void add_tensor_input(ValueId value) {
    const Type& from = joint_.type(value);
    const ValueId input = out_.add_value({ValueKind::Tensor, from.dtype, {}});
    Type type{ValueKind::Tensor, from.dtype, {}};
    for (ValueId size : from.sizes) {
      const auto [place, fresh] = sizes_.emplace(size, kNoValue);
      if (fresh) place->second = out_.add_value({ValueKind::Int, {}, {}});
      type.sizes.push_back(place->second);
    }
    out_.type(input) = std::move(type);
    out_.body.parameters.push_back(input);
    map_[value] = input;
  }

  Type type_of(ValueId value) {
    Type type = joint_.type(value);
    for (ValueId& size : type.sizes) size = scalar(size);
    return type;
  }
  // What a nested block defines gets names of its own; what it uses of others has its name by now.
  void copy_block(const Block& from, Block* to) {
    const auto define = [&](ValueId value) {
      Type type = type_of(value);
      return map_[value] = out_.add_value(std::move(type));
    };
    for (ValueId parameter : from.parameters) to->parameters.push_back(define(parameter));
    for (const Instruction& inner : from.instructions) {
      Instruction copy = clone_instruction(inner);
      for (ValueId& operand : copy.operands) operand = map_.at(operand);
      for (size_t i = 0; i < inner.blocks.size(); ++i) {
        *copy.blocks[i] = Block();
        copy_block(*inner.blocks[i], copy.blocks[i].get());
      }
      for (ValueId& result : copy.results) result = define(result);
      to->instructions.push_back(std::move(copy));
    }
  }

  ValueId copy_results(const Instruction& from, ValueList operands, ValueId wanted) {
    std::vector<std::unique_ptr<Block>> blocks;
    for (const auto& block : from.blocks) {
      for_each_outer_use(from, [&](ValueId value) {
        if (!is_tensor(value)) map_[value] = scalar(value);
      });
      copy_block(*block, blocks.emplace_back(std::make_unique<Block>()).get());
    }
    std::vector<Type> types;
    for (ValueId result : from.results) types.push_back(type_of(result));
    Instruction& to = out_.body.instructions.emplace_back();
    to.code = from.code;
    to.op = from.op;
    to.scalar_op = from.scalar_op;
    to.attributes = from.attributes;
    to.number = from.number;
    to.origin = from.origin;
    to.blocks = std::move(blocks);
    to.operands = std::move(operands);
    for (size_t i = 0; i < types.size(); ++i) {
      to.results.push_back(out_.add_value(std::move(types[i])));
      map_[from.results[i]] = to.results[i];
    }
    for (ValueId result : from.results)
      if (stops_.count(result) && is_tensor(result)) map_[result] = without_history(map_.at(result));
    return map_.at(wanted);
  }
  // What was made under no_grad stays without a history where the backward is differentiated again.
  ValueId without_history(ValueId made) {
    Instruction& detach = out_.body.instructions.emplace_back();
    detach.code = Code::Op;
    detach.op = Op::detach;
    detach.operands.push_back(made);
    const ValueId result = out_.add_value(Type(out_.type(made)));
    out_.body.instructions.back().results.push_back(result);
    return result;
  }

  // Constants and arithmetic come before the size that an input happens to bind: they say more.
  ValueId scalar(ValueId value) {
    const auto found = map_.find(value);
    if (found != map_.end()) return found->second;
    const auto bound = sizes_.find(value);
    const Instruction* made = definition(value);
    if (is_found(value)) return tensor(value);
    if (!makeable(value)) {
      TSC_CHECK(bound != sizes_.end(), "split: a scalar is neither saved nor a saved size");
      return map_[value] = bound->second;
    }
    ValueList operands;
    for (ValueId operand : made->operands) operands.push_back(scalar(operand));
    return copy_results(*made, std::move(operands), value);
  }
  // What can be made stays so. What cannot is remembered for one question: sizes are chains of sums whose parts share
  // parts.
  bool makeable(ValueId value) {
    ValueSet refused;
    return is_makeable(value, refused);
  }
  bool is_makeable(ValueId value, ValueSet& refused) {
    if (map_.count(value) || makeable_.count(value)) return true;
    if (refused.count(value)) return false;
    const Instruction* made = definition(value);
    bool possible = made && (made->code == Code::Const || made->code == Code::Scalar || is_found(value));
    for (size_t i = 0; possible && made->code == Code::Scalar && i < made->operands.size(); ++i)
      possible = is_makeable(made->operands[i], refused) || sizes_.count(made->operands[i]);
    (possible ? makeable_ : refused).insert(value);
    return possible;
  }

  // Emits the tensor, or the number that is found, and what it needs; iterative, since chains may be long.
  ValueId tensor(ValueId wanted) {
    std::vector<ValueId> pending = {wanted};
    while (!pending.empty()) {
      const ValueId value = pending.back();
      if (map_.count(value)) {
        pending.pop_back();
        continue;
      }
      const Instruction* made = definition(value);
      TSC_CHECK(made != nullptr && (made->code == Code::Op || made->code == Code::Loop || made->code == Code::If ||
                                    made->code == Code::Read),
                "split: a tensor is not available");
      bool ready = true;
      for_each_outer_use(*made, [&](ValueId operand) {
        if (!is_tensor(operand) || map_.count(operand)) return;
        pending.push_back(operand);
        ready = false;
      });
      if (!ready) continue;
      ValueList operands;
      for (ValueId operand : made->operands)
        operands.push_back(is_tensor(operand) ? map_.at(operand) : scalar(operand));
      copy_results(*made, std::move(operands), value);
      pending.pop_back();
    }
    return map_.at(wanted);
  }

  // What is known of sizes in the joint region, said of those that the backward has.
  void carry_facts() {
    const EqualSizes facts(joint_);
    std::map<int64_t, ValueId> numbers;
    ValueMap<ValueId> classes;
    std::map<ValueId, ValueId> present;  // of the backward -> of the joint region
    for (const auto& list : {sizes_, map_})
      for (const auto& [from, to] : list)
        if (joint_.type(from).kind == ValueKind::Int) present.emplace(to, from);
    std::vector<Instruction> constants;
    for (const auto& [to, from] : present) {
      const auto number = facts.constant(from);
      if (number && !numbers.count(*number)) {
        Instruction& constant = constants.emplace_back();
        constant.number = Scalar::of_int(*number);
        constant.results.push_back(out_.add_value({ValueKind::Int, {}, {}}));
        numbers[*number] = constant.results[0];
      }
      const ValueId first = number ? numbers[*number] : classes.emplace(facts.representative(from), to).first->second;
      if (first != to) out_.assumptions.push_back({first, to});
    }
    auto& body = out_.body.instructions;
    body.insert(body.begin(), std::make_move_iterator(constants.begin()), std::make_move_iterator(constants.end()));
  }

  // In the joint region's order, so that sums add up as there.
  SplitBackward build() {
    SplitBackward split;
    out_.name = joint_.name + ".backward";
    for (const InspectedGradient& whole : inspected_) {
      const ValueId holds = whole.holds == kNoValue ? kNoValue : scalar(whole.holds);
      split.inspected.push_back({whole.value, tensor(whole.gradient), holds});
    }
    std::vector<ValueId> live;
    for (ValueId result : results_) {
      split.gradients.push_back(result == kNoValue ? -1 : static_cast<int>(live.size()));
      if (result != kNoValue) live.push_back(tensor(result));
    }
    if (reachable_) split.gradients.clear();
    for (const auto& [part, holds] : conditions_) {
      split.conditions.push_back({part, live.size()});
      live.push_back(scalar(holds));
    }
    split.parts = parts_;
    split.saving = saving_;
    split.taking = taking_;
    carry_facts();
    Instruction& exit = out_.body.instructions.emplace_back();
    exit.code = Code::Exit;
    exit.operands = ValueList(live.begin(), live.end());
    verify(out_);
    split.backward = std::move(out_);
    split.saved = saved_;
    const ValueSet said = said_saved();
    for (size_t i = 0; i < saved_.size(); ++i)
      if (said.count(saved_[i])) split.checked.push_back(i);
    split.saved.insert(split.saved.end(), saved_scalars_.begin(), saved_scalars_.end());
    return split;
  }

  const ValueSet* reachable_;
  const ValueSet& stops_;
  std::vector<size_t> parts_, taking_;
  std::vector<ValueId> saving_;
  std::vector<std::pair<size_t, ValueId>> conditions_;  // of parts
  std::vector<InspectedGradient> inspected_;
  std::vector<ValueId> whole_;
  Region joint_, out_;
  size_t first_backward_ = 0;
  ValueMap<size_t> definition_;  // value -> instruction of the joint region
  std::vector<ValueId> gradient_inputs_, results_, needed_, saved_, saved_scalars_, found_;
  ValueSet gradient_set_, saved_set_, bound_sizes_, scalars_seen_;
  ValueSet fixed_;  // may change before the backward runs
  ValueSet kept_;   // results of save_for_backward: a backward that meets what is made of one meets its rule too
  // Saved because of those: what is made of one in another way is not made again from it, since a write to it in front
  // of the backward is no error there.
  ValueSet only_kept_;
  // Nor is anything of what may change, if there are several outputs: a backward of some may not read that otherwise.
  bool several_ = false;
  ValueMap<ValueId> map_, sizes_;
  ValueSet makeable_;  // scalars that can be computed again
};

}  // namespace

SplitBackward split_backward(const Region& forward, std::span<const ValueId> outputs, std::span<const ValueId> wrt,
                             const ValueSet& stops, const std::vector<bool>& present, const std::vector<ValueId>* keep,
                             const ValueSet* reachable, bool add_up, const InspectedValues& inspected) {
  return Splitter(forward, outputs, wrt, stops, present, reachable, add_up, inspected).run(keep);
}

}  // namespace tsc::jit
