#pragma once
// The loops that a capture follows, turn by turn. Their number of turns is a fact of the region where the program holds what decides
// it (the layers of a model); where the call brings that, another call may need another number. Such a loop is open.
// Knows loops by their place. Must not know what a turn does.
#include <vector>

#include "interpreter/capture/capture_memory.h"

namespace tsc::interp {

struct FollowedLoop {
  LoopPlace place;
  uint32_t turns = 0;  // the most, where it ran several times
};

class FollowedLoops {
 public:
  // That many turns of an open loop have ended.
  void end_turn(const LoopPlace& place, uint32_t turns);
  const std::vector<FollowedLoop>& all() const { return loops_; }

 private:
  std::vector<FollowedLoop> loops_;
};

}  // namespace tsc::interp
