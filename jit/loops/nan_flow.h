#pragma once
// What a nan does to a row. Knows kernel programs only.
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

// True for the largest element R of a row of which the program makes nothing but a softmax: exponentials
// E = exp(x - R), their sum S, and E / S. A nan among the x then makes S a nan, and with it every E / S, whether or
// not R is one too: R may leave nan out, which makes finding it shorter. `reduce` is an amax of float32 or float64.
bool is_softmax_maximum(const KernelProgram& program, const NestInstruction& reduce);

}  // namespace tsc::jit
