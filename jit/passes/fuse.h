#pragma once
// Fusion: gathers ops of a straight-line region into kernels, one Kernel instruction each. The instruction
// holds its ops as a nested block, so running the block over the reference kernels gives the same bits as
// the compiled kernel: that is the fallback and the test.
//
// A group has one iteration space, the sizes S of its elements, and an optional split k: S[:k] are rows,
// S[k:] is what one row reduces over. Members are Element values (sizes S), Row values (sizes S[:k], then
// ones or nothing) and Uniform values (one number). Reductions over the leading axes are column groups of
// one op. An op joins a group of one of its producers when the spaces agree and no path leaves the group and
// comes back.
// Knows regions; must not know kernel programs, LLVM or strides.
#include <vector>

#include "jit/region/region.h"

namespace tsc::jit {

struct KernelShape {
  ValueList sizes;      // S
  int split = -1;       // k; -1: no row reduction in it
  bool column = false;  // reduces over S[:k] instead
};

// Returns the shape of every Kernel instruction, by its `id`. Bodies of loops are regions of their own by
// then (outline.h); regions with If are left alone.
std::vector<KernelShape> fuse(Region& region);

// True when kernels can compute the op on that dtype (integer division may raise: it stays outside).
bool is_fusable(Op op, DType dtype);

}  // namespace tsc::jit
