// The one symbol that the shared module exports.
#include <cstring>
#include <new>

#include "jit/cache/identity.h"
#include "jit/codegen/compiler.h"

extern "C" [[gnu::visibility("default")]] tsc::jit::KernelCompiler* tsc_create_kernel_compiler(const char* version,
                                                                                               std::string* error) {
  if (std::strcmp(version, tsc::jit::code_version()) != 0) {
    *error = std::string("libtenscript_llvm is of another build (it has ") + tsc::jit::code_version() + ", wanted is " +
             version + ")";
    return nullptr;
  }
  try {
    return tsc::jit::create_kernel_compiler().release();
  } catch (const std::bad_alloc&) {
    *error = "out of memory";
    return nullptr;
  } catch (const std::exception& failure) {
    *error = failure.what();
    return nullptr;
  }
}
