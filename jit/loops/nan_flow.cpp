#include "jit/loops/nan_flow.h"

#include <algorithm>

namespace tsc::jit {
namespace {

using Uses = std::vector<const NestInstruction*>;

// Asked once: it notes what it finds on the way.
class Softmax {
 public:
  explicit Softmax(const KernelProgram& program) {
    for (const NestStage& stage : program.stages) {
      for (const NestInstruction& instruction : stage.row) all_.push_back(&instruction);
      for (const NestInstruction& instruction : stage.element) all_.push_back(&instruction);
    }
  }

  bool is_of(const NestInstruction& maximum) {
    const Uses differences = uses(maximum.result);
    return !differences.empty() &&
           std::all_of(differences.begin(), differences.end(),
                       [&](const NestInstruction* difference) {
                         return is_apply(*difference, Op::sub) && difference->inputs[1] == maximum.result &&
                                is_same(difference->inputs[0], maximum.inputs[0]) &&
                                all_exponentials(difference->result);
                       }) &&
           sum_ &&
           std::all_of(shares_.begin(), shares_.end(), [&](const NestInstruction* share) { return is_share(*share); });
  }

 private:
  static bool is_apply(const NestInstruction& instruction, Op op) {
    return instruction.code == NestCode::Apply && instruction.op == op;
  }
  Uses uses(NestValue value) const {
    Uses found;
    for (const NestInstruction* instruction : all_)
      if (std::find(instruction->inputs.begin(), instruction->inputs.end(), value) != instruction->inputs.end())
        found.push_back(instruction);
    return found;
  }
  const NestInstruction* maker(NestValue value) const {
    for (const NestInstruction* instruction : all_)
      if (defines_value(*instruction) && instruction->result == value) return instruction;
    return nullptr;
  }
  // The same element in two stages: computed twice from the same operands, or kept in a scratch row.
  bool is_same(NestValue later, NestValue first, int depth = 0) const {
    constexpr int kDeepest = 6;
    if (later == first) return true;
    const NestInstruction *a = maker(later), *b = maker(first);
    if (!a || !b || depth == kDeepest) return false;
    if (a->code == NestCode::Load && b->code == NestCode::Load) return a->slot == b->slot;
    if (a->code == NestCode::Apply && b->code == NestCode::Apply)
      return a->op == b->op && a->dtype == b->dtype &&
             std::equal(a->inputs.begin(), a->inputs.end(), b->inputs.begin(), b->inputs.end(),
                        [&](NestValue x, NestValue y) { return is_same(x, y, depth + 1); });
    return a->code == NestCode::ScratchLoad && std::any_of(all_.begin(), all_.end(), [&](const NestInstruction* kept) {
             return kept->code == NestCode::ScratchStore && kept->slot == a->slot && kept->inputs[0] == first;
           });
  }

  bool all_exponentials(NestValue difference) {
    const Uses made = uses(difference);
    return !made.empty() && std::all_of(made.begin(), made.end(), [&](const NestInstruction* one) {
      return is_apply(*one, Op::exp) && only_summed_and_shared(one->result);
    });
  }
  // An exponential divided by the sum, or times its reciprocal.
  bool is_share(const NestInstruction& share) const {
    if (share.op == Op::div) return share.inputs[1] == sum_->result && share.inputs[0] != sum_->result;
    return std::any_of(share.inputs.begin(), share.inputs.end(), [&](NestValue factor) {
      const NestInstruction* made = maker(factor);
      return made && is_apply(*made, Op::reciprocal) && made->inputs[0] == sum_->result;
    });
  }
  static bool may_be_share(const NestInstruction& use) { return is_apply(use, Op::div) || is_apply(use, Op::mul); }
  // Notes the sum and the shares.
  bool only_summed_and_shared(NestValue exponential) {
    for (const NestInstruction* use : uses(exponential)) {
      if (use->code == NestCode::Reduce && use->reduction == Reduction::sum && !sum_) sum_ = use;
      else if (may_be_share(*use)) shares_.push_back(use);
      else if (use->code != NestCode::ScratchStore || !kept_is_shared(use->slot)) return false;
    }
    return true;
  }
  bool kept_is_shared(uint32_t scratch) {
    for (const NestInstruction* load : all_) {
      if (load->code != NestCode::ScratchLoad || load->slot != scratch) continue;
      for (const NestInstruction* use : uses(load->result)) {
        if (!may_be_share(*use)) return false;
        shares_.push_back(use);
      }
    }
    return true;
  }

  Uses all_;
  const NestInstruction* sum_ = nullptr;
  Uses shares_;  // all that is made of the exponentials beside their sum
};

}  // namespace

bool is_softmax_maximum(const KernelProgram& program, const NestInstruction& reduce) {
  if (program.kind != KernelProgram::Kind::Row || reduce.code != NestCode::Reduce ||
      reduce.reduction != Reduction::amax || (reduce.dtype != DType::F32 && reduce.dtype != DType::F64))
    return false;
  return Softmax(program).is_of(reduce);
}

}  // namespace tsc::jit
