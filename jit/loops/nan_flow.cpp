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
    return !differences.empty() && std::all_of(differences.begin(), differences.end(), [&](const NestInstruction* difference) {
      return is_apply(*difference, Op::sub) && difference->inputs[1] == maximum.result &&
             is_same(difference->inputs[0], maximum.inputs[0]) && all_exponentials(difference->result);
    }) && sum_ && std::all_of(quotients_.begin(), quotients_.end(), [&](const NestInstruction* quotient) {
      return quotient->inputs[1] == sum_->result && quotient->inputs[0] != sum_->result;
    });
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
      return is_apply(*one, Op::exp) && only_summed_and_divided(one->result);
    });
  }
  // Notes the sum and the quotients.
  bool only_summed_and_divided(NestValue exponential) {
    for (const NestInstruction* use : uses(exponential)) {
      if (use->code == NestCode::Reduce && use->reduction == Reduction::sum && !sum_) sum_ = use;
      else if (is_apply(*use, Op::div)) quotients_.push_back(use);
      else if (use->code != NestCode::ScratchStore || !kept_is_divided(use->slot)) return false;
    }
    return true;
  }
  bool kept_is_divided(uint32_t scratch) {
    for (const NestInstruction* load : all_) {
      if (load->code != NestCode::ScratchLoad || load->slot != scratch) continue;
      for (const NestInstruction* use : uses(load->result)) {
        if (!is_apply(*use, Op::div)) return false;
        quotients_.push_back(use);
      }
    }
    return true;
  }

  Uses all_;
  const NestInstruction* sum_ = nullptr;
  Uses quotients_;  // all that is made of the exponentials beside their sum
};

}  // namespace

bool is_softmax_maximum(const KernelProgram& program, const NestInstruction& reduce) {
  if (program.kind != KernelProgram::Kind::Row || reduce.code != NestCode::Reduce || reduce.reduction != Reduction::amax ||
      (reduce.dtype != DType::F32 && reduce.dtype != DType::F64))
    return false;
  return Softmax(program).is_of(reduce);
}

}  // namespace tsc::jit
