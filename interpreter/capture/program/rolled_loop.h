#pragma once
// One loop that is rolled or may be. Private to rolled_loops.cpp and rolled_lists.cpp.
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/turn_items.h"
#include "interpreter/capture/program/turn_values.h"

namespace tsc::interp {

struct RolledLoops::Loop : TurnState {
  LoopPlace place;
  Local<CodeObject> code;
  size_t depth = 0;  // of its frame, from 1
  std::shared_ptr<VIterator> iterator;
  TurnSources sources;      // what it goes over
  uint32_t turns = 0;       // that have begun
  bool is_behind = false;   // the turn that stands for many is over
  uint32_t last_turns = 0;  // that are followed behind it

  // While one turn is followed for many.
  ValueId trips = kNoValue;
  std::vector<std::shared_ptr<VList>> lists;  // that are appended to
  std::vector<const Virtual*> shown;  // of those in `began`: at the end they have memory that the lists have got
  size_t history = 0;                 // entries of the gradient history in front of the turn
  Modes modes;
  uint32_t handlers = 0;

  bool appends_to(const Virtual& object) const {
    return std::any_of(lists.begin(), lists.end(), [&](const auto& list) { return list.get() == &object; });
  }
};

}  // namespace tsc::interp
