#pragma once
// The ways through the block of a Loop as blocks without branches: way 0 goes to its end; those of a loop with a
// condition that have another number go to the If of that number, which ends the turn in the middle (LoopMode::kWhile).
// Private to the gradients of loops.
#include <vector>

#include "jit/region/builder.h"

namespace tsc::jit {

// How many ways there are.
size_t count_ways(const RegionBuilder& builder, const Instruction& loop);

struct WayOfTurn {
  Block block;                        // a copy; it yields what the loop's block does
  std::vector<Instruction*> sources;  // of the copied instructions, but the last
};
WayOfTurn way_of_turn(const RegionBuilder& builder, Instruction& loop, size_t way);

// Lets the loop's block yield a value of way 0, or of the part of it that another way has in common with it: the place
// among what is yielded. Where a turn ends in front of it, it yields nothing in particular. A number is yielded as a
// tensor.
size_t yield_from_turn(RegionBuilder& builder, size_t loop, ValueId value);

}  // namespace tsc::jit
