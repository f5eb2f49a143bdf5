#pragma once
// Calls kernels on real tensors: chooses the accesses from the actual strides, merges axes that can be one,
// splits the work over threads, allocates results. The drivers around a row program are here; the program
// itself knows only rows and columns. What depends on sizes and strides alone is worked out once and kept
// (launch.h): a call whose key is known puts addresses into place and jumps.
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
  // `background`: kernels that have to be compiled are compiled beside the program, and their blocks
  // run until they are there.
  CompiledKernels(std::vector<LoweredKernel> kernels, std::string region, std::shared_ptr<KernelCache> cache,
                  Report& report, bool background);
  ~CompiledKernels() override;
  bool run(const Instruction& kernel, Registers& registers) override;
  // Compiles the kernels of the first run on all threads; with one thread each waits for its turn. In the
  // background: only asks for them. Until a kernel is there its block runs; which of the two did it shows
  // in no bit.
  bool foresee(const Region& region, const Registers& bound) override;
  const std::vector<LoweredKernel>& kernels() const { return kernels_; }
  struct Launch;

 private:
  // One compiled form per combination of accesses. Kernels with the same program share them.
  struct Variant {
    Ref<CompiledKernel> kernel;  // null: the compiler refused
    std::string title;           // of its program, for the report
    std::vector<size_t> users;   // numbers of the kernels that have asked for it
  };
  using Variants = std::unordered_map<uint64_t, Variant>;
  // A kernel with few rows that are long: threads share a row (jit/loops/phases.h). Null functions: the
  // compiler refused.
  struct CompiledPhases {
    PhasedProgram split;
    std::vector<Ref<CompiledKernel>> kernels;  // one a phase
  };
  // Most recently used first.
  using Launches = std::vector<std::unique_ptr<Launch>>;

  Launch* find(size_t number, const Registers& registers);
  // Null: the block runs instead.
  Launch* make(size_t number, const Registers& registers);
  CompiledKernel* variant(size_t number, const Launch& launch);
  const CompiledPhases* phased_variant(size_t number, const Launch& launch);
  void prepare_foreseen(const Region& region, const Registers& bound);
  // Whether the background compiles one of them now; then they are in later_.
  bool is_being_compiled(std::span<const KernelCache::Wanted> wanted);
  // The launch that was foreseen, if these are its sizes.
  std::unique_ptr<Launch> take_foreseen(size_t number, const Registers& registers);
  // A launch of these sizes that waited for its kernels; null with `waits`: it still does.
  std::unique_ptr<Launch> take_awaited(size_t number, const Registers& registers, bool* waits);
  KernelProgram program_of(size_t number, const Launch& launch) const;
  std::string symbol_of(size_t number) const { return region_ + "_" + std::to_string(number); }
  static bool wants_phases(const LoweredKernel& lowered, const Launch& launch);
  static void run_phases(const CompiledPhases& phases, const LoweredKernel& lowered, const Launch& launch);
  static void run_rows(const LoweredKernel& lowered, const Launch& launch);
  static void run_lanes(const LoweredKernel& lowered, const Launch& launch);
  static bool fits_strips(const LoweredKernel& lowered, const Registers& registers);
  static void run_strips(const LoweredKernel& lowered, const Launch& launch, Registers& registers);
  static void run_product(const LoweredKernel& lowered, const Launch& launch, const Registers& registers);

  std::vector<LoweredKernel> kernels_;
  std::vector<Launches> launches_;
  std::vector<std::unique_ptr<Launch>> foreseen_;  // by kernel; goes to the first call of it that has no launch yet
  std::vector<Variants> variants_;                 // by program number
  std::vector<std::unordered_map<uint64_t, std::unique_ptr<CompiledPhases>>> phased_;
  std::string region_;
  std::shared_ptr<KernelCache> cache_;
  Report& report_;
  const bool background_;
  // Launches whose kernels are being compiled, and the texts of these.
  struct Awaited {
    std::unique_ptr<Launch> launch;
    std::vector<std::string> texts;
  };
  std::vector<std::vector<Awaited>> awaited_;
  std::vector<std::string> later_;
};

}  // namespace tsc::jit
