#pragma once
// Runs a backward region op by op on the gradient tape: what backward(create_graph=True) does with a compiled
// call, so that its gradients have a history of their own.
// Knows regions and the tape; no kernels of its own, so the bits are those of the compiled backward.
#include <vector>

#include "jit/autodiff/tape.h"
#include "jit/region/region.h"

namespace tsc::jit {

// One input of the region: a tensor with its place in the history, or a scalar.
struct TapedInput {
  TapeTensor tensor;  // undefined: `scalar`
  Scalar scalar;
};

// The values of the region's exit. The region has primitives, constants and scalar arithmetic only, as
// split_backward makes them. Errors are those of the primitives.
std::vector<TapeTensor> run_region_taped(const Region& region, std::span<const TapedInput> inputs);

}  // namespace tsc::jit
