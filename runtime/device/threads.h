#pragma once
// The threads of one engine: an oneTBB task arena behind a small interface, so that no other header
// sees TBB. Knows no tensors. Keeps: results never depend on the thread count, because callers split
// work into independent pieces; a loop inside a loop runs on the calling thread.
#include <cstdint>
#include <memory>
#include <type_traits>

#include "runtime/base/stop.h"

namespace tsc {

// A call with (begin, end); does not own the callable.
class RangeBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
  RangeBody(F&& body)
      : context_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* context, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(context_, begin, end); }

 private:
  void* context_;
  void (*call_)(void*, int64_t, int64_t);
};

class Threads {
 public:
  // 0: one thread per processor. `stop`, when not null, outlives this and is polled by loops.
  explicit Threads(int count = 0, const StopFlag* stop = nullptr);
  ~Threads();
  int count() const { return count_; }
  // Must not be called while a loop runs.
  void set_count(int count);

  // Calls body(begin, end) on disjoint ranges that cover [0, count), of at least `grain` items each
  // (the last may be shorter), in any order and on any thread. Blocks until all are done; the first
  // exception is rethrown. Runs inline when there are fewer than two grains. Several threads may run
  // loops of one engine at once. Throws Stopped, a few milliseconds after a stop was requested.
  void parallel_for(int64_t count, int64_t grain, RangeBody body);

 private:
  struct Arena;
  void run_chunk(int64_t begin, int64_t end, int64_t grain, RangeBody body) const;
  const StopFlag* stop_;
  int count_;
  std::unique_ptr<Arena> arena_;
};

// The grain for items that take `nanoseconds` each: below about 5 us of work a fork costs more than
// it saves.
inline int64_t grain_for(double nanoseconds) {
  constexpr double kForkNanoseconds = 5000;
  return nanoseconds >= kForkNanoseconds ? 1 : static_cast<int64_t>(kForkNanoseconds / nanoseconds);
}

}  // namespace tsc
