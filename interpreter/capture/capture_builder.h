#pragma once
// What appends to the region that is captured. It asks capture when two sizes must be equal, which becomes a condition
// at entry, and where in the program an instruction comes from. What is asked of it and made with it is a step of the
// record of a repeated call (recorded.cpp).
#include "interpreter/capture/abstract.h"
#include "jit/region/builder.h"

namespace tsc::interp {

class Capture;

class CaptureBuilder final : public jit::RegionBuilder {
 public:
  CaptureBuilder(jit::Region& region, Capture& capture) : RegionBuilder(region), capture_(capture) {}
  ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
             int result = 0) override;
  ValueId scalar(jit::ScalarOp op, std::span<const ValueId> operands) override;
  std::optional<int64_t> known_int(ValueId scalar) const override;
  std::optional<Scalar> known(ValueId scalar) const;
  bool known_equal(ValueId a, ValueId b) const;
  void assume_equal(ValueId a, ValueId b);
  bool require_equal(ValueId a, ValueId b) override;
  ValueId read(ValueId tensor, jit::ValueKind kind);

 private:
  uint32_t find_origin() override;
  [[noreturn]] void value_is_gone() override;
  Capture& capture_;
};

}  // namespace tsc::interp
