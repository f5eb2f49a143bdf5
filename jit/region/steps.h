#pragma once
// A region made ready to run many times: what each block does, without what every run would only repeat.
// Constants stand in the registers already, of equal guards the first decides, and what follows from
// inputs that stay the same is settled when these are bound.
// Knows the region; must not know registers or tensors.
#include <unordered_map>
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

struct Step {
  const Instruction* instruction;
  SmallVector<ValueId, 2> dying;
  // A tensor leaves with at most one operand: of those of `instruction`, an exit, no two are the same.
  bool operands_differ = false;
  ValueId into = kNoValue;  // a store that may write the memory of this input (stores.h)
};
using Steps = std::vector<Step>;

// For every write_back: the values that may share the input's memory and are used after it. They keep
// their contents, so they move out before the memory changes.
using OldViews = std::unordered_map<const Instruction*, std::vector<ValueId>>;

class RegionSteps {
 public:
  // The region stays where it is.
  explicit RegionSteps(const Region& region);
  // The inputs with a true entry stay the same from run to run: nothing lets go of them.
  void hold(const std::vector<bool>& held);

  const Steps& of(const Block& block) const { return blocks_.at(&block); }
  // What a run does of the body, and what it leaves to settled().
  const Steps& body() const { return holds_ ? body_ : blocks_.at(&region_.body); }
  // Scalars that follow from the sizes of held inputs alone, and the entry guards on them, in order. Where
  // one of them raises, of(body) is to be run in place of body().
  const Steps& settled() const { return settled_; }
  // By value: held inputs, and their sizes.
  const std::vector<bool>& held_values() const { return held_values_; }
  bool is_held_size(ValueId value) const { return held_sizes_[value]; }

  const std::vector<ValueId>& old_views(const Instruction& write_back) const { return old_views_.at(&write_back); }
  const std::vector<std::pair<ValueId, Scalar>>& constants() const { return constants_; }
  bool has_host() const { return has_host_; }

 private:
  void look_through(const Block& block);

  const Region& region_;
  std::unordered_map<const Block*, Steps> blocks_;
  Steps body_, settled_;
  OldViews old_views_;
  std::vector<std::pair<ValueId, Scalar>> constants_;
  std::vector<bool> held_values_, held_sizes_;
  bool has_host_ = false, holds_ = false;
};

}  // namespace tsc::jit
