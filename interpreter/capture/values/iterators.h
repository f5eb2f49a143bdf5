#pragma once
// Iteration: iterators over anything, those whose items are made when they are asked for, and the items of a whole
// iterable. Defined in sequences.cpp, program/nested.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Iterators : private Room {
 public:
  explicit Iterators(const Rooms& rooms) : Room(rooms) {}
  ~Iterators();
  // An iterator whose items are made when they are asked for.
  std::shared_ptr<VIterator> make_lazy(VIterator::Form form);
  // The items of a list, tuple, range, dict keys, iterator...; breaks when they are not known.
  std::vector<Av> items_of(const Av& iterable);
  // iter().
  Av iterate(const Av& iterable);
  // The same of what another iterator goes over: the numbers of a range and the rows of a tensor are made when the
  // first is asked for, as a loop over them may be one of the region (program/rolled_loops.h).
  Av iterate_later(const Av& iterable, bool reverse = false);
  // False: it has ended.
  bool next(VIterator& iterator, Av* out);
  void begin(VIterator& iterator, const Av& av, bool reverse = false);
  // What the class of a native one is called with to make it where the region ends; nothing where no such call is
  // known.
  std::optional<std::vector<Av>> arguments_of(const VIterator& iterator);
  // The iterators that a native one takes its items from.
  std::vector<const VIterator*> sources_of(const VIterator& iterator);
  // Of zip and enumerate what stands side by side in their items.
  struct Rows {
    std::vector<const Av*> iterators;
    std::optional<int64_t> count;
  };
  std::optional<Rows> rows_of(const VIterator& iterator);
  void keep(const std::shared_ptr<StandIns>& run) { runs_.push_back(run); }
  // An iterator made here outlives the region: the next capture leaves in front of the instruction that made it.
  [[noreturn]] void refuse_making(const VIterator& iterator);

 private:
  bool next_live(VIterator& iterator, Av* out);
  bool next_item(VIterator& iterator, Av* out);
  std::vector<Av> range_items(const Av& start, const Av& stop, const Av& step);

  std::vector<std::weak_ptr<StandIns>> runs_;  // of native iterators
};

}  // namespace tsc::interp
