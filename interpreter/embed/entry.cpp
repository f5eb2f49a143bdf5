// Entering an engine: one thread at a time, limits armed, and stopping it from outside.
#include <algorithm>
#include <cstring>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/embed/arguments.h"
#include "interpreter/vm/ends.h"
#include "interpreter/vm/threads.h"

namespace tsc::embed {
namespace {

// An address that is this thread's alone.
const void* this_thread() {
  static thread_local const char mark = 0;
  return &mark;
}

bool enter(tsc_engine& engine) {
  const void* nobody = nullptr;
  if (engine.owner.load(std::memory_order_relaxed) != this_thread() &&
      !engine.owner.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire))
    return false;
  ++engine.depth;
  return true;
}

}  // namespace

namespace {

class Stay final : public interp::ThreadPart {
 public:
  explicit Stay(tsc_engine& engine) : engine_(engine), owner_(&engine) {}
  void begin() override { owner_ = this_thread(); }
  // Nobody's turn: the engine is its own owner, so nobody enters from outside.
  void swap() noexcept override {
    owner_ = engine_.owner.exchange(owner_, std::memory_order_acq_rel);
    std::swap(engine_.depth, depth_);
    std::swap(engine_.callbacks, callbacks_);
    std::swap(engine_.callback_error, callback_error_);
  }

 private:
  tsc_engine& engine_;
  const void* owner_;
  int depth_ = 1;
  int callbacks_ = 0;
  tsc_status* callback_error_ = nullptr;
};

}  // namespace

void add_stay_parts(tsc_engine& engine) {
  engine.vm->threads().add_part([&engine] { return std::make_unique<Stay>(engine); });
}

void drop_value(tsc_value* value) {
  tsc_engine& engine = *value->engine;
  Entry entry(engine);
  if (entry) {
    delete value;
    return;
  }
  std::lock_guard lock(engine.dropped_mutex);
  engine.dropped.push_back(value);
  engine.has_dropped.store(true, std::memory_order_relaxed);
}

