#pragma once
// The word that ends an engine's work: set from any thread or a signal handler, polled by everything
// that can take long. Knows no engine. Keeps: polling an unset word is one relaxed load; after a stop
// was heard, a grace may let the script's `finally` blocks work for a moment longer.
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tsc {

// Thrown by work that gave up because it was told to. Not an error, and not a std::exception: what
// handles faults lets it pass to the one who knows who asked.
struct Stopped {};

enum class StopCause : uint32_t { None, Host, Time, Steps, Memory };

inline int64_t steady_nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class StopFlag {
 public:
  // The first cause stays.
  void request(StopCause cause) noexcept {
    StopCause none = StopCause::None;
    cause_.compare_exchange_strong(none, cause, std::memory_order_relaxed);
  }
  StopCause cause() const noexcept { return cause_.load(std::memory_order_relaxed); }
  bool requested() const noexcept { return cause() != StopCause::None; }
  // Throws Stopped when a stop is requested and no grace is left.
  void poll() const {
    if (requested()) [[unlikely]] {
      if (!in_grace()) throw Stopped{};
    }
  }
  // Until the moment (of steady_nanoseconds) polls let work go on. 0: there was no grace yet.
  void set_grace(int64_t until) noexcept { grace_until_.store(until, std::memory_order_relaxed); }
  int64_t grace_until() const noexcept { return grace_until_.load(std::memory_order_relaxed); }
  bool in_grace() const noexcept {
    const int64_t until = grace_until();
    return until != 0 && steady_nanoseconds() < until;
  }
  void clear() noexcept {
    cause_.store(StopCause::None, std::memory_order_relaxed);
    set_grace(0);
  }

 private:
  std::atomic<StopCause> cause_{StopCause::None};
  std::atomic<int64_t> grace_until_{0};
};

}  // namespace tsc
