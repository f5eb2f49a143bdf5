#pragma once
// What a place may spend on captures. A place that needs a variant for every call would be captured for ever, at a hundred times
// the cost of interpreting it; so the first captures are free, as many as PyTorch makes (recompile_limit), and any other is paid
// for: by runs of the variants that there are, and by a hundredth of the time that passes, for a program that has become
// another one.
// Knows times only. Must not know what a variant is.
#include <chrono>

namespace tsc::interp {

class CaptureAccount {
 public:
  using Clock = std::chrono::steady_clock;

  bool is_free() const { return captures_ < kFree; }
  // Once they are not free: whether another one is paid for.
  bool affords() {
    const Clock::time_point now = Clock::now();
    balance_ += kShareOfTime * std::chrono::duration<double, std::milli>(now - asked_).count();
    asked_ = now;
    return balance_ >= spent_ / captures_;
  }
  void note_capture(Clock::time_point began) {
    asked_ = Clock::now();
    spent_ += std::chrono::duration<double, std::milli>(asked_ - began).count();
    balance_ = 0;
    ++captures_;
  }
  // A run of a variant: the interpreter would have taken at least that long, and that much for every instruction.
  void note_run(Clock::time_point began, size_t instructions) {
    balance_ += std::chrono::duration<double, std::milli>(Clock::now() - began).count();
    balance_ += static_cast<double>(instructions) * kInstruction;
  }

 private:
  static constexpr uint32_t kFree = 8;
  static constexpr double kShareOfTime = 0.01;
  static constexpr double kInstruction = 2e-5;  // milliseconds of the interpreter, for one of the cheap ones

  uint32_t captures_ = 0;
  double spent_ = 0;    // milliseconds, all captures
  double balance_ = 0;  // milliseconds that the next one may take
  Clock::time_point asked_;
};

}  // namespace tsc::interp
