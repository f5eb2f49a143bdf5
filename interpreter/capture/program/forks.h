#pragma once
// Branches on what only the run knows, both ways of which belong to the region: an `If`. The way on which the condition
// holds is followed first, up to where the two ways meet or the function returns, then the other one, from the same
// state. What differs where they meet, variables and what the function returns, becomes results of the If: numbers,
// tensors of one dtype and rank, and tuples and lists of those. A way that does anything else that lasts (it acts on
// the host, changes an object that was there before, leaves the region) is found out on the
// way: capture starts again, and the branch ends the region (or is guessed, see guesses.h). A tensor that is made on
// one way and was there before on the other may have the memory of that one: as soon as one of them is written or
// compared by identity, capture starts again as well. Where it leaves the region, a recipe says which object it is
// (VTensor::same_as). Owns the open branches and the tensors that share memory in this way. Must not know what an
// instruction means.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Forks : private Room {
 public:
  explicit Forks(const Rooms& rooms) : Room(rooms) {}
  // The current instruction, a jump by that condition, begins an If: what follows is the way on which it holds. False:
  // this branch cannot.
  bool begin(const Av& condition);
  bool is_open() const { return !open_.empty(); }
  // In front of every instruction: a way may be at its end.
  void check_place() {
    if (is_open()) check_ends();
  }
  // The innermost frame returns that. False: the other way of a branch is to be followed, and nothing has returned yet;
  // true: `result` is what it returns on either way.
  bool take_return(Av* result) { return !is_open() || take_ends(result); }
  // In front of every change of a virtual object.
  void note_change(const Virtual& object) {
    if (is_open() || !shared_.empty()) note(object);
  }
  // Somebody asks whether two tensors are one object.
  void note_identity(const Virtual& a, const Virtual& b) {
    if (!shared_.empty() && &a != &b) compare(a, b);
  }
  // The tensor leaves the region, and no recipe says which of two it is; or somebody asks for more than its elements.
  void note_escape(const Virtual& object) {
    for (const Shared& pair : shared_)
      if (pair.one.get() == &object) refuse(pair.place, kWasThere);
  }
  [[noreturn]] void abandon(std::string why);  // the innermost branch
  // All branches of the region that are Ifs end it from now on. Does nothing where there are none.
  void give_up(std::string why);
  // Why the branch could not be an If; null: nobody knows.
  const std::string* refusal(const CodeObject* code, uint32_t pc) const;

 private:
  static constexpr uint32_t kReturn = ~0u;
  static constexpr const char* kWasThere = "on one of its ways a variable is a tensor that was there before";
  struct Fork;
  // A tensor and the one whose memory it may have.
  struct Shared {
    LoopPlace place;
    VirtualRef one, other;
  };

  bool may_begin(const LoopPlace& place) const;
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
  static std::span<const VTensor::SameAs> own_choice(const Fork& fork, const VTensor& tensor);
  static bool is_own(const Fork& fork, VTensor& tensor);
  bool is_known_outside(const Fork& fork, const VTensor& tensor) const;
  void share(const Fork& fork, VTensor& one, Virtual& other);
  void note(const Virtual& object);
  void note_shared(const Virtual& object);
  void compare(const Virtual& a, const Virtual& b);
  [[noreturn]] void refuse(const LoopPlace& place, std::string why);

  std::vector<std::shared_ptr<Fork>> open_;  // outermost first
  std::vector<LoopPlace> closed_;            // branches that are Ifs of the region
  std::vector<Shared> shared_;
};

}  // namespace tsc::interp
