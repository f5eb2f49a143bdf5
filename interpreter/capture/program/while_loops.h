#pragma once
// Loops that end by something that only the run knows: `while error > tolerance`, `while True` with a test that leaves
// it, a `for` over numbers or the rows of a tensor with a `break` on a value. From one test to the next is a turn. The
// first turn, or two of them, are followed by themselves, each as the way of a branch on which the condition holds
// (forks.h), which shows what changes from turn to turn (turn_values.h); then one turn is followed for all that are
// left, inside a Loop of the region with the condition as its first carried value. A `for` has no test between its
// turns: the Loop counts them. Other tests that leave the loop are branches in that turn: on the way that leaves it
// nothing is followed, it gives what the variables are there, that there is no other turn, and which of the exits it
// is; behind the Loop the program goes on at that exit. A turn that does more than a way of a branch may is found
// out: capture starts again, and the test ends the region. Owns the loops whose turns are followed.
// Must not know what an instruction means. Defined in while_loops.cpp, turns_of_loops.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class WhileLoops : private Room {
 public:
  explicit WhileLoops(const Rooms& rooms) : Room(rooms) {}
  // The current instruction, a jump by that condition, is a test of such a loop: the truth of it that is followed next.
  // Empty: it is none.
  std::optional<bool> test(const Av& condition);
  // The iterator of the `for` loop at that place, if it is one that a test leaves; Undefined: it is none.
  Av counted(const Av& iterable, const LoopPlace& place);
  // At the head of such a `for` loop: the next turn, or what is behind it. False: the iterator is that of another loop.
  bool turn(const lang::Instruction& for_iter, const std::shared_ptr<VIterator>& iterator);
  bool is_rolling() const;
  // In front of every instruction: it belongs to the turn that is followed for many.
  void check_place() {
    if (!loops_.empty()) check_inside();
  }
  void will_return();  // the innermost frame
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) {
    if (!loops_.empty()) note(object);
  }
  // What cannot be part of a turn is about to happen. Does nothing where the innermost branch or loop is another one.
  void abandon(const std::string& why);
  // The region cannot leave the loop with that iterator in the middle. Does nothing where it has another one.
  void follow(const VIterator& iterator);

 private:
  struct Loop;
  struct Test;
  struct Ending;
  // Which loops (while_loops.cpp).
  std::optional<Test> find_test() const;
  Loop* loop_of(const Test& test);
  bool begin(const Test& test, ValueId goes_on);
  bool goes_on_by(Loop& loop, const Test& test, ValueId goes_on);
  void find_counted(const Test& test);
  bool count_turns(Loop& loop);
  uint32_t turns_in_front(const Loop& loop) const;
  std::vector<uint32_t> known_exits(const LoopPlace& head) const;
  void note_exit(Loop& loop, uint32_t target);
  void next_turn(Loop& loop);
  void forget_left();
  bool is_in_turn(const Loop& loop) const;
  void check_inside();
  void note(const Virtual& object);
  // One more turn may be needed in front, or it is no loop of the region.
  [[noreturn]] void give_up(const Loop& loop, std::string why);
  [[noreturn]] void refuse(const Loop& loop, const std::string& why);
  // The turn that stands for many (turns_of_loops.cpp).
  bool is_read_on(const Loop& loop, uint32_t reg);
  bool is_read_at(uint32_t pc, uint32_t reg);
  bool is_read_at_exits(const Loop& loop, uint32_t reg);
  void forget_dead(const Loop& loop);
  void set_exit_values(Loop& loop);
  void open(Loop& loop, ValueId goes_on);
  ValueId most_turns(const Loop& loop);
  Ending ends(Loop& loop);
  void leave(Loop& loop, const Test& test, ValueId goes_on);
  void close(Loop& loop, ValueId goes_on);
  std::vector<ValueId> join_exits(Loop& loop, ValueId goes_on, const Ending& whole);
  void go_on_behind(const Loop& loop, ValueId exit);
  ValueId is_left_by(ValueId exit, size_t leaving);
  void take_back_writes(const Loop& loop, const Ending& whole, ValueId exit);

  std::vector<std::shared_ptr<Loop>> loops_;  // outermost first
};

}  // namespace tsc::interp
