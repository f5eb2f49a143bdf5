#pragma once
// One name for each size: values that are known to be equal when the region is entered become one
// value, known numbers become constants, and constants move to the front of the body. Later passes
// and the loop nests then compare sizes by their ids.
#include "jit/region/region.h"

namespace tsc::jit {

bool unify_sizes(Region& region);

}  // namespace tsc::jit
