#pragma once
// The drivers behind run_op, one a family. Each checks its operands fully.
#include "runtime/kernels/run_op.h"

namespace tsc {

// The operands of one call.
struct OpCall {
  Op op;
  std::span<const Tensor> tensors;
  std::span<const Scalar> scalars;
  const OpAttributes& attributes;
};

OpResults run_elementwise(const OpCall& call);
OpResults run_create(const OpCall& call);
OpResults run_view(const OpCall& call);
OpResults run_move(const OpCall& call);
OpResults run_index(const OpCall& call);
OpResults run_reduce(const OpCall& call);
OpResults run_scan(const OpCall& call);
OpResults run_sort(const OpCall& call);
OpResults run_running_extreme(const OpCall& call);  // the family's cummax and cummin
OpResults run_contract(const OpCall& call);
OpResults run_window(const OpCall& call);

// Inference from tensors (the drivers' first step).
Sizes infer_sizes(const OpCall& call);
DType infer_dtype(const OpCall& call, int index = 0);
// A fresh tensor for result 0.
Tensor empty_result(const OpCall& call);

// A contiguous tensor with the elements of x: x itself when it is contiguous already.
Tensor contiguous(const Tensor& x);
// Always a fresh copy.
Tensor copy_of(const Tensor& x);
// Fills a contiguous range with one element given by its bytes.
void fill_elements(std::byte* out, const std::byte* element, int64_t element_size, int64_t count);
// The scalar converted to the dtype by the rules of `cast`, as an element's bytes.
void scalar_to_element(const Scalar& scalar, DType dtype, std::byte* element);

}  // namespace tsc
