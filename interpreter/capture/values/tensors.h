#pragma once
// Tensors of the region: from abstract values to region values, and operations on them appended to the region. A tensor
// is its newest version; a view of something that was written since is made again when it is used. Must not know
// natives or instructions. Defined in tensors.cpp, program/recorded.cpp, sequences.cpp, written/writes.cpp.
#include <map>

#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Tensors : private Room {
 public:
  explicit Tensors(const Rooms& rooms) : Room(rooms) {}
  std::shared_ptr<VTensor> share_tensor(const Av& av);  // breaks when av is no tensor
  // The number that an operation fills with.
  ValueId fill_value(const Av& av, size_t position, Op op);
  // Leaves where the interpreter refuses the number, or may.
  void check_written(const Av& number, DType dtype);
  bool fits_at_entry(const Av& number, DType dtype);
  // Null: it is none.
  VTensor* tensor_of(const Av& av);
  ValueId current(VTensor& tensor);  // newest version, views replayed
  // The mode of a reshape whose operand nobody sees any more: its result is no view.
  static constexpr int kNoView = 1;
  // Appends the operation to the region; the result is a tensor. Where it has no operands the program makes it here.
  Av emit(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
          int result = 0);
  std::pair<Av, Av> emit_pair(Op op, const Av& tensor, const OpAttributes& attributes);
  Av elementwise(Op op, std::span<const Av> operands);  // Undefined when an operand fits not
  // item(): a number that only the run knows, or of a constant tensor.
  Av read_item(VTensor& tensor);
  // A tensor for a value of the region.
  Av new_tensor(ValueId id, bool requires_grad);
  Av filled(const Av& number, DType dtype);
  Av cast_to(const Av& tensor, DType dtype);  // the tensor itself where it has that dtype
  // A contiguous copy that may share memory with the tensor if that is contiguous after all.
  Av copied(const Av& av);
  Place place_of_created();  // of a tensor that the program makes here; leaves where that is not where the others lie
  // Of the current device, which is another one in no call of the region.
  int device_number() { return plan_.device_number.emplace(current_device().current_backend); }
  Av place() const { return Av::constant(Value::integer(plan_.place.value_or(Place()).code())); }  // where they all lie
  std::pair<ValueId, ValueId> rng_offset();                                                        // seed, offset
  // Its parts along the first axis.
  std::vector<Av> unbind(const Av& av, VTensor& tensor);

 private:
  void reduction_may_raise(ValueId tensor, const OpAttributes& attributes);
  bool may_raise(Op op, std::span<const ValueId> tensors) const;
  // What those of the functions above do that are recorded (recorded.cpp).
  Av emit_op(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
             int result);
  std::pair<Av, Av> emit_op_pair(Op op, const Av& tensor, const OpAttributes& attributes);
  Av emit_elementwise(Op op, std::span<const Av> operands);
  Av emit_placed(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
                 int result = 0);  // lies where the others lie
  Av number_like(const Av& number, std::span<const Av> tensors, DType dtype);
  bool is_one_number(const Av& operand, DType dtype);
  bool has_one_element(VTensor& tensor);
  std::pair<ValueId, ValueId> advance_rng();
  void note_found_size(Op op, ValueId of, ValueId found);

  std::map<std::pair<Op, ValueId>, ValueId> found_sizes_;  // sizes that depend on elements, by the tensor
};

}  // namespace tsc::interp
