#pragma once
// Tensors of which only the run knows whether they are one: behind a branch a variable may be a tensor that was there
// before, or a new one (forks.h). As soon as one of two such tensors is written or changed, or they are compared by
// identity, capture starts again, and the branch is no If of the region. Owns the pairs. Must not know how they came
// about.
#include <set>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class SharedMemory : private Room {
 public:
  explicit SharedMemory(const Rooms& rooms) : Room(rooms) {}
  // The memory of `one`, which the branch gives, may be that of `other`, and of what that may be.
  void note_pair(const LoopPlace& branch, VTensor& one, Virtual& other);
  // And what `other` may be, `one` may be: it stands for it in the turns of a loop, or behind them.
  void note_stand_in(VTensor& one, Virtual& other);
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) const {
    for (const Pair& pair : pairs_)
      if (pair.one.get() == &object || pair.other.get() == &object) refuse(pair);
  }
  // Somebody asks whether two tensors are one object.
  void note_identity(const Virtual& a, const Virtual& b) const {
    if (!pairs_.empty() && &a != &b) compare(a, b);
  }
  // The tensor leaves the region, and no recipe says which of two it is; or somebody asks for more than its elements.
  void note_escape(const Virtual& object) const {
    for (const Pair& pair : pairs_)
      if (pair.one.get() == &object) refuse(pair);
  }

 private:
  struct Pair {
    LoopPlace branch;
    VirtualRef one, other;
  };
  void add(const LoopPlace& branch, VTensor& one, const VirtualRef& other);
  void compare(const Virtual& a, const Virtual& b) const;
  [[noreturn]] void refuse(const Pair& pair) const;

  std::vector<Pair> pairs_;  // each once
  std::set<std::pair<const Virtual*, const Virtual*>> known_;
};

}  // namespace tsc::interp
