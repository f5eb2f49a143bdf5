#pragma once
// Operations of a region do not fail on their sizes. The reference inference decides with the sizes of this call; what
// does not follow from the shapes for other calls becomes a condition at entry. Defined in size_checks.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class SizeChecks : private Room {
 public:
  explicit SizeChecks(const Rooms& rooms) : Room(rooms) {}
  // In front of an operation: it breaks, raises at its place, or its sizes fit at every entry.
  void check_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                   const OpAttributes& attributes);
  // What needs more than 64 bits the interpreter makes.
  void check_overflow(jit::ScalarOp op, std::span<const ValueId> operands);

 private:
  bool assume_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                    const OpAttributes& attributes);
  bool assume_inside(ValueId size, std::span<const ValueId> slice);
  bool assume_windows(Op op, std::span<const ValueId> scalars);
  bool assume_cropped(ValueId size, ValueId low, ValueId high);
  bool assume_index_fits(ValueId tensor, ValueId index, int64_t axis);
  bool sizes_fit(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                 const OpAttributes& attributes);
};

}  // namespace tsc::interp
