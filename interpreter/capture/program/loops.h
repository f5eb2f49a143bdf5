#pragma once
// The loops that capture follows, turn by turn. Their number of turns is a fact of the region where the program holds
// what decides it (the layers of a model); where the call brings that, another call may need another number: such a
// loop is open. One that has had too many numbers (compiler/loop_turns.h) leaves the region behind each turn. Owns the
// numbers of turns. Must not know what a turn does. Defined in loops.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct AFrame;

struct FollowedLoop {
  LoopPlace place;
  uint32_t turns = 0;  // from the first on; the most, where it ran several times
};

class Loops : private Room {
 public:
  explicit Loops(const Rooms& rooms) : Room(rooms) {}
  // The current instruction goes on or jumps by what the call has brought.
  void note_open_test();
  // At the end of a turn of the loop that begins at `head`.
  void end_turn(uint32_t head);
  // Whether the call decides how many items there are; in a container that has been read.
  bool is_open(const VIterator& iterator) const;
  bool has_open_length(const Av& av) const;
  const std::vector<FollowedLoop>& followed() const { return followed_; }

 private:
  bool is_programs_own(const Av& av) const;
  bool began_outside(const AFrame& frame, uint32_t head) const;
  [[noreturn]] void leave_turn();

  std::vector<FollowedLoop> followed_;
};

}  // namespace tsc::interp
