#pragma once
// Script exceptions: the objects, the C++ exception that carries one through native code, and the
// functions that raise. A traceback is a list of places, innermost first, grown while unwinding.
#include <string>
#include <vector>

#include "interpreter/heap/counted_memory.h"
#include "interpreter/value/function.h"

namespace tsc::interp {

// One place: an instruction of a code, or the line that defines it.
struct TracebackEntry {
  static constexpr uint32_t kDefinition = UINT32_MAX;
  std::shared_ptr<const lang::CodeObject> code;
  uint32_t pc = 0;

  std::string_view file() const;
  const std::string& name() const;  // of the function
  uint32_t line() const;            // 1-based; 0: unknown
  std::string source_line() const;  // without indentation
};

struct ExceptionObject : Instance {
  static constexpr Kind kKind = Kind::Exception;
  Local<TupleObject> args;
  Local<TupleObject> group;  // of a group: its message, the tuple of its exceptions; or the parts of exception_parts.h
  Value cause;               // Undefined or None or an exception
  Value context;             // Undefined or an exception
  bool suppress_context = false;
  // A limit ends the script: no `except` catches it. An object of LimitError that a script made and raised
  // itself is an exception like any other.
  bool is_limit = false;
  std::vector<TracebackEntry, Counted<TracebackEntry>> traceback;
  Value name, subject;  // what was not found, and where: `name` and `obj` of AttributeError
  std::string hint;     // see hint_of(); shown by reports only
  ExceptionObject() : Instance(Kind::Exception) {}
};

// Carries an exception object through C++ frames.
class ScriptException {
 public:
  explicit ScriptException(Local<ExceptionObject> exception) : exception_(std::move(exception)) {}
  ExceptionObject* exception() const { return exception_.get(); }
  const Local<ExceptionObject>& local() const { return exception_; }

 private:
  Local<ExceptionObject> exception_;
};

Local<ExceptionObject> make_exception(Vm& vm, Type* type, std::string_view message);
Local<ExceptionObject> make_exception(Vm& vm, Type* type, std::span<const Value> args);
[[noreturn]] void raise(Vm& vm, Type* type, std::string_view message);
// What a native function returns (Vm::return_raised): cheaper to catch than what is thrown.
Value return_error(Vm& vm, Type* type, std::string_view message);
Value return_key_error(Vm& vm, const Value& key);
[[noreturn]] void raise_type_error(Vm& vm, std::string_view message);
[[noreturn]] void raise_value_error(Vm& vm, std::string_view message);
[[noreturn]] void raise_index_error(Vm& vm, std::string_view message);
[[noreturn]] void raise_key_error(Vm& vm, const Value& key);
Local<ExceptionObject> attribute_error(Vm& vm, const Value& object, StrObject* name);
[[noreturn]] void raise_attribute_error(Vm& vm, const Value& object, StrObject* name);
// "Did you mean: 'x'?", of an AttributeError looked for when it is asked for; empty where there is none.
std::string hint_of(Vm& vm, const ExceptionObject* e);
Type* os_error_type(Vm& vm, int64_t error_number);  // FileNotFoundError of ENOENT, and so on
[[noreturn]] void raise_os_error(Vm& vm, int error_number, const std::string& path);
// str(exception), and "Type: message" as the last line of a traceback.
std::string exception_message(Vm& vm, ExceptionObject* exception);
std::string exception_line(Vm& vm, ExceptionObject* exception);
// The whole report, causes and contexts included, oldest first, as CPython prints it.
std::string render_traceback(Vm& vm, ExceptionObject* exception);

}  // namespace tsc::interp
