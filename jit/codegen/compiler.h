#pragma once
// The kernel compiler of the module: programs to IR, IR to an object, an object to an image.
// Knows targets; must not know regions. Keeps: compile() may be called from several threads at once.
#include <memory>

#include "jit/codegen/target.h"
#include "jit/codegen_api.h"

namespace tsc::jit {

std::unique_ptr<KernelCompiler> create_kernel_compiler(const KernelCompilerOptions& options = {});

}  // namespace tsc::jit
