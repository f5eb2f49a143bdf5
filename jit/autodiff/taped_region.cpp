#include "jit/autodiff/taped_region.h"

#include "jit/region/scalar_eval.h"

namespace tsc::jit {
namespace {

class TapedRun {
 public:
  TapedRun(const Region& region, const Inspected& inspected)
      : region_(region), inspected_(inspected), tensors_(region.value_count()), scalars_(region.value_count()) {}

  std::vector<TapeTensor> run(std::span<const TapedInput> inputs) {
    const Block& body = region_.body;
    TSC_CHECK(inputs.size() == body.parameters.size(), "inputs of a taped region");
    for (size_t i = 0; i < inputs.size(); ++i) bind(body.parameters[i], inputs[i]);
    for (const Instruction& instruction : body.instructions) step(instruction);
    std::vector<TapeTensor> out;
    for (ValueId value : body.instructions.back().operands) out.push_back(tensors_[value]);
    return out;
  }

 private:
  void bind(ValueId value, const TapedInput& input) {
    scalars_[value] = input.scalar;
    tensors_[value] = input.tensor;
    if (!input.tensor.tensor.defined()) return;
    const ValueList& sizes = region_.type(value).sizes;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      scalars_[sizes[axis]] = Scalar::of_int(input.tensor.tensor.size(static_cast<int64_t>(axis)));
  }

  std::vector<Scalar> numbers(const Instruction& instruction, size_t first) const {
    std::vector<Scalar> out;
    for (size_t i = first; i < instruction.operands.size(); ++i)
      out.push_back(scalars_[instruction.operands[i]]);
    return out;
  }

  void step(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Const: scalars_[instruction.results[0]] = instruction.number; return;
      case Code::Scalar:
        scalars_[instruction.results[0]] =
            eval_scalar(instruction.scalar_op, numbers(instruction, 0));
        return;
      case Code::Op: return apply(instruction);
      case Code::Exit: return;
      default: TSC_CHECK(false, "an instruction that no backward region has");
    }
  }

  void apply(const Instruction& instruction) {
    if (const auto seen = inspected_.find(instruction.results[0]); seen != inspected_.end()) {
      tensors_[instruction.results[0]] = seen->second(tensors_[instruction.operands[0]]);
      return;
    }
    const size_t count = tensor_count(instruction);
    std::vector<TapeTensor> operands;
    for (size_t i = 0; i < count; ++i) operands.push_back(tensors_[instruction.operands[i]]);
    TapeResults results = run_taped(instruction.op, operands, numbers(instruction, count),
                                    instruction.attributes, true);
    tensors_[instruction.results[0]] = std::move(results.first);
    if (instruction.results.size() > 1) tensors_[instruction.results[1]] = std::move(results.second);
  }

  const Region& region_;
  const Inspected& inspected_;
  std::vector<TapeTensor> tensors_;
  std::vector<Scalar> scalars_;
};

}  // namespace

std::vector<TapeTensor> run_region_taped(const Region& region, std::span<const TapedInput> inputs,
                                         const Inspected& inspected) {
  return TapedRun(region, inspected).run(inputs);
}

}  // namespace tsc::jit
