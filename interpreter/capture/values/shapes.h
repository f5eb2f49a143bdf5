#pragma once
// Sizes of tensors as values of the region: shapes, broadcasting, layouts. That a size is one or that two are equal is
// assumed at entry (conditions.h).
// Defined in shapes.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Shapes : private Room {
 public:
  explicit Shapes(const Rooms& rooms) : Room(rooms) {}
  // Whether a reshape of row-major elements shares their memory.
  bool reshape_is_view(const jit::ValueList& from, std::span<const ValueId> to);
  Av shape_of(VTensor& tensor);
  // To the shape of them all.
  void broadcast_together(std::vector<Av>& operands);
  Av broadcast_to(const Av& av, const std::vector<ValueId>& sizes);
  Av expand(const Av& av, const std::vector<ValueId>& sizes);
  // For every entry; nothing: it depends.
  std::optional<bool> is_row_major(const VTensor& tensor);
  // In this call, assumed of every other.
  bool is_row_major_now(const VTensor& tensor);
  // The axes from the outermost to the innermost in memory, at every entry; nothing: it depends.
  std::optional<Sizes> memory_order(const VTensor& tensor);
  // A reshape of `of` that shares its memory, whatever the layout.
  bool is_reshaped_view(const VTensor& view, const VTensor& of);
  void assume_size_one(ValueId size, ValueId other);
  // Whether both have one shape now; it is assumed of every other entry then.
  bool assume_same_sizes(ValueId a, ValueId b);

 private:
  std::optional<bool> keeps_order(jit::ValueList sizes, const Sizes& order);
  std::optional<bool> slice_keeps_order(jit::ValueList sizes, const VirtualView& view);
  std::optional<Sizes> order_through_views(const VTensor& tensor);
  std::vector<ValueId> broadcast_sizes(std::span<const Av> operands);
};

}  // namespace tsc::interp
