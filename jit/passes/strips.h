#pragma once
// Attention's shape: matrix product, row kernel, matrix product. The three become one Kernel instruction, which
// runs strip by strip (runtime/kernels/matmul_strips.h): what lies between the products never is in memory, or is
// written there once, if others read it: the weights that a backward needs.
// The backward of such a kernel has a third product, which multiplies by the weights from the left; it joins too.
// The instruction's block holds all the ops, so running the block gives the same bits.
// Knows regions and lowered kernels; must not know strides.
#include "jit/passes/lower.h"

namespace tsc::jit {

// Joins where the kernel alone reads the first product, both products have the same rows, and what reads the
// results can wait for the last of them. After plan_in_place(). Kernels keep their numbers.
void join_strips(Region& region, std::vector<LoweredKernel>* kernels);

}  // namespace tsc::jit
