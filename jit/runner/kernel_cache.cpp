#include "jit/runner/kernel_cache.h"

#include <chrono>

namespace tsc::jit {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Event compile_event(const std::string& stage, double ms) {
  Event event;
  event.kind = EventKind::CompileTime;
  event.id = stage;
  event.ms = ms;
  return event;
}

}  // namespace

KernelCompiler* KernelCache::compiler(Report& report) {
  if (tried_) return compiler_.get();
  tried_ = true;
  std::string error;
  double start = now_ms();
  compiler_ = load_kernel_compiler(&error);
  if (compiler_) {
    report.add(compile_event("load llvm", now_ms() - start));
    return compiler_.get();
  }
  Event event;
  event.kind = EventKind::Fallback;
  event.id = "no_llvm";
  event.reason = "no kernel compiler: " + error;
  report.add(std::move(event));
  return nullptr;
}

namespace {

Event kernel_event(EventKind kind, const std::string& symbol, const std::string& text) {
  Event event;
  event.kind = kind;
  event.region = symbol;
  event.id = symbol;
  event.subject = text.substr(0, text.find('\n'));
  return event;
}

// What the disk cache could not do: "disk_entry" is skipped and written anew, "disk" is worth a
// warning.
void report_problem(const std::string& id, const Problem& problem, Report& report) {
  if (problem.empty()) return;
  Event event;
  event.kind = EventKind::CacheProblem;
  event.id = id;
  event.reason = problem;
  report.add(std::move(event));
}

}  // namespace

Ref<CompiledKernel> KernelCache::get(const KernelProgram& program, const std::string& symbol,
                                     Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string text = print(program);
  const Hash128 key = hash_bytes(text);
  if (auto found = kernels_.find(key); found != kernels_.end()) {
    report.add(kernel_event(EventKind::CacheHit, symbol, text));
    return found->second.kernel;
  }
  Ref<CompiledKernel> kernel = load(text, symbol, report);
  if (!kernel) {
    if (!compiler(report)) return {};
    kernel = compile(program, text, symbol, report);
  }
  kernels_[key] = {kernel, text};
  return kernel;
}

Ref<CompiledKernel> KernelCache::load(const std::string& text, const std::string& symbol,
                                      Report& report) {
  const double start = now_ms();
  Problem problem;
  const auto image = disk_.load(text, &problem);
  report_problem(disk_.usable() ? "disk_entry" : "disk", problem, report);
  if (!image) return {};
  Ref<CompiledKernel> kernel = load_image(*image, symbol);
  Event event = kernel_event(EventKind::Kernel, symbol, text);
  event.reason = "from the disk cache";
  event.bytes = kernel->code_bytes;
  report.add(std::move(event));
  report.add(kernel_event(EventKind::DiskHit, symbol, text));
  report.add(compile_event("kernels from disk", now_ms() - start));
  return kernel;
}

Ref<CompiledKernel> KernelCache::compile(const KernelProgram& program, const std::string& text,
                                         const std::string& symbol, Report& report) {
  const double start = now_ms();
  const KernelProgram* programs[] = {&program};
  const std::string symbols[] = {symbol};
  CompileTimes times;
  CodeImage image;
  Ref<CompiledKernel> kernel;
  try {
    image = std::move(compiler_->compile(programs, symbols, &times)[0]);
    kernel = load_image(image, symbol);
  } catch (const InternalFault& fault) {
    if (strict) throw;
    Event event = kernel_event(EventKind::Fallback, symbol, text);
    event.reason = fault.what();
    report.add(std::move(event));
    return {};
  }
  Event event = kernel_event(EventKind::Kernel, symbol, text);
  event.bytes = kernel->code_bytes;
  report.add(std::move(event));
  report.add(compile_event("kernels", now_ms() - start));
  report_problem("disk", disk_.store(text, image), report);
  return kernel;
}

}  // namespace tsc::jit
