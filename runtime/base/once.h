#pragma once
// What is done once, by whichever thread comes first, while the others wait. Where it throws it was not done, and the
// next call tries again: std::call_once promises that too, but under ThreadSanitizer the next call waits for ever.
// Keeps: one byte; a call when it is done is one load.
#include <atomic>
#include <cstdint>

namespace tsc {

class Once {
 public:
  template <class F>
  void call(F&& function) {
    if (state_.load(std::memory_order_acquire) != State::Done && begin()) {
      const Attempt attempt{*this};
      function();
      attempt.once.end(State::Done);
    }
  }

 private:
  enum class State : uint8_t { New, Running, Done };
  struct Attempt {
    Once& once;
    ~Attempt() {
      if (once.state_.load(std::memory_order_relaxed) == State::Running) once.end(State::New);
    }
  };

  // False: another thread has done it.
  bool begin() {
    for (;;) {
      State seen = State::New;
      if (state_.compare_exchange_strong(seen, State::Running, std::memory_order_acquire)) return true;
      if (seen == State::Done) return false;
      state_.wait(State::Running, std::memory_order_acquire);
    }
  }
  void end(State state) {
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }

  std::atomic<State> state_ = State::New;
};

}  // namespace tsc
