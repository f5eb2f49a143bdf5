// _os and _os_path: files, folders, the environment and the process, each asked of the host's grants.
// os/__init__.tsc and os/path.tsc publish them.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "interpreter/builtins/builtins.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/grants.h"

namespace tsc::interp {
namespace {

namespace fs = std::filesystem;

// The str or bytes that a path is, or gives as its __fspath__().
Value plain_path(Vm& vm, const Value& v) {
  const auto is_plain = [](const Value& path) { return is_kind(path, Kind::Str) || is_kind(path, Kind::Bytes); };
  if (is_plain(v)) return v;
  const Value method = find_attribute(vm, v, intern(vm, "__fspath__").get());
  if (!method) raise_type_error(vm, "expected str, bytes or os.PathLike object, not " + type_name(vm, v));
  Value given = call(vm, method);
  if (!is_plain(given))
    raise_type_error(
        vm, "expected " + type_name(vm, v) + ".__fspath__() to return str or bytes, not " + type_name(vm, given));
  return given;
}
// A path as an argument: the text that was given, from a str, bytes or __fspath__. What goes to the system passes
// readable() or writable(), what comes from there system_text().
std::string path_of(Vm& vm, const Value& v) {
  const Value path = plain_path(vm, v);
  if (is_kind(path, Kind::Str)) return std::string(cast<StrObject>(path)->view());
  return from_system(cast<BytesObject>(path)->data);
}
// As os.stat takes it: the message of what asks about a file lists what the argument could be.
std::string stat_path_of(Vm& vm, const Value& v, Links links) {
  const bool text = is_kind(v, Kind::Str) || is_kind(v, Kind::Bytes);
  if (!text && !find_attribute(vm, v, intern(vm, "__fspath__").get()))
    raise_type_error(vm,
                     std::string(links == Links::Keep ? "lstat: path should be string, bytes or os.PathLike"
                                                      : "stat: path should be string, bytes, os.PathLike or integer") +
                         ", not " + type_name(vm, v));
  return path_of(vm, v);
}
bool is_bytes(const Value& v) { return is_kind(v, Kind::Bytes); }
// A path that the system names, and one that is computed here: as bytes where the path that was given is.
Value named_like(Vm& vm, const Value& given, const std::string& name) {
  return is_bytes(given) ? make_bytes(vm, name).take() : system_text(vm, name);
}
Value path_like(Vm& vm, const Value& given, const std::string& path) {
  return is_bytes(given) ? make_bytes(vm, to_system(vm, path)).take() : str_value(vm, path);
}
// An error about one path, or two, as they were given.
[[noreturn]] void refuse(Vm& vm, int number, const Value& path, const Value& second = Value()) {
  const Value args[] = {Value::integer(number), str_value(vm, std::strerror(number))};
  Local<ExceptionObject> e = make_exception(vm, os_error_type(vm, number), args);
  const auto shown = [&](const Value& v) { return is_bytes(v) ? v : str_value(vm, path_of(vm, v)); };
  e->subject = shown(path);
  if (second) e->name = shown(second);
  throw ScriptException(std::move(e));
}
Value done(Vm& vm, int result, const Value& path, const Value& second = Value()) {
  if (result != 0) refuse(vm, errno, path, second);
  return Value::none();
}
std::string readable(Vm& vm, const Value& v, Links links = Links::Follow) {
  return check_read(vm, to_system(vm, path_of(vm, v)), links);
}
std::string writable(Vm& vm, const Value& v, Links links = Links::Follow) {
  return check_write(vm, to_system(vm, path_of(vm, v)), links);
}

// --- files and folders ------------------------------------------------------------------------------

Value getcwd_(Vm& vm, Args&) {
  const std::string folder = fs::current_path().string();
  check_read(vm, folder);
  return system_text(vm, folder);
}
Value chdir_(Vm& vm, Args& a) {
  check_grant(vm, Grant::Process, "os.chdir()");
  return done(vm, ::chdir(readable(vm, a[0]).c_str()), a[0]);
}
// (name, is_dir, is_file, is_link) of every entry, by name.
Value scandir_(Vm& vm, Args& a) {
  std::string path = readable(vm, a[0]);
  std::error_code error;
  fs::directory_iterator it(path, error);
  if (error) refuse(vm, error.value(), a[0]);
  Local<ListObject> list = make_list(vm);
  for (const auto& entry : it) {
    std::error_code ignored;
    list->items.push_back(make_tuple(vm, std::vector<Value>{named_like(vm, a[0], entry.path().filename().string()),
                                                            Value::boolean(entry.is_directory(ignored)),
                                                            Value::boolean(entry.is_regular_file(ignored)),
                                                            Value::boolean(entry.is_symlink(ignored))})
                              .take());
  }
  sort_list(vm, list, Value(), false);
  return list.take();
}
Value listdir(Vm& vm, Args& a) {
  Value rows = scandir_(vm, a);
  for (Value& row : cast<ListObject>(rows)->items) row = Value(cast<TupleObject>(row)->items[0]);
  return rows;
}
Value mkdir_(Vm& vm, Args& a) {
  mode_t mode = static_cast<mode_t>(to_index(vm, a[1]));
  return done(vm, ::mkdir(writable(vm, a[0], Links::Keep).c_str(), mode), a[0]);
}
Value rmdir_(Vm& vm, Args& a) { return done(vm, ::rmdir(writable(vm, a[0], Links::Keep).c_str()), a[0]); }
Value remove_(Vm& vm, Args& a) { return done(vm, ::unlink(writable(vm, a[0], Links::Keep).c_str()), a[0]); }
Value rename_(Vm& vm, Args& a) {
  std::string from = writable(vm, a[0], Links::Keep), to = writable(vm, a[1], Links::Keep);
  return done(vm, ::rename(from.c_str(), to.c_str()), a[0], a[1]);
}
Value symlink_(Vm& vm, Args& a) {
  return done(vm, ::symlink(to_system(vm, path_of(vm, a[0])).c_str(), writable(vm, a[1], Links::Keep).c_str()), a[0],
              a[1]);
}
Value link_(Vm& vm, Args& a) {
  std::string from = writable(vm, a[0], Links::Keep), to = writable(vm, a[1], Links::Keep);
  return done(vm, ::link(from.c_str(), to.c_str()), a[0], a[1]);
}
Value readlink_(Vm& vm, Args& a) {
  std::error_code error;
  fs::path target = fs::read_symlink(readable(vm, a[0], Links::Keep), error);
  if (error) refuse(vm, error.value(), a[0]);
  return named_like(vm, a[0], target.string());
}
Value chmod_(Vm& vm, Args& a) {
  return done(vm, ::chmod(writable(vm, a[0]).c_str(), static_cast<mode_t>(to_index(vm, a[1]))), a[0]);
}
Value access_(Vm& vm, Args& a) {
  return Value::boolean(::access(readable(vm, a[0]).c_str(), static_cast<int>(to_index(vm, a[1]))) == 0);
}
Value utime_(Vm& vm, Args& a) {
  timespec times[2];
  for (int i = 0; i < 2; ++i) {
    int64_t ns = to_index(vm, a[static_cast<size_t>(i) + 1]);
    times[i] = {ns / 1000000000, ns % 1000000000};
  }
  return done(vm, ::utimensat(AT_FDCWD, writable(vm, a[0]).c_str(), times, 0), a[0]);
}
// (mode, ino, dev, nlink, uid, gid, size, atime_ns, mtime_ns, ctime_ns)
Value stat_(Vm& vm, Args& a) {
  bool follow = truth(vm, a[1]);
  std::string path = readable(vm, a[0], follow ? Links::Follow : Links::Keep);
  struct stat s;
  if ((follow ? ::stat(path.c_str(), &s) : ::lstat(path.c_str(), &s)) != 0) refuse(vm, errno, a[0]);
  auto ns = [](const timespec& t) { return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec; };
  std::vector<Value> parts;
  for (int64_t part : {int64_t{s.st_mode}, static_cast<int64_t>(s.st_ino), static_cast<int64_t>(s.st_dev),
                       static_cast<int64_t>(s.st_nlink), int64_t{s.st_uid}, int64_t{s.st_gid}, int64_t{s.st_size},
                       ns(s.st_atim), ns(s.st_mtim), ns(s.st_ctim)})
    parts.push_back(Value::integer(part));
  return make_tuple(vm, parts).take();
}

// --- environment and process ------------------------------------------------------------------------

Value environment(Vm& vm, Args&) {
  Local<DictObject> dict = make_dict(vm);
  if (!vm.config().grants.has(Grant::Environment)) return dict.take();
  for (char** e = environ; *e; ++e) {
    std::string_view text(*e);
    size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    dict_set(vm, dict, from_system(text.substr(0, equals)), system_text(vm, text.substr(equals + 1)));
  }
  return dict.take();
}
Value putenv_(Vm& vm, Args& a) {
  check_grant(vm, Grant::Environment, "os.putenv()");
  const std::string name = to_system(vm, text_of(vm, a[0])), value = to_system(vm, text_of(vm, a[1]));
  if (::setenv(name.c_str(), value.c_str(), 1) != 0) raise_os_error(vm, errno, name);
  return Value::none();
}
Value unsetenv_(Vm& vm, Args& a) {
  check_grant(vm, Grant::Environment, "os.unsetenv()");
  ::unsetenv(to_system(vm, text_of(vm, a[0])).c_str());
  return Value::none();
}
Value check_environment(Vm& vm, Args& a) {
  check_grant(vm, Grant::Environment, text_of(vm, a[0]));
  return Value::none();
}
Value getpid_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.getpid()");
  return Value::integer(::getpid());
}
Value getppid_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.getppid()");
  return Value::integer(::getppid());
}
template <auto kNumber>
Value own_id(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "the numbers of the user and the group");
  return Value::integer(kNumber());
}
Value getgroups_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.getgroups()");
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  if (count < 0) raise_os_error(vm, errno, "getgroups");
  Local<ListObject> list = make_list(vm);
  for (int i = 0; i < count; ++i) list->items.push_back(Value::integer(groups[static_cast<size_t>(i)]));
  return list.take();
}
Value tuple_of_reals(Vm& vm, std::span<const double> numbers) {
  std::vector<Value> values;
  for (const double number : numbers) values.push_back(Value::real(number));
  return make_tuple(vm, values).take();
}
Value getloadavg_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.getloadavg()");
  double loads[3];
  if (::getloadavg(loads, 3) != 3) raise(vm, vm.exceptions().OSError, "Load averages are unobtainable");
  return tuple_of_reals(vm, loads);
}
// times(): seconds of the process and its children, each in programs and in the system, and since some time.
Value times_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.times()");
  struct tms spent{};
  const auto since = static_cast<double>(::times(&spent)), tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto seconds = [&](clock_t ticks) { return static_cast<double>(ticks) / tick; };
  return tuple_of_reals(vm, std::array{seconds(spent.tms_utime), seconds(spent.tms_stime), seconds(spent.tms_cutime),
                                       seconds(spent.tms_cstime), since / tick});
}
Value truncate_(Vm& vm, Args& a) { return done(vm, ::truncate(writable(vm, a[0]).c_str(), to_index(vm, a[1])), a[0]); }
Value chown_(Vm& vm, Args& a) {
  const auto change = truth(vm, a[3]) ? ::chown : ::lchown;
  return done(vm,
              change(writable(vm, a[0]).c_str(), static_cast<uid_t>(to_index(vm, a[1])),
                     static_cast<gid_t>(to_index(vm, a[2]))),
              a[0]);
}
// uname(): system, node, release, version, machine.
Value uname_(Vm& vm, Args&) {
  check_grant(vm, Grant::Process, "os.uname()");
  struct utsname about{};
  if (::uname(&about) != 0) raise_os_error(vm, errno, "uname");
  const Value parts[] = {str_value(vm, about.sysname), str_value(vm, about.nodename), str_value(vm, about.release),
                         str_value(vm, about.version), str_value(vm, about.machine)};
  return make_tuple(vm, parts).take();
}
// disk_space(path): bytes in all, used and free for users of the file system that the path lies on.
Value disk_space(Vm& vm, Args& a) {
  struct statvfs about{};
  done(vm, ::statvfs(readable(vm, a[0]).c_str(), &about), a[0]);
  const uint64_t unit = about.f_frsize;
  const uint64_t sizes[] = {about.f_blocks * unit, (about.f_blocks - about.f_bfree) * unit, about.f_bavail * unit};
  std::vector<Value> values;
  for (uint64_t size : sizes) values.push_back(Value::integer(static_cast<int64_t>(size)));
  return make_tuple(vm, values).take();
}
Value cpu_count(Vm&, Args&) { return Value::integer(std::thread::hardware_concurrency()); }
Value strerror_(Vm& vm, Args& a) { return str_value(vm, std::strerror(static_cast<int>(to_index(vm, a[0])))); }
Value urandom(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[0]);
  if (n < 0) raise_value_error(vm, "negative argument not allowed");
  std::string data(static_cast<size_t>(n), '\0');
  for (size_t at = 0; at < data.size();) {
    ssize_t got = ::getrandom(data.data() + at, data.size() - at, 0);
    if (got < 0) raise_os_error(vm, errno, "urandom");
    at += static_cast<size_t>(got);
  }
  return make_bytes(vm, std::move(data)).take();
}

