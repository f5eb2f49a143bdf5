#pragma once
// What a loop goes over, where its turns may be one of the region: a range of numbers, the rows of a tensor, or an
// enumerate or zip of such. The item of a turn is made of the turn's number, which need not be known. Owns nothing.
// Must not know what a turn does (rolled_loops.h). Defined in turn_items.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

struct TurnSource {
  Av rows;  // a tensor; Undefined: numbers from `start` on
  Av start;
  int64_t step = 1;
  ValueId count = kNoValue;
  bool reverse = false;
};

struct TurnSources {
  Av iterable;
  std::vector<TurnSource> each;  // from the left
  ValueId count = kNoValue;      // of turns
};

class TurnItems : private Room {
 public:
  explicit TurnItems(const Rooms& rooms) : Room(rooms) {}
  // False: it goes over something else.
  bool take(TurnSources& sources, const Av& iterable);
  Av item(const TurnSources& sources, ValueId number);

 private:
  bool take(TurnSources& sources, const Av& iterable, bool reverse);
  bool take_range(TurnSource& source, const Av& iterable);
  Av item(const TurnSources& sources, const Av& iterable, ValueId number, size_t* source);
  Av item_of(const TurnSource& source, ValueId number);
};

}  // namespace tsc::interp
