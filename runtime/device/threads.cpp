#include "runtime/device/threads.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

#include "runtime/device/race_checker.h"

namespace tsc {
namespace {

// Enough that threads of different speed, and a thread that was taken away for a while, end together.
constexpr int64_t kChunksPerThread = 16;

int processor_count() { return std::max(1, tbb::info::default_concurrency()); }

// Set while this thread runs a piece of a loop: loops inside run inline.
thread_local bool inside_loop = false;

struct InsideLoop {
  bool previous = inside_loop;
  InsideLoop() { inside_loop = true; }
  ~InsideLoop() { inside_loop = previous; }
};

}  // namespace

struct Threads::Arena {
  // More workers than processors gain nothing and make TBB complain; the cut into chunks is unchanged.
  explicit Arena(int count) : arena(std::min(count, processor_count())), observer(arena) {}
  // Whether the system gives threads at all: TBB asks for them in the middle of a loop, where it is too
  // late to do without.
  bool has_threads() {
    if (!has_threads_) has_threads_ = can_start_thread();
    return *has_threads_;
  }
  tbb::task_arena arena;
  [[no_unique_address]] race_checker::WorkerObserver observer;

 private:
  static bool can_start_thread() {
    try {
      std::thread([] {}).join();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  std::optional<bool> has_threads_;
};

// An arena starts no thread before its first loop.
Threads::Threads(int count, const StopFlag* stop)
    : stop_(stop), count_(count > 0 ? count : processor_count()), arena_(std::make_unique<Arena>(count_)) {}
Threads::~Threads() = default;

void Threads::set_count(int count) {
  count_ = count > 0 ? count : processor_count();
  arena_ = std::make_unique<Arena>(count_);
}

// In slices, with a poll before each. The first slices are small and show what an item costs; a
// slice is meant to take kSliceNanoseconds.
void Threads::run_chunk(int64_t begin, int64_t end, int64_t grain, RangeBody body) const {
  constexpr int64_t kFirstGrains = 8, kGrowth = 8, kSliceNanoseconds = 4'000'000;
  if (stop_ == nullptr || end - begin <= kFirstGrains * grain) {
    if (stop_) stop_->poll();
    return body(begin, end);
  }
  int64_t slice = kFirstGrains * grain;
  while (begin < end) {
    stop_->poll();
    const int64_t next = end - begin <= slice + slice / 2 ? end : begin + slice;
    const int64_t start = steady_nanoseconds();
    body(begin, next);
    const int64_t taken = std::max<int64_t>(steady_nanoseconds() - start, 1);
    const double wanted = static_cast<double>(slice) * kSliceNanoseconds / static_cast<double>(taken);
    slice = static_cast<int64_t>(std::min(wanted, static_cast<double>(slice) * kGrowth));
    slice = std::max(slice / grain * grain, grain);
    begin = next;
  }
}

void Threads::parallel_for(int64_t count, int64_t grain, RangeBody body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int64_t chunks = std::min(count / grain, count_ * kChunksPerThread);
  if (count_ == 1 || chunks < 2 || inside_loop || !arena_->has_threads()) {
    run_chunk(0, count, grain, body);
    return;
  }
  int64_t base = count / chunks, extra = count % chunks;
  auto begin_of = [=](int64_t chunk) { return chunk * base + std::min(chunk, extra); };
  const race_checker::InsideLibrary library(&body);
  arena_->arena.execute([&] {
    tbb::parallel_for(
        int64_t{0}, chunks,
        [&](int64_t chunk) {
          const race_checker::InsideBody own_code(&body);
          InsideLoop guard;
          run_chunk(begin_of(chunk), begin_of(chunk + 1), grain, body);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace tsc
