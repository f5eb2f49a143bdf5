#pragma once
// Compiled kernels of one engine, by the canonical text of their programs: equal layers share one
// kernel. Beside them the engine's region plans, which the same disk and artifacts keep. Memory first, then the disk
// cache, then LLVM, whose module is opened at the first kernel that neither has. Thread-safe; reports are written on
// the threads that ask, never on the worker's.
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/cache/disk_cache.h"
#include "jit/codegen_api.h"
#include "jit/plan/plan_cache.h"
#include "jit/report.h"
#include "jit/runner/background_worker.h"
#include "runtime/base/hash.h"
#include "runtime/base/once.h"

namespace tsc::jit {

struct ArtifactCounts {
  size_t kernels = 0, plans = 0, skipped = 0;
};

class KernelCache {
 public:
  explicit KernelCache(DiskCacheOptions disk = {}) : disk_(std::move(disk)) {}
  // A program that does not compile is an error (our own tests), not a reason to run its block.
  bool strict = false;
  // Null when there is no compiler (the reason is reported once) or it refused the program.
  Ref<CompiledKernel> get(const KernelProgram& program, const std::string& symbol, Report& report);
  // Another kernel has the program, of that title, of one that was handed out, and shares it.
  static void note_hit(const std::string& title, const std::string& symbol, Report& report);
  // A kernel that will be asked for soon.
  struct Wanted {
    KernelProgram program;
    std::string symbol;
  };
  // What is not there yet is compiled beside the program: returns at once, with the texts of the kernels that
  // are still being compiled. get() hands out the others, or says what went wrong with them; nothing is reported
  // before, so it is no harm when one is not asked for after all.
  std::vector<std::string> prepare_later(std::span<const Wanted> wanted, Report& report);
  // Waits for all that prepare_later() has begun, with all threads of the device: what the worker has not
  // come to is compiled here. Throws Stopped; the worker goes on then.
  void complete();
  // Whether none of these is being compiled any more.
  bool are_done(std::span<const std::string> texts);
  // Whether nothing is being compiled.
  bool is_idle() { return worker_.wait_for(std::chrono::milliseconds(0)); }
  // Waits for all that prepare_later() has begun, and reports it as if it had been asked for: for
  // those who read the report.
  void finish(Report& report);
  // Kernels will be wanted that nothing has yet: opens the compiler beside the program, where there is a thread for it.
  void open_compiler_soon();
  // The compiler itself, opened on demand; null without LLVM.
  KernelCompiler* compiler(Report& report);
  DiskCache& disk() { return disk_; }

  PlanCache& plans() { return plans_; }

  // Every kernel and plan of this engine so far, as one string of bytes; empty when there is none.
  std::string save_artifacts(ArtifactCounts* counts);
  // Makes the kernels and plans of another engine's artifacts available here, and keeps them on disk. Those
  // for another machine and damaged ones are skipped with a reason. What the bytes hold is
  // executed: they must come from somebody who is trusted like the program itself.
  ArtifactCounts load_artifacts(std::string_view bytes, Report& report);

 private:
  struct Known {
    Ref<CompiledKernel> kernel;  // null: the compiler refused it
    std::string program;
  };
  // Machine code that is not mapped yet.
  struct Ready {
    CodeImage image;
    const char* source = nullptr;  // artifacts or disk; null: it was compiled
    double ms = 0;
    bool stored = false;   // on disk already, or not because of
    Problem problem = {};  // this
  };
  // A kernel that the worker compiles, or who helps it.
  struct Queued {
    std::string symbol;
    bool done = false;
    std::exception_ptr fault;
  };
  // Compiled for prepare_later(), or from artifacts or disk.
  std::optional<Ready> find_ready(const std::string& text, Report& report);
  KernelCompiler* open_compiler();
  bool queue(const Wanted& wanted, const std::string& text);
  void compile_queued(const Wanted& wanted, const std::string& text) noexcept;
  // What get() does with a program that is not in memory.
  Ref<CompiledKernel> make(const std::string& text, const std::string& symbol, const KernelProgram* program,
                           Report& report);
  // InternalFault when the compiler refuses it.
  Ready compile(const KernelProgram& program, const std::string& symbol);
  Ref<CompiledKernel> hand_out(const Ready& ready, const std::string& text, const std::string& symbol, Report& report);

  std::mutex mutex_;
  DiskCache disk_;
  PlanCache plans_{disk_};
  Once opened_;
  std::shared_ptr<KernelCompiler> compiler_;
  std::string open_error_;
  double open_began_ = 0, open_ms_ = 0;
  bool open_reported_ = false;
  std::atomic<bool> opens_soon_ = false;
  std::unordered_map<Hash128, Known> kernels_;
  std::unordered_map<std::string, Ready> ready_;          // by program
  std::unordered_map<std::string, CodeImage> artifacts_;  // by program, not asked for yet
  std::unordered_map<std::string, Queued> queued_;        // by program; entries stay
  std::vector<std::string> order_;                        // of queued_
  size_t completed_ = 0;                                  // of these, by complete()
  double begun_ = 0;                                      // when the first of the others was queued
  BackgroundWorker worker_;                               // the first to go: its jobs use all the rest
};

}  // namespace tsc::jit
