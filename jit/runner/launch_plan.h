#pragma once
// From the sizes and strides of a kernel's operands to a launch. Private to this room.
#include "jit/runner/launch.h"

namespace tsc::jit {

// Fills everything but the compiled form and what belongs to one call. False: not for a compiled kernel.
bool plan_launch(const LoweredKernel& lowered, const Registers& registers, CompiledKernels::Launch* launch);

// Whether the plan holds for the registers' sizes and strides.
bool launch_fits(const CompiledKernels::Launch& launch, const LoweredKernel& lowered, const Registers& registers);

}  // namespace tsc::jit
