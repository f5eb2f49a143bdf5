#pragma once
// Work that may raise, for the dispatch loop. A C++ exception ends here and waits in the Vm: on its way through the
// loop itself the unwinder would read the loop's table of call sites from the front, which takes microseconds.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// Attempt<f>::run(vm, ...) is false where f raised: by a throw, or by Vm::return_raised().
template <auto work>
struct Attempt;
template <class... Given, void (*work)(Vm&, Given...)>
struct Attempt<work> {
  [[gnu::noinline]] static bool run(Vm& vm, Given... given) {
    try {
      work(vm, given...);
      return !vm.has_returned();
    } catch (const ScriptException& e) {
      vm.return_raised(e.local());
      return false;
    }
  }
};

// What waits in the Vm goes on as a C++ exception.
inline Value or_throw(Vm& vm, Value value) {
  if (value.is_undefined() && vm.has_returned()) [[unlikely]]
    throw ScriptException(vm.take_returned());
  return value;
}

}  // namespace tsc::interp
