// Opens the compiler's LLVM module at the first compile: linking LLVM would cost every start 12 ms.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "jit/cache/identity.h"
#include "jit/codegen_api.h"

namespace tsc::jit {
namespace {

constexpr const char* kModuleName = "libtenscript_llvm.so";

// Where the module may be: named by the environment, beside the code that asks, where it is installed
// as seen from libtenscript and from the executable, or (tests and benchmarks of a build folder) above.
std::vector<std::filesystem::path> module_paths() {
  if (const char* named = std::getenv("TENSCRIPT_LLVM_MODULE")) return {named};
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&load_kernel_compiler), &info) && info.dli_fname)
    folders.push_back(std::filesystem::absolute(info.dli_fname, ignored).parent_path());
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) folders.push_back(program.parent_path());
  std::vector<std::filesystem::path> paths;
  for (const auto& folder : folders)
    for (const char* relative :
         {".", "tenscript", "../" TENSCRIPT_LIBRARY_FOLDER "/tenscript", "..", "../.."})
      paths.push_back((folder / relative / kModuleName).lexically_normal());
  return paths;
}

void* open_module(std::string* error) {
  std::string tried;
  for (const auto& path : module_paths()) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      tried += (tried.empty() ? "" : ", ") + path.string();
      continue;
    }
    // Never closed: LLVM does not survive it. Local: the host may have another LLVM of its own. Not
    // RTLD_DEEPBIND, which would separate the module from a host's replaced operator new.
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return handle;
    *error = dlerror();
    return nullptr;
  }
  *error = std::string(kModuleName) + " not found (looked at " + tried +
           "); set TENSCRIPT_LLVM_MODULE to its path";
  return nullptr;
}

}  // namespace

std::shared_ptr<KernelCompiler> load_kernel_compiler(std::string* error) {
  std::string unused;
  if (!error) error = &unused;
  void* handle = open_module(error);
  if (!handle) return nullptr;
  auto create = reinterpret_cast<CreateKernelCompiler>(dlsym(handle, kCreateKernelCompilerSymbol));
  if (!create) {
    *error = std::string(kModuleName) + " has no symbol " + kCreateKernelCompilerSymbol;
    return nullptr;
  }
  return std::shared_ptr<KernelCompiler>(create(code_version(), error));
}

}  // namespace tsc::jit
