#pragma once
// Branches on what only the run knows: the value of a tensor, a number that the region reads out of one. Where the
// branch is expected to go one way (compiler/branches.h), capture follows that way, and the region asks for the value
// when it is there. It does so only where nothing that the region has done so far could be seen: when the guess is
// wrong the region is given up, and the interpreter runs everything again, with the random numbers of before. Inside of
// a loop or a way of a branch that is so where the other way can only raise. A branch that goes either way is an If of
// the region where that can be (forks.h). That a loop has a first turn is guessed, too, where without one tensors would
// have no gradient history behind it (while_loops.h).
// Owns how often each branch has been guessed in this region. Must not know how a branch came to be expected.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Guesses : private Room {
 public:
  explicit Guesses(const Rooms& rooms) : Room(rooms) {}
  // The truth that decides the instruction, a jump of the innermost frame. Leaves the region where that cannot be told.
  bool decide(const Av& condition);
  // The condition of the current instruction, by which a loop goes on in one of its first turns, holds: what follows is
  // for that. False: the region cannot begin anew here, or the loop often ends there.
  bool assume_turn(ValueId goes_on);

 private:
  bool may_begin_anew() const;
  void ask(ValueId holds, bool is_turn);
  bool may_guess() const;
  bool may_fork(const CodeObject* code, uint32_t pc) const;
  std::optional<bool> check_inside(const Av& condition);
  [[noreturn]] void leave_at(const Av& condition);

  std::vector<LoopPlace> guessed_;  // once for each time
};

}  // namespace tsc::interp
