// _time, sys and gc.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/streams.h"
#include "interpreter/modules/importer.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/traceback_text.h"

namespace tsc::interp {
namespace {

// --- time ---------------------------------------------------------------------------------------------

double seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>(d).count(); }
void need_clock(Vm& vm, Args& a) {
  if (!vm.config().grants.has(Grant::Clock))
    check_grant(vm, Grant::Clock, "time." + a.callee->name + "()");
}
Value wall(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(seconds(std::chrono::system_clock::now().time_since_epoch()));
}
Value wall_ns(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::integer(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}
Value monotonic(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(seconds(std::chrono::steady_clock::now().time_since_epoch()));
}
Value monotonic_ns(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::integer(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}
Value process_time(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}
Value sleep(Vm& vm, Args& a) {
  need_clock(vm, a);
  double s = to_double(vm, a[0]);
  if (!(s >= 0)) raise_value_error(vm, "sleep length must be non-negative");
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::min(s, 1e9));
  // In slices, so that an interrupt is heard.
  while (std::chrono::steady_clock::now() < end) {
    if (vm.interrupts().load()) vm.handle_interrupts();
    auto left = end - std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(left, std::chrono::milliseconds(20)));
  }
  return Value::none();
}
// (year, month, day, hour, minute, second, weekday, day of the year, is_dst, zone, offset)
Value broken_down(Vm& vm, const std::tm& t) {
  std::vector<Value> parts;
  for (int part : {t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                   (t.tm_wday + 6) % 7, t.tm_yday + 1, t.tm_isdst})
    parts.push_back(Value::integer(part));
  parts.push_back(str_value(vm, t.tm_zone ? t.tm_zone : ""));
  parts.push_back(Value::integer(t.tm_gmtoff));
  return make_tuple(vm, parts).take();
}
std::time_t seconds_argument(Vm& vm, Args& a) {
  if (a[0].is_none()) return need_clock(vm, a), std::time(nullptr);
  return static_cast<std::time_t>(std::floor(to_double(vm, a[0])));
}
Value localtime_(Vm& vm, Args& a) {
  std::time_t when = seconds_argument(vm, a);
  std::tm parts{};
  if (!localtime_r(&when, &parts)) raise(vm, vm.exceptions().OverflowError, "timestamp out of range for platform time_t");
  return broken_down(vm, parts);
}
Value gmtime_(Vm& vm, Args& a) {
  std::time_t when = seconds_argument(vm, a);
  std::tm parts{};
  if (!gmtime_r(&when, &parts)) raise(vm, vm.exceptions().OverflowError, "timestamp out of range for platform time_t");
  parts.tm_zone = "UTC";
  return broken_down(vm, parts);
}
std::tm from_tuple(Vm& vm, const Value& v) {
  Local<TupleObject> t = to_tuple(vm, v);
  if (t->size < 9) raise_type_error(vm, "Tuple or struct_time argument required");
  auto part = [&](size_t i) { return static_cast<int>(to_index(vm, t->items[i])); };
  std::tm parts{};
  parts.tm_year = part(0) - 1900;
  parts.tm_mon = part(1) - 1;
  parts.tm_mday = part(2);
  parts.tm_hour = part(3);
  parts.tm_min = part(4);
  parts.tm_sec = part(5);
  parts.tm_wday = (part(6) + 1) % 7;
  parts.tm_yday = part(7) - 1;
  parts.tm_isdst = part(8);
  return parts;
}
Value mktime_(Vm& vm, Args& a) {
  std::tm parts = from_tuple(vm, a[0]);
  return Value::real(static_cast<double>(std::mktime(&parts)));
}
Value strftime_(Vm& vm, Args& a) {
  std::string format(text_of(vm, a[0], "strftime() argument 1"));
  std::tm parts = from_tuple(vm, a[1]);
  if (format.empty()) return str_value(vm, "");
  std::string text(256 + format.size() * 4, '\0');
  size_t n = std::strftime(text.data(), text.size(), format.c_str(), &parts);
  return str_value(vm, std::string_view(text).substr(0, n));
}

// --- sys ---------------------------------------------------------------------------------------------------

Value exit(Vm& vm, Args& a) {
  std::span<const Value> args(a.positional, a[0].is_none() ? 0 : 1);
  throw ScriptException(make_exception(vm, vm.exceptions().SystemExit, args));
}
Value getrecursionlimit(Vm& vm, Args&) { return Value::integer(vm.config().recursion_limit); }
Value setrecursionlimit(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]);
  if (n < 1) raise_value_error(vm, "recursion limit must be greater or equal than 1");
  if (n > vm.config().largest_recursion_limit)
    raise_value_error(vm, "the recursion limit cannot be more than " +
                              std::to_string(vm.config().largest_recursion_limit) + " here");
  vm.config().recursion_limit = static_cast<uint32_t>(n);
  return Value::none();
}
Value getsizeof(Vm&, Args& a) {
  if (auto* s = try_cast<StrObject>(a[0])) return Value::integer(static_cast<int64_t>(sizeof(StrObject) + s->size));
  if (auto* l = try_cast<ListObject>(a[0]))
    return Value::integer(static_cast<int64_t>(sizeof(ListObject) + l->items.capacity() * sizeof(Value)));
  if (auto* d = try_cast<DictObject>(a[0]))
    return Value::integer(static_cast<int64_t>(sizeof(DictObject) + d->table.bytes()));
  return Value::integer(static_cast<int64_t>(sizeof(Value)));
}
Value exc_info(Vm& vm, Args&) {
  Local<TupleObject> t = make_tuple(vm, size_t{3});
  for (int i = 0; i < 3; ++i) t->items[i] = Value::none();
  for (Frame* f = vm.current_frame(); f; f = f->back)
    if (f->handled) {
      t->items[0] = Value(f->handled.object()->type);
      t->items[1] = f->handled;
      t->items[2] = get_attribute(vm, f->handled, vm.names().traceback.get());
      break;
    }
  return t.take();
}
Value intern_(Vm& vm, Args& a) {
  text_of(vm, a[0]);
  return intern(vm, cast<StrObject>(a[0])).take();
}
// The lines of an exception's report, for the traceback module.
ExceptionObject* exception_argument(Vm& vm, Args& a) {
  if (!is_kind(a[0], Kind::Exception)) raise_type_error(vm, "an exception is needed");
  return cast<ExceptionObject>(a[0]);
}
Value format_exception(Vm& vm, Args& a) {
  return str_value(vm, render_traceback(vm, exception_argument(vm, a)));
}
Value format_exception_only(Vm& vm, Args& a) {
  Local<ListObject> lines = make_list(vm);
  for (const std::string& line : exception_only(vm, exception_argument(vm, a), false))
    lines->items.push_back(str_value(vm, line));
  return lines.take();
}

