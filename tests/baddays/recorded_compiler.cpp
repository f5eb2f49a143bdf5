// A kernel compiler for tests of missing memory: the real one, whose work is kept for the process,
// so that it is done once and the same kernel is a copy of bytes afterwards. Inside the real one
// nothing is counted and nothing fails (hooks.h): LLVM cannot bear it. It stands in for the LLVM
// module (TENSCRIPT_LLVM_MODULE); RECORDED_COMPILER_REAL names the real one.
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hooks.h"
#include "jit/codegen_api.h"

namespace {

using namespace tsc::jit;

struct Pause {
  Pause() { tsc::baddays::tsc_baddays_pause(1); }
  ~Pause() { tsc::baddays::tsc_baddays_pause(0); }
  Pause(const Pause&) = delete;
};

// Made for good.
struct Recordings {
  std::mutex mutex;
  KernelCompiler* real = nullptr;
  std::map<std::string, CodeImage> images;  // by program and symbol

  const CodeImage& of(const KernelProgram& program, const std::string& symbol) {
    const Pause pause;
    std::lock_guard<std::mutex> lock(mutex);
    const std::string key = symbol + "\n" + print(program);
    if (const auto found = images.find(key); found != images.end()) return found->second;
    const KernelProgram* programs[] = {&program};
    const std::string symbols[] = {symbol};
    return images.emplace(key, real->compile(programs, symbols, nullptr)[0]).first->second;
  }
};

Recordings& recordings() {
  static Recordings* made = new Recordings;
  return *made;
}

class RecordedCompiler : public KernelCompiler {
 public:
  std::vector<CodeImage> compile(std::span<const KernelProgram* const> programs, std::span<const std::string> symbols,
                                 CompileTimes*) override {
    std::vector<CodeImage> images;
    for (size_t i = 0; i < programs.size(); ++i) images.push_back(recordings().of(*programs[i], symbols[i]));
    return images;
  }
  std::string emit(const KernelProgram& program, const std::string& stage) override {
    return recordings().real->emit(program, stage);
  }
  std::string target_description() const override { return recordings().real->target_description(); }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] size_t tsc_recorded_kernels() {
  std::lock_guard<std::mutex> lock(recordings().mutex);
  return recordings().images.size();
}

extern "C" [[gnu::visibility("default")]] KernelCompiler* tsc_create_kernel_compiler(const char* version,
                                                                                     std::string* error) {
  {
    const Pause pause;
    std::lock_guard<std::mutex> lock(recordings().mutex);
    if (recordings().real == nullptr) {
      void* handle = dlopen(std::getenv("RECORDED_COMPILER_REAL"), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      if (handle == nullptr) {
        *error = dlerror();
        return nullptr;
      }
      auto create = reinterpret_cast<CreateKernelCompiler>(dlsym(handle, kCreateKernelCompilerSymbol));
      recordings().real = create(version, error);
      if (recordings().real == nullptr) return nullptr;
    }
  }
  try {
    return new RecordedCompiler;
  } catch (const std::bad_alloc&) {
    *error = "out of memory";
    return nullptr;
  }
}
