#pragma once
// What passes share: replacing values everywhere, and which values' memory can be seen from outside.
// Private to jit/passes.
#include <functional>

#include "jit/region/value_map.h"

namespace tsc::jit {

// Old value -> value to use instead. Collected during a walk, applied to the whole region at the end.
class Replacements {
 public:
  void replace(ValueId old, ValueId with) { with_[old] = resolve(with); }
  ValueId resolve(ValueId value) const;
  bool empty() const { return with_.empty(); }
  void apply_to(Instruction& instruction) const;
  // Operands, sizes in types, assumptions (those that became trivial vanish).
  void apply_to(Region& region) const;

 private:
  void apply_to(Block& block) const;
  ValueMap<ValueId> with_;
};

// Tensors whose memory may be seen outside the region's pure part (returned, given to the host, carried
// through blocks), directly or through views. Two of them must not become one, and one of them must not
// become another name of an input: a later in-place write would show in both.
class Escapes {
 public:
  explicit Escapes(const Region& region);
  bool contains(ValueId value) const { return escaping_.count(value) != 0; }
  void add(ValueId value) { escaping_.insert(value); }

 private:
  void visit(const Region& region, const Block& block);
  ValueSet escaping_;
};

// Instructions that a pass puts in front of others. What is there stays where it is until they are put in, all at once.
class Insertions {
 public:
  // In front of the instruction with this number; numbers do not descend.
  void add(size_t place, Instruction instruction) { list_.push_back({place, std::move(instruction)}); }
  void put_into(std::vector<Instruction>& code);

 private:
  std::vector<std::pair<size_t, Instruction>> list_;
};

// The instructions of a list that a pass keeps, moved together where they are while it walks the list: what is kept
// stands in front of what is still to be seen, and stays there.
class Kept {
 public:
  explicit Kept(std::vector<Instruction>& all) : all_(all) {}
  // The instruction with this number stays. Numbers ascend.
  Instruction& keep(size_t number) {
    if (count_ != number) all_[count_] = std::move(all_[number]);
    return all_[count_++];
  }
  // At the end: the others go.
  void finish() { all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(count_), all_.end()); }

 private:
  std::vector<Instruction>& all_;
  size_t count_ = 0;
};

// Calls visit for every block, outer before inner.
void for_each_block(Region& region, const std::function<void(Block&)>& visit);

}  // namespace tsc::jit
