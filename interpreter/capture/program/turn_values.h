#pragma once
// What goes from turn to turn of a loop that one turn stands for: variables of the frame, closure cells and elements of
// tensors that the turn in front of it has changed. They become carried values of the region's Loop, unknown where the
// turn begins; where it ends, what stands in their place goes on to the next turn; behind the loop they are its
// results. Numbers, tensors that the turn before has made, row by row in memory of their own, and tuples and lists of
// those can be carried; NotCarried says what cannot. The loops themselves are rolled_loops.h and while_loops.h, which
// own the state. Must not know what ends a loop. Defined in turn_values.cpp.
#include <map>
#include <set>

#include "interpreter/capture/abstract.h"
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct AFrame;

struct NotCarried {
  std::string why;
};

// An int that grows by the same number in each turn: no carried value, but a number made of that of the turn.
struct TurnCounter {
  ValueId id;
  Av first;
  int64_t step;
};

// What goes from turn to turn, in the order of the region's carried values.
struct CarriedValue {
  jit::Type type;
  ValueId initial = kNoValue;
};

// A tensor that was one of several in front of the loop (VTensor::same_as), of which only the run knows which. Whether
// it is that one still, because no turn has made another, is a carried value.
struct KeptValue {
  ValueId still = kNoValue;
  std::shared_ptr<VTensor> before;
};

struct TurnState {
  std::vector<Av> before;                         // the registers at the beginning of the turn that began last
  uint32_t objects = 0;                           // numbers of those that existed then are at most this,
  uint32_t objects_before = 0;                    // and of those in front of the loop
  std::vector<VirtualRef> changed;                // of those
  std::map<const Virtual*, std::vector<Av>> had;  // lists among them: their items before

  // While one turn is followed for many.
  bool rolling = false;
  ValueId number = kNoValue;    // of the turn, by which ints are known that grow; kNoValue: none is
  std::vector<ValueId> inputs;  // the block's parameters: `carried` are the last of them
  std::vector<CarriedValue> carried;
  std::vector<uint32_t> registers;  // that differ, then
  std::vector<std::shared_ptr<VCell>> cells;
  std::vector<Av> began;                           // what they held, with the unknown in it
  std::vector<std::shared_ptr<VTensor>> elements;  // tensors that are written
  std::vector<uint32_t> writes;                    // that each of them had,
  std::vector<ValueId> writes_of_loops;            // and those of loops
  std::map<const Virtual*, uint32_t> last_writes;  // of those in `began`: of what stands in its place at the end
  std::map<const Virtual*, KeptValue> kept;        // of those in `began`
  std::set<const Virtual*> at_end;                 // tensors that what goes on to the next turn is, or may be
  std::vector<TurnCounter> counters;
  // Ints that the turn in front has changed by so little that they stay far below 64 bits, however many turns there
  // are; so must each turn.
  bool may_be_steady = false;
  std::vector<ValueId> steady;
  bool is_unsteady = false;                        // one does not
  std::map<const Virtual*, Av> made;               // for an object that differs: the one with the unknown in it
  std::map<const Virtual*, const Virtual*> ended;  // and what stands in its place at the end
  std::vector<ValueId> with_gradients;             // what the turn gives that needs a gradient
  size_t next_value = 0;                           // of the carried values, while they are handed out
  bool leaves_numbers = false;                     // behind the loop a number is one that only the run knows

  bool is_slot(const Virtual& object) const {
    const auto is_one = [&](const auto& one) { return one.get() == &object; };
    return std::any_of(cells.begin(), cells.end(), is_one) || std::any_of(elements.begin(), elements.end(), is_one);
  }
  bool is_input(ValueId id) const { return std::find(inputs.begin() + 1, inputs.end(), id) != inputs.end(); }
};

class TurnValues : private Room {
 public:
  explicit TurnValues(const Rooms& rooms) : Room(rooms) {}
  // Registers that nobody reads again are forgotten.
  void forget_dead(const std::function<bool(uint32_t)>& is_read);
  // An object of its own with the same elements or items, or a number that is no constant, to begin a turn with; or
  // what stands for one in the turn before, with numbers that are not known.
  Av stand_in(const Av& av, bool is_before);
  // In front of a change of an object that is older than the turn; true: that was not known yet.
  bool note_change(TurnState& state, const Virtual& object) const;
  // Collects what the last turn has changed, in the frame that stands at the loop's head. `iterator`: what the loop
  // goes over, which is no variable; `take_list` takes the lists that it changed.
  void take(TurnState& state, const Virtual* iterator,
            const std::function<void(const std::shared_ptr<VList>&)>& take_list);
  // All of it is unknown from here on: `state.inputs` are there.
  void begin(TurnState& state);
  // Of the turn's end: what goes on to the next turn. A variable that is not read where the frame stands is what it was
  // at the beginning.
  std::vector<ValueId> ends(TurnState& state);
  // Behind the loop: `results` of the carried values, after so many turns.
  void leave_behind(TurnState& state, std::span<const ValueId> results, ValueId trips);

 private:
  bool is_held_elsewhere(const TurnState& state, const Virtual& object) const;
  bool is_of_turn(const TurnState& state, const Virtual& object) const;
  void take_changed(TurnState& state, const std::function<void(const std::shared_ptr<VList>&)>& take_list);
  void collect(TurnState& state, const Av& before, const Av& now, bool changes);
  void collect_tensor(TurnState& state, const VTensor& before, VTensor& now);
  void note_first_choices(TurnState& state, const VTensor& now);
  ValueId next_input(TurnState& state) const;
  Av unknown(TurnState& state, const Av& before, const Av& now, bool changes);
  Av counter(const Av& first, int64_t step, ValueId number);
  Av with_items(const Av& like, std::vector<Av> items);
  void collect_next(TurnState& state, const Av& began, const Av& now, std::vector<ValueId>* next);
  void note_choices(TurnState& state, const VTensor& began, const VTensor& now);
  ValueId is_one(const VTensor& tensor, const Virtual& other);
  ValueId is_kept(const KeptValue& kept, const Virtual& began, const VTensor& now);
  void note_objects(TurnState& state, const VTensor& began, const VTensor& now);
  ValueId next_tensor(TurnState& state, const VTensor& began, const Av& now);
  void check_types(const TurnState& state, std::span<const ValueId> next) const;
  ValueId count_writes(const TurnState& state, size_t place, const VTensor& tensor, ValueId trips);
  Av behind(TurnState& state, const Av& began, std::span<const ValueId> results, ValueId trips);
};

}  // namespace tsc::interp
