#pragma once
// Copies of transposed layouts, tile by tile.
#include "runtime/kernels/strided.h"

namespace tsc {

// Is the source dense along another axis than the last, and large enough in both for tiles to pay?
bool is_transposed(const StridedMap& map);
// All elements of such a map, in row-major order, to contiguous memory.
void copy_transposed(std::byte* out, const std::byte* source, const StridedMap& map);

}  // namespace tsc
