#pragma once
// What a function may spend on capture. Its first captures are free, as long as they take no more than two seconds
// together: enough for every place of a long program and for the forms of what it is called with; a program whose every
// turn brings something that no variant fits would go on for ever, and be slower than the interpreter by what a capture
// costs. So each further capture waits until the program has run some time without one: all of them together can then
// slow a program by no more than a fixed share. Meanwhile the variants there are stay in use, and what fits none of
// them is interpreted; where nothing fits for many instructions in a row, none is looked for for a while. Knows
// functions by their code. Must not know variants, nor how they are made.
#include <chrono>
#include <unordered_map>

namespace tsc::interp {

struct CodeObject;

class CaptureAccounts {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CaptureAccounts(bool timed) : timed_(timed) {}
  bool may_capture(const CodeObject* code) const;
  void captured(const CodeObject* code, Clock::duration took);
  uint32_t captures(const CodeObject* code) const {
    const auto found = accounts_.find(code);
    return found == accounts_.end() ? 0 : found->second.captures;
  }
  // Whether it was refused one: captures come now and then from then on.
  bool has_missed(const CodeObject* code) const {
    const auto found = accounts_.find(code);
    return found != accounts_.end() && found->second.has_missed;
  }
  // Nothing fitted at a place of the function, and nothing may be captured there now. Whether that is so for the first
  // time.
  bool missed(const CodeObject* code);
  void fitted(const CodeObject* code) {
    if (any_missed_) [[unlikely]]
      end_misses(code);
  }
  // In front of each instruction of a function that is being interpreted: whether no variant is to be looked for there.
  bool rests(const CodeObject* code) { return rest_ && code == resting_ && --rest_; }
  void reset() { *this = CaptureAccounts(timed_); }

 private:
  struct Account {
    uint32_t captures = 0;
    Clock::time_point last;   // when the last capture ended
    Clock::duration took{};   // and how long it took
    Clock::duration spent{};  // by all of them
    uint32_t refused = 0;     // how many have been since
    bool has_missed = false;
    uint32_t misses = 0;  // in a row
    uint32_t rest = 0;    // how many instructions the last rest was
  };
  void end_misses(const CodeObject* code);

  bool timed_;  // false: refusals count in place of time
  std::unordered_map<const CodeObject*, Account> accounts_;
  bool any_missed_ = false;
  const CodeObject* resting_ = nullptr;
  uint32_t rest_ = 0;  // instructions of it that are left
};

}  // namespace tsc::interp
