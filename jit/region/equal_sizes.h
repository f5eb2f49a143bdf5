#pragma once
// Which Int values of a region are known to be equal: the same value, equal constants, assumed, or
// guarded (`scalar eq %a, %b` under a guard). A union-find that also knows each class's constant.
// Knows nothing of ops.
#include <optional>

#include "jit/region/value_map.h"

namespace tsc::jit {

class EqualSizes {
 public:
  EqualSizes() = default;
  // What holds in the whole body: assumptions, constants anywhere, guards that stand in no nested
  // block (the guards stand before the uses).
  explicit EqualSizes(const Region& region);
  // Assumptions and constants alone: what holds from the entry on.
  static EqualSizes at_entry(const Region& region);
  // The guards of a nested block, for questions about that block.
  void add_guards(const Block& block);

  void set_constant(ValueId value, int64_t number);
  void unite(ValueId a, ValueId b);
  bool equal(ValueId a, ValueId b) const;
  std::optional<int64_t> constant(ValueId value) const;
  // One fixed member of the class: the smallest.
  ValueId representative(ValueId value) const {
    while (value < parent_.size() && parent_[value] != value) value = parent_[value];
    return value;
  }

 private:
  void collect_constants(const Block& block);
  void grow(ValueId value);

  std::vector<ValueId> parent_;  // values beyond its end are alone
  std::vector<int32_t> number_;  // of a representative: its place in numbers_, or -1
  std::vector<int64_t> numbers_;
  ValueMap<std::pair<ValueId, ValueId>> comparisons_;
};

// Gives one name to sizes of inputs that the region assumes to be equal; also where they are a known number, with which
// only one of them may have been compared. Whoever runs the region compares them when it binds the inputs, and leaves
// through the first guard when they differ: there must be one, which may compare a size with itself and is kept by the
// passes. True: some have become one.
bool share_input_sizes(Region& region);

}  // namespace tsc::jit
