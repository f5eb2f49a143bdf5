#pragma once
// Runs a backward region op by op on the gradient tape: what backward(create_graph=True) does with a compiled
// call, so that its gradients have a history of their own, and what is done where somebody looks at gradients in
// the middle of it.
// Knows regions and the tape; no kernels of its own, so the bits are those of the compiled backward.
#include <functional>
#include <unordered_map>
#include <vector>

#include "jit/autodiff/tape.h"
#include "jit/region/region.h"

namespace tsc::jit {

// A value of the region: a tensor with its place in the history, or a scalar.
struct TapedValue {
  TapeTensor tensor;  // undefined: `scalar`
  Scalar scalar;
};

// The values of the region's exit. The region has primitives, constants, scalar arithmetic, reads, and loops and
// branches of them only, as split_backward makes them. Errors are those of the primitives. In the place of a copy whose
// result is in `inspected` its function gets what would be copied, and gives the result; `arrives` is the number
// `holds`, if there is one.
struct InspectedCopy {
  std::function<TapeTensor(const TapeTensor&, bool arrives)> see;
  ValueId holds = kNoValue;
};
using Inspected = std::unordered_map<ValueId, InspectedCopy>;
std::vector<TapedValue> run_region_taped(const Region& region, std::span<const TapedValue> inputs,
                                         const Inspected& inspected = {});

}  // namespace tsc::jit
