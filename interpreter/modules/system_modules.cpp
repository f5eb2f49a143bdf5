// time, sys, gc, os and os.path.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/importer.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/grants.h"

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
Value strftime_(Vm& vm, Args& a) {
  need_clock(vm, a);
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[512];
  std::string format(text_of(vm, a[0], "strftime() argument 1"));
  size_t n = std::strftime(text, sizeof text, format.c_str(), &parts);
  return str_value(vm, std::string_view(text, n));
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
  vm.config().recursion_limit = static_cast<uint32_t>(std::min<int64_t>(n, 10000000));
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
Value format_exception(Vm& vm, Args& a) {
  if (!is_kind(a[0], Kind::Exception)) raise_type_error(vm, "an exception is needed");
  return str_value(vm, render_traceback(vm, cast<ExceptionObject>(a[0])));
}

// --- gc --------------------------------------------------------------------------------------------------------

Value collect(Vm& vm, Args&) { return Value::integer(static_cast<int64_t>(vm.heap().collect(true))); }
Value enable(Vm& vm, Args&) { return vm.heap().enable(true), Value::none(); }
Value disable(Vm& vm, Args&) { return vm.heap().enable(false), Value::none(); }
Value isenabled(Vm& vm, Args&) { return Value::boolean(vm.heap().enabled()); }

// --- os ----------------------------------------------------------------------------------------------------------

namespace fs = std::filesystem;

std::string path_of(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Str))
    if (Value method = find_attribute(vm, v, intern(vm, "__fspath__").get()))
      return std::string(text_of(vm, call(vm, method), "path"));
  return std::string(text_of(vm, v, "path"));
}
// A path as an argument, checked against the host's grants.
std::string readable(Vm& vm, const Value& v) { return check_read(vm, path_of(vm, v)); }
std::string writable(Vm& vm, const Value& v, Links links = Links::Follow) {
  return check_write(vm, path_of(vm, v), links);
}
Value getcwd_(Vm& vm, Args&) {
  const std::string folder = fs::current_path().string();
  check_read(vm, folder);
  return str_value(vm, folder);
}
Value listdir(Vm& vm, Args& a) {
  std::string path = readable(vm, a[0]);
  std::error_code error;
  fs::directory_iterator it(path, error);
  if (error) raise_os_error(vm, error.value(), path);
  Local<ListObject> list = make_list(vm);
  for (const auto& entry : it) list->items.push_back(str_value(vm, entry.path().filename().string()));
  sort_list(vm, list, Value(), false);
  return list.take();
}
Value makedirs(Vm& vm, Args& a) {
  std::string path = writable(vm, a[0]);
  std::error_code error;
  if (fs::exists(path, error) && !truth(vm, a[2])) raise_os_error(vm, EEXIST, path);
  fs::create_directories(path, error);
  if (error) raise_os_error(vm, error.value(), path);
  return Value::none();
}
Value mkdir_(Vm& vm, Args& a) {
  std::string path = writable(vm, a[0], Links::Keep);
  if (::mkdir(path.c_str(), 0777) != 0) raise_os_error(vm, errno, path);
  return Value::none();
}
Value remove_(Vm& vm, Args& a) {
  std::string path = writable(vm, a[0], Links::Keep);
  if (::unlink(path.c_str()) != 0) raise_os_error(vm, errno, path);
  return Value::none();
}
Value rename_(Vm& vm, Args& a) {
  std::string path = writable(vm, a[0], Links::Keep);
  std::string target = writable(vm, a[1], Links::Keep);
  if (::rename(path.c_str(), target.c_str()) != 0) raise_os_error(vm, errno, path);
  return Value::none();
}
Value getenv_(Vm& vm, Args& a) {
  check_grant(vm, Grant::Environment, "os.getenv()");
  const char* text = std::getenv(std::string(text_of(vm, a[0])).c_str());
  return text ? str_value(vm, text) : a[1];
}
Value getpid_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.getpid()");
  return Value::integer(::getpid());
}
Value cpu_count(Vm&, Args&) { return Value::integer(std::thread::hardware_concurrency()); }

