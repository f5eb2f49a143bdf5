#pragma once
// Runs a region over the reference kernels: the oracle of every pass and of compiled code, and the way
// regions run without LLVM. Knows regions and kernels; no plan, no cache.
#include <memory>

#include "jit/executable.h"
#include "jit/region/registers.h"
#include "jit/region/turns.h"

namespace tsc::jit {

// Computes Kernel instructions in place of their blocks.
class KernelRunner {
 public:
  virtual ~KernelRunner() = default;
  // False: the executor runs the block instead. Results are put into the registers.
  virtual bool run(const Instruction& kernel, Registers& registers) = 0;
  // In front of every run until it has said true, which is that it needs no more of them: `bound` holds the
  // run's inputs.
  virtual bool foresee(const Region& /*region*/, const Registers& /*bound*/) { return true; }
};

// Tensors are released at their last use. Errors of instructions leave as RunError with their origin. The region is
// verified, unless it has been.
std::unique_ptr<Executable> make_region_executor(Region region, std::unique_ptr<KernelRunner> kernels = nullptr,
                                                 bool is_verified = false, std::vector<BlockRun> blocks = {});

// What a Read instruction does: the one element as a scalar of that kind.
Scalar read_scalar(const Tensor& tensor, ValueKind kind);

}  // namespace tsc::jit
