#pragma once
// The step of a history in which a tensor goes to another place: its gradient goes back to where the tensor was.
#include "jit/autodiff/tape.h"

namespace tsc::jit {

// `x` at `place`, with its history if `record`.
TapeTensor moved(const TapeTensor& x, Place place, bool record);

}  // namespace tsc::jit
