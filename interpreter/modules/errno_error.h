#pragma once
// OSError for what the system refuses that is about no file.
#include <cerrno>
#include <cstring>

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {

[[noreturn]] inline void raise_errno(Vm& vm) {
  const int number = errno;
  const Value args[] = {Value::integer(number), str_value(vm, std::strerror(number))};
  throw ScriptException(make_exception(vm, os_error_type(vm, number), args));
}

}  // namespace tsc::interp