namespace {

void drop_values(tsc_engine& engine) {
  std::vector<tsc_value*> values;
  {
    std::lock_guard lock(engine.dropped_mutex);
    values.swap(engine.dropped);
    engine.has_dropped.store(false, std::memory_order_relaxed);
  }
  for (tsc_value* value : values) delete value;
}

constexpr int64_t kReserve = 1 << 20;  // for the text of the next call and what runs of it

// After a memory limit: what the host lets go of next may be cycles, which nobody else would collect
// before the next large request is refused.
void recover(tsc_engine& engine) {
  engine.vm->heap().collect(true);
  engine.vm->heap().trim();
  const MemoryBudget& budget = *engine.device.budget;
  engine.recovering = budget.used() > budget.limit() / 2;
  if (engine.recovering) engine.device.budget->set_reserve(interp::Heap::largest_excess(budget.limit()) + kReserve);
}

void begin(tsc_engine& engine) {
  if (engine.has_dropped.load(std::memory_order_relaxed)) drop_values(engine);
  engine.limit_reported = engine.cut_short = engine.runs_script = false;
  engine.deadline = 0;
  engine.modes = interp::tensor_state(*engine.vm).modes;
  engine.vm->begin_entry();
  engine.vm->heap().free_put_off();  // of a call that was stopped; not in this one's time
  if (engine.recovering) recover(engine);
  const int64_t limit = engine.time_limit.load(std::memory_order_relaxed);
  if (limit <= 0) return;
  engine.deadline = steady_nanoseconds() + limit;
  try {
    engine.watchdog.arm(engine.deadline);
    engine.armed = true;
  } catch (const std::exception&) {
    engine.vm->stop(StopCause::Time);  // a limit that cannot be held is over at once
  }
}

void publish_counts(tsc_engine& engine) {
  const jit::Report& report = interp::compiler_of(*engine.vm)->report();
  auto put = [](std::atomic<uint64_t>& to, auto from) {
    to.store(static_cast<uint64_t>(from), std::memory_order_relaxed);
  };
  put(engine.counts.regions, report.total(jit::EventKind::Region));
  put(engine.counts.kernels, report.total(jit::EventKind::Kernel));
  put(engine.counts.kernel_cache_hits, report.total(jit::EventKind::CacheHit));
  put(engine.counts.recompiles, report.total(jit::EventKind::Recompile));
  put(engine.counts.fallbacks, report.total(jit::EventKind::Fallback));
  put(engine.counts.compile_ns, report.total_ms(jit::EventKind::CompileTime) * 1e6);
}

// A stop that came while nothing of a script ran waits for the next entry. Any other is used up: it is clear
// whom it was meant for, even when the script had come to its end the moment before.
void end(tsc_engine& engine) {
  publish_counts(engine);
  if (engine.armed) engine.watchdog.disarm();
  engine.armed = false;
  engine.device.budget->set_reserve(0);
  // What ends a script anywhere may have ended it between a no_grad's or autocast's __enter__ and its __exit__.
  if (engine.cut_short) {
    interp::Modes& modes = interp::tensor_state(*engine.vm).modes;
    modes.grad_enabled = engine.modes.grad_enabled;
    modes.autocast = engine.modes.autocast;
    modes.device_autocast = engine.modes.device_autocast;
  }
  const StopCause cause = engine.device.stop.cause();
  // A stop ends all threads of the script: what they clean up has the same grace.
  if (cause != StopCause::None && (engine.runs_script || engine.limit_reported))
    engine.vm->threads().end_others(engine.device.stop.grace_until());
  if (cause == StopCause::None || (cause == StopCause::Host && !engine.runs_script && !engine.limit_reported)) return;
  engine.vm->end_entry();
  engine.recovering |= cause == StopCause::Memory;
  engine.stop_reason_state = tsc_engine::ReasonState::Unset;
}

}  // namespace

Entry::Entry(tsc_engine& engine)
    : engine_(engine), entered_(enter(engine)), device_(engine.device), heap_(entered_ ? &engine.vm->heap() : nullptr) {
  if (entered_ && engine.depth == 1) begin(engine);
}

Entry::~Entry() {
  if (!entered_) return;
  if (engine_.depth == 1) end(engine_);
  if (--engine_.depth == 0) engine_.owner.store(nullptr, std::memory_order_release);
}

void begin_run(tsc_engine& engine) {
  engine.runs_script = true;
  engine.vm->threads().give_up(false);
  if (engine.device.stop.requested()) engine.vm->poll();
}

void end_run(tsc_engine& engine) {
  if (engine.depth != 1) return;
  if (engine.deadline != 0 && steady_nanoseconds() >= engine.deadline) engine.vm->stop(StopCause::Time);
  if (engine.device.stop.requested()) throw interp::ScriptException(engine.vm->limit_exception());
}

tsc_status* wrong_thread() noexcept {
  try {
    return make_status(TSC_WRONG_THREAD, "",
                       "the engine is in use by another thread: an engine serves one thread at a time; "
                       "only stop, interrupt and statistics may be called meanwhile");
  } catch (...) {
    return current_exception_status(nullptr);
  }
}

