#pragma once
// Threads of a script. Each is a thread of the system with a C++ stack of its own, and one of them has its turn: it
// alone touches the Vm. The turn changes hands where the dispatch loop looks for interrupts, in code of the program
// (not of the library, whose functions are one step each, as those of C are in Python), when another thread has waited
// for the switch interval; and around waits. What is the Vm's own while a thread has its turn, frames above all, lies
// in a ThreadState meanwhile; rooms above keep theirs in a ThreadPart. Between two calls of the host the thread that
// calls has the turn and keeps it, so the threads of a script stand still. Knows frames and the system's threads. Must
// not know locks and queues of the script (modules/thread_module.cpp). Keeps: who does not have the turn touches
// nothing of the Vm; a program without threads pays nothing.
#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

// What another room keeps of one thread.
class ThreadPart {
 public:
  virtual ~ThreadPart() = default;
  // In the new thread, before its first turn and after its last one.
  virtual void begin() {}
  virtual void end() {}
  // Trades what it holds with what the room uses: when the thread's turn begins, and when it is over.
  virtual void swap() noexcept = 0;
};

struct ThreadState {
  ThreadState(Heap& heap, size_t bytes) : charge(heap, bytes), stack(heap) {}
  MemoryCharge charge;
  // Of the Vm, while the thread does not have its turn.
  Frame* frame = nullptr;
  FrameStack stack;
  Local<ExceptionObject> unwinding;
  uint32_t depth = 0, keeps_turn = 0;
  std::vector<std::unique_ptr<ThreadPart>> parts;

  Value context;              // of contextvars; Undefined: a new one
  Value locals;               // weak references to the tables of threading.local that have values of this thread
  Value function, arguments;  // what it calls
  uint64_t identity = 0;      // no two threads of a Vm ever have the same
  bool is_main = false;
  bool heard_stop = false;  // it has met the stop of the script, and cleans up
  bool leaves = false;      // it is to end, and runs no code of the script any more
  std::condition_variable bell;
  bool rung = false;
  pthread_t thread{};
};

class ScriptThreads {
 public:
  explicit ScriptThreads(Vm& vm);
  ~ScriptThreads();
  ScriptThreads(const ScriptThreads&) = delete;

  // The one whose turn it is.
  ThreadState& current() { return *holder_; }
  bool is_main() const { return holder_->is_main; }
  // No other thread of the script is alive.
  bool alone() const { return states_.size() == 1; }
  size_t count() const { return states_.size(); }
  bool is_alive(uint64_t identity) const;
  // Every thread gets a part of each kind.
  void add_part(std::function<std::unique_ptr<ThreadPart>()> make);

  // A thread that calls the function with the arguments, a tuple; it has had a turn when this returns. Its identity.
  // RuntimeError where the system has none.
  uint64_t start(const Value& function, const Value& arguments);
  // Another one that waits for its turn gets it; at once when none does.
  void hand_over();
  // Does what does not touch the Vm, while others have their turns.
  template <class Work>
  void apart(Work&& work) {
    if (alone()) return work();
    struct Back {
      ScriptThreads& threads;
      ThreadState& self;
      ~Back() { threads.enter(self); }
    } back{*this, leave()};
    work();
  }
  // No stop is asked for any more.
  void forget_stop() noexcept;
  // The end of the program met a limit: it is not tried again, up to the next run of a text.
  bool given_up() const { return given_up_; }
  void give_up(bool yes = true) { given_up_ = yes; }
  // Ends all threads but the main one, whose turn it is: until the moment they may run, then they leave at their next
  // check.
  void end_others(int64_t until = 0) noexcept;

  // At the very end: what the main thread keeps goes while the heap is there.
  void forget_values() noexcept;

  int64_t interval() const { return interval_; }  // nanoseconds
  void set_interval(int64_t nanoseconds) { interval_ = nanoseconds; }

 private:
  friend class WaitList;
  static void* body(void* given);
  ThreadState& leave();
  void enter(ThreadState& self);
  void exchange(ThreadState& state) noexcept;
  void run(ThreadState& self) noexcept;
  void finish(ThreadState& self);
  void forget_locals(ThreadState& self) noexcept;
  void join_finished() noexcept;

  Vm& vm_;
  std::vector<std::function<std::unique_ptr<ThreadPart>()>> makers_;
  std::vector<std::unique_ptr<ThreadState>> states_;  // the main one first
  std::vector<pthread_t> finished_;                   // not joined yet
  // Of the turn.
  std::mutex mutex_;
  std::condition_variable free_, taken_;
  ThreadState* holder_ = nullptr;  // null: nobody's turn
  uint64_t turns_ = 0;
  uint32_t waiting_ = 0;
  uint64_t last_identity_ = 0;
  bool given_up_ = false;
  std::atomic<int64_t> interval_{5'000'000};
};

// The threads that wait for one event, which another thread tells. One may come back without it, to look again.
class WaitList {
 public:
  // Waits until it is woken, or the moment, or for a while. Raises what ends the script.
  void wait(Vm& vm, int64_t until);
  void wake_one(Vm& vm) noexcept;
  bool empty() const { return waiting_.empty(); }

 private:
  std::deque<ThreadState*> waiting_;
};

// Whether another thread waits for the turn that can be handed over in this frame.
bool is_to_hand_over(Vm& vm, const Frame& frame);
// What the dispatch loop does about interrupts in front of an instruction of the frame.
void heed_interrupts(Vm& vm, const Frame& frame);

// Whether the thread whose turn it is has been told to end. It runs no code of the script then.
bool leaves(Vm& vm);
// The moment so many seconds from now; at most some thirty years, as for NaN, which never comes.
int64_t moment_after(double seconds);
// Waits, while other threads have their turns, in slices in which an end of the script is heard; until `done` or the
// moment, whether that is done.
bool wait_in_slices(Vm& vm, int64_t until, const std::function<bool(int64_t nanoseconds)>& done);

// While it lives the thread keeps its turn, unless it waits.
class KeepTurn {
 public:
  explicit KeepTurn(Vm& vm) : vm_(vm) { ++vm.keeps_turn(); }
  ~KeepTurn() { --vm_.keeps_turn(); }
  KeepTurn(const KeepTurn&) = delete;

 private:
  Vm& vm_;
};

}  // namespace tsc::interp
