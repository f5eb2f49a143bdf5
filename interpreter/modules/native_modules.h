#pragma once
// Makers of the modules written in C++.
#include "interpreter/vm/native.h"

namespace tsc::interp {

Local<ModuleObject> make_math_module(Vm& vm);
Local<ModuleObject> make_cmath_module(Vm& vm);
Local<ModuleObject> make_time_module(Vm& vm);
Local<ModuleObject> make_sys_module(Vm& vm);
Local<ModuleObject> make_os_module(Vm& vm);
Local<ModuleObject> make_os_path_module(Vm& vm);
Local<ModuleObject> make_random_module(Vm& vm);
Local<ModuleObject> make_gc_module(Vm& vm);
// Private halves of library modules: what must be fast or needs the machine.
Local<ModuleObject> make_runtime_module(Vm& vm);
Local<ModuleObject> make_functools_module(Vm& vm);
Local<ModuleObject> make_collections_module(Vm& vm);
Local<ModuleObject> make_heapq_module(Vm& vm);
Local<ModuleObject> make_re_module(Vm& vm);
Local<ModuleObject> make_json_module(Vm& vm);
Local<ModuleObject> make_array_module(Vm& vm);
Local<ModuleObject> make_binary_module(Vm& vm);
Local<ModuleObject> make_csv_module(Vm& vm);
Local<ModuleObject> make_memory_module(Vm& vm);
Local<ModuleObject> make_datetime_module(Vm& vm);
Local<ModuleObject> make_unicode_module(Vm& vm);
Local<ModuleObject> make_deflate_module(Vm& vm);
Local<ModuleObject> make_yaml_module(Vm& vm);
Local<ModuleObject> make_images_module(Vm& vm);
Local<ModuleObject> make_weakref_module(Vm& vm);
Local<ModuleObject> make_thread_module(Vm& vm);
Local<ModuleObject> make_signal_module(Vm& vm);
Local<ModuleObject> make_process_module(Vm& vm);

Local<ModuleObject> make_bisect_module(Vm& vm);
Local<ModuleObject> make_itertools_module(Vm& vm);
Local<ModuleObject> make_operator_module(Vm& vm);

}  // namespace tsc::interp
