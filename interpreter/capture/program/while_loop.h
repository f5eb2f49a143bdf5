#pragma once
// One loop that ends by what only the run knows. Private to while_loops.cpp and turns_of_loops.cpp.
#include "interpreter/capture/program/turn_items.h"
#include "interpreter/capture/program/turn_values.h"
#include "interpreter/capture/program/while_loops.h"

namespace tsc::interp {

// A test: the truth of its condition with which the loop goes on, and where it goes without.
struct WhileLoops::Test {
  LoopPlace place;
  LoopPlace head;    // of the loop
  uint32_t end = 0;  // its last instruction
  bool stays = false;
  uint32_t turn = 0;  // where it goes on
  uint32_t exit = 0;
};

// What the variables and the numbers of writes are at the end of a turn, or where a test leaves it.
struct WhileLoops::Ending {
  LoopPlace test{};  // that leaves it,
  uint32_t target = 0;
  ValueId stays = kNoValue;  // unless this holds
  std::vector<ValueId> next{};
  std::vector<int64_t> writes{};           // of each of the elements,
  std::vector<ValueId> writes_of_loops{};  // and by loops in the turn
  std::map<const Virtual*, uint32_t> last_writes{};
};

struct WhileLoops::Loop : TurnState {
  Test test;                    // between two turns; of a `for` its place is the head
  size_t depth = 0;             // of its frame, from 1
  uint32_t join = 0;            // where all ways out of it meet
  size_t forks = 0;             // that are open while its turns are followed
  uint32_t first_turns = 0;     // that have begun
  bool is_certain = false;      // the first turns go on for certain (Guesses::assume_turn)
  std::vector<uint32_t> exits;  // where other tests leave it, as far as they are known
  // Of a `for`.
  std::shared_ptr<VIterator> iterator;
  TurnSources sources;
  std::optional<uint32_t> few_turns{};  // all that there are

  // While one turn is followed for many.
  ValueId goes_on = kNoValue;  // in front of the first
  size_t blocks = 0;           // of the region that are open
  size_t history = 0;          // entries of the gradient history in front of the turn
  Modes modes;
  uint32_t handlers = 0;
  std::vector<Ending> leavings;  // by tests in the middle of the turn
  std::vector<LoopPlace> tests;  // that may leave it
};

}  // namespace tsc::interp
