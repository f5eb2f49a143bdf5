#include "runtime/device/threads.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace tsc {
namespace {

constexpr int64_t kChunksPerThread = 4;  // enough to even out a slow thread

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
  explicit Arena(int count) : arena(std::min(count, processor_count())) {}
  tbb::task_arena arena;
};

// An arena starts no thread before its first loop.
Threads::Threads(int count)
    : count_(count > 0 ? count : processor_count()), arena_(std::make_unique<Arena>(count_)) {}
Threads::~Threads() = default;

void Threads::set_count(int count) {
  count_ = count > 0 ? count : processor_count();
  arena_ = std::make_unique<Arena>(count_);
}

void Threads::parallel_for(int64_t count, int64_t grain, RangeBody body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int64_t chunks = std::min(count / grain, count_ * kChunksPerThread);
  if (count_ == 1 || chunks < 2 || inside_loop) {
    body(0, count);
    return;
  }
  int64_t base = count / chunks, extra = count % chunks;
  auto begin_of = [=](int64_t chunk) { return chunk * base + std::min(chunk, extra); };
  arena_->arena.execute([&] {
    tbb::parallel_for(
        int64_t{0}, chunks,
        [&](int64_t chunk) {
          InsideLoop guard;
          body(begin_of(chunk), begin_of(chunk + 1));
        },
        tbb::simple_partitioner());
  });
}

}  // namespace tsc
