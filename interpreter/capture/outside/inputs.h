#pragma once
// What a call brings: entry sources, from which a later call fetches its values and by which it is compared, and the
// region's inputs made of them. Numbers become registers, tensors become tensor inputs, and what remains is known by
// identity or goes to structures.h. Owns the tensors that came in. Defined in loads.cpp, exits/exits.cpp, outside.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Inputs : private Room {
 public:
  explicit Inputs(const Rooms& rooms) : Room(rooms) {}
  // A value found at `source`, whose content may differ at the next entry: an input, parts, or a constant by identity.
  Av load_value(const Value& v, EntrySource source);
  Av tensor_constant(const Tensor& tensor);  // a new tensor with these elements at each run
  // The input that this script tensor is already; null: none.
  const Av* input_of(Object* tensor) const {
    const auto found = tensor_objects_.find(tensor);
    return found == tensor_objects_.end() ? nullptr : &found->second;
  }
  const std::vector<std::shared_ptr<VTensor>>& tensor_inputs() const { return tensors_in_; }
  // One that came in before is the same tensor.
  Av tensor_input(TensorObject* tensor, uint32_t source);
  // What is assumed to stay where it was found: a tensor that is always this one, or a constant.
  Av known_by_identity(const Value& now);
  uint32_t add_source(EntrySource source);
  // Whether a tensor of this place may take part: all of a region lie in one.
  bool lies_with_others(Place place);
  // One that is written may share its memory with no other that is read; else capture starts again.
  void check_memory();

 private:
  // What the region knows its plan would keep alive.
  void refuse_end(const Value& v);
  Av add_input(uint32_t source, EntrySource::Check check, const Value& now);

  std::unordered_map<Object*, Av> tensor_objects_;    // host tensors already inputs
  std::vector<std::shared_ptr<VTensor>> tensors_in_;  // in the order of the inputs
};

}  // namespace tsc::interp
