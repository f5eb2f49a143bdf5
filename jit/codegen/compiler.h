#pragma once
// The kernel compiler of the module: programs to IR, IR to an object, an object to code.
// Knows targets and code memory; must not know regions. Keeps: compile() may be called from several
// threads at once; a kernel outlives the compiler if need be.
#include <memory>

#include "jit/codegen/code_memory.h"
#include "jit/codegen/target.h"
#include "jit/codegen_api.h"

namespace tsc::jit {

std::unique_ptr<KernelCompiler> create_kernel_compiler(const KernelCompilerOptions& options = {});

}  // namespace tsc::jit
