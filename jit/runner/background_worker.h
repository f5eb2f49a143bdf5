#pragma once
// One thread beside the program that does one job after another, at a low priority, so that the program's
// own threads come first. It is started by the first job.
// Whoever waits for the jobs may help. Knows nothing of what they do. Keeps: jobs that have not begun when the worker
// goes are dropped, the one at work is waited for; nobody helps then.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tsc::jit {

class BackgroundWorker {
 public:
  BackgroundWorker() = default;
  ~BackgroundWorker();
  BackgroundWorker(const BackgroundWorker&) = delete;
  // The job must not throw. False: the system refuses a thread, and the job was not taken.
  bool add(std::function<void()> job);
  // Does the next job that has not begun on the calling thread. False: there was none.
  bool help();
  // True when every job that was added is done; waits for that at most so long.
  bool wait_for(std::chrono::milliseconds time);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wanted_, done_;
  std::deque<std::function<void()>> jobs_;
  int busy_ = 0;  // jobs at work
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace tsc::jit
