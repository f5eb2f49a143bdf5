// The one symbol that the shared module exports.
#include "jit/codegen/compiler.h"

extern "C" [[gnu::visibility("default")]] tsc::jit::KernelCompiler* tsc_create_kernel_compiler(
    std::string* error) {
  try {
    return tsc::jit::create_kernel_compiler().release();
  } catch (const std::exception& failure) {
    *error = failure.what();
    return nullptr;
  }
}
