#pragma once
// The product of a few rows with a matrix whose columns are the contiguous ones, as matmul() runs it, or of a matrix of
// contiguous rows with one column: the matrix is read once, in place, and nothing is packed. The same chains, so the
// same bits. Knows raw memory only.
#include "runtime/kernels/matmul.h"

namespace tsc {

struct Device;

// The most rows of such a product: of one that makes wide groups of columns, and of any.
inline constexpr int kTurnedWideRows = 2, kTurnedRows = 4;

// False where it is no such product: nothing was done.
bool matmul_turned(const MatmulArgs& args, Device& device);

}  // namespace tsc
