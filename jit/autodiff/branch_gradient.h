#pragma once
// Reverse mode of If: an If by the same condition, whose blocks go back through those of the forward (split.h). What a
// block's backward reads of the block's own values becomes results of the forward's If. Sums go on from what has
// arrived behind the branch, term by term in the order of the eager tape. Where one block alone leads to a tensor, the
// other one gives a negative zero, and only the run knows whether the tensor gets a gradient (GradientSums::condition).
// Knows regions; must not know where the gradients go in the end.
#include <functional>

#include "jit/autodiff/loop_gradient.h"

namespace tsc::jit {

// Appends the backward of the If that is instruction number `branch` of the body. Appends to `saving` as
// append_backward does. NotImplementedError: it is refused.
void append_branch_backward(RegionBuilder& builder, size_t branch, const ValueSet& stops, GradientSums& sums,
                            std::vector<ValueId>* saving);
// Gives it the results that backwards will read, whichever gradients arrive.
void add_saved_results(RegionBuilder& builder, size_t branch, const ValueSet& stops,
                       const std::function<bool(ValueId)>& needed);

}  // namespace tsc::jit
