#pragma once
// Loops that go on while something holds that only the run knows: `while error > tolerance`, `while True` with a test
// that leaves it. From one test to the next is a turn. The first turn, or two of them, are the way of a branch on which
// the condition holds (forks.h), which shows what changes from turn to turn (turn_values.h); then one turn is followed
// for all that are left, inside a Loop of the region with the condition as its first carried value. A test that fails
// behind any number of turns goes on behind the loop. A turn that does more than a way of a branch may, or needs
// gradients, is found out: capture starts again, and the test ends the region. Owns the loops whose turns are followed.
// Must not know what an instruction means.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class WhileLoops : private Room {
 public:
  explicit WhileLoops(const Rooms& rooms) : Room(rooms) {}
  // The current instruction, a jump by that condition, is the test of such a loop: the truth of it that is followed
  // next. Empty: it is none.
  std::optional<bool> test(const Av& condition);
  bool is_rolling() const;
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) {
    if (!loops_.empty()) note(object);
  }
  // A tensor that needs a gradient is made.
  void take_gradient();

 private:
  struct Loop;
  struct Test;
  bool begin(const Test& test, ValueId goes_on);
  void next_turn(Loop& loop);
  void open(Loop& loop, ValueId goes_on);
  void close(Loop& loop, ValueId goes_on);
  void note(const Virtual& object);
  void forget_left();
  // One more turn may be needed in front, or it is no loop of the region.
  [[noreturn]] void give_up(const Loop& loop, std::string why);

  std::vector<std::shared_ptr<Loop>> loops_;  // outermost first
};

}  // namespace tsc::interp
