#include "jit/codegen/llvm_machine.h"
#include "jit/codegen/op_emitters.h"

namespace tsc::jit {

std::span<const OpEmitter> math_emitters() { return {}; }

}  // namespace tsc::jit
