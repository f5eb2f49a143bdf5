#pragma once
// Compiled kernels of one engine, by the canonical text of their programs: equal layers share one kernel.
// Opens the LLVM module at the first request. Thread-safe.
#include <mutex>
#include <string>
#include <unordered_map>

#include "jit/codegen_api.h"
#include "jit/report.h"
#include "runtime/base/hash.h"

namespace tsc::jit {

class KernelCache {
 public:
  // A program that does not compile is an error (our own tests), not a reason to run its block.
  bool strict = false;
  // Null when there is no compiler (the reason is reported once) or it refused the program.
  Ref<CompiledKernel> get(const KernelProgram& program, const std::string& symbol, Report& report);
  // The compiler itself, opened on demand; null without LLVM.
  KernelCompiler* compiler(Report& report);

 private:
  std::mutex mutex_;
  std::shared_ptr<KernelCompiler> compiler_;
  bool tried_ = false;
  std::unordered_map<Hash128, Ref<CompiledKernel>> kernels_;
};

}  // namespace tsc::jit