namespace {

tsc_status* finish(tsc_engine* engine) {
  return guarded(engine, [&]() -> tsc_status* {
    if (engine->depth > 1) return bad_argument("finish was called in a callback of the engine");
    struct EndOthers {
      interp::Vm& vm;
      ~EndOthers() { vm.threads().end_others(vm.stop_flag().grace_until()); }
    } end_others{*engine->vm};
    begin_run(*engine);
    interp::finish_program(*engine->vm);
    end_run(*engine);
    return nullptr;
  });
}

// Signal safe: copies into memory that is there already. Of several reasons the first one stays.
void stop(tsc_engine* engine, const char* reason) {
  if (engine == nullptr) return;
  using State = tsc_engine::ReasonState;
  State unset = State::Unset;
  if (reason != nullptr && engine->stop_reason_state.compare_exchange_strong(unset, State::Writing)) {
    size_t size = 0;
    while (reason[size] != 0 && size + 1 < sizeof engine->stop_reason) ++size;
    std::memcpy(engine->stop_reason, reason, size);
    engine->stop_reason[size] = 0;
    engine->stop_reason_state = State::Ready;
  }
  engine->vm->stop(StopCause::Host);
}

void clear_stop(tsc_engine* engine) {
  if (engine == nullptr) return;
  Entry entry(*engine);
  if (!entry) return;
  engine->vm->end_entry();
  engine->stop_reason_state = tsc_engine::ReasonState::Unset;
}

tsc_status* set_limits(tsc_engine* engine, const tsc_limits* given) {
  return guarded(engine, [&]() -> tsc_status* {
    apply_limits(*engine, copy_of(required(given, "limits")));
    return nullptr;
  });
}

tsc_status* get_statistics(tsc_engine* engine, tsc_statistics* out) {
  if (engine == nullptr) return no_engine();
  if (out == nullptr || out->struct_size < sizeof out->struct_size)
    return bad_argument("statistics needs a tsc_statistics with its struct_size set");
  tsc_statistics now{};
  const MemoryBudget& budget = *engine->device.budget;
  const AllocatorStatistics tensors = engine->device.allocator->statistics();
  now.struct_size = out->struct_size;
  now.memory_bytes = static_cast<uint64_t>(budget.used());
  now.peak_memory_bytes = static_cast<uint64_t>(budget.peak());
  now.tensor_bytes = static_cast<uint64_t>(tensors.used_bytes);
  now.kept_tensor_bytes = static_cast<uint64_t>(tensors.cached_bytes);
  const tsc_engine::CompilerCounts& counts = engine->counts;
  now.regions = counts.regions.load(std::memory_order_relaxed);
  now.kernels = counts.kernels.load(std::memory_order_relaxed);
  now.kernel_cache_hits = counts.kernel_cache_hits.load(std::memory_order_relaxed);
  now.recompiles = counts.recompiles.load(std::memory_order_relaxed);
  now.fallbacks = counts.fallbacks.load(std::memory_order_relaxed);
  now.compile_ns = counts.compile_ns.load(std::memory_order_relaxed);
  now.tensor_allocations = static_cast<uint64_t>(tensors.allocations);
  now.peak_tensor_bytes = static_cast<uint64_t>(tensors.peak_used_bytes);
  std::memcpy(out, &now, std::min(out->struct_size, sizeof now));
  return nullptr;
}

}  // namespace

void apply_limits(tsc_engine& engine, const tsc_limits& limits) {
  interp::Config& config = engine.vm->config();
  engine.device.budget->set_limit(
      static_cast<int64_t>(std::min<uint64_t>(limits.memory_bytes, static_cast<uint64_t>(INT64_MAX))));
  config.instruction_limit = std::min<uint64_t>(limits.steps, INT64_MAX);
  config.time_limit = static_cast<int64_t>(std::min<uint64_t>(limits.time_ns, static_cast<uint64_t>(INT64_MAX / 2)));
  if (limits.depth != 0) config.recursion_limit = config.largest_recursion_limit = limits.depth;
  engine.time_limit.store(config.time_limit, std::memory_order_relaxed);
}

// Most engines have nothing to finish, and need no watch over the time for it.
void finish_unless_done(tsc_engine& engine) noexcept {
  if (engine.vm && interp::has_much_to_finish(*engine.vm)) free_status(finish(&engine));
}

void fill_limit_functions(tsc_api& api) {
  api.finish = finish;
  api.stop = stop;
  api.clear_stop = clear_stop;
  api.set_limits = set_limits;
  api.statistics = get_statistics;
}

}  // namespace tsc::embed
