#pragma once
// backward(inputs=...): the pass that goes into some tensors alone. Knows the tape; asks for no tensor of a script.
#include "jit/autodiff/tape.h"

namespace tsc::jit {

// Accumulates into those leaves that are among `inputs`, and calls the hooks on the way to all of them.
void run_backward_into(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                       std::span<const TapeTensor> inputs, const BackwardOptions& options);

}  // namespace tsc::jit
