#include "interpreter/capture/compiler/loop_turns.h"

#include <algorithm>

namespace tsc::interp {
namespace {

// What variants of their own may be made for: a few numbers of turns, as long as they are not many turns together.
constexpr size_t kFewNumbers = 2, kMostNumbers = 12;
constexpr uint64_t kManyTurns = 200;

}  // namespace

void LoopTurns::captured(const CodeObject* entered, const std::vector<FollowedLoop>& loops) {
  for (const FollowedLoop& loop : loops) {
    Numbers& numbers = numbers_[{entered, {loop.place.code, loop.place.head}}];
    numbers.keeps_alive = Local<CodeObject>(const_cast<CodeObject*>(loop.place.code));
    if (!numbers.seen.insert(loop.turns).second) continue;
    numbers.turns += loop.turns;
    const bool many =
        numbers.seen.size() > kMostNumbers || (numbers.seen.size() > kFewNumbers && numbers.turns > kManyTurns);
    if (many && std::find(varied_.begin(), varied_.end(), loop.place) == varied_.end()) varied_.push_back(loop.place);
  }
}

}  // namespace tsc::interp
