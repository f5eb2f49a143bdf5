#pragma once
// The three kinds of failure, named. A diagnostic (the source is wrong) is collected by lang and never
// thrown. A tsc::Error is a script-visible error: its kind is the name of a Python exception and the
// interpreter turns it into that exception. An InternalFault is our own bug: TSC_CHECK raises it; the
// compiler catches it and falls back to the interpreter, tests set TENSCRIPT_STRICT_COMPILER=1 to see it.
#include <exception>
#include <string>
#include <string_view>

namespace tsc {

enum class ErrorKind {
  RuntimeError,
  TypeError,
  ValueError,
  IndexError,
  KeyError,
  OverflowError,
  ZeroDivisionError,
  MemoryError,
  NotImplementedError,
  OSError,
  DeviceMemoryError,  // a device has no memory left; torch.OutOfMemoryError
  LimitError,         // a limit that the host set: scripts cannot catch it
};

// The Python exception name of a kind.
std::string_view error_kind_name(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

class InternalFault : public std::exception {
 public:
  InternalFault(const char* file, int line, std::string message);
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

[[noreturn]] void throw_internal_fault(const char* file, int line, const char* condition, std::string_view detail);

}  // namespace tsc

// An invariant of ours. `detail` is a string expression evaluated only on failure.
#define TSC_CHECK(condition, detail)                                       \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::tsc::throw_internal_fault(__FILE__, __LINE__, #condition, detail); \
  } while (false)
