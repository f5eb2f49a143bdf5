#pragma once
// What _binary has of digests. Knows: the Vm and digests.h.
#include "interpreter/vm/native.h"

namespace tsc::interp {

// Adds `Digest`, `pbkdf2` and `scrypt`.
void add_digests(Vm& vm, ModuleBuilder& module);

}  // namespace tsc::interp
