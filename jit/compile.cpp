#include "jit/compile.h"

#include <algorithm>

#include "jit/passes/fuse.h"
#include "jit/passes/outline.h"
#include "jit/passes/pipeline.h"
#include "jit/passes/strips.h"
#include "jit/plan/execution_plan.h"
#include "jit/region/equal_sizes.h"
#include "jit/region/executor.h"
#include "jit/runner/kernel_call.h"

namespace tsc::jit {
namespace {

// What follows the passes over the region.
constexpr std::string_view kFuse = "fuse", kMemory = "memory", kStrips = "strips";

bool is_disabled(const CompileOptions& options, std::string_view pass) {
  return std::find(options.disabled.begin(), options.disabled.end(), pass) != options.disabled.end();
}

// Printing takes as long as a pass, so only what is wanted is printed.
template <class Printable>
void emit_stage(const CompileOptions& options, std::string_view stage, const Printable& what) {
  if (options.emitted && options.emit == stage) *options.emitted += print(what) + "\n";
}

void emit_kernels(const CompileOptions& options, const std::vector<LoweredKernel>& kernels, KernelCache& cache,
                  Report& report) {
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

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names = {kFuse, kMemory, kStrips};
  for (const Pass& pass : region_passes())
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.push_back(pass.name);
  return names;
}

std::shared_ptr<KernelCache> make_kernel_cache(DiskCacheOptions disk, bool strict) {
  auto cache = std::make_shared<KernelCache>(std::move(disk));
  cache->strict = strict;
  return cache;
}

namespace {

// The passes, all of them.
ExecutionPlan make_plan(Region region, const CompileOptions& options, Report& report) {
  ExecutionPlan plan{std::move(region)};
  for (OutlinedBlock& block : outline_blocks(plan.region)) {
    plan.blocks.push_back(make_plan(std::move(block.body), options, report));
    plan.blocks.back().carried = block.carried;
  }
  PipelineOptions pipeline;
  pipeline.disabled.insert(options.disabled.begin(), options.disabled.end());
  pipeline.verify = options.verify;
  pipeline.report = &report;
  run_pipeline(plan.region, pipeline);
  if (is_disabled(options, kFuse)) {
    verify(plan.region);
    return plan;
  }
  const std::vector<KernelShape> shapes = fuse(plan.region);
  plan.kernels = lower(plan.region, shapes);
  if (options.verify)
    for (const LoweredKernel& kernel : plan.kernels) verify(kernel.program);
  if (!is_disabled(options, kMemory)) plan_in_place(plan.region, &plan.kernels);
  if (!is_disabled(options, kStrips)) join_strips(plan.region, &plan.kernels);
  number_programs(&plan.kernels);
  verify(plan.region);
  return plan;
}

// What is kept must be what the passes make.
void check_kept(const ExecutionPlan& kept, const Region& captured, const CompileOptions& options) {
  Report unused;
  const ExecutionPlan made = make_plan(captured.clone(), options, unused);
  TSC_CHECK(print(kept.region) == print(made.region) && write_plan(kept) == write_plan(made),
            "the kept plan of region " + captured.name + " is not the one that the passes make");
}

ExecutionPlan find_or_make_plan(Region region, const CompileOptions& options, Report& report) {
  PlanCache& plans = options.cache->plans();
  const std::string key = plan_key(region, options.disabled);
  if (std::optional<ExecutionPlan> kept = plans.find(key, report)) {
    if (options.verify) check_kept(*kept, region, options);
    return std::move(*kept);
  }
  // While the passes work, where these take longer than opening it is worth.
  constexpr size_t kManyInstructions = 300;
  if (!is_disabled(options, kFuse) && region.body.instructions.size() > kManyInstructions)
    options.cache->open_compiler_soon();
  ExecutionPlan plan = make_plan(std::move(region), options, report);
  plans.add(key, plan, report);
  return plan;
}

}  // namespace

namespace {

std::unique_ptr<Executable> make_executable(ExecutionPlan plan, const CompileOptions& options, Report& report) {
  emit_stage(options, "fused", plan.region);
  emit_kernels(options, plan.kernels, *options.cache, report);
  std::vector<BlockRun> blocks;
  for (ExecutionPlan& block : plan.blocks) {
    const uint32_t carried = block.carried;
    blocks.push_back({make_executable(std::move(block), options, report), carried});
  }
  std::unique_ptr<CompiledKernels> runner;
  if (!is_disabled(options, kFuse))
    runner = std::make_unique<CompiledKernels>(std::move(plan.kernels), plan.region.name, options.cache, report,
                                               options.background);
  return make_region_executor(std::move(plan.region), std::move(runner), true, std::move(blocks));
}

}  // namespace

std::unique_ptr<Executable> compile(Region region, const CompileOptions& options, Report& report) {
  emit_stage(options, "region", region);
  // Whoever wants to see a stage sees it made.
  ExecutionPlan plan = options.emitted ? make_plan(std::move(region), options, report)
                                       : find_or_make_plan(std::move(region), options, report);
  return make_executable(std::move(plan), options, report);
}

}  // namespace tsc::jit
