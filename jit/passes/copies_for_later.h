#pragma once
// Values that a kernel would write to memory only because kernels behind a matrix product read them again:
// the backward of a training step reads what the forward computed. Where it costs less traffic, the later
// kernels compute such a value again, by cheap elementwise ops, from what is in memory anyway. One that only
// a later kernel reads moves there.
// Knows regions; no groups: two instructions are taken to be in different kernels when one of them stands
// behind more products (or other ops outside kernels) than the other.
#include "jit/passes/private_copies.h"

namespace tsc::jit {

// For regions without nested blocks. Adds the copies in front of their first reader.
void copy_for_later_kernels(Region& region, PrivateCopies* copies);

}  // namespace tsc::jit
