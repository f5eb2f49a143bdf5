#include "runtime/base/error.h"

#include <array>

namespace tsc {

std::string_view error_kind_name(ErrorKind kind) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "RuntimeError",      "TypeError",   "ValueError",          "IndexError", "KeyError",         "OverflowError",
      "ZeroDivisionError", "MemoryError", "NotImplementedError", "OSError",    "OutOfMemoryError", "LimitError"};
  return kNames[static_cast<size_t>(kind)];
}

InternalFault::InternalFault(const char* file, int line, std::string message)
    : message_("internal error at " + std::string(file) + ":" + std::to_string(line) + ": " + std::move(message)) {}

void throw_internal_fault(const char* file, int line, const char* condition, std::string_view detail) {
  throw InternalFault(file, line, std::string(condition) + " does not hold: " + std::string(detail));
}

}  // namespace tsc
