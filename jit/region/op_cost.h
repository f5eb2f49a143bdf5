#pragma once
// What an op costs beside the memory traffic of its result. Knows the op table only.
#include "runtime/ops/op.h"

namespace tsc::jit {

// Elementwise ops that cost less than writing and reading their result: worth computing twice.
bool is_cheap(Op op);

}  // namespace tsc::jit
