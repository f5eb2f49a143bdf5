#pragma once
// What the scalar instructions of a region compute: Python's arithmetic on 64-bit ints, floats and
// bools, with Python's errors. One definition for constant folding, the executor and the plan runner.
// Knows no region.
#include <span>

#include "jit/region/region.h"

namespace tsc::jit {

// Raises OverflowError, ZeroDivisionError or ValueError as Python does.
Scalar eval_scalar(ScalarOp op, std::span<const Scalar> operands);

// The kind of the result, or InternalFault when the operand kinds do not fit.
ValueKind scalar_result_kind(ScalarOp op, std::span<const ValueKind> operands);
int scalar_operand_count(ScalarOp op);

// False when the operation cannot raise, whatever the operands' values.
bool scalar_may_raise(ScalarOp op, ValueKind operand);

inline ValueKind kind_of(const Scalar& scalar) {
  return scalar.kind == Scalar::Kind::Int     ? ValueKind::Int
         : scalar.kind == Scalar::Kind::Float ? ValueKind::Float
                                              : ValueKind::Bool;
}

// Same kind and same bits.
inline bool identical(const Scalar& a, const Scalar& b) { return a.kind == b.kind && a.i == b.i; }

}  // namespace tsc::jit
