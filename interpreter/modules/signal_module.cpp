// _signal: handlers of the script for signals of the process. What the system calls only marks the signal; the handler
// runs where the main thread looks for interrupts, as in Python.
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/errno_error.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/signals.h"
#include "interpreter/vm/threads.h"

namespace tsc::interp {
namespace {

constexpr int kSignals = NSIG;

// Of the process: a signal handler has no other way to them.
std::atomic<Vm*> g_vm{nullptr};
std::array<std::atomic<bool>, kSignals> g_came;
std::atomic<uint64_t> g_count{0};

void on_signal(int number) {
  g_came[static_cast<size_t>(number)] = true;
  ++g_count;
  if (Vm* vm = g_vm) vm->interrupt(kInterruptSignal);
}

struct Signals {
  struct One {
    Value handler;  // Undefined: what the process began with
    bool is_changed = false;
    struct sigaction before{};  // while it is changed
  };
  std::array<One, kSignals> all;
};
const char kSignalsKey = 0;

Signals& signals_of(Vm& vm) {
  std::shared_ptr<void>& kept = vm.extension(&kSignalsKey);
  if (!kept) kept = std::make_shared<Signals>();
  return *static_cast<Signals*>(kept.get());
}

void need_signals(Vm& vm, const char* what) {
  if (!vm.config().owns_signals)
    raise(vm, vm.exceptions().PermissionError,
          std::string(what) +
              " needs signals of the process, which belong to the host (the option signals when embedded, no --sandbox "
              "on the command line)");
}

int signal_number(Vm& vm, const Value& v) {
  const int64_t number = to_index(vm, v);
  if (number < 1 || number >= kSignals) raise_value_error(vm, "signal number out of range");
  return static_cast<int>(number);
}

constexpr int64_t kDefault = 0, kIgnore = 1;

// What the script sees as the handler of a signal it has not changed: the default, ignored, or None.
Value first_handler(int number) {
  struct sigaction now{};
  if (sigaction(number, nullptr, &now) != 0) return Value::none();
  if (now.sa_handler == SIG_DFL) return Value::integer(kDefault);
  if (now.sa_handler == SIG_IGN) return Value::integer(kIgnore);
  return Value::none();
}

// set(signal, handler): a function, 0 for the default, 1 to ignore it, None for what the process began with.
Value set(Vm& vm, Args& a) {
  need_signals(vm, "signal.signal()");
  if (!vm.threads().is_main()) raise_value_error(vm, "signal only works in main thread of the main interpreter");
  const int number = signal_number(vm, a[0]);
  if (Vm* other = g_vm; other && other != &vm)
    raise(vm, vm.exceptions().RuntimeError,
          "another engine of this process has the signals: one alone can have handlers for them");
  Signals::One& one = signals_of(vm).all[static_cast<size_t>(number)];
  struct sigaction action{};
  sigemptyset(&action.sa_mask);
  action.sa_handler = a[1].is_int() ? (a[1].as_int() == kIgnore ? SIG_IGN : SIG_DFL) : on_signal;
  g_vm = &vm;
  const bool gives_back = a[1].is_none();
  struct sigaction before{};
  if (sigaction(number, gives_back && one.is_changed ? &one.before : gives_back ? nullptr : &action, &before) != 0)
    raise_errno(vm);
  if (!one.is_changed) one.before = before;
  one.is_changed = !gives_back;
  one.handler = gives_back ? Value() : a[1];
  return Value::none();
}

Value get(Vm& vm, Args& a) {
  const int number = signal_number(vm, a[0]);
  const Signals::One& one = signals_of(vm).all[static_cast<size_t>(number)];
  return one.is_changed ? one.handler : first_handler(number);
}

Value raise_signal(Vm& vm, Args& a) {
  need_signals(vm, "signal.raise_signal()");
  const int number = signal_number(vm, a[0]);
  // Ctrl-C that is not the script's is the host's to hear, who may take several of them for impatience.
  if (number == SIGINT && !signals_of(vm).all[SIGINT].is_changed) pretend_signal(vm, number);
  else if (::kill(::getpid(), number) != 0) raise_errno(vm);
  vm.poll();
  return Value::none();
}

// alarm(seconds), setitimer(which, seconds, interval): what was left of the timer, and its interval.
double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }
timeval timeval_of(double seconds) {
  timeval t{};
  t.tv_sec = static_cast<time_t>(seconds);
  t.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(t.tv_sec)) * 1e6);
  return t;
}
Value pair_of(Vm& vm, const itimerval& timer) {
  return make_tuple(vm, std::vector<Value>{Value::real(seconds_of(timer.it_value)),
                                           Value::real(seconds_of(timer.it_interval))})
      .take();
}
Value set_timer(Vm& vm, Args& a) {
  need_signals(vm, "signal.setitimer()");
  itimerval timer{timeval_of(to_double(vm, a[2])), timeval_of(to_double(vm, a[1]))}, before{};
  if (::setitimer(static_cast<__itimer_which_t>(to_index(vm, a[0])), &timer, &before) != 0) raise_errno(vm);
  return pair_of(vm, before);
}
Value get_timer(Vm& vm, Args& a) {
  need_signals(vm, "signal.getitimer()");
  itimerval now{};
  if (::getitimer(static_cast<__itimer_which_t>(to_index(vm, a[0])), &now) != 0) raise_errno(vm);
  return pair_of(vm, now);
}
Value alarm_(Vm& vm, Args& a) {
  need_signals(vm, "signal.alarm()");
  return Value::integer(::alarm(static_cast<unsigned>(to_index(vm, a[0]))));
}

