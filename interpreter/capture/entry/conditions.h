#pragma once
// What holds at every entry: conditions on entry values, and what each number is in this call when it follows from
// entry values alone (its hint). A branch on such a number is decided now, and the condition is tested when the region
// is entered. Owns the conditions, the hints and what is known of sizes; must not know operations (size_checks.h).
// Defined in conditions.cpp, program/recorded.cpp, size_marks.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Conditions : private Room {
 public:
  explicit Conditions(const Rooms& rooms) : Room(rooms) {}
  // Between -most and most.
  bool assume_within(ValueId number, int64_t most);
  bool assume_nonnegative(ValueId size);
  bool assume_below(ValueId low, ValueId high);
  bool is_never_negative(ValueId number) const;
  // A scalar of the region, folded where it is known.
  ValueId combined(jit::ScalarOp op, ValueId a, ValueId b);
  // Conditions on entry values; `hint` true now. False when the value is not derived from entry values.
  bool assume_at_entry(ValueId condition);
  // Whether both are sizes of tensors that come in.
  bool are_input_sizes(ValueId a, ValueId b) const;
  // The value a scalar has in this call, when it follows from entry values alone.
  std::optional<Scalar> hint(ValueId id);
  void set_hint(ValueId id, Scalar now) { hints_[id] = now; }
  void set_nonnegative(ValueId size) { nonnegative_.insert(size); }
  // Of a tensor whose size only the run knows: no tensor has more elements than memory has bytes.
  void set_found_size(ValueId size) { set_bound(size, kMostElements); }
  // The number is at most that far from 0.
  void set_bound(ValueId number, int64_t most) { bounds_[number] = most; }
  void add_input_size(ValueId size, int64_t now) {
    hints_[size] = Scalar::of_int(now);
    input_sizes_.insert(size);
    nonnegative_.insert(size);
  }
  // The same for the records of repeated calls, which must not record the question.
  std::optional<Scalar> find_hint(ValueId id);
  // size_marks.cpp: what the program says of sizes.
  void take_size_marks(TensorObject* tensor, ValueId id);
  std::vector<std::string> broken_size_marks() const;
  // Puts the conditions in front of the region.
  void check_at_entry();

 private:
  static constexpr int64_t kMostElements = int64_t{1} << 47;
  bool stays_nonnegative(const jit::Instruction& scalar) const;
  // Whether it is between -most and most for what it is computed from.
  bool is_bounded(ValueId number, int64_t most) const;
  std::optional<int64_t> bound(ValueId number) const;
  void note_bound(const jit::Instruction& scalar);
  bool condition_holds(ValueId condition);
  bool is_nonnegative_at_entry(ValueId size);

  jit::ValueSet holding_;        // Bool values that hold at every entry
  jit::ValueSet input_sizes_;    // sizes of tensor inputs
  jit::ValueMap<Scalar> hints_;  // of scalars that follow from entry values
  size_t hints_seen_ = 0;
  jit::ValueMap<int64_t> bounds_;  // what found sizes, and what is computed from them, are at most without their sign
  jit::ValueSet nonnegative_;      // sizes, and scalars made of them that stay so
  // Sizes that must not be assumed to be one number, and what they are called.
  std::vector<std::pair<ValueId, std::string>> marked_sizes_;
  std::vector<std::string> violations_;
};

}  // namespace tsc::interp
