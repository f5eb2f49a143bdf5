#pragma once
// The deadline of one engine: a thread that sleeps until the moment and then calls back, so that work
// polls one word and never the clock. Knows time only. Keeps: no thread before the first deadline; the
// callback never runs after disarm() returned.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tsc::embed {

class Watchdog {
 public:
  explicit Watchdog(std::function<void()> expired) : expired_(std::move(expired)) {}
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Calls back once at the moment (of steady_nanoseconds), unless disarmed before. Throws when the
  // system has no thread left.
  void arm(int64_t moment);
  void disarm();

 private:
  void start();
  void watch();

  std::function<void()> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  int64_t moment_ = 0;        // 0: not armed
  int64_t sleeps_until_ = 0;  // of the thread; 0: until it is told
  bool ends_ = false;
};

}  // namespace tsc::embed
