#include "jit/passes/pipeline.h"

#include <chrono>

#include "jit/passes/cse.h"
#include "jit/passes/dce.h"
#include "jit/passes/simplify.h"
#include "jit/passes/sizes.h"
#include "jit/passes/transposed_products.h"
#include "runtime/device/device.h"

namespace tsc::jit {
namespace {

constexpr Pass kPasses[] = {
    {"dce", eliminate_dead_code},  // what the gradients did not need
    {"sizes", unify_sizes},
    {"simplify", simplify},
    {"cse", merge_common_subexpressions},
    {"simplify", simplify},  // what merging made equal
    {"dce", eliminate_dead_code},
    {"products", turn_transposed_products},
};

}  // namespace

std::span<const Pass> region_passes() { return kPasses; }

std::set<std::string, std::less<>> parse_pass_names(std::string_view list) {
  std::set<std::string, std::less<>> names;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace(name);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return names;
}

namespace {

void verify_after(const Pass& pass, const Region& region) {
  try {
    verify(region);
  } catch (const InternalFault& fault) {
    TSC_CHECK(false, "after pass " + std::string(pass.name) + ": " + fault.what());
  }
}

}  // namespace

void run_pipeline(Region& region, const PipelineOptions& options) {
  using Clock = std::chrono::steady_clock;
  if (options.verify) verify(region);
  if (options.on_stage) options.on_stage("region", region);
  for (const Pass& pass : kPasses) {
    current_device().stop.poll();
    if (options.disabled.count(pass.name)) continue;
    const auto start = Clock::now();
    pass.run(region);
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
    if (options.verify) verify_after(pass, region);
    if (options.on_stage) options.on_stage(pass.name, region);
    if (!options.report) continue;
    Event event;
    event.kind = EventKind::CompileTime;
    event.region = region.name;
    event.id = std::string(pass.name);
    event.ms = elapsed.count();
    options.report->add(std::move(event));
  }
}

}  // namespace tsc::jit
