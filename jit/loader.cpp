// Opens the compiler's LLVM module at the first compile: linking LLVM would cost every start 12 ms.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jit/cache/identity.h"
#include "jit/codegen_api.h"

namespace tsc::jit {
namespace {

constexpr const char* kModuleName = "libtenscript_llvm.so";

// The file whose code this is. dladdr's name is the program's as it was called, and no file where it is relative:
// in the working folder may lie anybody's module. It serves where there is no /proc.
std::filesystem::path own_file() {
  const auto own = reinterpret_cast<uintptr_t>(&load_kernel_compiler);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    const size_t path = line.find('/');
    if (begin <= own && own < end && path != std::string::npos) return line.substr(path);
  }
  Dl_info info;
  const bool named = dladdr(reinterpret_cast<void*>(own), &info) && info.dli_fname && info.dli_fname[0] == '/';
  return named ? info.dli_fname : "";
}

// The folders above a program may be open to all, as those for temporary files are.
bool belongs_to_user_or_system(const std::filesystem::path& file) {
  struct stat status;
  return stat(file.c_str(), &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0);
}

// Where the module may be: named by the environment, beside the code that asks, where it is installed
// as seen from libtenscript and from the executable, or (tests and benchmarks of a build folder) above.
std::vector<std::filesystem::path> module_paths() {
  if (const char* named = std::getenv("TENSCRIPT_LLVM_MODULE")) return {named};
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  std::vector<std::filesystem::path> paths;
  const auto add = [&](const std::filesystem::path& path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const std::filesystem::path& file : {own_file(), program}) {
    if (file.empty()) continue;
    const std::filesystem::path folder = file.parent_path();
    for (const char* place : {".", "tenscript", "../" TENSCRIPT_LIBRARY_FOLDER "/tenscript"})
      add((folder / place / kModuleName).lexically_normal());
    for (const char* above : {"..", "../.."})
      if (const auto path = (folder / above / kModuleName).lexically_normal(); belongs_to_user_or_system(path))
        add(path);
  }
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
  *error = std::string(kModuleName) + " not found (" +
           (tried.empty() ? "without /proc it is not known where to look" : "looked at " + tried) +
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
