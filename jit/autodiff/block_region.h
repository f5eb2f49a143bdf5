#pragma once
// A block of a Loop or an If as a region of its own, for gradients of the block: the values keep their numbers. Private
// to the gradients of loops and branches.
#include "jit/region/builder.h"
#include "jit/region/value_map.h"

namespace tsc::jit {

struct BlockRegion {
  Region region;               // leaves with what the block yields
  ValueSet own;                // parameters, and what the block and those in it make
  std::vector<ValueId> outer;  // what it uses of others, in the order of the first use
};
// NotImplementedError: the block does more than compute.
BlockRegion region_of_block(RegionBuilder& builder, const Block& block);

// A zero, or a tensor that takes no memory, of that type, in front of what the block yields. A size may be kNoValue: it
// is 0, so that what is known of a size and a number that only another block finds holds here, too.
ValueId add_nothing(Region& region, Block& block, const Type& like);

// Appends a finished region that does nothing but compute, with those inputs; what it leaves with.
std::vector<ValueId> replay(RegionBuilder& builder, const Region& region, std::span<const ValueId> inputs);

}  // namespace tsc::jit
