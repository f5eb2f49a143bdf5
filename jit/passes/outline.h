#pragma once
// Each block of a Loop or an If becomes a region of its own, which is planned and compiled as any other: the passes
// behind see no nested code but kernels. Its inputs are the iteration number and the carried values of a loop, and what
// the block uses from outside, of an If what either of its blocks uses; it leaves through exit #0 with what the block
// yielded. What each iteration would only compute again is computed in front of the loop. Knows regions; must not know
// plans or kernels.
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

struct OutlinedBlock {
  Region body;
  uint32_t carried = 0;  // values: the first inputs behind the iteration number, and the first operands of the exit
};

// By the `id` that the Loop and If instructions of the region's body get; the second block of an If comes behind the
// first.
std::vector<OutlinedBlock> outline_blocks(Region& region);

}  // namespace tsc::jit
