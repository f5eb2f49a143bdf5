#include "jit/compile.h"

#include "jit/passes/pipeline.h"
#include "jit/region/executor.h"

namespace tsc::jit {

class KernelCache {};

std::shared_ptr<KernelCache> make_kernel_cache() { return std::make_shared<KernelCache>(); }

std::unique_ptr<Executable> compile(Region region, const CompileOptions& options, Report& report) {
  verify(region);
  PipelineOptions pipeline;
  pipeline.disabled.insert(options.disabled.begin(), options.disabled.end());
  pipeline.report = &report;
  run_pipeline(region, pipeline);
  return make_region_executor(std::move(region));
}

}  // namespace tsc::jit
