#pragma once
// What the first run of a region will ask of its kernels, found by following the sizes and strides
// through the region without computing any element: so that all of them can be compiled at once.
// Knows regions and registers; must not know programs. Keeps: the run's own registers as they are.
#include <functional>

#include "jit/region/registers.h"

namespace tsc::jit {

// Called at each kernel with the registers that it would see; puts its results there, with memory that
// nobody writes. False: they cannot be told.
using ForeseeKernel = std::function<bool(const Instruction& kernel, Registers& registers)>;

// From the first instruction to the first whose results depend on elements or on the host. `bound` holds
// the inputs and their sizes.
void foresee(const Region& region, const Registers& bound, const ForeseeKernel& kernel);

}  // namespace tsc::jit
