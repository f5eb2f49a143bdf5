#pragma once
// A launch worked out once: what a kernel's call takes from the sizes and strides of its operands, kept with
// the key of those. A later call with an equal key only puts the addresses in. Private to this room.
#include "jit/runner/kernel_call.h"

namespace tsc::jit {

// Where the memory of one operand comes from at each call.
struct OperandPlan {
  enum class Source : uint8_t {
    Index,    // none
    Input,    // the tensor `value`
    Copy,     // a row-major copy of it: its axes would not merge
    InPlace,  // the memory of the tensor `value`, a dying input
    Fresh,    // new memory of `bytes` bytes
    Product,  // the product's result
    Strip,    // a strip between two products, another at each launch
    Lanes,    // lane accumulators of a reduction over rows, whose result is new memory
  } source = Source::Index;
  ValueId value = kNoValue;
  bool output = false;
  DType dtype = DType::F32;
  Sizes sizes{}, strides{};  // Fresh and Product: of the tensor
  int64_t bytes = 0;
  Sizes outer_strides{};  // elements
};

// The merged iteration space of a kernel and what is fixed of every operand.
struct CompiledKernels::Launch {
  std::vector<int64_t> key;
  std::vector<OperandPlan> operands;
  std::vector<Access> accesses;  // per operand
  std::vector<bool> streamed;    // per operand
  bool two_rows = false;         // see KernelProgram::two_rows
  // Outer axes (looped by the driver), then rows and columns.
  Sizes outer;
  int64_t outer_count = 1, rows = 1, cols = 1;
  bool has_scratch = false;
  CompiledKernel* kernel = nullptr;
  const CompiledPhases* phases = nullptr;

  // Of the call at hand: strides stand, bases and parameters are put in at each call.
  std::vector<OperandArgument> arguments;
  std::vector<int64_t> parameters;
  std::vector<Tensor> held;     // copies, the product
  std::vector<Tensor> reduced;  // results of the reductions over rows
  Tensor product;

  uint64_t form() const;  // of accesses and streams: what a compiled form depends on
};

// Memory for a kernel's arguments: on the stack while they are few.
class ArgumentList {
 public:
  explicit ArgumentList(size_t count) : many_(count > kFew ? count : 0) {}
  OperandArgument* data() { return many_.empty() ? few_ : many_.data(); }
  OperandArgument& operator[](size_t o) { return data()[o]; }

 private:
  static constexpr size_t kFew = 64;
  OperandArgument few_[kFew];
  std::vector<OperandArgument> many_;
};

// The argument of operand `o` from a row of an outer plane and a column on.
OperandArgument shifted_argument(const LoweredKernel& lowered, const CompiledKernels::Launch& launch, size_t o,
                                 int64_t outer, int64_t row, int64_t col);

}  // namespace tsc::jit