// pause(): until a signal came, whose handler has run.
Value pause_(Vm& vm, Args&) {
  need_signals(vm, "signal.pause()");
  const uint64_t before = g_count;
  wait_in_slices(vm, INT64_MAX, [&](int64_t nanoseconds) {
    const timespec slice{0, static_cast<long>(nanoseconds)};
    if (g_count == before) ::nanosleep(&slice, nullptr);
    return g_count != before;
  });
  vm.poll();
  return Value::none();
}

Value text_of_signal(Vm& vm, Args& a) { return str_value(vm, ::strsignal(signal_number(vm, a[0]))); }

}  // namespace

void run_signal_handlers(Vm& vm) {
  for (int number = 1; number < kSignals; ++number) {
    if (!g_came[static_cast<size_t>(number)].exchange(false)) continue;
    const Value handler = signals_of(vm).all[static_cast<size_t>(number)].handler;
    if (!handler || handler.is_int()) continue;
    call(vm, handler, {Value::integer(number), Value::none()});
  }
}

bool handles_interrupt(Vm& vm) {
  if (!vm.config().owns_signals || !vm.extension(&kSignalsKey)) return false;
  const Signals::One& one = signals_of(vm).all[SIGINT];
  if (!one.is_changed || (one.handler.is_int() && one.handler.as_int() != kIgnore)) return false;
  const Value handler = one.handler;
  if (!handler.is_int()) call(vm, handler, {Value::integer(SIGINT), Value::none()});
  return true;
}

void pretend_signal(Vm& vm, int number) {
  if (number < 1 || number >= kSignals) raise_value_error(vm, "signal number out of range");
  const Signals::One& one = signals_of(vm).all[static_cast<size_t>(number)];
  if (!one.is_changed) {
    if (number == SIGINT) vm.interrupt(kInterruptKeyboard);
  } else if (!one.handler.is_int()) {
    on_signal(number);
  }
}

bool has_signal_handlers(Vm& vm) {
  if (!vm.config().owns_signals || !vm.extension(&kSignalsKey)) return false;
  for (const Signals::One& one : signals_of(vm).all)
    if (one.is_changed && one.handler && !one.handler.is_int()) return true;
  return false;
}

void give_signals_back(Vm& vm) noexcept {
  if (g_vm != &vm) return;
  for (int number = 1; number < kSignals; ++number) {
    Signals::One& one = signals_of(vm).all[static_cast<size_t>(number)];
    if (one.is_changed) sigaction(number, &one.before, nullptr);
    one.is_changed = false;
    one.handler.reset();
  }
  g_vm = nullptr;
}

Local<ModuleObject> make_signal_module(Vm& vm) {
  ModuleBuilder m(vm, "_signal");
  m.function("set", "signal, handler", set)
      .function("get", "signal", get)
      .function("raise_signal", "signal", raise_signal)
      .function("alarm", "seconds", alarm_)
      .function("setitimer", "which, seconds, interval", set_timer)
      .function("getitimer", "which", get_timer)
      .function("pause", "", pause_)
      .function("strsignal", "signal", text_of_signal);
  return m.finish();
}

}  // namespace tsc::interp