// --- paths as text ----------------------------------------------------------------------------------

Value fspath(Vm& vm, Args& a) { return plain_path(vm, a[0]); }
Value join_paths(Vm& vm, Args& a) {
  std::string out = path_of(vm, a[0]);
  const bool bytes = is_kind(a[0], Kind::Bytes);
  for (const Value& v : cast<TupleObject>(a[1])->span()) {
    const bool text = is_kind(v, Kind::Str) || is_kind(v, Kind::Bytes);
    if (!text && !find_attribute(vm, v, intern(vm, "__fspath__").get()))
      raise_type_error(vm, "join() argument must be str, bytes, or os.PathLike object, not '" + type_name(vm, v) + "'");
    if (is_kind(v, Kind::Bytes) != bytes) raise_type_error(vm, "Can't mix strings and bytes in path components");
    std::string part = path_of(vm, v);
    if (!part.empty() && part[0] == '/') out = part;
    else if (out.empty() || out.back() == '/') out += part;
    else out += "/" + part;
  }
  return path_like(vm, a[0], out);
}
std::string directory(const std::string& p) {
  std::string head = p.substr(0, p.rfind('/') + 1);
  if (head.find_first_not_of('/') != std::string::npos)
    while (head.back() == '/') head.pop_back();
  return head;
}
Value basename(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  return path_like(vm, a[0], p.substr(p.rfind('/') + 1));
}
Value dirname(Vm& vm, Args& a) { return path_like(vm, a[0], directory(path_of(vm, a[0]))); }
Value pair_like(Vm& vm, const Value& given, const std::string& first, const std::string& second) {
  return make_tuple(vm, std::vector<Value>{path_like(vm, given, first), path_like(vm, given, second)}).take();
}
Value split_path(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  return pair_like(vm, a[0], directory(p), p.substr(p.rfind('/') + 1));
}
Value splitext(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  size_t first = p.rfind('/') + 1, dot = p.rfind('.');
  while (first < p.size() && p[first] == '.') ++first;
  if (dot == std::string::npos || dot < first) dot = p.size();
  return pair_like(vm, a[0], p.substr(0, dot), p.substr(dot));
}
std::string normalized(const std::string& p) {
  if (p.empty()) return ".";
  size_t slashes = std::min(p.find_first_not_of('/'), p.size());
  std::string root = slashes == 2 ? "//" : slashes ? "/" : "";
  std::vector<std::string> parts;
  for (size_t at = 0; at < p.size();) {
    size_t end = std::min(p.find('/', at), p.size());
    std::string part = p.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != ".." || (root.empty() && parts.empty()) || (!parts.empty() && parts.back() == ".."))
      parts.push_back(part);
    else if (!parts.empty()) parts.pop_back();
  }
  std::string out = root;
  for (size_t i = 0; i < parts.size(); ++i) out += (i ? "/" : "") + parts[i];
  return out.empty() ? "." : out;
}
Value normpath(Vm& vm, Args& a) { return path_like(vm, a[0], normalized(path_of(vm, a[0]))); }
Value abspath(Vm& vm, Args& a) {
  std::string given = path_of(vm, a[0]);
  if (given.empty() || given[0] != '/') {
    std::string folder = fs::current_path().string();
    check_read(vm, folder);
    given = from_system(folder) + "/" + given;
  }
  return path_like(vm, a[0], normalized(given));
}
Value realpath_(Vm& vm, Args& a) {
  std::error_code error;
  const std::string given = to_system(vm, path_of(vm, a[0]));
  check_read(vm, given);
  fs::path resolved = fs::weakly_canonical(fs::absolute(given), error);
  if (error) return abspath(vm, a);
  return named_like(vm, a[0], normalized(resolved.string()));
}
template <bool (*test)(const fs::path&, std::error_code&), Links links>
Value path_test(Vm& vm, Args& a) {
  const std::string given = stat_path_of(vm, a[0], links);
  if (given.find('\0') != std::string::npos) return Value::boolean(false);
  std::string path;
  try {
    path = to_system(vm, given);
  } catch (const ScriptException&) {  // the system has no such name
    return Value::boolean(false);
  }
  std::error_code error;
  return Value::boolean(test(check_read(vm, path, links), error));
}
bool exists_path(const fs::path& p, std::error_code& e) { return fs::exists(p, e); }
bool is_file(const fs::path& p, std::error_code& e) { return fs::is_regular_file(p, e); }
bool is_dir(const fs::path& p, std::error_code& e) { return fs::is_directory(p, e); }
bool is_link(const fs::path& p, std::error_code& e) { return fs::is_symlink(p, e); }
bool link_exists(const fs::path& p, std::error_code& e) {
  return fs::symlink_status(p, e).type() != fs::file_type::not_found;
}
Value expanduser(Vm& vm, Args& a) {
  std::string p = path_of(vm, a[0]);
  const char* home = vm.config().grants.has(Grant::Environment) ? std::getenv("HOME") : nullptr;
  if (home && (p == "~" || p.substr(0, 2) == "~/")) {
    std::string folder = from_system(home);
    while (folder.ends_with('/')) folder.pop_back();
    p = folder + p.substr(1);
    if (p.empty()) p = "/";
  }
  return path_like(vm, a[0], p);
}

}  // namespace

