#pragma once
// What happens before an elementwise primitive: PyTorch's promotion of tensors and script numbers to one
// dtype. Shared by the eager path and by capture, so that both refuse and convert the same things.
// Knows dtypes and the op table only.
#include <optional>
#include <span>

#include "interpreter/value/operators.h"
#include "runtime/ops/op.h"

namespace tsc::interp {

// PyTorch's three priorities of operands: a script number yields to a 0-d tensor, which yields to a
// tensor with dimensions, unless its category (bool < integer < float) is higher.
struct ElementwiseOperand {
  enum class Level : uint8_t { Number, ZeroDim, Dimensioned } level = Level::Dimensioned;
  DType dtype = DType::F32;  // of a number: Bool, I64, or the default dtype for floats
};

// torch.result_type over the operands.
DType result_dtype(std::span<const ElementwiseOperand> operands);

// The dtype in which `op` computes: all its operands are cast to it (select: the last two).
// `identity` is set when the op does nothing on that dtype (floor of integers).
DType compute_dtype(Op op, std::span<const ElementwiseOperand> operands, DType default_dtype, bool* identity);

// Products and quotients of float16 and bfloat16 are computed in float32 and rounded once. An operand that is one
// number (a script's, or the only element of a second operand of another dtype) takes part as it is, not rounded to the
// dtype first, as in PyTorch's kernels for the CPU; sums, comparisons and all others round it. Gives that operand's
// number, or nothing: the op and its operands' dtypes know none. That a tensor with dimensions has one element is for
// the caller to find out.
std::optional<size_t> unrounded_operand(Op op, std::span<const ElementwiseOperand> operands, DType dtype);
// Whether float16 or bfloat16 holds the number exactly, so that rounding it changes nothing.
bool holds_exactly(DType dtype, const Scalar& number);

// The largest number of a floating dtype.
double largest_number(DType dtype);
// Whether a script number can be written as an element of dtype: integers hold no nan and nothing beyond their
// range, floats no finite number beyond theirs; an unsigned one takes a negative int and wraps.
bool fits_dtype(DType dtype, const Scalar& number);
void check_number(DType dtype, const Scalar& number);  // RuntimeError where it cannot
[[noreturn]] void refuse_number(DType dtype);          // that error, which names the dtype as C++ does

// Script operator -> primitive; empty where the operator is a library function (@, **).
struct OperatorPrimitive {
  bool exists = false;
  Op op = Op::add;
  bool swapped = false;     // gt is lt with its operands swapped
  bool reciprocal = false;  // the right operand's reciprocal takes its place
};
// number / tensor is the number times the reciprocal, as in PyTorch: backward() needs the reciprocal, neither the
// tensor nor the result.
OperatorPrimitive primitive_of(BinaryOp op, bool number_on_left = false);
OperatorPrimitive primitive_of(CompareOp op);

}  // namespace tsc::interp
