#pragma once
// Each loop's body becomes a region of its own, which is planned and compiled as any other: the passes behind see no
// nested code but kernels. Its inputs are the iteration number, the carried values and what the body uses from outside;
// it leaves through exit #0 with what the block yielded. What each iteration would only compute again is computed in
// front of the loop. Knows regions; must not know plans or kernels.
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

struct OutlinedLoop {
  Region body;
  uint32_t carried = 0;  // values: the first inputs behind the iteration number, and the first operands of the exit
};

// By the `id` that the Loop instructions of the region's body get.
std::vector<OutlinedLoop> outline_loops(Region& region);

}  // namespace tsc::jit
