#pragma once
// Reverse mode of a Loop with a condition: only the run knows how many turns it had, and which test has ended the last
// one in the middle. The way back of the last turn is that of the way it took (turn_ways.h), a branch; the others, all
// of which went to their ends, go back in a loop that counts down. Whether a gradient arrives at a value depends on the
// run where a loop without turns would lead none there. Private to loop_gradient.cpp.
#include "jit/autodiff/loop_gradient.h"

namespace tsc::jit {

// As append_loop_backward, for LoopMode::kWhile.
void append_while_backward(RegionBuilder& builder, size_t loop, const ValueSet& stops, GradientSums& sums,
                           std::vector<ValueId>* saving);

}  // namespace tsc::jit
