#pragma once
// Runs one primitive with its reference kernel: the oracle of every compiled kernel, and the eager path.
// Allocates the results, except that View ops return views where the layout allows. Inputs may have any
// strides. Fully checked: wrong dtypes, shapes, indices raise tsc::Error.
// Where an operand is a meta tensor nothing is computed: the result is a meta tensor of the sizes, dtype and strides
// that it would have. NotImplementedError where only the elements tell the size. Where one lies on a device the result
// does, and is computed later (runtime/device/backend.h); operands of the host are then no more than numbers or
// indices. Knows tensors and the op table; no graph, no autograd.
#include <span>

#include "runtime/base/small_vector.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/tensor.h"

namespace tsc {

struct OpResults {
  Tensor first, second;  // `second` only for ops with two results (sort)
};

OpResults run_op(Op op, std::span<const Tensor> tensors, std::span<const Scalar> scalars,
                 const OpAttributes& attributes);

// Writes the elements of `source` (same sizes and dtype) into `target` through its strides.
// Exact when the two overlap (as if source were copied first).
// A meta target takes anything; out of a meta source there is nothing to copy: NotImplementedError.
// Between places it is a transfer.
void copy_into(const Tensor& target, const Tensor& source);

// A Create op at a place of the calling engine.
Tensor create_at(Place place, Op op, std::span<const Scalar> scalars, const OpAttributes& attributes);

// x where it is, or a copy elsewhere, with x's strides where these leave no gaps.
Tensor moved_to(const Tensor& x, Place place);

// RuntimeError in PyTorch's words for operands of two places.
[[noreturn]] void refuse_places(Place a, Place b);

// NotImplementedError in PyTorch's words if x is a meta tensor, whose elements nobody can have.
void refuse_meta_copy(const Tensor& x);

}  // namespace tsc
