#pragma once
// A product that is only read transposed, as the gradient of a transposed weight is, is made the other way round:
// (a @ b)' = b' @ a'. Nobody copies it into rows then, and what reads it may join it in one kernel. The bits are
// the same: each element is the same chain of multiply-adds, whose factors change places.
#include "jit/region/region.h"

namespace tsc::jit {

// Expects a region without dead code. Returns whether it changed anything.
bool turn_transposed_products(Region& region);

}  // namespace tsc::jit
