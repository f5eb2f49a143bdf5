// _thread: locks, and what `threading` needs of the threads of the script (vm/threads.h).
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/signals.h"
#include "interpreter/vm/slow_ops.h"
#include "interpreter/vm/threads.h"

namespace tsc::interp {
namespace {

constexpr double kLongestTimeout = 9223372036.0;

// A Lock or an RLock: `owner` and `count` are the RLock's.
struct LockObject : Instance {
  bool is_reentrant = false;
  uint64_t owner = 0;
  int64_t count = 0;  // 0: nobody has it
  WaitList waiting;
  LockObject() : Instance(Kind::Native) {}
};

LockObject* lock_of(const Value& v) { return static_cast<LockObject*>(v.object()); }

// The moment until which a call waits; INT64_MAX: for ever; 0: not at all.
int64_t wait_until(Vm& vm, const Value& blocking, const Value& timeout) {
  const bool blocks = truth(vm, blocking);
  const double seconds = to_double(vm, timeout);
  if (!blocks && seconds != -1) raise_value_error(vm, "can't specify a timeout for a non-blocking call");
  if (seconds < 0 && seconds != -1) raise_value_error(vm, "timeout value must be positive");
  if (std::isnan(seconds)) raise_value_error(vm, "Invalid value NaN (not a number)");
  if (seconds > kLongestTimeout) raise(vm, vm.exceptions().OverflowError, "timeout value is too large");
  if (!blocks) return 0;
  if (seconds > 0) check_grant(vm, Grant::Clock, "waiting with a timeout");
  return seconds < 0 ? INT64_MAX : moment_after(seconds);
}

// Waits until the lock is free, or the moment.
bool wait_for(Vm& vm, LockObject* lock, int64_t until) {
  while (lock->count != 0) {
    if (until == 0 || (until != INT64_MAX && steady_nanoseconds() >= until)) return false;
    if (until == INT64_MAX && vm.threads().alone() && !has_signal_handlers(vm))
      raise(vm, vm.exceptions().RuntimeError, "acquire() would wait forever: no other thread is alive");
    lock->waiting.wait(vm, until);
  }
  return true;
}

bool take(Vm& vm, LockObject* lock, int64_t until) {
  const uint64_t self = vm.threads().current().identity;
  if (lock->is_reentrant && lock->count != 0 && lock->owner == self) return ++lock->count, true;
  if (!wait_for(vm, lock, until)) return false;
  lock->owner = self;
  lock->count = 1;
  return true;
}

void give_back(Vm& vm, LockObject* lock) {
  if (lock->is_reentrant) {
    if (lock->count == 0 || lock->owner != vm.threads().current().identity)
      raise(vm, vm.exceptions().RuntimeError, "cannot release un-acquired lock");
    if (--lock->count != 0) return;
  } else if (lock->count == 0) {
    raise(vm, vm.exceptions().RuntimeError, "release unlocked lock");
  }
  lock->count = 0;
  lock->owner = 0;
  lock->waiting.wake_one(vm);
}

Value lock_acquire(Vm& vm, Args& a) { return Value::boolean(take(vm, lock_of(a[0]), wait_until(vm, a[1], a[2]))); }
Value lock_enter(Vm& vm, Args& a) { return Value::boolean(take(vm, lock_of(a[0]), INT64_MAX)); }
Value lock_release(Vm& vm, Args& a) { return give_back(vm, lock_of(a[0])), Value::none(); }
Value lock_exit(Vm& vm, Args& a) { return give_back(vm, lock_of(a[0])), Value::none(); }
Value lock_locked(Vm&, Args& a) { return Value::boolean(lock_of(a[0])->count != 0); }

Value lock_repr(Vm& vm, const Value& self) {
  const LockObject* lock = lock_of(self);
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(lock));
  std::string text = std::string("<") + (lock->count ? "locked " : "unlocked ");
  if (lock->is_reentrant)
    text += "_thread.RLock object owner=" + std::to_string(lock->owner) + " count=" + std::to_string(lock->count);
  else text += "_thread.lock object";
  return str_value(vm, text + " at " + address + ">");
}

// For Condition: whether this thread has an RLock; how often it has it, given back at once, and taken again so often.
Value rlock_is_owned(Vm& vm, Args& a) {
  const LockObject* lock = lock_of(a[0]);
  return Value::boolean(lock->count != 0 && lock->owner == vm.threads().current().identity);
}
Value rlock_release_save(Vm& vm, Args& a) {
  LockObject* lock = lock_of(a[0]);
  const int64_t count = lock->count;
  if (count > 1 && lock->owner == vm.threads().current().identity) lock->count = 1;
  give_back(vm, lock);
  return Value::integer(count);
}
Value rlock_acquire_restore(Vm& vm, Args& a) {
  LockObject* lock = lock_of(a[0]);
  take(vm, lock, INT64_MAX);
  lock->count = to_index(vm, a[1]);
  return Value::none();
}

template <bool reentrant>
Value construct_lock(Vm& vm, Type* type, Args& args) {
  if (args.count || args.keyword_count) raise_type_error(vm, type->name + "() takes no arguments");
  Local<LockObject> lock = vm.heap().make<LockObject>(type);
  lock->is_reentrant = reentrant;
  return lock.take();
}

template <bool reentrant>
Type* make_lock_type(Vm& vm, const char* name) {
  TypeBuilder type(vm, name, Kind::Native);
  type.module("_thread");
  type.slots().destroy = destroy_as<LockObject>;
  type.slots().construct = construct_lock<reentrant>;
  type.slots().repr = lock_repr;
  type.method("acquire", "self, blocking=True, timeout=-1", lock_acquire)
      .method("release", "self", lock_release)
      .method("__enter__", "self", lock_enter)
      .method("__exit__", "self, *details", lock_exit);
  if constexpr (reentrant)
    type.method("_is_owned", "self", rlock_is_owned)
        .method("_release_save", "self", rlock_release_save)
        .method("_acquire_restore", "self, state, /", rlock_acquire_restore);
  else type.method("locked", "self", lock_locked);
  return type.finish();
}

// --- threads --------------------------------------------------------------------------------------------------

// start_new_thread(function, args, kwargs): the new thread's identity.
Value start_new_thread(Vm& vm, Args& a) {
  check_grant(vm, Grant::Threads, "starting a thread");
  if (!is_kind(a[1], Kind::Tuple)) raise_type_error(vm, "2nd arg must be a tuple");
  Value function = a[0];
  if (a[2].is_none()) return Value::integer(static_cast<int64_t>(vm.threads().start(function, a[1])));
  if (!is_kind(a[2], Kind::Dict)) raise_type_error(vm, "optional 3rd arg must be a dictionary");
  Args call_args;  // functools.partial keeps the keywords
  const Value partial = get_attribute(vm, vm.import_module("functools").value(), "partial");
  std::vector<Local<StrObject>> kept;
  std::vector<Value> values;
  ops::unpacked_keywords(vm, function, a[2], kept, values);
  std::vector<StrObject*> names;
  for (const auto& name : kept) names.push_back(name.get());
  call_args.positional = &function;
  call_args.count = 1;
  call_args.keyword_count = static_cast<uint32_t>(names.size());
  call_args.keyword_names = names.data();
  call_args.keyword_values = values.data();
  return Value::integer(static_cast<int64_t>(vm.threads().start(call(vm, partial, call_args), a[1])));
}
Value get_ident(Vm& vm, Args&) { return Value::integer(static_cast<int64_t>(vm.threads().current().identity)); }
Value get_native_id(Vm&, Args&) { return Value::integer(::syscall(SYS_gettid)); }
Value count(Vm& vm, Args&) { return Value::integer(static_cast<int64_t>(vm.threads().count()) - 1); }
Value is_alive(Vm& vm, Args& a) {
  return Value::boolean(vm.threads().is_alive(static_cast<uint64_t>(to_index(vm, a[0]))));
}
Value is_main(Vm& vm, Args&) { return Value::boolean(vm.threads().is_main()); }
Value interrupt_main(Vm& vm, Args& a) {
  return pretend_signal(vm, static_cast<int>(to_index(vm, a[0]))), Value::none();
}
Value exit_thread(Vm& vm, Args&) {
  throw ScriptException(make_exception(vm, vm.exceptions().SystemExit, std::span<const Value>()));
}

// What this thread keeps for contextvars (None: nothing yet) and for threading.local.
Value get_context(Vm& vm, Args&) {
  const Value& context = vm.threads().current().context;
  return context ? context : Value::none();
}
Value set_context(Vm& vm, Args& a) { return vm.threads().current().context = a[0], Value::none(); }
Value locals(Vm& vm, Args&) {
  Value& kept = vm.threads().current().locals;
  if (!kept) kept = make_dict(vm).take();
  return kept;
}

}  // namespace

Local<ModuleObject> make_thread_module(Vm& vm) {
  ModuleBuilder m(vm, "_thread");
  const Value lock(make_lock_type<false>(vm, "lock"));
  m.value("LockType", lock)
      .value("allocate_lock", lock)
      .value("RLock", Value(make_lock_type<true>(vm, "RLock")))
      .value("error", Value(vm.exceptions().RuntimeError))
      .value("TIMEOUT_MAX", Value::real(kLongestTimeout))
      .function("start_new_thread", "function, args, kwargs=None, /", start_new_thread)
      .function("get_ident", "", get_ident)
      .function("get_native_id", "", get_native_id)
      .function("_count", "", count)
      .function("_is_alive", "identity", is_alive)
      .function("_is_main", "", is_main)
      .function("interrupt_main", "signum=2, /", interrupt_main)
      .function("exit", "", exit_thread)
      .function("_context", "", get_context)
      .function("_set_context", "context", set_context)
      .function("_locals", "", locals);
  return m.finish();
}

}  // namespace tsc::interp
