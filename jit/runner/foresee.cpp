#include "jit/runner/foresee.h"

#include <algorithm>

#include "jit/region/liveness.h"
#include "jit/region/scalar_eval.h"
#include "jit/region/value_map.h"
#include "runtime/base/error.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

class Foresight {
 public:
  Foresight(const Region& region, const Registers& bound, const ForeseeKernel& kernel)
      : region_(region), last_uses_(find_last_uses(region)), kernel_(kernel), registers_(region) {
    registers_.scalars = bound.scalars;
    for (ValueId input : region.body.parameters)
      if (region.type(input).kind == ValueKind::Tensor) registers_.lend(input, bound.tensor(input));
  }

  void run() {
    const std::vector<Instruction>& all = region_.body.instructions;
    const LastUses::OfBlock& last_uses = last_uses_.of(region_.body);
    for (size_t i = 0; i < all.size(); ++i) {
      if (!step(all[i])) return;
      for (ValueId value : last_uses.after(i)) registers_.drop(value);
    }
  }

 private:
  // Of a number that only the run knows nothing is asked but whether a guard lets it pass, which it mostly does.
  bool is_open(const Instruction& instruction) const {
    const auto is_open = [&](ValueId value) { return open_.count(value) != 0; };
    return std::any_of(instruction.operands.begin(), instruction.operands.end(), is_open) ||
           std::any_of(instruction.results.begin(), instruction.results.end(), [&](ValueId result) {
             const ValueList& sizes = region_.type(result).sizes;
             return std::any_of(sizes.begin(), sizes.end(), is_open);
           });
  }
  bool pass_open(const Instruction& instruction) {
    if (instruction.code != Code::Scalar) return instruction.code == Code::Guard;
    open_.insert(instruction.results[0]);
    return true;
  }

  // False: what follows cannot be told.
  bool step(const Instruction& instruction) {
    if (is_open(instruction)) return pass_open(instruction);
    switch (instruction.code) {
      case Code::Const: registers_.scalars[instruction.results[0]] = instruction.number; return true;
      case Code::Scalar: {
        Scalar operands[3];
        for (size_t i = 0; i < instruction.operands.size(); ++i)
          operands[i] = registers_.scalars[instruction.operands[i]];
        registers_.scalars[instruction.results[0]] =
            eval_scalar(instruction.scalar_op, {operands, instruction.operands.size()});
        return true;
      }
      case Code::Op: return step_op(instruction);
      case Code::Kernel: return kernel_(instruction, registers_);
      case Code::Guard: return registers_.scalars[instruction.operands[0]].i != 0;
      case Code::WriteBack: return true;
      case Code::RngAdvance:
        for (ValueId result : instruction.results) registers_.scalars[result] = Scalar::of_int(0);
        return true;
      // What the host does changes no size in here; what it gives back may be one.
      case Code::Host: return instruction.results.empty();
      case Code::Read: open_.insert(instruction.results[0]); return true;
      case Code::Exit:
      case Code::If:
      case Code::Loop:
      case Code::Yield: return false;
    }
    return false;
  }

  // A view is a matter of strides; of other results the declared sizes are all that matters.
  bool step_op(const Instruction& instruction) {
    const uint32_t flags = op_row(instruction.op).flags;
    if (flags & kDynamicSize) return false;
    if (instruction.op == Op::reshape) return step_reshape(instruction);
    if (flags & kView) return step_view(instruction);
    for (ValueId result : instruction.results) registers_.put(result, empty(result));
    return true;
  }

  Tensor empty(ValueId value) const { return Tensor::empty(region_.type(value).dtype, sizes_of(value)); }
  Sizes sizes_of(ValueId value) const {
    Sizes sizes;
    for (ValueId size : region_.type(value).sizes) sizes.push_back(registers_.scalars[size].i);
    return sizes;
  }

  // Where the layout demands a copy nothing is copied.
  bool step_reshape(const Instruction& instruction) {
    const ValueId result = instruction.results[0];
    Tensor view = try_view_reshape(registers_.tensor(instruction.operands[0]), sizes_of(result));
    registers_.put(result, view.defined() ? std::move(view) : empty(result));
    return true;
  }

  bool step_view(const Instruction& instruction) {
    const size_t count = tensor_count(instruction);
    std::vector<Tensor> tensors;
    std::vector<Scalar> scalars;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ValueId operand = instruction.operands[i];
      if (i < count) tensors.push_back(registers_.tensor(operand));
      else scalars.push_back(registers_.scalars[operand]);
    }
    OpResults results = run_op(instruction.op, tensors, scalars, instruction.attributes);
    registers_.put(instruction.results[0], std::move(results.first));
    return true;
  }

  const Region& region_;
  const LastUses last_uses_;
  const ForeseeKernel& kernel_;
  Registers registers_;
  ValueSet open_;
};

}  // namespace

void foresee(const Region& region, const Registers& bound, const ForeseeKernel& kernel) {
  try {
    Foresight(region, bound, kernel).run();
  } catch (const Error&) {  // the run itself meets it, and says where
  }
}

}  // namespace tsc::jit