Value join_paths(Vm& vm, Args& a) {
  std::string out = path_of(vm, a[0]);
  for (const Value& v : cast<TupleObject>(a[1])->span()) {
    std::string part = path_of(vm, v);
    if (!part.empty() && part[0] == '/') out = part;
    else if (out.empty() || out.back() == '/') out += part;
    else out += "/" + part;
  }
  return str_value(vm, out);
}
Value basename(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  return str_value(vm, p.substr(p.rfind('/') + 1));
}
std::string directory(const std::string& p) {
  size_t slash = p.rfind('/');
  if (slash == std::string::npos) return "";
  std::string head = p.substr(0, slash + 1);
  while (head.size() > 1 && head.back() == '/') head.pop_back();
  return head;
}
Value dirname(Vm& vm, Args& a) { return str_value(vm, directory(path_of(vm, a[0]))); }
Value split_path(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  return make_tuple(vm, std::vector<Value>{str_value(vm, directory(p)), str_value(vm, p.substr(p.rfind('/') + 1))})
      .take();
}
Value splitext(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  size_t name = p.rfind('/') + 1, dot = p.rfind('.');
  size_t first = name;
  while (first < p.size() && p[first] == '.') ++first;
  if (dot == std::string::npos || dot < first) dot = p.size();
  return make_tuple(vm, std::vector<Value>{str_value(vm, p.substr(0, dot)), str_value(vm, p.substr(dot))})
      .take();
}
template <bool (*test)(const fs::path&, std::error_code&)>
Value path_test(Vm& vm, Args& a) {
  std::error_code error;
  return Value::boolean(test(readable(vm, a[0]), error));
}
bool exists_path(const fs::path& p, std::error_code& e) { return fs::exists(p, e); }
bool is_file(const fs::path& p, std::error_code& e) { return fs::is_regular_file(p, e); }
bool is_dir(const fs::path& p, std::error_code& e) { return fs::is_directory(p, e); }
Value abspath(Vm& vm, Args& a) {
  const std::string given = path_of(vm, a[0]);
  if (given.empty() || given[0] != '/') check_read(vm, fs::current_path().string());
  std::string p = fs::absolute(given).lexically_normal().string();
  if (p.size() > 1 && p.back() == '/') p.pop_back();
  return str_value(vm, p);
}
Value normpath(Vm& vm, Args& a) {
  std::string p = fs::path(path_of(vm, a[0])).lexically_normal().string();
  if (p.size() > 1 && p.back() == '/') p.pop_back();
  return str_value(vm, p.empty() ? "." : p);
}
Value isabs(Vm& vm, Args& a) { return Value::boolean(path_of(vm, a[0]).substr(0, 1) == "/"); }
Value getsize(Vm& vm, Args& a) {
  std::string p = readable(vm, a[0]);
  struct stat s;
  if (::stat(p.c_str(), &s) != 0) raise_os_error(vm, errno, p);
  return Value::integer(s.st_size);
}
Value expanduser(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  const char* home = vm.config().grants.has(Grant::Environment) ? std::getenv("HOME") : nullptr;
  if (home && (p == "~" || p.substr(0, 2) == "~/")) p = home + p.substr(1);
  return str_value(vm, p);
}

}  // namespace

Local<ModuleObject> make_time_module(Vm& vm) {
  ModuleBuilder m(vm, "time");
  m.function("time", "", wall)
      .function("time_ns", "", wall_ns)
      .function("perf_counter", "", monotonic)
      .function("perf_counter_ns", "", monotonic_ns)
      .function("monotonic", "", monotonic)
      .function("monotonic_ns", "", monotonic_ns)
      .function("process_time", "", process_time)
      .function("sleep", "secs, /", sleep)
      .function("strftime", "format, t=?, /", strftime_);
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
      .function("_format_exception", "exception, /", format_exception);
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

Local<ModuleObject> make_os_path_module(Vm& vm) {
  ModuleBuilder m(vm, "os.path");
  m.function("join", "path, *paths", join_paths)
      .function("basename", "p", basename)
      .function("dirname", "p", dirname)
      .function("split", "p", split_path)
      .function("splitext", "p", splitext)
      .function("exists", "path", path_test<exists_path>)
      .function("isfile", "path", path_test<is_file>)
      .function("isdir", "path", path_test<is_dir>)
      .function("abspath", "path", abspath)
      .function("realpath", "path", abspath)
      .function("normpath", "path", normpath)
      .function("isabs", "path", isabs)
      .function("getsize", "path", getsize)
      .function("expanduser", "path", expanduser)
      .value("sep", str_value(vm, "/"));
  return m.finish();
}

Local<ModuleObject> make_os_module(Vm& vm) {
  ModuleBuilder m(vm, "os");
  Local<DictObject> environment = make_dict(vm);
  if (vm.config().grants.has(Grant::Environment))
    for (char** e = environ; *e; ++e) {
      std::string_view text(*e);
      size_t equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      dict_set(vm, environment, text.substr(0, equals), str_value(vm, text.substr(equals + 1)));
    }
  m.function("getcwd", "", getcwd_)
      .function("listdir", "path='.'", listdir)
      .function("makedirs", "name, mode=511, exist_ok=False", makedirs)
      .function("mkdir", "path, mode=511", mkdir_)
      .function("remove", "path", remove_)
      .function("unlink", "path", remove_)
      .function("rename", "src, dst", rename_)
      .function("replace", "src, dst", rename_)
      .function("getenv", "key, default=None", getenv_)
      .function("getpid", "", getpid_)
      .function("cpu_count", "", cpu_count)
      .value("environ", environment.take())
      .value("sep", str_value(vm, "/"))
      .value("linesep", str_value(vm, "\n"))
      .value("name", str_value(vm, "posix"))
      .value("path", vm.importer().import_native("os.path"));
  return m.finish();
}

}  // namespace tsc::interp
