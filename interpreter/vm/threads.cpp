#include "interpreter/vm/threads.h"

#include <signal.h>

#include <algorithm>
#include <chrono>

#include "interpreter/heap/counted_memory.h"
#include "interpreter/vm/ends.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/native.h"
#include "lang/library_file.h"
#include "runtime/base/error.h"

namespace tsc::interp {
namespace {

constexpr int64_t kSlice = 20'000'000;
constexpr size_t kStackBytes = 8 << 20;
constexpr size_t kThreadBytes = 512 << 10;  // that one uses at least, of frames and of its stack

std::chrono::steady_clock::time_point moment(int64_t nanoseconds) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

}  // namespace

ScriptThreads::ScriptThreads(Vm& vm) : vm_(vm) {
  states_.push_back(std::make_unique<ThreadState>(vm.heap(), 0));
  holder_ = states_.front().get();
  holder_->is_main = true;
  holder_->identity = ++last_identity_;
}

ScriptThreads::~ScriptThreads() { join_finished(); }

bool ScriptThreads::is_alive(uint64_t identity) const {
  return std::any_of(states_.begin(), states_.end(), [&](const auto& state) { return state->identity == identity; });
}

void ScriptThreads::add_part(std::function<std::unique_ptr<ThreadPart>()> make) {
  for (const auto& state : states_) state->parts.push_back(make());
  makers_.push_back(std::move(make));
}

// --- the turn ------------------------------------------------------------------------------------

void ScriptThreads::exchange(ThreadState& state) noexcept {
  std::swap(VmAccess::frame(vm_), state.frame);
  VmAccess::stack(vm_).swap(state.stack);
  std::swap(VmAccess::unwinding(vm_), state.unwinding);
  std::swap(VmAccess::depth(vm_), state.depth);
  std::swap(vm_.keeps_turn(), state.keeps_turn);
  for (const auto& part : state.parts) part->swap();
}

ThreadState& ScriptThreads::leave() {
  ThreadState& self = *holder_;
  exchange(self);
  {
    std::lock_guard lock(mutex_);
    holder_ = nullptr;
  }
  free_.notify_all();
  return self;
}

// Who has waited for the interval asks for the turn, once of each who has it.
void ScriptThreads::enter(ThreadState& self) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  while (holder_) {
    const uint64_t turn = turns_;
    const auto changed = [&] { return !holder_ || turns_ != turn; };
    if (free_.wait_for(lock, std::chrono::nanoseconds(interval_.load()), changed)) continue;
    vm_.interrupt(kInterruptTurn);
    free_.wait(lock, changed);
  }
  --waiting_;
  holder_ = &self;
  ++turns_;
  vm_.interrupts().fetch_and(~uint32_t{kInterruptTurn});
  exchange(self);
  lock.unlock();
  taken_.notify_all();
}

void ScriptThreads::hand_over() {
  {
    std::lock_guard lock(mutex_);
    vm_.interrupts().fetch_and(~uint32_t{kInterruptTurn});
    if (waiting_ == 0) return;
  }
  const uint64_t turn = turns_;
  ThreadState& self = leave();
  {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return turns_ != turn; });
  }
  enter(self);
}

// --- beginning and end ---------------------------------------------------------------------------

namespace {

struct Start {
  ScriptThreads* threads;
  ThreadState* state;
  std::shared_ptr<bool> has_begun;  // it has its first turn, or had it
};

// Signals are for the main thread, or the host's: a thread inherits the mask of who makes it.
int make_thread(pthread_t* thread, void* (*body)(void*), void* given) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = pthread_create(thread, &attributes, body, given);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

uint64_t ScriptThreads::start(const Value& function, const Value& arguments) {
  join_finished();
  auto state = std::make_unique<ThreadState>(vm_.heap(), kThreadBytes);
  state->identity = ++last_identity_;
  for (const auto& make : makers_) state->parts.push_back(make());
  state->function = function;
  state->arguments = arguments;
  {  // Room for all that must not fail later.
    std::lock_guard lock(mutex_);
    states_.reserve(states_.size() + 1);
    finished_.reserve(states_.size() + 1);
  }
  const auto has_begun = std::make_shared<bool>(false);
  auto given = std::make_unique<Start>(Start{this, state.get(), has_begun});
  ThreadState& made = *state;
  {
    std::lock_guard lock(mutex_);  // end_others looks through them without a turn
    states_.push_back(std::move(state));
  }
  if (make_thread(&made.thread, body, given.get()) != 0) {
    std::unique_lock lock(mutex_);
    states_.pop_back();
    lock.unlock();
    raise(vm_, vm_.exceptions().RuntimeError, "can't start new thread");
  }
  given.release();
  const uint64_t identity = made.identity;
  // As in Python it has begun when this is back: it runs up to its first wait, unless it takes longer than an interval.
  ThreadState& self = leave();
  {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return *has_begun; });
  }
  enter(self);
  return identity;
}

void* ScriptThreads::body(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  ScriptThreads& threads = *start->threads;
  ThreadState& self = *start->state;
  const HeapScope heap(&threads.vm_.heap());
  for (const auto& part : self.parts) part->begin();
  threads.enter(self);
  {
    std::lock_guard lock(threads.mutex_);
    *start->has_begun = true;
  }
  threads.taken_.notify_all();
  threads.run(self);
  for (auto part = self.parts.rbegin(); part != self.parts.rend(); ++part) (*part)->end();
  threads.finish(self);
  return nullptr;
}

