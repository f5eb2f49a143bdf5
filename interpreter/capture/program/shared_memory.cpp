#include "interpreter/capture/program/shared_memory.h"

#include <algorithm>

#include "interpreter/capture/program/forks.h"

namespace tsc::interp {

void SharedMemory::add(const LoopPlace& branch, VTensor& one, const VirtualRef& other) {
  if (known_.emplace(&one, other.get()).second) pairs_.push_back({branch, one.shared_from_this(), other});
}

void SharedMemory::note_pair(const LoopPlace& branch, VTensor& one, Virtual& other) {
  for (size_t i = 0, known = pairs_.size(); i < known; ++i)
    if (pairs_[i].one.get() == &other) add(branch, one, VirtualRef(pairs_[i].other));
  add(branch, one, other.shared_from_this());
}

void SharedMemory::note_stand_in(VTensor& one, Virtual& other) {
  for (size_t i = 0, known = pairs_.size(); i < known; ++i)
    if (pairs_[i].one.get() == &other) add(LoopPlace(pairs_[i].branch), one, VirtualRef(pairs_[i].other));
}

// Two that branches have given may be one, and so may such a one and what it was on one of the ways.
void SharedMemory::compare(const Virtual& a, const Virtual& b) const {
  const auto find = [&](const Virtual& one, const Virtual* other) {
    return std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
      return pair.one.get() == &one && (!other || pair.other.get() == other);
    });
  };
  const bool are_given = find(a, nullptr) != pairs_.end() && find(b, nullptr) != pairs_.end();
  for (const auto& pair : {find(a, are_given ? nullptr : &b), find(b, are_given ? nullptr : &a)})
    if (pair != pairs_.end()) refuse(*pair);
}

void SharedMemory::refuse(const Pair& pair) const {
  forks_.refuse(pair.branch, "on one of its ways a variable is a tensor that was there before");
}

}  // namespace tsc::interp
