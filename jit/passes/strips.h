#pragma once
// Attention's shape: matrix product, row kernel, matrix product. The three become one Kernel instruction, which
// runs strip by strip (runtime/kernels/matmul_strips.h): what lies between the products never is in memory.
// The instruction's block holds all the ops, so running the block gives the same bits.
// Knows regions and lowered kernels; must not know strides.
#include "jit/passes/lower.h"

namespace tsc::jit {

// Joins where the kernel alone reads the first product, the second alone reads the kernel, and both have the same
// rows. Kernels keep their numbers.
void join_strips(Region& region, std::vector<LoweredKernel>* kernels);

}  // namespace tsc::jit
