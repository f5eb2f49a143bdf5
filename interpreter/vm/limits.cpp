// Interrupts and limits: what ends a script from outside.
#include <algorithm>
#include <cstdio>

#include "interpreter/vm/frames.h"
#include "interpreter/vm/signals.h"
#include "interpreter/vm/threads.h"

namespace tsc::interp {
namespace {

std::string duration_text(int64_t nanoseconds) {
  char text[64];
  if (nanoseconds >= 1'000'000'000) std::snprintf(text, sizeof text, "%g s", static_cast<double>(nanoseconds) / 1e9);
  else std::snprintf(text, sizeof text, "%g ms", static_cast<double>(nanoseconds) / 1e6);
  return text;
}

constexpr char kOutOfMemory[] = "out of memory";

// The spare error as good as new, unless somebody keeps it since the last time.
Local<ExceptionObject> spare(const Local<ExceptionObject>& kept) noexcept {
  if (kept->reference_count == 1) {
    kept->traceback.clear();
    kept->cause.reset();
    kept->context.reset();
    kept->suppress_context = false;
  }
  return kept;
}

}  // namespace

void Vm::make_spare_errors() {
  constexpr size_t kPlaces = 32;  // of a traceback that needs no memory
  spare_memory_error_ = make_exception(*this, exceptions_.MemoryError, kOutOfMemory);
  spare_limit_error_ = make_exception(*this, exceptions_.LimitError, "stopped by a limit");
  for (auto* error : {&spare_memory_error_, &spare_limit_error_}) (*error)->traceback.reserve(kPlaces);
}

Local<ExceptionObject> Vm::memory_error() noexcept {
  Heap::Exempt exempt(heap_);
  try {
    return make_exception(*this, exceptions_.MemoryError, kOutOfMemory);
  } catch (...) {
    return spare(spare_memory_error_);
  }
}

void Vm::begin_entry() {
  heap_.relax();
  fuel_ = config_.instruction_limit ? static_cast<int64_t>(config_.instruction_limit) : INT64_MAX;
}

void Vm::end_entry() {
  const bool was_full = stop_->cause() == StopCause::Memory;
  stop_->clear();
  heap_.relax();
  interrupts_.fetch_and(~uint32_t{kInterruptStop});
  threads_->forget_stop();
  stack_.trim();
  if (was_full) {
    heap_.collect(true);
    heap_.trim();
    heap_.budget().rearm();
  }
}

void Vm::begin_grace() {
  if (!stop_->requested()) stop(StopCause::Memory);  // the one limit that raises by itself
  if (stop_->grace_until() == 0) stop_->set_grace(steady_nanoseconds() + kGraceNanoseconds);
  hurry();
}

// What a stop ends is freed from here on. After a memory limit freeing is what counts.
void Vm::hurry() {
  if (stop_->cause() != StopCause::Memory) heap_.hurry();
}

Local<ExceptionObject> Vm::limit_exception() noexcept {
  Heap::Exempt exempt(heap_);
  try {
    Local<ExceptionObject> error = make_exception(*this, exceptions_.LimitError, limit_message());
    error->is_limit = true;
    return error;
  } catch (...) {
    spare_limit_error_->is_limit = true;
    return spare(spare_limit_error_);
  }
}

std::string Vm::limit_message() {
  const auto number = [](auto n) { return std::to_string(n); };
  const std::string reason = config_.stop_reason ? config_.stop_reason() : "";
  std::string message = "stopped by the host" + (reason.empty() ? "" : ": " + reason);
  switch (stop_->cause()) {
    case StopCause::Time:
      message = "the script ran longer than its time limit of " + duration_text(config_.time_limit);
      break;
    case StopCause::Steps:
      message = "the script used up its limit of " + number(config_.instruction_limit) + " steps";
      break;
    case StopCause::Memory:
      message =
          "the script's objects and tensors exceed the memory limit of " + number(heap_.budget().limit()) + " bytes";
      break;
    case StopCause::None:
    case StopCause::Host: break;
  }
  return message;
}

// A full collection near the memory limit. A program that is large without being garbage would pay for
// one after the other: each that frees little makes the next ones wait, until the limit is close.
void Vm::relieve_pressure() {
  MemoryBudget& budget = heap_.budget();
  const int64_t before = budget.used();
  const bool close = before > budget.limit() / 8 * 7;
  if (pressure_skips_ > 0 && !close) {
    --pressure_skips_;
  } else {
    heap_.collect(true);
    heap_.trim();
    stack_.trim();
    const bool helped = before - budget.used() > before / 16;
    next_pressure_skips_ = helped ? 1 : std::min(2 * next_pressure_skips_, 1024u);
    pressure_skips_ = helped ? 0 : next_pressure_skips_;
  }
  budget.rearm();
}

void Vm::handle_interrupts() {
  if (fuel_ < 0) {
    fuel_ = INT64_MAX;
    stop(StopCause::Steps);
  }
  const uint32_t pending = interrupts_.fetch_and(~uint32_t{kInterruptCollect | kInterruptPressure});
  if (pending & kInterruptPressure) {
    relieve_pressure();
  } else if (pending & kInterruptCollect) {
    heap_.collect(false);
  }
  raise_stop();
  if (!(pending & kInterruptSignal) || !threads_->is_main()) return;
  interrupts_.fetch_and(~uint32_t{kInterruptSignal});
  run_signal_handlers(*this);
}

// A thread of the script that the end of the program, or of what was stopped, does not wait for.
void Vm::leave_if_told() {
  if (leaves(*this)) throw ScriptException(limit_exception());
}

void Vm::raise_stop() {
  if (interrupts_.load(std::memory_order_relaxed) & kInterruptLeave) leave_if_told();
  // Ctrl-C is for the main thread, as in Python.
  const uint32_t pending = threads_->is_main() ? interrupts_.fetch_and(~uint32_t{kInterruptKeyboard}) : 0;
  if (interrupts_.load(std::memory_order_relaxed) & kInterruptStop) {
    if (!stop_->requested()) interrupts_.fetch_and(~uint32_t{kInterruptStop});
    else if (ThreadState& self = threads_->current(); !stop_->in_grace() || !self.heard_stop) {
      self.heard_stop = true;
      hurry();
      throw ScriptException(limit_exception());
    }
  }
  if (pending & kInterruptKeyboard && !handles_interrupt(*this))
    throw ScriptException(make_exception(*this, exceptions_.KeyboardInterrupt, std::span<const Value>()));
}

}  // namespace tsc::interp