Local<ModuleObject> make_os_path_module(Vm& vm) {
  ModuleBuilder m(vm, "_os_path");
  m.function("join", "a, *p", join_paths)
      .function("basename", "p", basename)
      .function("dirname", "p", dirname)
      .function("split", "p", split_path)
      .function("splitext", "p", splitext)
      .function("exists", "path", path_test<exists_path, Links::Follow>)
      .function("lexists", "path", path_test<link_exists, Links::Keep>)
      .function("isfile", "path", path_test<is_file, Links::Follow>)
      .function("isdir", "s", path_test<is_dir, Links::Follow>)
      .function("islink", "path", path_test<is_link, Links::Keep>)
      .function("abspath", "path", abspath)
      .function("realpath", "filename, *, strict=False", realpath_)
      .function("normpath", "path", normpath)
      .function("expanduser", "path", expanduser);
  return m.finish();
}

Local<ModuleObject> make_os_module(Vm& vm) {
  ModuleBuilder m(vm, "_os");
  m.function("getcwd", "", getcwd_)
      .function("chdir", "path", chdir_)
      .function("listdir", "path='.'", listdir)
      .function("scandir", "path='.'", scandir_)
      .function("mkdir", "path, mode=511", mkdir_)
      .function("rmdir", "path", rmdir_)
      .function("remove", "path", remove_)
      .function("unlink", "path", remove_)
      .function("rename", "src, dst", rename_)
      .function("replace", "src, dst", rename_)
      .function("symlink", "src, dst, target_is_directory=False", symlink_)
      .function("link", "src, dst", link_)
      .function("readlink", "path", readlink_)
      .function("chmod", "path, mode", chmod_)
      .function("access", "path, mode", access_)
      .function("utime_ns", "path, atime, mtime", utime_)
      .function("stat", "path, follow_symlinks=True", stat_)
      .function("environment", "", environment)
      .function("check_environment", "what", check_environment)
      .function("putenv", "name, value, /", putenv_)
      .function("unsetenv", "name, /", unsetenv_)
      .function("disk_space", "path", disk_space)
      .function("uname", "", uname_)
      .function("getpid", "", getpid_)
      .function("getppid", "", getppid_)
      .function("getuid", "", own_id<::getuid>)
      .function("geteuid", "", own_id<::geteuid>)
      .function("getgid", "", own_id<::getgid>)
      .function("getegid", "", own_id<::getegid>)
      .function("getgroups", "", getgroups_)
      .function("getloadavg", "", getloadavg_)
      .function("times", "", times_)
      .function("truncate", "path, length", truncate_)
      .function("chown", "path, uid, gid, follow_symlinks", chown_)
      .function("cpu_count", "", cpu_count)
      .function("strerror", "code, /", strerror_)
      .function("urandom", "size, /", urandom)
      .function("fspath", "path", fspath);
  return m.finish();
}

}  // namespace tsc::interp
