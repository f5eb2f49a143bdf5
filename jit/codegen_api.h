#pragma once
// The border of the compiler's LLVM module: libtenscript_llvm is opened at the first compile and gives
// one KernelCompiler. No LLVM type crosses. Closed only when the engine and all its kernels are gone.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/loops/kernel_program.h"
#include "runtime/base/ref.h"

namespace tsc::jit {

// Owns the machine code of one compiled kernel; the code is freed with the last reference.
class CompiledKernel : public RefCounted {
 public:
  KernelFunction function = nullptr;
  std::string symbol;
  int64_t code_bytes = 0;
};

struct CompileTimes {
  double ir_ms = 0, codegen_ms = 0, link_ms = 0;
};

class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // Compiles each program; result i belongs to program i. Throws InternalFault on failure.
  virtual std::vector<Ref<CompiledKernel>> compile(std::span<const KernelProgram* const> programs,
                                                   std::span<const std::string> symbols,
                                                   CompileTimes* times) = 0;
  // Text stages for --emit: "llvm", "asm", "ptx".
  virtual std::string emit(const KernelProgram& program, const std::string& stage) = 0;
  // "x86-64 skylake-avx512 (avx512f ...), 512-bit vectors": for `tenscript info`.
  virtual std::string target_description() const = 0;
};

// Exported by libtenscript_llvm.
using CreateKernelCompiler = KernelCompiler* (*)(std::string* error);
inline constexpr const char* kCreateKernelCompilerSymbol = "tsc_create_kernel_compiler";

// Opens the module (next to the executable/library, or TENSCRIPT_LLVM_MODULE). Null with the reason in
// `error` when it is not there: the caller falls back to the region executor.
std::shared_ptr<KernelCompiler> load_kernel_compiler(std::string* error);

}  // namespace tsc::jit
