#pragma once
// Loops whose number of turns differs from call to call, as over the steps of a sequence. A region holds all turns that
// capture has followed, so each number needs a variant. That is the fastest code for a few numbers; for many, the
// captures take more time than they save, and the variants do not stay. Such a loop is varied: from then on a region
// ends behind each turn, one variant serves all turns, and the interpreter goes from turn to turn. Knows functions and
// loops by their code, which it keeps alive. Must not know how a loop is followed (program/loops.h).
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "interpreter/capture/program/loops.h"
#include "interpreter/vm/frames.h"

namespace tsc::interp {

class LoopTurns {
 public:
  // What a capture that began in a frame of `entered` has followed.
  void captured(const CodeObject* entered, const std::vector<FollowedLoop>& loops);
  const std::vector<LoopPlace>& varied() const { return varied_; }
  void reset() { *this = {}; }

 private:
  struct Numbers {
    std::set<uint32_t> seen;
    uint64_t turns = 0;  // of all of them
    Local<CodeObject> keeps_alive;
  };
  using Key = std::pair<const CodeObject*, std::pair<const CodeObject*, uint32_t>>;
  std::map<Key, Numbers> numbers_;
  std::vector<LoopPlace> varied_;
};

}  // namespace tsc::interp
