#pragma once
// Dead code elimination: drops pure instructions whose results nobody uses, as operand or as a size of
// a tensor that stays. What may raise stays, so that the error the script must see is raised.
#include "jit/region/region.h"

namespace tsc::jit {

// Returns whether it changed anything.
bool eliminate_dead_code(Region& region);

}  // namespace tsc::jit
