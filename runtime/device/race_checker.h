#pragma once
// What ThreadSanitizer cannot see by itself: oneTBB's library is built without it, so the order that a
// parallel loop puts its pieces in (all after its start, all before its end) and the hand-over of tasks
// between threads look like races. The three guards below say where oneTBB's own code runs, which is
// not checked, and where ours begins and ends, which is checked. In every other build they are empty.

#if defined(__SANITIZE_THREAD__)
#include <oneapi/tbb/task_scheduler_observer.h>
#include <sanitizer/tsan_interface.h>

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace tsc::race_checker {

inline void ignore_begin() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
inline void ignore_end() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

// Workers run oneTBB's code from their first loop to their last moment.
class WorkerObserver : public tbb::task_scheduler_observer {
 public:
  explicit WorkerObserver(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  ~WorkerObserver() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) thread_local const Ignored until_thread_ends;
  }

 private:
  struct Ignored {
    Ignored() { ignore_begin(); }
    ~Ignored() { ignore_end(); }
  };
};

// Around a loop, on the thread that starts it. `loop` is any address that only this loop has.
class InsideLibrary {
 public:
  explicit InsideLibrary(void* loop) : loop_(loop) {
    __tsan_release(loop_);
    ignore_begin();
  }
  ~InsideLibrary() {
    ignore_end();
    __tsan_acquire(loop_);
  }
  InsideLibrary(const InsideLibrary&) = delete;
  InsideLibrary& operator=(const InsideLibrary&) = delete;

 private:
  void* loop_;
};

// Around a piece of the loop, on whichever thread runs it.
class InsideBody {
 public:
  explicit InsideBody(void* loop) : loop_(loop) {
    ignore_end();
    __tsan_acquire(loop_);
  }
  ~InsideBody() {
    __tsan_release(loop_);
    ignore_begin();
  }
  InsideBody(const InsideBody&) = delete;
  InsideBody& operator=(const InsideBody&) = delete;

 private:
  void* loop_;
};

}  // namespace tsc::race_checker

#else

namespace tsc::race_checker {
struct WorkerObserver {
  template <typename Arena>
  explicit WorkerObserver(Arena&) {}
};
struct InsideLibrary {
  explicit InsideLibrary(void*) {}
};
struct InsideBody {
  explicit InsideBody(void*) {}
};
}  // namespace tsc::race_checker

#endif
