#pragma once
// One loop that is rolled or may be. Private to rolled_loops.cpp and rolled_lists.cpp.
#include <map>

#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/turn_items.h"

namespace tsc::interp {

// An int that grows by the same number in each turn: no carried value, but a number made of that of the turn.
struct Counter {
  ValueId id;
  Av first;
  int64_t step;
};

// What goes from turn to turn, in the order of the region's carried values.
struct CarriedValue {
  jit::Type type;
  ValueId initial = kNoValue;
};

struct RolledLoops::Loop {
  LoopPlace place;
  Local<CodeObject> code;
  size_t depth = 0;  // of its frame, from 1
  std::shared_ptr<VIterator> iterator;
  TurnSources sources;                            // what it goes over
  uint32_t turns = 0;                             // that have begun
  bool is_behind = false;                         // the turn that stands for many is over
  uint32_t last_turns = 0;                        // that are followed behind it
  std::vector<Av> before;                         // the registers at the beginning of the turn that began last
  uint32_t objects = 0;                           // numbers of those that existed then are at most this
  std::vector<VirtualRef> changed;                // of those
  std::map<const Virtual*, std::vector<Av>> had;  // lists among them: their items before

  // While one turn is followed for many.
  bool rolling = false;
  ValueId trips = kNoValue, number = kNoValue;
  std::vector<ValueId> inputs;  // of the region's loop: the number, then the carried values
  std::vector<CarriedValue> carried;
  size_t next_input = 0;
  std::vector<uint32_t> registers;  // that differ, then
  std::vector<std::shared_ptr<VCell>> cells;
  std::vector<Av> began;                           // what they held, with the unknown in it
  std::vector<std::shared_ptr<VTensor>> elements;  // tensors that are written
  std::vector<uint32_t> writes;                    // that each of them had,
  std::vector<ValueId> writes_of_loops;            // and those of loops
  std::map<const Virtual*, uint32_t> last_writes;  // of those in `began`: of what stands in its place at the end
  std::vector<Counter> counters;
  std::vector<std::shared_ptr<VList>> lists;       // that are appended to
  std::map<const Virtual*, Av> made;               // for an object that differs: the one with the unknown in it
  std::map<const Virtual*, const Virtual*> ended;  // and what stands in its place at the end
  std::vector<const Virtual*> shown;    // of those in `began`: at the end they have memory that the lists have got
  size_t history = 0;                   // entries of the gradient history in front of the turn
  std::vector<ValueId> with_gradients;  // what the turn gives that needs a gradient
  Modes modes;
  uint32_t handlers = 0;

  bool is_slot(const Virtual& object) const {
    const auto is_one = [&](const auto& one) { return one.get() == &object; };
    return std::any_of(cells.begin(), cells.end(), is_one) || std::any_of(elements.begin(), elements.end(), is_one) ||
           std::any_of(lists.begin(), lists.end(), is_one);
  }
  bool is_input(ValueId id) const { return std::find(inputs.begin() + 1, inputs.end(), id) != inputs.end(); }
};

}  // namespace tsc::interp
