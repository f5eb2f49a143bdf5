#pragma once
// Branches on what only the run knows, both ways of which belong to the region: an `If`. The way on which the condition
// holds is followed first, up to where the two ways meet or the function returns, then the other one, from the same
// state. What differs where they meet, variables and what the function returns, becomes results of the If: numbers,
// tensors of one dtype and rank, and tuples and lists of those. A way that does anything else that lasts (it acts on
// the host, changes an object that was there before, leaves the region) is found out on the
// way: capture starts again, and the branch ends the region (or is guessed, see guesses.h). Elements of a tensor that
// was there before may be written, where no gradient needs them. A tensor that is made on one way and was there before
// on the other may have the memory of that one (shared_memory.h); where it leaves the region, a recipe says which
// object it is (VTensor::same_as). Owns the open branches. Must not know what an instruction means.
#include <array>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Forks : private Room {
 public:
  explicit Forks(const Rooms& rooms) : Room(rooms) {}
  // The current instruction, a jump by that condition, begins an If: what follows is the way on which it holds. False:
  // this branch cannot.
  bool begin(const Av& condition);
  // Where all ways out of a loop meet, of which `sides` are where a turn begins and where it goes on without.
  static std::optional<uint32_t> join_of_loop(const CodeObject& code, uint32_t head, std::array<uint32_t, 2> sides);
  // An If begins whose first way is the rest of a loop (while_loops.h), which goes on at `exit` without.
  bool begin_turn(const LoopPlace& place, ValueId goes_on, uint32_t join, uint32_t exit);
  bool may_begin(const LoopPlace& place) const;
  bool is_open() const { return !open_.empty(); }
  size_t open_count() const { return open_.size(); }
  // In front of every instruction: a way may be at its end.
  void check_place() {
    if (is_open()) check_ends();
  }
  // The innermost frame returns that. False: the other way of a branch is to be followed, and nothing has returned yet;
  // true: `result` is what it returns on either way.
  bool take_return(Av* result) { return !is_open() || take_ends(result); }
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) {
    if (is_open()) note(object);
  }
  // In front of every write to the elements of a tensor.
  void note_write(VTensor& tensor) {
    if (is_open()) note_written(tensor);
  }
  [[noreturn]] void abandon(std::string why);                         // the innermost branch
  [[noreturn]] void refuse(const LoopPlace& place, std::string why);  // to be an If, from now on
  // All branches of the region that are Ifs end it from now on. Does nothing where there are none.
  void give_up(std::string why);
  // Why the branch could not be an If; null: nobody knows.
  const std::string* refusal(const CodeObject* code, uint32_t pc) const;

 private:
  static constexpr uint32_t kReturn = ~0u;
  struct Fork;
  struct Written;

  void open(const LoopPlace& place, ValueId holds, uint32_t join, uint32_t other);
  void check_ends();
  bool take_ends(Av* result);
  void end_way(const Av& result);
  void keep_first(Fork& fork, const Av& result);
  void note_elements(Fork& fork, const Av& av);
  Av join(const Av& result);
  void collect(Fork& fork, const Av& a, const Av& b);
  void collect_tensor(Fork& fork, VTensor& a, VTensor& b);
  const std::vector<Av>* items_of(const Fork& fork, const Av& av) const;
  Av joined(Fork& fork, const Av& a, const Av& b, std::span<const ValueId> results, size_t* next);
  bool is_inside(ValueId id) const;
  void end_histories(const Fork& fork, std::span<const ValueId> results);
  std::shared_ptr<VTensor> joined_tensor(const Fork& fork, VTensor& a, VTensor& b, std::span<const ValueId> results,
                                         size_t* next);
  bool name_outside(const Fork& fork, VTensor& side, ValueId condition, std::span<const ValueId> conditions,
                    std::vector<VTensor::SameAs>* names) const;
  static void note_root(Fork& fork, const VTensor& tensor, VTensor& its);
  static std::span<const VTensor::SameAs> own_choice(const Fork& fork, const VTensor& tensor);
  static bool is_own(const Fork& fork, VTensor& tensor);
  bool is_known_outside(const Fork& fork, const VTensor& tensor) const;
  void note(const Virtual& object);
  void note_written(VTensor& tensor);
  ValueId count_writes(const Written& one) const;
  void put_back_written(Fork& fork);
  void collect_written(Fork& fork);
  void join_written(const Fork& fork, std::span<const ValueId> results);

  std::vector<std::shared_ptr<Fork>> open_;  // outermost first
  std::vector<LoopPlace> closed_;            // branches that are Ifs of the region
};

}  // namespace tsc::interp
