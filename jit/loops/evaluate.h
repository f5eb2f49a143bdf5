#pragma once
// Runs a kernel program one element at a time with the reference kernels' own element functions:
// the oracle of code generation. Slow and literal. Knows programs and the kernel table; must not
// know LLVM.
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

// The arguments of a KernelFunction; scratch rows are its own.
void evaluate(const KernelProgram& program, const OperandArgument* operands, const int64_t* parameters, int64_t rows,
              int64_t cols);

}  // namespace tsc::jit
