#pragma once
// Local simplifications that keep every bit: constant scalars fold; chains of reshape, permute and
// broadcast collapse; conversions to the same dtype, x * 1, x / 1, x - 0, double negation, whole slices
// and copies that nobody can tell apart vanish. x + 0 stays for floats: it turns -0 into +0.
#include "jit/region/region.h"

namespace tsc::jit {

bool simplify(Region& region);

}  // namespace tsc::jit
