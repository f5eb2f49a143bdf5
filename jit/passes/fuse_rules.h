#pragma once
// Which ops may be in a kernel, and which space of iteration one opens. Knows regions; no groups.
#include "jit/passes/fuse.h"

namespace tsc::jit {

bool is_reduction(Op op);
// May be a member of a kernel.
bool can_fuse(const Region& region, const Instruction& instruction);
// Opens a kernel when no producer's kernel takes it.
bool starts_group(const Region& region, const Instruction& instruction);
KernelShape starting_shape(const Region& region, const Instruction& instruction);
// k when a reduction runs over the axes [k, rank), else -1.
int trailing_split(const Region& region, const Instruction& reduction);
// k when it runs over [0, k), else -1.
int leading_split(const Instruction& reduction);

}  // namespace tsc::jit
