#pragma once
// Where each tensor value of a region is used last, so that its memory can go.
#include <span>
#include <unordered_map>
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

class LastUses {
 public:
  // The tensors of one block, by the number of the instruction that nothing needs them after.
  class OfBlock {
   public:
    // Results nobody uses, too.
    std::span<const ValueId> after(size_t instruction) const {
      return std::span(values_).subspan(ends_[instruction + 1], ends_[instruction] - ends_[instruction + 1]);
    }

   private:
    friend class LastUseFinder;
    std::vector<ValueId> values_;  // of the last instruction first
    std::vector<size_t> ends_;     // by instruction; one more in front of which they begin
  };
  const OfBlock& of(const Block& block) const { return blocks_.at(&block); }

 private:
  friend class LastUseFinder;
  std::unordered_map<const Block*, OfBlock> blocks_;
};

// Valid as long as the region's blocks stand where they are and keep their instructions. A value that a nested
// block uses and an outer block defines dies after the outer instruction that holds the nested block.
LastUses find_last_uses(const Region& region);

// Every value that the instruction or its nested blocks use, sizes of types not counted.
template <class Visit>
void for_each_use(const Instruction& instruction, const Visit& visit) {
  for (ValueId operand : instruction.operands) visit(operand);
  for (const auto& block : instruction.blocks)
    for (const Instruction& inner : block->instructions) for_each_use(inner, visit);
}

}  // namespace tsc::jit
