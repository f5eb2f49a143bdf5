#include "runtime/linalg/lapack.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "runtime/base/error.h"

namespace tsc::linalg {
namespace {

constexpr const char* kLibraries[] = {"liblapack.so.3", "libopenblas.so.0"};

// Null: there is none. It stays open as long as the process, like any library that is linked.
void* library() {
  static void* const handle = [] {
    for (const char* name : kLibraries)
      if (void* found = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    return static_cast<void*>(nullptr);
  }();
  return handle;
}

template <class Function>
void find(Function& function, char type, const char* name) {
  const std::string symbol = std::string(1, type) + name + "_";
  // Routines of BLAS are in a library that LAPACK's needs; dlsym looks there too.
  function = reinterpret_cast<Function>(::dlsym(library(), symbol.c_str()));
  if (!function) throw Error(ErrorKind::RuntimeError, "torch.linalg: the installed LAPACK has no routine " + symbol);
}

void expect_library() {
  if (!library())
    throw Error(ErrorKind::RuntimeError,
                "torch.linalg: factorizations need LAPACK, and no liblapack.so.3 was found on this "
                "machine. Please "
                "install it (Debian: apt install liblapack3)");
}

template <class T>
ComplexLapack<T> load_complex() {
  expect_library();
  constexpr char kType = std::is_same_v<T, float> ? 'c' : 'z';
  ComplexLapack<T> table;
#define TSC_ROUTINE(name, ...) find(table.name, kType, #name);
  COMPLEX_LAPACK_ROUTINES(TSC_ROUTINE)
#undef TSC_ROUTINE
  return table;
}

template <class T>
Lapack<T> load() {
  expect_library();
  constexpr char kType = std::is_same_v<T, float> ? 's' : 'd';
  Lapack<T> table;
#define TSC_ROUTINE(name, ...) find(table.name, kType, #name);
  LAPACK_ROUTINES(TSC_ROUTINE)
#undef TSC_ROUTINE
  return table;
}

}  // namespace

template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T> table = load<T>();
  return table;
}
template <class T>
const ComplexLapack<T>& complex_lapack() {
  static const ComplexLapack<T> table = load_complex<T>();
  return table;
}
template const ComplexLapack<float>& complex_lapack();
template const ComplexLapack<double>& complex_lapack();
template const Lapack<float>& lapack();
template const Lapack<double>& lapack();

}  // namespace tsc::linalg
