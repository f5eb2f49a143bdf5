// A minimal runner for tests and development: tsc_run_script file.tsc [arguments].
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "interpreter/vm/vm.h"
#if __has_include("stdlib/embedded.h")
#include "stdlib/embedded.h"
#define TSC_HAS_LIBRARY 1
#endif
#if __has_include("interpreter/tensor/tensor_object.h") && __has_include("runtime/tensor/tensor.h")
#define TSC_HAS_TENSOR 1
#endif

int main(int argc, char** argv) {
  using namespace tsc::interp;
  if (argc < 2) return std::fprintf(stderr, "usage: tsc_run_script file.tsc\n"), 2;
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) return std::fprintf(stderr, "cannot read %s\n", argv[1]), 2;
  std::ostringstream text;
  text << file.rdbuf();
  Config config;
  std::string path = argv[1];
  size_t slash = path.rfind('/');
  config.module_path.push_back(slash == std::string::npos ? "." : path.substr(0, slash));
  config.arguments.assign(argv + 1, argv + argc);
  std::vector<EmbeddedFile> library;
#ifdef TSC_HAS_LIBRARY
  for (const auto* f = tsc::stdlib::begin(); f != tsc::stdlib::end(); ++f) library.push_back({f->path, f->text});
  config.embedded = library.data();
  config.embedded_count = library.size();
#endif
  Vm vm(config);
  try {
    vm.run_module(text.str(), path);
  } catch (const ScriptException& e) {
    std::fflush(stdout);
    ExceptionObject* exception = e.exception();
    if (exception->type->is_subtype_of(vm.exceptions().SystemExit)) {
      TupleObject* args = exception->args;
      return args->size && args->items[0].is_int() ? static_cast<int>(args->items[0].as_int()) : 0;
    }
    std::string report = render_traceback(vm, exception);
    if (Value rendered = get_own_attribute(vm, exception, intern(vm, "report")))
      report = to_string(vm, rendered) + "\n";
    std::fputs(report.c_str(), stderr);
    return 1;
  }
  return 0;
}
