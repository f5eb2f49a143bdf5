#include "interpreter/embed/watchdog.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>

#include "runtime/base/stop.h"

namespace tsc::embed {

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::arm(int64_t moment) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    moment_ = moment;
    // One that wakes earlier by itself (for a deadline that was met) needs no call: requests that
    // come one after the other, each with its time, do not wake the thread each time.
    wake = sleeps_until_ == 0 || sleeps_until_ > moment;
    if (!thread_.joinable()) start();
  }
  if (wake) changed_.notify_one();
}

// The host's signals are for the host's threads: a thread inherits the mask of who makes it.
void Watchdog::start() {
  struct Masked {
    sigset_t before;
    Masked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Masked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } masked;
  thread_ = std::thread([this] { watch(); });
}

void Watchdog::disarm() {
  std::lock_guard lock(mutex_);
  moment_ = 0;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (moment_ != 0 && steady_nanoseconds() >= moment_) {
      moment_ = 0;
      expired_();
      continue;
    }
    sleeps_until_ = moment_;
    if (moment_ == 0) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(moment_)));
    }
  }
}

}  // namespace tsc::embed
