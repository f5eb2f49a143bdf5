#include "jit/autodiff/taped_region.h"

#include <algorithm>

#include "jit/region/executor.h"
#include "jit/region/scalar_eval.h"

namespace tsc::jit {
namespace {

class TapedRun {
 public:
  TapedRun(const Region& region, const Inspected& inspected)
      : region_(region), inspected_(inspected), tensors_(region.value_count()), scalars_(region.value_count()) {}

  std::vector<TapedValue> run(std::span<const TapedValue> inputs) {
    const Block& body = region_.body;
    TSC_CHECK(inputs.size() == body.parameters.size(), "inputs of a taped region");
    for (size_t i = 0; i < inputs.size(); ++i) bind(body.parameters[i], inputs[i]);
    for (const Instruction& instruction : body.instructions) step(instruction);
    std::vector<TapedValue> out;
    for (ValueId value : body.instructions.back().operands) out.push_back({tensors_[value], scalars_[value]});
    return out;
  }

 private:
  void bind(ValueId value, const TapedValue& input) {
    scalars_[value] = input.scalar;
    tensors_[value] = input.tensor;
    if (!input.tensor.tensor.defined()) return;
    const ValueList& sizes = region_.type(value).sizes;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      scalars_[sizes[axis]] = Scalar::of_int(input.tensor.tensor.size(static_cast<int64_t>(axis)));
  }

  std::vector<Scalar> numbers(const Instruction& instruction, size_t first) const {
    std::vector<Scalar> out;
    for (size_t i = first; i < instruction.operands.size(); ++i) out.push_back(scalars_[instruction.operands[i]]);
    return out;
  }

  void step(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Const: scalars_[instruction.results[0]] = instruction.number; return;
      case Code::Scalar:
        scalars_[instruction.results[0]] = eval_scalar(instruction.scalar_op, numbers(instruction, 0));
        return;
      case Code::Op: return apply(instruction);
      case Code::Read:
        scalars_[instruction.results[0]] =
            read_scalar(tensors_[instruction.operands[0]].tensor, region_.type(instruction.results[0]).kind);
        return;
      case Code::Loop: return run_loop(instruction);
      case Code::If: return run_if(instruction);
      case Code::Yield: return;
      case Code::Exit: return;
      default: TSC_CHECK(false, "an instruction that no backward region has");
    }
  }

  void copy(ValueId from, ValueId to) {
    if (region_.type(from).kind == ValueKind::Tensor) bind(to, {tensors_[from], {}});
    else scalars_[to] = scalars_[from];
  }
  void run_if(const Instruction& branch) {
    const Block& taken = *branch.blocks[scalars_[branch.operands[0]].i ? 0 : 1];
    for (const Instruction& instruction : taken.instructions) step(instruction);
    const ValueList& yielded = taken.instructions.back().operands;
    for (size_t i = 0; i < branch.results.size(); ++i) copy(yielded[i], branch.results[i]);
  }
  void run_loop(const Instruction& loop) {
    const Block& body = *loop.blocks[0];
    const ValueList& yielded = body.instructions.back().operands;
    const size_t carried = loop.operands.size() - 1;
    const int64_t trips = scalars_[loop.operands[0]].i;
    std::vector<std::vector<TapeTensor>> rows(yielded.size() - carried);
    for (size_t i = 0; i < carried; ++i) copy(loop.operands[1 + i], loop.results[i]);
    const auto goes_on = [&] { return loop.attributes.mode != kWhile || scalars_[loop.results[0]].i; };
    for (int64_t turn = 0; turn < trips && goes_on(); ++turn) {
      scalars_[body.parameters[0]] = Scalar::of_int(loop.attributes.mode == kCountsDown ? trips - 1 - turn : turn);
      for (size_t i = 0; i < carried; ++i) copy(loop.results[i], body.parameters[1 + i]);
      for (const Instruction& instruction : body.instructions) step(instruction);
      for (size_t i = 0; i < carried; ++i) copy(yielded[i], loop.results[i]);
      for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(as_row(tensors_[yielded[carried + i]]));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (loop.attributes.mode == kCountsDown) std::reverse(rows[i].begin(), rows[i].end());
      bind(loop.results[carried + i], {stacked(region_.type(loop.results[carried + i]), rows[i]), {}});
    }
  }
  static TapeTensor as_row(const TapeTensor& part) {
    std::vector<Scalar> sizes = {Scalar::of_int(1)};
    for (int64_t size : part.tensor.sizes()) sizes.push_back(Scalar::of_int(size));
    return run_taped(Op::reshape, {&part, 1}, sizes, {}, true).first;
  }
  TapeTensor stacked(const Type& type, const std::vector<TapeTensor>& rows) const {
    if (rows.empty()) {
      Sizes sizes;
      for (ValueId size : type.sizes) sizes.push_back(scalars_[size].i);
      return {Tensor::empty(type.dtype, sizes), {}, nullptr};
    }
    OpAttributes attributes;
    attributes.axes = {0};
    return run_taped(Op::concat, rows, {}, attributes, true).first;
  }

  void apply(const Instruction& instruction) {
    if (const auto seen = inspected_.find(instruction.results[0]); seen != inspected_.end()) {
      const InspectedCopy& copy = seen->second;
      const bool arrives = copy.holds == kNoValue || scalars_[copy.holds].i;
      tensors_[instruction.results[0]] = copy.see(tensors_[instruction.operands[0]], arrives);
      return;
    }
    const size_t count = tensor_count(instruction);
    std::vector<TapeTensor> operands;
    for (size_t i = 0; i < count; ++i) operands.push_back(tensors_[instruction.operands[i]]);
    TapeResults results =
        run_taped(instruction.op, operands, numbers(instruction, count), instruction.attributes, true);
    tensors_[instruction.results[0]] = std::move(results.first);
    if (instruction.results.size() > 1) tensors_[instruction.results[1]] = std::move(results.second);
  }

  const Region& region_;
  const Inspected& inspected_;
  std::vector<TapeTensor> tensors_;
  std::vector<Scalar> scalars_;
};

}  // namespace

std::vector<TapedValue> run_region_taped(const Region& region, std::span<const TapedValue> inputs,
                                         const Inspected& inspected) {
  return TapedRun(region, inspected).run(inputs);
}

}  // namespace tsc::jit
