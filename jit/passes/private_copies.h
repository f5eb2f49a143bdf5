#pragma once
// Instructions that a consumer gets for itself before fusion, because computing them again inside
// its kernel costs less than the memory of their result:
//   a tensor of one number, for every elementwise consumer;
//   the cheap elementwise ops in front of a reduction over leading axes, when all they read is in
//   memory anyway. Such a reduction has a kernel of its own: without the copies its input would be
//   written by one kernel and read back by the next;
//   what the kernels behind a product would read again (copies_for_later.h).
// A copy may have more readers than its consumer: they are given it as they are given any value.
// Knows regions; no groups.
#include <vector>

#include "jit/region/value_map.h"

namespace tsc::jit {

class PrivateCopies {
 public:
  bool is_copy(ValueId value) const { return copies_.count(value) != 0; }
  // Results of the copies made for the instruction with this first result; null: none.
  const std::vector<ValueId>* of(ValueId consumer) const {
    const auto found = of_.find(consumer);
    return found == of_.end() ? nullptr : &found->second;
  }
  void add(ValueId consumer, ValueId copy) {
    copies_.insert(copy);
    of_[consumer].push_back(copy);
  }
  // After dead code is gone: a copy whose consumer is gone is an instruction like all others.
  void forget_dead(const Region& region);

 private:
  ValueMap<std::vector<ValueId>> of_;
  ValueSet copies_;
};

// Makes the copies in front of their consumers and drops what nobody reads any more. Leaves regions
// with nested blocks alone.
PrivateCopies make_private_copies(Region& region);

}  // namespace tsc::jit
