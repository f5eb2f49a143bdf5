// _time, sys and gc.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <thread>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/streams.h"
#include "interpreter/modules/importer.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/threads.h"
#include "interpreter/vm/traceback_text.h"

namespace tsc::interp {
namespace {

// --- time ---------------------------------------------------------------------------------------------

double seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>(d).count(); }
void need_clock(Vm& vm, Args& a) {
  if (!vm.config().grants.has(Grant::Clock)) check_grant(vm, Grant::Clock, "time." + a.callee->name + "()");
}
Value wall(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(seconds(std::chrono::system_clock::now().time_since_epoch()));
}
Value wall_ns(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::integer(std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}
Value monotonic(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(seconds(std::chrono::steady_clock::now().time_since_epoch()));
}
Value monotonic_ns(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::integer(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}
Value process_time(Vm& vm, Args& a) {
  need_clock(vm, a);
  return Value::real(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}
Value sleep(Vm& vm, Args& a) {
  need_clock(vm, a);
  const bool number =
      a[0].is_float() || is_integer_like(a[0]) || is_kind(a[0], Kind::BoxedNumber) || type_of(vm, a[0])->slots.to_index;
  if (!number) raise_type_error(vm, "'" + type_name(vm, a[0]) + "' object cannot be interpreted as an integer");
  double s = to_double(vm, a[0]);
  if (!(s >= 0)) raise_value_error(vm, "sleep length must be non-negative");
  wait_in_slices(vm, moment_after(s), [](int64_t nanoseconds) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
    return false;
  });
  return Value::none();
}
// (year, month, day, hour, minute, second, weekday, day of the year, is_dst, zone, offset)
Value broken_down(Vm& vm, const std::tm& t) {
  std::vector<Value> parts;
  for (int part : {t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (t.tm_wday + 6) % 7,
                   t.tm_yday + 1, t.tm_isdst})
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
  if (!localtime_r(&when, &parts))
    raise(vm, vm.exceptions().OverflowError, "timestamp out of range for platform time_t");
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
    raise_value_error(
        vm, "the recursion limit cannot be more than " + std::to_string(vm.config().largest_recursion_limit) + " here");
  vm.config().recursion_limit = static_cast<uint32_t>(n);
  return Value::none();
}
// In seconds, as sys.setswitchinterval takes it.
Value getswitchinterval(Vm& vm, Args&) { return Value::real(static_cast<double>(vm.threads().interval()) / 1e9); }
Value setswitchinterval(Vm& vm, Args& a) {
  const double interval = to_double(vm, a[0]);
  if (!(interval > 0)) raise_value_error(vm, "switch interval must be strictly positive");
  vm.threads().set_interval(static_cast<int64_t>(std::clamp(interval, 1e-6, 1e6) * 1e9));
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
Value format_exception(Vm& vm, Args& a) { return str_value(vm, render_traceback(vm, exception_argument(vm, a))); }
Value format_exception_only(Vm& vm, Args& a) {
  Local<ListObject> lines = make_list(vm);
  for (const std::string& line : exception_only(vm, exception_argument(vm, a)))
    lines->items.push_back(str_value(vm, line));
  return lines.take();
}

// --- tuples whose parts have names -----------------------------------------------------------------------------

using Parts = std::vector<std::pair<const char*, Value>>;

Value named_parts_repr(Vm& vm, Args& a) {
  Type* type = type_of(vm, a[0]);
  Local<TupleObject> names = to_tuple(vm, get_attribute(vm, Value(type), "__match_args__"));
  Local<TupleObject> values = to_tuple(vm, a[0]);
  std::string text = "sys." + own_name(type) + "(";
  for (uint32_t i = 0; i < names->size; ++i)
    text += (i ? ", " : "") + to_string(vm, names->items[i]) + "=" + repr(vm, values->items[i]);
  return str_value(vm, text + ")");
}

// sys.version_info and its like.
Value named_parts(Vm& vm, const char* name, const Parts& parts) {
  std::vector<Value> names, values;
  for (const auto& [part, value] : parts) {
    names.push_back(intern(vm, part).take());
    values.push_back(value);
  }
  ClassRequest request;
  request.name = intern(vm, name);
  Local<DictObject> attributes = make_dict(vm);
  dict_set(vm, attributes, "__module__", str_value(vm, "sys"));
  dict_set(vm, attributes, "__match_args__", make_tuple(vm, names).take());
  Local<NativeFunction> shown = make_native(vm, "__repr__", "self", named_parts_repr);
  shown->is_method = true;
  dict_set(vm, attributes, "__repr__", shown.take());
  request.namespace_ = attributes.take();
  request.bases.push_back(Value(vm.types().tuple));
  const Value type = build_class(vm, request);
  name_with_module(vm, cast<Type>(type));
  Value made = call(vm, type, {make_tuple(vm, values).take()});
  for (const auto& [part, value] : parts) set_attribute(vm, made, intern(vm, part).get(), value);
  return made;
}

constexpr int64_t kHexVersion = 0x030B00F0;

Value version_info(Vm& vm) {
  return named_parts(vm, "version_info",
                     {{"major", Value::integer(3)},
                      {"minor", Value::integer(11)},
                      {"micro", Value::integer(0)},
                      {"releaselevel", str_value(vm, "final")},
                      {"serial", Value::integer(0)}});
}

Value float_info(Vm& vm) {
  using Limits = std::numeric_limits<double>;
  return named_parts(vm, "float_info",
                     {{"max", Value::real(Limits::max())},
                      {"max_exp", Value::integer(Limits::max_exponent)},
                      {"max_10_exp", Value::integer(Limits::max_exponent10)},
                      {"min", Value::real(Limits::min())},
                      {"min_exp", Value::integer(Limits::min_exponent)},
                      {"min_10_exp", Value::integer(Limits::min_exponent10)},
                      {"dig", Value::integer(Limits::digits10)},
                      {"mant_dig", Value::integer(Limits::digits)},
                      {"epsilon", Value::real(Limits::epsilon())},
                      {"radix", Value::integer(Limits::radix)},
                      {"rounds", Value::integer(1)}});
}

// What sys tells of how the language is built; the cache tag is None, as no bytecode is written beside scripts.
Value implementation(Vm& vm) {
  return named_parts(vm, "implementation",
                     {{"name", str_value(vm, "tenscript")},
                      {"version", version_info(vm)},
                      {"hexversion", Value::integer(kHexVersion)},
                      {"cache_tag", Value::none()}});
}

Value int_info(Vm& vm) {
  return named_parts(vm, "int_info",
                     {{"bits_per_digit", Value::integer(64)},
                      {"sizeof_digit", Value::integer(8)},
                      {"default_max_str_digits", Value::integer(4300)},
                      {"str_digits_check_threshold", Value::integer(640)}});
}

Value hash_info(Vm& vm) {
  return named_parts(vm, "hash_info",
                     {{"width", Value::integer(64)},
                      {"modulus", Value::integer((int64_t{1} << 61) - 1)},
                      {"inf", Value::integer(314159)},
                      {"nan", Value::integer(0)},
                      {"imag", Value::integer(1000003)}});
}

// No flag of Python's has a counterpart here but the encoding, which is UTF-8.
Value flags(Vm& vm) {
  std::vector<std::pair<const char*, Value>> parts;
  for (const char* name : {"debug", "inspect", "interactive", "optimize", "dont_write_bytecode", "no_user_site",
                           "no_site", "ignore_environment", "verbose", "bytes_warning", "quiet", "isolated"})
    parts.emplace_back(name, Value::integer(0));
  parts.emplace_back("hash_randomization", Value::integer(1));
  parts.emplace_back("dev_mode", Value::boolean(false));
  parts.emplace_back("utf8_mode", Value::integer(1));
  return named_parts(vm, "flags", parts);
}

Value exception(Vm& vm, Args& a) { return cast<TupleObject>(exc_info(vm, a))->items[1]; }
Value getframe(Vm& vm, Args& a) { return frame_at(vm, to_index(vm, a[0])); }
Value getrefcount(Vm&, Args& a) {
  return Value::integer(a[0].is_object() ? static_cast<int64_t>(a[0].object()->reference_count) : 1);
}

void add_facts(Vm& vm, ModuleBuilder& m) {
  m.value("implementation", implementation(vm))
      .value("int_info", int_info(vm))
      .value("hash_info", hash_info(vm))
      .value("flags", flags(vm))
      .value("warnoptions", make_list(vm).take())
      .value("dont_write_bytecode", Value::boolean(true))
      .function("exception", "", exception)
      .function("_getframe", "depth=0, /", getframe)
      .function("getrefcount", "object, /", getrefcount);
}

// To what a program may have put in the place of sys.stdout or sys.stderr.
void tell(Vm& vm, Stream stream, const std::string& text) {
  const std::string name = stream == Stream::Out ? "stdout" : "stderr";
  auto* sys = try_cast<ModuleObject>(dict_get(vm, vm.modules(), "sys"));
  const Value file = sys ? dict_get(vm, sys->globals, name) : Value();
  const Value own = sys ? dict_get(vm, sys->globals, "__" + name + "__") : Value();
  if (!file || file.is_none() || file.is(own)) vm.write(stream, text);
  else call_method(vm, file, "write", {str_value(vm, text)});
}

// The hooks that a program may replace (vm/system_hooks.h).
Value excepthook(Vm& vm, Args& a) {
  auto* exception = try_cast<ExceptionObject>(a[1]);
  std::string text =
      exception ? render_traceback(vm, exception)
                : "TypeError: print_exception(): Exception expected for value, " + type_name(vm, a[1]) + " found\n";
  if (!text.ends_with('\n')) text += '\n';
  tell(vm, Stream::Error, text);
  return Value::none();
}
Value displayhook(Vm& vm, Args& a) {
  if (a[0].is_none()) return a[0];
  tell(vm, Stream::Out, repr(vm, a[0]) + "\n");
  dict_set(vm, vm.builtins()->globals, "_", a[0]);
  return Value::none();
}
// What unraisablehook is told of.
Value unraisable(Vm& vm, Args& a) {
  return named_parts(vm, "UnraisableHookArgs",
                     {{"exc_type", Value(a[0].object()->type)},
                      {"exc_value", a[0]},
                      {"exc_traceback", get_attribute(vm, a[0], "__traceback__")},
                      {"err_msg", Value::none()},
                      {"object", a[1]}});
}
Value unraisablehook(Vm& vm, Args& a) {
  auto* exception = try_cast<ExceptionObject>(get_attribute(vm, a[0], "exc_value"));
  if (!exception) raise_type_error(vm, "unraisablehook() argument has no exception");
  const Value message = get_attribute(vm, a[0], "err_msg");
  tell(vm, Stream::Error,
       (message.is_none() ? "Exception ignored in" : to_string(vm, message)) + ": " +
           repr(vm, get_attribute(vm, a[0], "object")) + "\n" + render_traceback(vm, exception));
  return Value::none();
}

void add_hooks(Vm& vm, ModuleBuilder& m) {
  const std::pair<const char*, Value> hooks[] = {
      {"excepthook", make_native(vm, "excepthook", "exctype, value, traceback, /", excepthook).take()},
      {"displayhook", make_native(vm, "displayhook", "object, /", displayhook).take()},
      {"unraisablehook", make_native(vm, "unraisablehook", "unraisable, /", unraisablehook).take()}};
  for (const auto& [name, hook] : hooks) m.value(name, hook).value("__" + std::string(name) + "__", hook);
  m.function("_unraisable", "exception, object, /", unraisable);
}

Value text_encoding(Vm& vm, Args&) { return str_value(vm, "utf-8"); }

// The program that runs; empty where nothing may be known of the process.
Value executable(Vm& vm) {
  char path[PATH_MAX];
  const ssize_t size = vm.config().grants.has(Grant::Process) ? readlink("/proc/self/exe", path, sizeof path) : -1;
  return str_value(vm, std::string_view(path, size > 0 ? static_cast<size_t>(size) : 0));
}

// --- gc --------------------------------------------------------------------------------------------------------

Value getdigits(Vm& vm, Args&) { return Value::integer(most_digits(vm)); }
Value setdigits(Vm& vm, Args& a) {
  constexpr int64_t kLeast = 640;
  const int64_t most = to_index(vm, a[0]);
  if (most != 0 && most < kLeast) raise_value_error(vm, "maxdigits must be 0 or larger than " + std::to_string(kLeast));
  most_digits(vm) = most;
  return Value::none();
}

Value collect(Vm& vm, Args&) {
  if (vm.sees_ends() && vm.hooks()) vm.hooks()->let_go(nullptr);
  return Value::integer(static_cast<int64_t>(vm.heap().collect(true)));
}
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
  for (const std::string& s : vm.config().arguments) arguments->items.push_back(system_text(vm, s));
  for (const std::string& s : vm.config().module_path) path->items.push_back(system_text(vm, s));
  m.value("argv", arguments.take())
      .value("path", path.take())
      .value("modules", Value(vm.modules()))
      .value("_UnsupportedOperation", Value(unsupported_operation(vm)))
      .value("maxsize", Value::integer(INT64_MAX))
      .value("platform", str_value(vm, "linux"))
      .value("byteorder", str_value(vm, "little"))
      .value("version", str_value(vm, "3.11 (Tenscript)"))
      .value("version_info", version_info(vm))
      .value("hexversion", Value::integer(kHexVersion))
      .value("float_info", float_info(vm))
      .value("maxunicode", Value::integer(0x10FFFF))
      .value("executable", executable(vm))
      .function("getdefaultencoding", "", text_encoding)
      .function("getfilesystemencoding", "", text_encoding)
      .function("exit", "status=None, /", exit)
      .function("getrecursionlimit", "", getrecursionlimit)
      .function("get_int_max_str_digits", "", getdigits)
      .function("set_int_max_str_digits", "maxdigits", setdigits)
      .function("setrecursionlimit", "limit, /", setrecursionlimit)
      .function("getswitchinterval", "", getswitchinterval)
      .function("setswitchinterval", "interval, /", setswitchinterval)
      .function("getsizeof", "object, default=?", getsizeof)
      .function("exc_info", "", exc_info)
      .function("intern", "string, /", intern_)
      .function("_format_exception", "exception, /", format_exception)
      .function("_format_exception_only", "exception, /", format_exception_only);
  const std::pair<std::string, Value> streams[] = {{"stdout", make_standard_stream(vm, Stream::Out)},
                                                   {"stderr", make_standard_stream(vm, Stream::Error)},
                                                   {"stdin", make_standard_input(vm)}};
  for (const auto& [name, stream] : streams) m.value(name, stream).value("__" + name + "__", stream);
  add_facts(vm, m);
  add_hooks(vm, m);
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
