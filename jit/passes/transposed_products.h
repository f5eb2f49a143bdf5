#pragma once
// A product that is only read transposed, as the gradient of a transposed weight is, is made the other way round:
// (a @ b)' = b' @ a'. What wants it in row-major memory needs no copy then, and what reads it may join it in one
// kernel. Each element keeps its bits: it is the same chain of multiply-adds, whose factors change places. The strides
// change; gradients are handed to scripts in row-major memory anyway (in_row_order of tape.h).
#include "jit/region/region.h"

namespace tsc::jit {

// Expects a region without dead code. Returns whether it changed anything.
bool turn_transposed_products(Region& region);

}  // namespace tsc::jit
