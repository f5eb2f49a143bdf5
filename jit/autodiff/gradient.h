#pragma once
// Reverse-mode differentiation of a region: walks its instructions backwards and appends the gradient
// rules' ops. The appended code is ordinary region code and can be differentiated again.
// Knows regions and rules; no tape.
#include <unordered_set>

#include "jit/region/builder.h"

namespace tsc::jit {

struct GradientSeed {
  ValueId value;     // a floating tensor
  ValueId gradient;  // same dtype and sizes
};

using ValueSet = std::unordered_set<ValueId>;

// The gradients of `wrt` (tensors) with respect to the seeded values, kNoValue where unconnected.
// No gradient flows through the values in `stops` (made under no_grad), detach, or host instructions.
// NotImplementedError when one would have to flow through If or Loop. `saving`, when not null, takes the
// first results of the ops whose rules read saved values.
std::vector<ValueId> append_backward(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                     std::span<const ValueId> wrt, const ValueSet& stops = {},
                                     std::vector<ValueId>* saving = nullptr);

// One term of the gradient of wrt[`wrt`].
struct Contribution {
  size_t wrt;
  ValueId gradient;
};

struct BackwardParts {
  std::vector<Contribution> terms;
  std::vector<ValueId> saving;  // first results of the ops whose rules read saved values
};

// The same, but the contributions to the wrt values are not added up: they come in the order in which the
// eager tape would add them, so that a call's gradients join those of other nodes with the same bits. With
// `add_up` those of one wrt value are: what the tape would do where no other node has contributed before.
BackwardParts append_backward_parts(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                    std::span<const ValueId> wrt, const ValueSet& stops = {},
                                    bool add_up = false);

}  // namespace tsc::jit