namespace {

void drop_values(ThreadState& state) noexcept {
  for (Value* value : {&state.function, &state.arguments, &state.context, &state.locals}) value->reset();
}

}  // namespace

// The library's function catches what the program raises; what comes here is told and forgotten.
void ScriptThreads::run(ThreadState& self) noexcept {
  try {
    if (!self.leaves) {
      const Value function = std::move(self.function);
      const Local<TupleObject> arguments(cast<TupleObject>(self.arguments));
      self.arguments.reset();
      call(vm_, function, arguments->span());
    }
  } catch (const ScriptException& e) {
    const ExceptionObject* exception = e.exception();
    if (!exception->is_limit && !exception->type->is_subtype_of(vm_.exceptions().SystemExit))
      report_ignored(vm_, Value::none(), e.exception());
  } catch (...) {
    // Nobody is there to be told of a lack of memory.
  }
  forget_locals(self);
  drop_values(self);
}

// What threading.local has of this thread ends with it.
void ScriptThreads::forget_locals(ThreadState& self) noexcept {
  auto* kept = try_cast<DictObject>(self.locals);
  if (!kept) return;
  std::vector<Value> references;
  for (uint32_t i = 0; i < kept->table.used(); ++i) {
    if (kept->table.entry(i).key) references.push_back(kept->table.entry(i).value);
  }
  kept->table.clear();
  for (const Value& reference : references) {
    try {
      const Value table = call(vm_, reference);
      if (!table.is_none()) delete_item(vm_, table, Value::integer(static_cast<int64_t>(self.identity)));
    } catch (const ScriptException&) {
      // The program has emptied it.
    }
  }
}

void ScriptThreads::forget_stop() noexcept {
  for (const auto& state : states_) state->heard_stop = false;
}

void ScriptThreads::forget_values() noexcept { drop_values(*holder_); }

void ScriptThreads::finish(ThreadState& self) {
  exchange(self);  // its own are empty by now; what the Vm has meanwhile belongs to nobody
  {
    std::lock_guard lock(mutex_);
    finished_.push_back(self.thread);
    std::erase_if(states_, [&](const auto& state) { return state.get() == &self; });
    holder_ = nullptr;
  }
  free_.notify_all();
}

void ScriptThreads::join_finished() noexcept {
  std::vector<pthread_t> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(finished_);
  }
  for (pthread_t thread : gone) pthread_join(thread, nullptr);
}

void ScriptThreads::end_others(int64_t until) noexcept {
  while (!alone()) {
    const bool is_over = steady_nanoseconds() >= until;
    for (const auto& state : states_) {
      if (is_over && !state->is_main) state->leaves = true;
    }
    vm_.interrupt(is_over ? kInterruptLeave : kInterruptTurn);
    ThreadState& self = leave();
    {
      std::unique_lock lock(mutex_);
      for (const auto& state : states_) state->rung = true, state->bell.notify_all();
      taken_.wait_for(lock, std::chrono::milliseconds(1));
    }
    enter(self);
  }
  vm_.interrupts().fetch_and(~uint32_t{kInterruptLeave});
  join_finished();
}

// Functions of the library are one step each: what they keep of an object fits together between its instructions only
// where they are called.
bool is_to_hand_over(Vm& vm, const Frame& frame) {
  if (!(vm.interrupts().load(std::memory_order_relaxed) & kInterruptTurn) || vm.keeps_turn() != 0) return false;
  return !lang::is_library_file(frame.code->code->file());
}

void heed_interrupts(Vm& vm, const Frame& frame) {
  vm.handle_interrupts();
  if (!is_to_hand_over(vm, frame)) return;
  vm.threads().hand_over();
  vm.poll();
}

bool leaves(Vm& vm) { return vm.threads().current().leaves; }

// --- waits ---------------------------------------------------------------------------------------

void WaitList::wait(Vm& vm, int64_t until) {
  ScriptThreads& threads = vm.threads();
  ThreadState& self = threads.current();
  waiting_.push_back(&self);
  {
    std::lock_guard lock(threads.mutex_);
    self.rung = false;
  }
  const int64_t slice = std::min(until, steady_nanoseconds() + kSlice);
  threads.apart([&] {
    std::unique_lock lock(threads.mutex_);
    self.bell.wait_until(lock, moment(slice), [&] { return self.rung; });
  });
  std::erase(waiting_, &self);
  vm.poll();
}

void WaitList::wake_one(Vm& vm) noexcept {
  if (waiting_.empty()) return;
  ThreadState* first = waiting_.front();
  waiting_.pop_front();
  {
    std::lock_guard lock(vm.threads().mutex_);
    first->rung = true;
  }
  first->bell.notify_all();
}

int64_t moment_after(double seconds) {
  constexpr double kLongest = 1e9;
  return steady_nanoseconds() + static_cast<int64_t>(std::max(0.0, std::min(kLongest, seconds)) * 1e9);
}

bool wait_in_slices(Vm& vm, int64_t until, const std::function<bool(int64_t nanoseconds)>& done) {
  for (;;) {
    vm.poll();
    const int64_t left = until - steady_nanoseconds();
    bool is_done = false;
    vm.threads().apart([&] { is_done = done(std::clamp<int64_t>(left, 0, kSlice)); });
    if (is_done) return true;
    if (left <= 0) return false;
  }
}

}  // namespace tsc::interp
