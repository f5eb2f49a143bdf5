#include "jit/runner/kernel_cache.h"

#include <algorithm>
#include <chrono>

#include "jit/cache/artifacts.h"
#include "runtime/device/device.h"

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
    current_device().stop.poll();  // a compilation takes milliseconds: a stop is heard between two
    if (!compiler(report)) return {};
    kernel = compile(program, text, symbol, report);
  }
  kernels_[key] = {kernel, text};
  return kernel;
}

Ref<CompiledKernel> KernelCache::load(const std::string& text, const std::string& symbol,
                                      Report& report) {
  const double start = now_ms();
  std::optional<CodeImage> image;
  const char* source = "from cache artifacts";
  if (auto carried = artifacts_.extract(text)) {
    image = std::move(carried.mapped());
  } else {
    Problem problem;
    source = "from the disk cache";
    image = disk_.load(text, &problem);
    report_problem(disk_.usable() ? "disk_entry" : "disk", problem, report);
  }
  if (!image) return {};
  Ref<CompiledKernel> kernel = load_image(*image, symbol);
  Event event = kernel_event(EventKind::Kernel, symbol, text);
  event.reason = source;
  event.bytes = kernel->code_bytes;
  report.add(event);
  event.kind = EventKind::DiskHit;
  report.add(std::move(event));
  report.add(compile_event("kernels from disk", now_ms() - start));
  return kernel;
}

std::string KernelCache::save_artifacts(size_t* count) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<CacheEntry> entries;
  for (const auto& [key, known] : kernels_)
    if (known.kernel) entries.push_back({disk_.identity(), known.program, known.kernel->image()});
  for (const auto& [program, image] : artifacts_)
    entries.push_back({disk_.identity(), program, image});
  // The same kernels make the same bytes.
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry& a, const CacheEntry& b) { return a.program < b.program; });
  *count = entries.size();
  return entries.empty() ? "" : pack_artifacts(entries);
}

KernelCache::LoadedArtifacts KernelCache::load_artifacts(std::string_view bytes, Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  UnpackedArtifacts unpacked = unpack_artifacts(bytes);
  LoadedArtifacts loaded;
  for (CacheEntry& entry : unpacked.entries) {
    if (entry.identity != disk_.identity()) {
      unpacked.problems.push_back("an artifact is for another processor or version: " +
                                  entry.program.substr(0, entry.program.find('\n')));
      continue;
    }
    ++loaded.kernels;
    report_problem("disk", disk_.store(entry), report);
    if (kernels_.count(hash_bytes(entry.program)) == 0)
      artifacts_[entry.program] = std::move(entry.image);
  }
  for (const std::string& problem : unpacked.problems) report_problem("artifact", problem, report);
  loaded.skipped = unpacked.problems.size();
  return loaded;
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
