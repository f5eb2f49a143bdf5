#pragma once
// Common subexpressions: equal pure instructions become one, and so do guards of the same condition. A nested block
// sees those of the blocks around it, not the other way round. Two results whose memory escapes stay two (a later
// in-place write to one must not show in the other).
#include "jit/region/region.h"

namespace tsc::jit {

bool merge_common_subexpressions(Region& region);

}  // namespace tsc::jit
