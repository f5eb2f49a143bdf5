#pragma once
// Philox4x32-10 as the primitive rng_bits defines it, on lanes. Knows Lanes; must not know
// programs.
#include "jit/codegen/lanes.h"

namespace tsc::jit {

// Of any indices: every lane draws its own block of four words and keeps one of them.
Ir emit_philox(const Lanes& lanes, DType dtype, Ir seed, Ir offset, Ir index);

// Whether the lanes of consecutive indices can share their blocks.
bool shares_philox_blocks(const Lanes& lanes, DType dtype);
// Of the indices first, first + 1, ...: a block is drawn once for its four elements. `memory` has
// place for twice as many 32-bit words as there are lanes.
Ir emit_philox_run(const Lanes& lanes, DType dtype, Ir seed, Ir offset, Ir first, Ir memory);

}  // namespace tsc::jit
