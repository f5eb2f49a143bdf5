#include "jit/compile.h"

#include <algorithm>

#include "jit/passes/fuse.h"
#include "jit/passes/lower.h"
#include "jit/passes/pipeline.h"
#include "jit/passes/strips.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/executor.h"
#include "jit/runner/kernel_call.h"

namespace tsc::jit {
namespace {

bool is_disabled(const CompileOptions& options, std::string_view pass) {
  return std::find(options.disabled.begin(), options.disabled.end(), pass) != options.disabled.end();
}

// Printing takes as long as a pass, so only what is wanted is printed.
template <class Printable>
void emit_stage(const CompileOptions& options, std::string_view stage, const Printable& what) {
  if (options.emitted && options.emit == stage) *options.emitted += print(what) + "\n";
}

std::vector<LoweredKernel> lower_all(const Region& region, const std::vector<KernelShape>& shapes) {
  std::vector<LoweredKernel> kernels(shapes.size());
  const EqualSizes facts(region);
  for (const Instruction& instruction : region.body.instructions)
    if (instruction.code == Code::Kernel)
      kernels[instruction.id] = lower(region, instruction, shapes[instruction.id], facts);
  return kernels;
}

void emit_kernels(const CompileOptions& options, const std::vector<LoweredKernel>& kernels,
                  KernelCache& cache, Report& report) {
  if (!options.emitted) return;
  for (const LoweredKernel& kernel : kernels) {
    emit_stage(options, "loops", kernel.program);
    bool machine = options.emit == "llvm" || options.emit == "asm" || options.emit == "ptx";
    if (!machine) continue;
    if (KernelCompiler* compiler = cache.compiler(report))
      *options.emitted += compiler->emit(kernel.program, options.emit) + "\n";
  }
}

}  // namespace

std::shared_ptr<KernelCache> make_kernel_cache(DiskCacheOptions disk, bool strict) {
  auto cache = std::make_shared<KernelCache>(std::move(disk));
  cache->strict = strict;
  return cache;
}

std::unique_ptr<Executable> compile(Region region, const CompileOptions& options, Report& report) {
  emit_stage(options, "region", region);
  PipelineOptions pipeline;
  pipeline.disabled.insert(options.disabled.begin(), options.disabled.end());
  pipeline.verify = options.verify;
  pipeline.report = &report;
  run_pipeline(region, pipeline);
  if (!options.use_llvm || is_disabled(options, "fuse")) return make_region_executor(std::move(region));
  std::vector<KernelShape> shapes = fuse(region);
  std::vector<LoweredKernel> kernels = lower_all(region, shapes);
  if (options.verify)
    for (const LoweredKernel& kernel : kernels) verify(kernel.program);
  if (!is_disabled(options, "memory")) plan_in_place(region, &kernels);
  if (!is_disabled(options, "strips")) join_strips(region, &kernels);
  emit_stage(options, "fused", region);
  emit_kernels(options, kernels, *options.cache, report);
  auto runner = std::make_unique<CompiledKernels>(std::move(kernels), region.name, options.cache, report,
                                                  options.background);
  return make_region_executor(std::move(region), std::move(runner));
}

}  // namespace tsc::jit
