#pragma once
// The front door of the compiler: a region in, something that runs out. Takes the region's plan from a cache or
// runs the passes, which plan kernels and memory; compiles kernels through the LLVM module (loaded at the first
// compile) and falls back to the region executor over the reference kernels without it: the same bits, only slower.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/cache/disk_cache.h"
#include "jit/executable.h"
#include "jit/report.h"

namespace tsc::jit {

class KernelCache;  // compiled kernels by program text; one per engine

struct CompileOptions {
  std::vector<std::string> disabled;  // passes by name: "fuse", "simplify", "memory", ...
  // The verifier after every pass; and a plan from a cache is compared with what the passes make. What comes in and
  // what runs in the end is verified in any case.
  bool verify = true;
  // Kernels are compiled beside the program; until those of its first run are there, a region runs over the
  // reference kernels.
  bool background = false;
  std::shared_ptr<KernelCache> cache;  // of kernels and plans, shared by all regions of an engine; never null
  std::string emit;                    // stage whose text is wanted ("fused", "loops", "llvm", "asm")
  std::string* emitted = nullptr;
};

// What `disabled` may name, each once.
std::vector<std::string_view> pass_names();

// The id of the event of a kernel that could not be compiled.
inline constexpr const char* kKernelFallback = "kernel";
// The id of the Fallback event of a process that has no kernel compiler, or none that fits.
inline constexpr const char* kNoCompiler = "no_llvm";

// With a folder, kernels are kept on disk too (jit/cache).
// `strict`: a kernel that cannot be compiled is an InternalFault, not a fallback.
std::shared_ptr<KernelCache> make_kernel_cache(DiskCacheOptions disk = {}, bool strict = false);

// InternalFault when a pass breaks the region's rules or code generation fails: the caller falls back.
std::unique_ptr<Executable> compile(Region region, const CompileOptions& options, Report& report);

}  // namespace tsc::jit
