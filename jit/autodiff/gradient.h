#pragma once
// Reverse-mode differentiation of a region: walks its instructions backwards and appends the gradient
// rules' ops. The appended code is ordinary region code and can be differentiated again.
// Knows regions and rules; no tape.

#include "jit/region/builder.h"
#include "jit/region/value_map.h"

namespace tsc::jit {

struct GradientSeed {
  ValueId value;     // a floating tensor
  ValueId gradient;  // same dtype and sizes
};

// The gradients of `wrt` (tensors) with respect to the seeded values, kNoValue where unconnected.
// No gradient flows through the values in `stops` (made under no_grad), detach, or host instructions.
// Loops and branches on the way may get more results (loop_gradient.h, branch_gradient.h).
// NotImplementedError when one would have to flow through one that is refused there, or when only the run knows whether
// one arrives. `saving`, when not null,
// takes the first results of the ops whose rules read saved values.
std::vector<ValueId> append_backward(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                     std::span<const ValueId> wrt, const ValueSet& stops = {},
                                     std::vector<ValueId>* saving = nullptr);

// One term of the gradient of wrt[`wrt`]. Where only some ways of branches lead there it is none unless `holds`, a Bool
// value, is true.
struct Contribution {
  size_t wrt;
  ValueId gradient;
  ValueId holds = kNoValue;
};

// The whole gradient of a value; none unless `holds` is.
struct InspectedGradient {
  ValueId value, gradient;
  ValueId holds = kNoValue;
};

// Values in the middle whose whole gradients somebody looks at. Those of `wanted`, some of `all`, are computed for
// their own sake, the others where they are on the way to a wanted or wrt value.
struct InspectedValues {
  ValueSet all, wanted;
};

struct BackwardParts {
  std::vector<Contribution> terms;
  // The whole gradient of each inspected value that has one: a copy, so that what flows through this value alone is
  // told apart. In the order in which they become known.
  std::vector<InspectedGradient> inspected;
  std::vector<ValueId> whole;   // the gradients of the seeded values, kNoValue where no wrt value is reached
  std::vector<ValueId> saving;  // first results of the ops whose rules read saved values
  // Where loops or branches contribute to a wrt value, there is one term, behind the others, which holds what had
  // arrived at that value before: a value of the region that nothing defines. Not with `add_up`, where nothing had.
  std::vector<Contribution> taking;
};

// The same, but the contributions to the wrt values are not added up: they come in the order in which the
// eager tape would add them, so that a call's gradients join those of other nodes with the same bits. With
// `add_up` those of one wrt value are: what the tape would do where no other node has contributed before. A wrt value
// may be kNoValue: that place gets no terms. For inspected values see BackwardParts::inspected.
BackwardParts append_backward_parts(RegionBuilder& builder, std::span<const GradientSeed> seeds,
                                    std::span<const ValueId> wrt, const ValueSet& stops = {}, bool add_up = false,
                                    const InspectedValues& inspected = {});

// The values through which a gradient may come to one of `values`: they, and what is computed from them.
ValueSet computed_from(const Region& region, ValueSet values, const ValueSet& stops = {});

}  // namespace tsc::jit
