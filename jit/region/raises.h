#pragma once
// Which instructions may raise when they run. What the program did in front of one that raises has happened,
// what stands behind it has not: so these keep their place among the effects.
// Knows regions; must not know what the embedder does about an error.
#include "jit/region/equal_sizes.h"
#include "jit/region/value_map.h"

namespace tsc::jit {

class Raises {
 public:
  // Both stay as they are while this is asked.
  Raises(const Region& region, const EqualSizes& facts) : region_(region), facts_(facts) {
    collect_bounds(region.body);
  }

  // An op on element values (an index, an integer divisor) or a scalar; false for effects and blocks.
  bool may_raise(const Instruction& instruction) const;
  // Those, guards, what the host does, and blocks, whatever is in them.
  bool may_leave_early(const Instruction& instruction) const {
    return instruction.code == Code::Host || instruction.code == Code::If || instruction.code == Code::Loop ||
           instruction.code == Code::Guard || may_raise(instruction);
  }

 private:
  void collect_bounds(const Block& block);
  bool is_raising_scalar(const Instruction& instruction) const;

  const Region& region_;
  const EqualSizes& facts_;
  ValueMap<ValueId> below_;  // indices that an operation found in an axis: its size
};

}  // namespace tsc::jit
