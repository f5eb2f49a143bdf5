#pragma once
// Loops that are one loop of the region: a `for` over a range of numbers or over the rows of a tensor, whose turns all
// do the same. Its first turns are followed as those of any loop, which shows what changes from turn to turn: variables
// of the frame, elements of tensors, closure cells. Then one turn is followed for all that are left, inside a loop of
// the region, with the number of the turn and all that changes unknown. What the turn decides by its number must come
// out the same for the first and for the last of them (it is linear in that number), which is a condition at entry.
// Behind it everything must be what it was in front of it, but for what is unknown. A turn that does anything else (it
// leaves the region, acts on the host, changes an object of another kind, needs a number that only the run knows) is
// found out on the way: capture starts again and follows that loop turn by turn. Owns the open loops and what their
// turns have changed. Must not know what an instruction means. Defined in rolled_loops.cpp, rolled_lists.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class RolledLoops : private Room {
 public:
  explicit RolledLoops(const Rooms& rooms) : Room(rooms) {}
  // The iterator of the loop that begins behind the current instruction; Undefined: the loop is followed turn by turn.
  Av counted(const Av& iterable, const lang::Instruction& get_iter);
  // At the loop's head: the next turn, or the end of the loop.
  void turn(const lang::Instruction& for_iter, const std::shared_ptr<VIterator>& iterator);
  // Whether one turn is followed for many.
  bool is_rolling() const;
  // What cannot be part of such a turn, or of one way of a branch (forks.h), is about to happen. Does nothing
  // elsewhere.
  void leave_out() {
    if (builder_.open_blocks() != 0) abandon();
  }
  [[noreturn]] void abandon();  // the innermost branch, or loop whose turn is followed for many
  // The loop of that iterator is followed turn by turn.
  [[noreturn]] void follow(const VIterator& iterator);
  // All that were rolled are.
  [[noreturn]] void follow_all();
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) {
    if (!loops_.empty() || !rolled_places_.empty()) note(object);
  }
  // In front of every instruction: it belongs to the loop, or the loop has been left.
  void check_place() {
    if (is_rolling()) check_inside();
  }
  // Capture needs a number that only the run knows: that of a rolled loop may be known where it is followed.
  void number_is_missing();
  // Of a list that a rolled loop has appended to; what is appended behind it stays known.
  Av length_of(const VList& list);
  void append(VList& list, const Av& item);
  // What torch.stack and torch.cat ask: the items of such a list as tensors in front, the rows of one, and tensors
  // behind; None of any other, and of one whose items are not alike.
  Av filled_rows(const Av& list);

 private:
  struct Loop;
  bool is_kept(const Av& iterable, const lang::Instruction& get_iter) const;
  void note(const Virtual& object, bool appends = false);
  void check_inside();
  [[noreturn]] void abandon(const Loop& loop);
  [[noreturn]] void follow(const std::vector<LoopPlace>& places);
  void turn_behind(const lang::Instruction& for_iter, Loop& loop);
  void forget_left();
  // The turn for all that are left begins, and what differs is unknown in it (turn_values.h); it ends.
  void open(Loop& loop);
  void close(Loop& loop);
  void end_histories(const Loop& loop, std::span<const ValueId> next, std::span<const ValueId> results);
  // Lists that grow by one tensor in each turn.
  void take_list(Loop& loop, const std::shared_ptr<VList>& list);
  void collect_appended(Loop& loop, std::vector<ValueId>* stacked);
  void leave_lists(Loop& loop, std::span<const ValueId> rows);

  std::vector<std::shared_ptr<Loop>> loops_;  // outermost first
  std::vector<LoopPlace> numbered_;           // loops behind which a number is unknown
  std::vector<LoopPlace> rolled_places_;      // loops that are loops of the region
  std::vector<VirtualRef> seen_in_rows_;      // tensors whose memory the items of such lists are, if nobody writes it
};

}  // namespace tsc::interp
