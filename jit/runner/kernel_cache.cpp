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

Ref<CompiledKernel> KernelCache::get(const KernelProgram& program, const std::string& symbol,
                                     Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string text = print(program);
  const Hash128 key = hash_bytes(text);
  Event event;
  event.region = symbol;
  event.id = symbol;
  event.subject = text.substr(0, text.find('\n'));
  if (auto found = kernels_.find(key); found != kernels_.end()) {
    event.kind = EventKind::CacheHit;
    report.add(std::move(event));
    return found->second;
  }
  if (!compiler(report)) return {};
  double start = now_ms();
  const KernelProgram* programs[] = {&program};
  const std::string symbols[] = {symbol};
  CompileTimes times;
  Ref<CompiledKernel> kernel;
  try {
    kernel = load_image(compiler_->compile(programs, symbols, &times)[0], symbol);
  } catch (const InternalFault& fault) {
    if (strict) throw;
    event.kind = EventKind::Fallback;
    event.reason = fault.what();
    report.add(std::move(event));
    return kernels_[key] = {};
  }
  kernels_[key] = kernel;
  event.kind = EventKind::Kernel;
  event.bytes = kernel->code_bytes;
  report.add(std::move(event));
  report.add(compile_event("kernels", now_ms() - start));
  return kernel;
}

}  // namespace tsc::jit
