// A kernel compiler for tests that fails at its n-th kernel, every time, and is the real one otherwise. It
// stands in for the LLVM module (TENSCRIPT_LLVM_MODULE); BROKEN_COMPILER_REAL names the real
// module, BROKEN_COMPILER_AT the kernel (from 1; 0: none), BROKEN_COMPILER_HOW what is thrown:
// fault, memory or other; build: it says that it is of another one, and nothing is compiled; BROKEN_COMPILER_SLOW the
// milliseconds that each kernel takes longer.
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "jit/codegen_api.h"

namespace {

using namespace tsc::jit;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

[[noreturn]] void fail() {
  const std::string how = variable("BROKEN_COMPILER_HOW");
  if (how == "memory") throw std::bad_alloc();
  if (how == "other") throw std::runtime_error("the compiler broke in a way of its own");
  throw tsc::InternalFault(__FILE__, __LINE__, "the compiler broke at this kernel");
}

class BrokenCompiler : public KernelCompiler {
 public:
  explicit BrokenCompiler(KernelCompiler* real) : real_(real) {}

  std::vector<CodeImage> compile(std::span<const KernelProgram* const> programs, std::span<const std::string> symbols,
                                 CompileTimes* times) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(slow_));
    for (const KernelProgram* program : programs)
      if (is_broken(print(*program))) fail();
    return real_->compile(programs, symbols, times);
  }
  std::string emit(const KernelProgram& program, const std::string& stage) override {
    return real_->emit(program, stage);
  }
  std::string target_description() const override { return real_->target_description(); }

 private:
  // Several threads compile at once; which program is the n-th is decided once.
  bool is_broken(const std::string& program) {
    std::lock_guard<std::mutex> lock(mutex_);
    seen_.emplace(program, static_cast<long>(seen_.size()) + 1);
    return seen_[program] == at_;
  }

  std::unique_ptr<KernelCompiler> real_;
  const long slow_ = std::atol(variable("BROKEN_COMPILER_SLOW").c_str());
  const long at_ = std::atol(variable("BROKEN_COMPILER_AT").c_str());
  std::mutex mutex_;
  std::map<std::string, long> seen_;
};

}  // namespace

extern "C" [[gnu::visibility("default")]] KernelCompiler* tsc_create_kernel_compiler(const char* version,
                                                                                     std::string* error) {
  void* handle = dlopen(variable("BROKEN_COMPILER_REAL").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    *error = dlerror();
    return nullptr;
  }
  if (variable("BROKEN_COMPILER_HOW") == "build") version = "another build";
  auto create = reinterpret_cast<CreateKernelCompiler>(dlsym(handle, kCreateKernelCompilerSymbol));
  KernelCompiler* real = create != nullptr ? create(version, error) : nullptr;
  return real != nullptr ? new BrokenCompiler(real) : nullptr;
}
