#pragma once
// The fourth edit of a primitive: its emitter. One row an elementwise op; each emits the IR of the
// scalar function of the same name in runtime/kernels/scalar_ops.h, with its edge behaviour and
// without an instruction that can trap or be undefined for any operand. Knows Lanes and the op
// table; must not know programs.
#include <span>

#include "jit/codegen/lanes.h"
#include "jit/loops/kernel_program.h"
#include "runtime/ops/op.h"

namespace tsc::jit {

// `dtype` is that of the value operands, never a small float: apply_op computes those in f32 and rounds once.
using EmitFunction = Ir (*)(const Lanes& lanes, DType dtype, Ir x, Ir y, Ir z);

struct OpEmitter {
  Op op;
  EmitFunction emit;
};

std::span<const OpEmitter> op_emitters();
const OpEmitter* find_op_emitter(Op op);

// Applies an elementwise op, casts included. `from` is the dtype of the value operands.
Ir apply_op(const Lanes& lanes, Op op, DType from, DType to, std::span<const Ir> inputs);

// How a reduction accumulates: sums and products in their own dtype, the extremes of floats as
// integers in the same order (-0 below +0, nan beyond everything), which makes a step one
// instruction. Where a nan shows in any case (jit/loops/nan_flow.h), the largest float is found as a float: nan may get
// lost, and any zero stands for both.
struct Accumulation {
  Reduction reduction;
  DType input;
  bool may_lose_nan = false;  // an amax of F32 or F64
  DType dtype() const;        // of the accumulators, as values and in memory
  Ir enter(const Lanes& lanes, Ir x) const;
  Ir combine(const Lanes& lanes, Ir x, Ir y) const;
  Ir identity(const Lanes& lanes) const;
  Ir leave(const Lanes& lanes, DType to, Ir accumulator) const;
  bool ordered_as_integers() const;
};

// The functions of runtime/kernels/scalar_math.h (op_emitters_math.cpp).
std::span<const OpEmitter> math_emitters();

}  // namespace tsc::jit
