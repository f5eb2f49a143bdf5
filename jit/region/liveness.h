#pragma once
// Where each tensor value of a region is used last, so that its memory can go.
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

class LastUses {
 public:
  // Tensors that nothing needs after the instruction (results nobody uses, too).
  std::span<const ValueId> after(const Instruction& instruction) const {
    const auto found = dying_.find(&instruction);
    return found == dying_.end() ? std::span<const ValueId>() : found->second;
  }

 private:
  friend LastUses find_last_uses(const Region& region);
  std::unordered_map<const Instruction*, std::vector<ValueId>> dying_;
};

// Valid as long as the region stands where it is and keeps its instructions. A value that a nested
// block uses and an outer block defines dies after the outer instruction that holds the nested block.
LastUses find_last_uses(const Region& region);

// Every value that the instruction or its nested blocks use, sizes of types not counted.
void for_each_use(const Instruction& instruction, const std::function<void(ValueId)>& visit);

}  // namespace tsc::jit
