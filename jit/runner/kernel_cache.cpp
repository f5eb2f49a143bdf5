#include "jit/runner/kernel_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "jit/cache/artifacts.h"
#include "jit/compile.h"
#include "runtime/device/device.h"

namespace tsc::jit {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Event compile_event(const std::string& stage, double ms) {
  Event event;
  event.kind = EventKind::CompileTime;
  event.id = stage;
  event.ms = ms;
  return event;
}

}  // namespace

namespace {

// LLVM ends the process when it finds no memory in the middle of its work, so it is called only where
// there is plenty.
bool has_room(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

constexpr size_t kRoomToOpen = size_t{256} << 20;    // its code and tables are most of it
constexpr size_t kRoomToCompile = size_t{32} << 20;  // several times what a kernel takes

}  // namespace

// Without memory for it the engine goes without.
KernelCompiler* KernelCache::open_compiler() {
  opened_.call([this] {
    open_began_ = now_ms();
    try {
      if (has_room(kRoomToOpen)) compiler_ = load_kernel_compiler(&open_error_);
      else open_error_ = "out of memory";
    } catch (const std::bad_alloc&) {
      open_error_ = "out of memory";
    }
    open_ms_ = now_ms() - open_began_;
  });
  return compiler_.get();
}

void KernelCache::open_compiler_soon() {
  if (current_device().threads.count() < 2 || opens_soon_.exchange(true)) return;
  try {
    worker_.add([this]() noexcept {
      try {
        open_compiler();
      } catch (const std::exception&) {  // whoever needs the compiler tries again, and reports it
      }
    });
  } catch (const std::bad_alloc&) {
  }
}

KernelCompiler* KernelCache::compiler(Report& report) {
  KernelCompiler* compiler = open_compiler();
  if (std::exchange(open_reported_, true)) return compiler;
  if (compiler) {
    report.add(compile_event("load llvm", open_ms_));
    return compiler;
  }
  Event event;
  event.kind = EventKind::Fallback;
  event.id = kNoCompiler;
  event.reason = open_error_;
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

}  // namespace

Ref<CompiledKernel> KernelCache::get(const KernelProgram& program, const std::string& symbol, Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string text = print(program);
  if (auto found = kernels_.find(hash_bytes(text)); found != kernels_.end()) {
    report.add(kernel_event(EventKind::CacheHit, symbol, text));
    return found->second.kernel;
  }
  return make(text, symbol, &program, report);
}

void KernelCache::note_hit(const std::string& title, const std::string& symbol, Report& report) {
  report.add(kernel_event(EventKind::CacheHit, symbol, title));
}

Ref<CompiledKernel> KernelCache::make(const std::string& text, const std::string& symbol, const KernelProgram* program,
                                      Report& report) {
  std::optional<Ready> ready = find_ready(text, report);
  const auto queued = queued_.find(text);
  const bool failed = queued != queued_.end() && queued->second.fault;
  if (!ready && !failed) {
    current_device().stop.poll();  // a compilation takes milliseconds: a stop is heard between two
    if (!compiler(report) || !program) return {};
  }
  Ref<CompiledKernel> kernel;
  try {
    if (!ready && failed) std::rethrow_exception(queued->second.fault);
    if (!ready) ready = compile(*program, symbol);
    kernel = hand_out(*ready, text, symbol, report);
  } catch (const Error&) {
    throw;                                 // the script's: a limit of the host
  } catch (const std::exception& fault) {  // an InternalFault, or whatever else the compiler threw
    if (strict) throw;
    Event event = kernel_event(EventKind::Fallback, symbol, text);
    event.id = kKernelFallback;
    const bool is_memory = dynamic_cast<const std::bad_alloc*>(&fault) != nullptr;
    event.reason = is_memory ? "out of memory" : fault.what();
    report.add(std::move(event));
  }
  kernels_[hash_bytes(text)] = {kernel, text};
  return kernel;
}

void KernelCache::complete() {
  Device& device = current_device();
  // The worker is one of the threads.
  const auto help = [&](int64_t, int64_t) {
    while (worker_.help()) device.stop.poll();
  };
  try {
    parallel_for(device.threads.count() - 1, 1, help);
    while (!worker_.wait_for(std::chrono::milliseconds(5))) device.stop.poll();
  } catch (...) {  // a stop: the worker goes on, for the next call
    std::lock_guard<std::mutex> lock(mutex_);
    completed_ = order_.size();
    throw;
  }
  // The threads' times overlap; their sum is to be the time that passed, but for opening the compiler.
  std::lock_guard<std::mutex> lock(mutex_);
  const double opening = std::max(0.0, open_began_ + open_ms_ - std::max(open_began_, begun_));
  const double passed = now_ms() - begun_ - opening;
  auto each = [&](auto visit) {
    for (size_t i = completed_; i < order_.size(); ++i)
      if (const auto made = ready_.find(order_[i]); made != ready_.end()) visit(made->second.ms);
  };
  double sum = 0;
  each([&](double ms) { sum += ms; });
  const double share = sum > 0 ? std::clamp(passed / sum, 0.0, 1.0) : 0;
  each([&](double& ms) { ms *= share; });
  completed_ = order_.size();
}

std::vector<std::string> KernelCache::prepare_later(std::span<const Wanted> wanted, Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> later;
  for (const Wanted& one : wanted) {
    std::string text = print(one.program);
    if (kernels_.count(hash_bytes(text)) != 0) continue;
    if (const auto queued = queued_.find(text); queued != queued_.end()) {
      if (!queued->second.done) later.push_back(std::move(text));
      continue;
    }
    if (auto ready = find_ready(text, report)) ready_[text] = std::move(*ready);
    else if (queue(one, text)) later.push_back(std::move(text));
  }
  return later;
}

// False: there is no thread for it, or no memory; get() compiles it.
bool KernelCache::queue(const Wanted& wanted, const std::string& text) {
  const size_t before = order_.size();
  if (before == completed_) begun_ = now_ms();
  try {
    order_.push_back(text);
    queued_[text].symbol = wanted.symbol;
    if (worker_.add([this, wanted, text] { compile_queued(wanted, text); })) return true;
  } catch (const std::bad_alloc&) {
  }
  queued_.erase(text);
  order_.resize(before);
  return false;
}

// On the worker's thread or that of who helps it. What is ready lies on disk before anybody asks for it: the next
// process has it even if this one ends now.
void KernelCache::compile_queued(const Wanted& wanted, const std::string& text) noexcept {
  std::optional<Ready> made;
  std::exception_ptr fault;
  try {
    if (open_compiler()) {
      made = compile(wanted.program, wanted.symbol);
      made->problem = disk_.store(text, made->image);
      made->stored = true;
    }
  } catch (...) {
    fault = std::current_exception();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  try {
    if (made) ready_.insert_or_assign(text, std::move(*made));
  } catch (const std::bad_alloc&) {  // get() compiles it again
  }
  Queued& queued = queued_.find(text)->second;
  queued.fault = std::move(fault);
  queued.done = true;
}

bool KernelCache::are_done(std::span<const std::string> texts) {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::all_of(texts.begin(), texts.end(), [this](const std::string& text) { return queued_.at(text).done; });
}

void KernelCache::finish(Report& report) {
  while (!worker_.wait_for(std::chrono::milliseconds(5))) current_device().stop.poll();
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = completed_; i < order_.size(); ++i)
    if (kernels_.count(hash_bytes(order_[i])) == 0) make(order_[i], queued_.at(order_[i]).symbol, nullptr, report);
}

std::optional<KernelCache::Ready> KernelCache::find_ready(const std::string& text, Report& report) {
  if (auto prepared = ready_.extract(text)) return std::move(prepared.mapped());
  const double start = now_ms();
  if (auto carried = artifacts_.extract(text))
    return Ready{std::move(carried.mapped()), "from cache artifacts", now_ms() - start, false, {}};
  Problem problem;
  std::optional<CodeImage> image = disk_.load(text, &problem);
  report_cache_problem(disk_.usable() ? "disk_entry" : "disk", problem, report);
  if (!image) return std::nullopt;
  return Ready{std::move(*image), "from the disk cache", now_ms() - start, false, {}};
}

namespace {

// Code generators that are at work when the process exits would use what LLVM's static destructors have
// taken away: exit waits for them, and lets no other begin. This is of the process, like exit itself.
// (Trivially destructible, so that threads may look at it afterwards.)
struct ExitGate {
  std::atomic<int> working{0};
  std::atomic<bool> closed{false};
};
ExitGate exit_gate;

struct GateCloser {
  ~GateCloser() {
    exit_gate.closed = true;
    while (exit_gate.working > 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
};

class AtWork {
 public:
  AtWork() {
    static GateCloser closer;  // made after LLVM's own statics, so it goes before them
    ++exit_gate.working;
    if (!exit_gate.closed) return;
    --exit_gate.working;
    throw Stopped{};
  }
  ~AtWork() { --exit_gate.working; }
  AtWork(const AtWork&) = delete;
};

}  // namespace

// Called by several threads at once.
KernelCache::Ready KernelCache::compile(const KernelProgram& program, const std::string& symbol) {
  const AtWork at_work;
  if (!has_room(kRoomToCompile * static_cast<size_t>(exit_gate.working.load()))) throw std::bad_alloc();
  const double start = now_ms();
  const KernelProgram* programs[] = {&program};
  const std::string symbols[] = {symbol};
  CompileTimes times;
  CodeImage image = std::move(compiler_->compile(programs, symbols, &times)[0]);
  return Ready{std::move(image), nullptr, now_ms() - start, false, {}};
}

Ref<CompiledKernel> KernelCache::hand_out(const Ready& ready, const std::string& text, const std::string& symbol,
                                          Report& report) {
  const double start = now_ms();
  Ref<CompiledKernel> kernel = load_image(ready.image, symbol);
  const double ms = ready.ms + now_ms() - start;
  Event event = kernel_event(EventKind::Kernel, symbol, text);
  event.bytes = kernel->code_bytes;
  if (!ready.source) {
    compiler(report);  // opened on the worker's thread, it has not been reported yet
    report.add(std::move(event));
    report.add(compile_event("kernels", ms));
    report_cache_problem("disk", ready.stored ? ready.problem : disk_.store(text, ready.image), report);
    return kernel;
  }
  event.reason = ready.source;
  report.add(event);
  event.kind = EventKind::DiskHit;
  report.add(std::move(event));
  report.add(compile_event("kernels from disk", ms));
  return kernel;
}

std::string KernelCache::save_artifacts(ArtifactCounts* counts) {
  while (!worker_.wait_for(std::chrono::milliseconds(5))) current_device().stop.poll();
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<CacheEntry> entries;
  for (const auto& [key, known] : kernels_)
    if (known.kernel) entries.push_back({disk_.identity(), known.program, known.kernel->image()});
  for (const auto& [program, ready] : ready_) entries.push_back({disk_.identity(), program, ready.image});
  for (const auto& [program, image] : artifacts_) entries.push_back({disk_.identity(), program, image});
  counts->kernels = entries.size();
  for (CacheEntry& plan : plans_.entries()) entries.push_back(std::move(plan));
  counts->plans = entries.size() - counts->kernels;
  // The same kernels and plans make the same bytes.
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry& a, const CacheEntry& b) { return a.program < b.program; });
  return entries.empty() ? "" : pack_artifacts(entries);
}

ArtifactCounts KernelCache::load_artifacts(std::string_view bytes, Report& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  UnpackedArtifacts unpacked = unpack_artifacts(bytes);
  ArtifactCounts loaded;
  for (CacheEntry& entry : unpacked.entries) {
    if (entry.identity != disk_.identity()) {
      unpacked.problems.push_back("an artifact is for another processor or version: " +
                                  entry.program.substr(0, entry.program.find('\n')));
      continue;
    }
    if (entry.kind == CacheEntry::Kind::Plan) {
      ++loaded.plans;
      plans_.add(std::move(entry), report);
      continue;
    }
    ++loaded.kernels;
    report_cache_problem("disk", disk_.store(entry), report);
    if (kernels_.count(hash_bytes(entry.program)) == 0) artifacts_[entry.program] = std::move(entry.image);
  }
  for (const std::string& problem : unpacked.problems) report_cache_problem("artifact", problem, report);
  loaded.skipped = unpacked.problems.size();
  return loaded;
}

}  // namespace tsc::jit
