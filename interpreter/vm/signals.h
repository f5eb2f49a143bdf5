#pragma once
// Signals that the script has a handler for. Knows the Vm's interrupts; what the module `signal` does stands in
// modules/signal_module.cpp.
namespace tsc::interp {

class Vm;

// Calls the handlers of the signals that came since the last time, in the main thread. They may raise.
void run_signal_handlers(Vm& vm);
// What the signal would do if it came: its handler runs, or KeyboardInterrupt is raised in the main thread.
void pretend_signal(Vm& vm, int number);
// Ctrl-C in the main thread: whether the script has a handler for it, which is called, or ignores it.
bool handles_interrupt(Vm& vm);
// Whether a handler of the script may run at any moment, and end a wait that nothing else would.
bool has_signal_handlers(Vm& vm);
// The process's signals are again what they were before the script changed them.
void give_signals_back(Vm& vm) noexcept;

}  // namespace tsc::interp
