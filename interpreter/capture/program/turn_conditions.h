#pragma once
// What a turn that stands for many decides by its number. A relation of numbers that are linear in it holds for all
// turns if it holds for the first and for the last: those are conditions at entry. A relation of which more would have
// to be known is not decided. Owns the numbers of the open turns. Must not know what a turn does (rolled_loops.h).
// Defined in turn_conditions.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class TurnConditions : private Room {
 public:
  explicit TurnConditions(const Rooms& rooms) : Room(rooms) {}
  // One turn is followed for `trips` of them, inside those that are open.
  void open(ValueId number, ValueId trips) { open_.push_back({number, trips, builder_.depth_of(number)}); }
  void close() { open_.pop_back(); }
  bool is_open() const { return !open_.empty(); }
  // Of the turn that is open `level` loops deep: it was asked what comes out differently for the last turn than for the
  // first.
  bool ends_differ(size_t level) const { return level > 0 && level <= open_.size() && open_[level - 1].ends_differ; }
  // How the condition comes out in all turns.
  std::optional<bool> decided(ValueId condition);
  // It is a condition at entry that it holds in all turns; false: it does not, or not for sure.
  bool assume_always(ValueId condition);
  // Whether the number is linear in those of the turns around it.
  bool is_linear(ValueId number) const;
  // The result of an operation on ints: simpler where it is so in all turns.
  ValueId in_all_turns(jit::ScalarOp op, std::span<const ValueId> operands);
  // Its factor and its constant, where both are known.
  std::optional<std::pair<int64_t, int64_t>> linear_form(ValueId id, ValueId number) const;

 private:
  struct Turn {
    ValueId number, trips;
    size_t depth;  // of its block
    bool ends_differ = false;
  };
  struct Decision {
    bool holds = false;
    std::vector<ValueId> conditions;  // of the first and the last turn, which exist outside the loop
  };
  size_t level_of(ValueId id) const;
  bool is_outside(ValueId id, size_t level) const { return builder_.depth_of(id) < open_[level - 1].depth; }
  bool is_linear(ValueId number, size_t level) const;
  ValueId at_turn(ValueId id, size_t level, ValueId turn);
  std::optional<Decision> decide(ValueId condition);
  void note_ends(jit::ScalarOp op, const ValueId* left, const ValueId* right, size_t level);
  std::optional<Decision> decide_relation(const jit::ScalarKey& relation, size_t level);
  std::optional<Decision> decide_linear(jit::ScalarOp op, ValueId a, ValueId b, size_t level);

  std::vector<Turn> open_;  // outermost first
};

}  // namespace tsc::interp
