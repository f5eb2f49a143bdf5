#pragma once
// The border of the compiler's LLVM module: libtenscript_llvm is opened at the first compile and gives
// one KernelCompiler, which makes machine code as bytes (jit/image loads them). No LLVM type crosses.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/image/code_image.h"
#include "jit/loops/kernel_program.h"

namespace tsc::jit {

struct CompileTimes {
  double ir_ms = 0, codegen_ms = 0, link_ms = 0;
};

class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // Compiles each program; result i belongs to program i. Throws InternalFault on failure.
  virtual std::vector<CodeImage> compile(std::span<const KernelProgram* const> programs,
                                         std::span<const std::string> symbols, CompileTimes* times) = 0;
  // Text stages for --emit: "llvm", "asm", "ptx".
  virtual std::string emit(const KernelProgram& program, const std::string& stage) = 0;
  // "x86-64 skylake-avx512 (avx512f ...), 512-bit vectors": for `tenscript info`.
  virtual std::string target_description() const = 0;
};

// Exported by libtenscript_llvm. `version`: code_version() of the caller; a module of another build refuses.
using CreateKernelCompiler = KernelCompiler* (*)(const char* version, std::string* error);
inline constexpr const char* kCreateKernelCompilerSymbol = "tsc_create_kernel_compiler";

// Opens the module (next to the executable/library, or TENSCRIPT_LLVM_MODULE). Null with the reason in
// `error` when it is not there: the caller falls back to the region executor.
std::shared_ptr<KernelCompiler> load_kernel_compiler(std::string* error);

}  // namespace tsc::jit
