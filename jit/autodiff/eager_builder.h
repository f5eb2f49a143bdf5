#pragma once
// OpBuilder that runs primitives at once over reference kernels, recording them on the tape when a
// gradient of the gradient is wanted. One builder lives for one application of a gradient rule.
// Knows run_op and the tape; no region.
#include <deque>

#include "jit/autodiff/tape.h"
#include "jit/region/builder.h"

namespace tsc::jit {

class EagerBuilder final : public OpBuilder {
 public:
  explicit EagerBuilder(bool record) : record_(record) {}

  ValueId add(TapeTensor tensor);
  // A tensor of which only the shape is known: reading its elements is a fault of the rule.
  ValueId add_shape(DType dtype, const Sizes& sizes);
  ValueId add(const Scalar& scalar);
  const TapeTensor& tensor(ValueId id) const;

  ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
             int result = 0) override;
  ValueId constant(int64_t value) override { return add(Scalar::of_int(value)); }
  ValueId constant(double value) override { return add(Scalar::of_float(value)); }
  ValueId scalar(ScalarOp op, std::span<const ValueId> operands) override;
  ValueId size(ValueId tensor, int axis) override;
  int rank(ValueId tensor) const override;
  DType dtype(ValueId tensor) const override { return items_[tensor].dtype; }
  ValueId fill(ValueId value, std::span<const ValueId> sizes, DType dtype) override;
  std::optional<int64_t> known_int(ValueId scalar) const override;

 private:
  struct Item {
    bool is_scalar = false;
    Scalar scalar;
    DType dtype = DType::F32;
    Sizes sizes;
    TapeTensor value;  // undefined tensor: shape only
  };
  ValueId add_item(Item item);

  std::deque<Item> items_;
  bool record_;
  Place place_;  // where the tensors among them lie: what is filled lies there too
};

}  // namespace tsc::jit
