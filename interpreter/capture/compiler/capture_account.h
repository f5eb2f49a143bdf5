#pragma once
// What a place may spend on captures. A place that needs a variant for every call would be captured for ever, at a hundred times
// the cost of interpreting it. So the first captures are free: as many as PyTorch makes (recompile_limit), and further ones while
// all together took little time. Any other is paid for, by runs of the variants that there are, and by a hundredth of the time
// that passes, for a program that has become another one.
// Knows times only. Must not know what a variant is.
#include <chrono>
#include <cstdint>
#include <ctime>

namespace tsc::interp {

class CaptureAccount {
 public:
  using Clock = std::chrono::steady_clock;

  // Of the processor, which a busy machine does not stretch.
  static double thread_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  }

  bool is_free() const { return captures_ < kFree || spent_ < kFreeTime; }
  // Once they are not free: whether another one is paid for.
  bool affords() {
    const Clock::time_point now = Clock::now();
    balance_ += kShareOfTime * std::chrono::duration<double, std::milli>(now - asked_).count();
    asked_ = now;
    return balance_ >= spent_ / captures_;
  }
  void note_capture(double ms) {
    ++captures_;
    spent_ += ms;
    balance_ = 0;
    asked_ = Clock::now();
  }
  // A run of a variant: the interpreter would have taken at least that long, and that much for every instruction.
  void note_run(Clock::time_point began, size_t instructions) {
    balance_ += std::chrono::duration<double, std::milli>(Clock::now() - began).count();
    balance_ += static_cast<double>(instructions) * kInstruction;
  }

 private:
  static constexpr uint32_t kFree = 8;
  static constexpr double kFreeTime = 400;  // milliseconds
  static constexpr double kShareOfTime = 0.01;
  static constexpr double kInstruction = 2e-5;  // milliseconds of the interpreter, for one of the cheap ones

  uint32_t captures_ = 0;
  double spent_ = 0;    // milliseconds, all captures
  double balance_ = 0;  // milliseconds that the next one may take
  Clock::time_point asked_;
};

}  // namespace tsc::interp
