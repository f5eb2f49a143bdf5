#pragma once
// Writes to the elements of tensors and to `.grad`. Each makes a new version of the tensor (its root, when it is a
// view); memory is written when somebody may look: in front of host code, of what may raise, and when the region is
// left. Owns the list of what is out of date. Must not know which operation wrote. Defined in writes.cpp,
// program/recorded.cpp.
#include <unordered_map>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Writes : private Room {
 public:
  explicit Writes(const Rooms& rooms) : Room(rooms) {}
  // target[...] = value, with broadcasting.
  void assign(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history = WriteHistory::Take);
  // Breaks where a write would be seen in another way than the interpreter shows it.
  void check_writable(VTensor& root);
  // `.grad = value`.
  void set_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value);
  // Memory of written inputs, and `.grad`, are brought up to date.
  void flush_writes();
  // The same where the region is left: a gradient with a history is set then.
  void flush_leaving() { write_back_all(true); }
  // What inputs and their views are after writes, and not what was copied into them: the value, and the input's source.
  std::unordered_map<ValueId, uint32_t> versions_of_inputs() const;
  // The tensor has the elements that a loop has left.
  void note_version(const VTensor& root) {
    if (root.input != kNoValue) versions_of_inputs_[root.id] = root.source;
  }
  // Whether some `.grad` is out of date.
  bool has_waiting_gradients() const { return !grad_dirty_.empty(); }

 private:
  bool may_be_saved(ValueId elements) const;
  bool shows_leaf(const VTensor& root) const;
  void take_views_anew(VTensor& root);
  void add_written(uint32_t source);
  void check_histories(VTensor& target, const VTensor& taken, bool is_part);
  void write_elements(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history);
  void replace_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value);
  void write_back_all(bool leaving);

  std::vector<std::shared_ptr<VTensor>> dirty_;  // inputs whose memory is out of date
  std::unordered_map<ValueId, uint32_t> versions_of_inputs_;
  std::vector<std::shared_ptr<VTensor>> grad_dirty_;  // host tensors whose .grad is out of date
};

}  // namespace tsc::interp
