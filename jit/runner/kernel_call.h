#pragma once
// Calls kernels on real tensors: chooses the accesses from the actual strides, merges axes that can be one,
// splits the work over threads, allocates results. The drivers around a row program are here; the program
// itself knows only rows and columns.
// Keeps: the same bits for any merging and any number of threads.
#include <memory>
#include <unordered_map>

#include "jit/loops/phases.h"
#include "jit/passes/lower.h"
#include "jit/region/executor.h"
#include "jit/runner/kernel_cache.h"

namespace tsc::jit {

class CompiledKernels final : public KernelRunner {
 public:
  CompiledKernels(std::vector<LoweredKernel> kernels, std::string region,
                  std::shared_ptr<KernelCache> cache, Report& report)
      : kernels_(std::move(kernels)),
        variants_(kernels_.size()),
        phased_(kernels_.size()),
        region_(std::move(region)),
        cache_(std::move(cache)),
        report_(report) {}
  bool run(const Instruction& kernel, std::vector<Tensor>& tensors,
           const std::vector<Scalar>& scalars) override;
  const std::vector<LoweredKernel>& kernels() const { return kernels_; }
  struct Call;

 private:
  // One compiled form per combination of accesses; null function: the compiler refused.
  using Variants = std::unordered_map<uint64_t, Ref<CompiledKernel>>;
  // A kernel with few rows that are long: threads share a row (jit/loops/phases.h). Null functions: the
  // compiler refused.
  struct CompiledPhases {
    PhasedProgram split;
    std::vector<Ref<CompiledKernel>> kernels;  // one a phase
  };
  CompiledKernel* variant(size_t number, const Call& call);
  const CompiledPhases* phased_variant(size_t number, const Call& call);
  KernelProgram program_of(size_t number, const Call& call) const;
  std::string symbol_of(size_t number) const { return region_ + "_" + std::to_string(number); }
  static bool wants_phases(const LoweredKernel& lowered, const Call& call);
  static void run_phases(const CompiledPhases& phases, const LoweredKernel& lowered,
                         const Call& call);
  bool prepare(const LoweredKernel& lowered, Call* call, std::vector<Tensor>& tensors,
               const std::vector<Scalar>& scalars);
  static void copy_unmergeable(const LoweredKernel& lowered, size_t split, Call* call);
  static bool streams(const LoweredKernel& lowered, const Call& call, size_t operand);
  static bool merge(const LoweredKernel& lowered, Call* call);
  static void launch(const LoweredKernel& lowered, const Call& call, KernelFunction function);
  static void launch_product(const Call& call, const Tensor& left, const Tensor& right,
                             KernelFunction function, const LoweredKernel& lowered);

  std::vector<LoweredKernel> kernels_;
  std::vector<Variants> variants_;
  std::vector<std::unordered_map<uint64_t, std::unique_ptr<CompiledPhases>>> phased_;
  std::string region_;
  std::shared_ptr<KernelCache> cache_;
  Report& report_;
};

}  // namespace tsc::jit
