#include "jit/runner/background_worker.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

namespace tsc::jit {
namespace {

// Above the program's threads by this much: they come first, yet work goes on when they take every core.
constexpr int kNiceness = 5;

void lower_priority() {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, self);
  setpriority(PRIO_PROCESS, self, now + kNiceness);
}

// Signals are for the thread that runs the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

BackgroundWorker::~BackgroundWorker() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    leaving_ = true;
    jobs_.clear();
  }
  wanted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundWorker::add(std::function<void()> job) {
  std::lock_guard<std::mutex> lock(mutex_);
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) {
    const SignalsBlocked inherited;
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      jobs_.pop_back();
      return false;
    } catch (...) {
      jobs_.pop_back();
      throw;
    }
  }
  wanted_.notify_one();
  return true;
}

bool BackgroundWorker::help() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (jobs_.empty()) return false;
  {
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    ++busy_;
    lock.unlock();
    job();
  }
  lock.lock();
  if (--busy_ == 0 && jobs_.empty()) done_.notify_all();
  return true;
}

bool BackgroundWorker::wait_for(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return done_.wait_for(lock, time, [this] { return jobs_.empty() && busy_ == 0; });
}

void BackgroundWorker::work() {
  lower_priority();
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wanted_.wait(lock, [this] { return leaving_ || !jobs_.empty(); });
      if (leaving_) return;
    }
    help();
  }
}

}  // namespace tsc::jit
