#include "interpreter/modules/native_modules.h"

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {

namespace {

struct Row {
  const char* name;
  Local<ModuleObject> (*make)(Vm& vm);
};
constexpr Row kRows[] = {
    {"math", make_math_module},
    {"cmath", make_cmath_module},
    {"_time", make_time_module},
    {"sys", make_sys_module},
    {"gc", make_gc_module},
    {"_os", make_os_module},
    {"_os_path", make_os_path_module},
    {"_random", make_random_module},
    {"itertools", make_itertools_module},
    {"operator", make_operator_module},
    {"bisect", make_bisect_module},
    {"_runtime", make_runtime_module},
    {"_functools", make_functools_module},
    {"_collections", make_collections_module},
    {"_heapq", make_heapq_module},
    {"_re", make_re_module},
    {"_json", make_json_module},
    {"array", make_array_module},
    {"_binary", make_binary_module},
    {"_csv", make_csv_module},
    {"_memory", make_memory_module},
    {"_datetime", make_datetime_module},
    {"_unicode", make_unicode_module},
    {"_deflate", make_deflate_module},
    {"_yaml", make_yaml_module},
    {"_images", make_images_module},
    {"_weakref", make_weakref_module},
    {"_thread", make_thread_module},
    {"_signal", make_signal_module},
    {"_process", make_process_module},
};

}  // namespace

void init_native_modules(Vm& vm) {
  for (const Row& row : kRows) register_native_module(vm, row.name, row.make);
}

}  // namespace tsc::interp
