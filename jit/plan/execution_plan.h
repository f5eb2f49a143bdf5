#pragma once
// What the passes make of a captured region: the region that runs, and the row program of each of its kernels.
// A function of the captured region, of the passes that are switched off and of the compiler's sources alone;
// so it can be kept, and a process that captures the same region again runs no pass.
// Knows no tensors, sizes or machine code.
#include <string>
#include <string_view>
#include <vector>

#include "jit/passes/lower.h"
#include "jit/region/region.h"

namespace tsc::jit {

struct ExecutionPlan {
  Region region;
  std::vector<LoweredKernel> kernels = {};  // by the `id` of Kernel instructions
  std::vector<ExecutionPlan> blocks = {};   // by the `id` of Loop and If instructions (jit/passes/outline.h)
  uint32_t carried = 0;                     // of a loop's body: the values that go from turn to turn
};

// Gives kernels with the same program the same number, from 0 in the order of their first.
void number_programs(std::vector<LoweredKernel>* kernels);

// The plan as bytes, its programs numbered; equal plans make equal bytes. Programs that kernels share are written once.
std::string write_plan(const ExecutionPlan& plan);
// Fills `plan` with what write_plan wrote and returns "", or says why the bytes cannot be used. What it gives is
// verified like what the passes made: whatever the bytes were, running it breaks no rule.
std::string read_plan(std::string_view bytes, ExecutionPlan* plan);

// What a plan is made from, as bytes: the region's content, and the passes that are switched off. Their first line
// names the region, for people.
std::string plan_key(const Region& captured, const std::vector<std::string>& disabled);

}  // namespace tsc::jit
