#include "campaign.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>

// There under AddressSanitizer only.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace tsc::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxInput = size_t{4} << 20;
constexpr size_t kMaxMessage = size_t{1} << 16;
constexpr uint64_t kLeakCheckEvery = 2000;
constexpr int kBrokenRule = 90, kLeaked = 91;  // exit statuses of a worker

// What supervisor and worker share.
struct Board {
  std::atomic<uint64_t> number;  // of the input under trial
  std::atomic<uint64_t> done;
  uint32_t size;
  char message[kMaxMessage];
  char input[kMaxInput];
};

double cpu_seconds_of(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

uint64_t resident_bytes_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  uint64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Campaign {
 public:
  Campaign(const Target& target, const CampaignOptions& options)
      : target_(target), options_(options), next_(options.first) {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    board_ = new (memory) Board;
    log_ = (fs::temp_directory_path() / ("tsc-fuzz-" + std::to_string(getpid()))).string();
  }
  ~Campaign() {
    munmap(board_, sizeof(Board));
    std::error_code ignored;
    fs::remove(log_, ignored);
  }

  int run() {
    const auto start = Clock::now();
    end_ = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    while (!is_over()) one_worker();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("%s: %llu inputs in %.0f s (%.0f s of processor time), %d findings\n", target_.name.c_str(),
                static_cast<unsigned long long>(done_), seconds, cpu_, findings_);
    std::fflush(stdout);
    return findings_;
  }

 private:
  bool is_over() const {
    return Clock::now() >= end_ || done_ >= options_.most || findings_ >= options_.most_findings ||
           (options_.cpu_seconds > 0 && cpu_ >= options_.cpu_seconds);
  }

  [[noreturn]] void work() {
    const int log = open(log_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(log, 2);
    dup2(log, 1);
    const uint64_t most = std::min(options_.most - done_, options_.worker_inputs);
    for (uint64_t i = 0; i < most; ++i) {
      if (const int status = try_input(next_ + i)) _exit(status);
      if (__lsan_do_recoverable_leak_check != nullptr &&
          (i % kLeakCheckEvery == kLeakCheckEvery - 1 || i + 1 == most) && __lsan_do_recoverable_leak_check() != 0)
        _exit(kLeaked);
    }
    _exit(0);
  }

  int try_input(uint64_t number) {
    Random random(options_.seed, number);
    std::string input = target_.make(random, number);
    input.resize(std::min(input.size(), kMaxInput));
    std::memcpy(board_->input, input.data(), input.size());
    board_->size = static_cast<uint32_t>(input.size());
    board_->number.store(number);
    std::string broken;
    try {
      broken = target_.run(input);
    } catch (const std::exception& error) {
      broken = std::string("an exception came out: ") + error.what();
    }
    board_->done.fetch_add(1);
    if (broken.empty()) return 0;
    const size_t size = std::min(broken.size(), kMaxMessage - 1);
    std::memcpy(board_->message, broken.data(), size);
    board_->message[size] = 0;
    return kBrokenRule;
  }

  void one_worker() {
    board_->number.store(next_);
    board_->done.store(0);
    board_->size = 0;
    std::fflush(nullptr);
    const pid_t worker = fork();
    if (worker < 0) throw std::runtime_error("fork failed");
    if (worker == 0) work();
    std::string verdict;
    const int status = watch(worker, verdict);
    const uint64_t number = board_->number.load();
    done_ += board_->done.load();
    next_ = number + 1;
    if (verdict == "time") return;
    if (verdict.empty() && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (verdict.empty()) verdict = describe(status);
    report(number, verdict);
  }

  static std::string describe(int status) {
    if (WIFSIGNALED(status)) return std::string("killed by a signal: ") + strsignal(WTERMSIG(status));
    if (WEXITSTATUS(status) == kBrokenRule) return "";
    if (WEXITSTATUS(status) == kLeaked) return "leak (of this input or one of those before it)";
    return "exited with status " + std::to_string(WEXITSTATUS(status));
  }

  // Until the worker ends. A worker that is ended here has its reason in `verdict`.
  int watch(pid_t worker, std::string& verdict) {
    uint64_t watched = UINT64_MAX;
    double cpu_begin = 0, cpu = 0;
    auto real_begin = Clock::now();
    int status = 0;
    while (waitpid(worker, &status, WNOHANG) == 0) {
      usleep(20000);
      if (const double now = cpu_seconds_of(worker); now > 0) cpu = now;
      const uint64_t number = board_->number.load();
      if (number != watched) watched = number, cpu_begin = cpu, real_begin = Clock::now();
      const std::chrono::duration<double> real = Clock::now() - real_begin;
      if (cpu - cpu_begin > options_.hang_seconds) verdict = "hang";
      else if (real.count() > 60 * options_.hang_seconds) verdict = "hang (waiting, not computing)";
      else if (resident_bytes_of(worker) > options_.memory_bytes) verdict = "memory";
      else if (Clock::now() >= end_ || (options_.cpu_seconds > 0 && cpu_ + cpu >= options_.cpu_seconds))
        verdict = "time";
      if (verdict.empty()) continue;
      // A hang or a hoard is aborted, so that a core or a sanitizer can tell where it was.
      kill(worker, verdict == "time" ? SIGKILL : SIGABRT);
      waitpid(worker, &status, 0);
      break;
    }
    cpu_ += cpu;
    return status;
  }

  void report(uint64_t number, const std::string& verdict) {
    ++findings_;
    std::error_code ignored;
    fs::create_directories(options_.findings, ignored);
    const std::string stem =
        options_.findings + "/" + target_.name + "-" + std::to_string(options_.seed) + "-" + std::to_string(number);
    std::ofstream(stem + target_.suffix, std::ios::binary).write(board_->input, board_->size);
    std::ostringstream told;
    told << (verdict.empty() ? board_->message : verdict) << "\n";
    told << std::ifstream(log_).rdbuf();
    std::ofstream(stem + ".log") << told.str();
    std::printf("FINDING %s%s (again: --target %s --seed %llu --first %llu --count 1)\n%.6000s\n", stem.c_str(),
                target_.suffix.c_str(), target_.name.c_str(), static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(number), told.str().c_str());
    std::fflush(stdout);
  }

  const Target& target_;
  const CampaignOptions& options_;
  Board* board_ = nullptr;
  std::string log_;
  uint64_t next_, done_ = 0;
  double cpu_ = 0;
  int findings_ = 0;
  Clock::time_point end_;
};

}  // namespace

int run_campaign(const Target& target, const CampaignOptions& options) { return Campaign(target, options).run(); }

}  // namespace tsc::fuzz
