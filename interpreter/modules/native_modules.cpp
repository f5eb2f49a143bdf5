#include "interpreter/modules/native_modules.h"

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {

void init_native_modules(Vm& vm) {
  register_native_module(vm, "math", make_math_module);
  register_native_module(vm, "time", make_time_module);
  register_native_module(vm, "sys", make_sys_module);
  register_native_module(vm, "gc", make_gc_module);
  register_native_module(vm, "os", make_os_module);
  register_native_module(vm, "os.path", make_os_path_module);
  register_native_module(vm, "random", make_random_module);
}

}  // namespace tsc::interp