// --- gc --------------------------------------------------------------------------------------------------------

Value collect(Vm& vm, Args&) { return Value::integer(static_cast<int64_t>(vm.heap().collect(true))); }
Value enable(Vm& vm, Args&) { return vm.heap().enable(true), Value::none(); }
Value disable(Vm& vm, Args&) { return vm.heap().enable(false), Value::none(); }
Value isenabled(Vm& vm, Args&) { return Value::boolean(vm.heap().enabled()); }

}  // namespace

Local<ModuleObject> make_time_module(Vm& vm) {
  ModuleBuilder m(vm, "_time");
  m.function("time", "", wall)
      .function("time_ns", "", wall_ns)
      .function("perf_counter", "", monotonic)
      .function("perf_counter_ns", "", monotonic_ns)
      .function("monotonic", "", monotonic)
      .function("monotonic_ns", "", monotonic_ns)
      .function("process_time", "", process_time)
      .function("sleep", "secs, /", sleep)
      .function("localtime", "seconds=None, /", localtime_)
      .function("gmtime", "seconds=None, /", gmtime_)
      .function("mktime", "t, /", mktime_)
      .function("strftime", "format, t, /", strftime_);
  return m.finish();
}

Local<ModuleObject> make_sys_module(Vm& vm) {
  ModuleBuilder m(vm, "sys");
  Local<ListObject> arguments = make_list(vm), path = make_list(vm);
  for (const std::string& s : vm.config().arguments) arguments->items.push_back(str_value(vm, s));
  for (const std::string& s : vm.config().module_path) path->items.push_back(str_value(vm, s));
  m.value("argv", arguments.take())
      .value("path", path.take())
      .value("modules", Value(vm.modules()))
      .value("stdout", make_standard_stream(vm, Stream::Out))
      .value("stderr", make_standard_stream(vm, Stream::Error))
      .value("stdin", make_standard_input(vm))
      .value("_UnsupportedOperation", Value(unsupported_operation(vm)))
      .value("maxsize", Value::integer(INT64_MAX))
      .value("platform", str_value(vm, "linux"))
      .value("byteorder", str_value(vm, "little"))
      .value("version", str_value(vm, "3.11 (Tenscript)"))
      .value("version_info",
             make_tuple(vm, std::vector<Value>{Value::integer(3), Value::integer(11), Value::integer(0)}).take())
      .function("exit", "status=None, /", exit)
      .function("getrecursionlimit", "", getrecursionlimit)
      .function("setrecursionlimit", "limit, /", setrecursionlimit)
      .function("getsizeof", "object, default=?", getsizeof)
      .function("exc_info", "", exc_info)
      .function("intern", "string, /", intern_)
      .function("_format_exception", "exception, /", format_exception)
      .function("_format_exception_only", "exception, /", format_exception_only);
  return m.finish();
}

Local<ModuleObject> make_gc_module(Vm& vm) {
  ModuleBuilder m(vm, "gc");
  m.function("collect", "generation=2", collect)
      .function("enable", "", enable)
      .function("disable", "", disable)
      .function("isenabled", "", isenabled);
  return m.finish();
}

}  // namespace tsc::interp
