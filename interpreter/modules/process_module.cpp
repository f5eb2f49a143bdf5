// _process: starting programs and talking to them, for `subprocess`. Every function needs the grant for processes, as
// they take descriptors. Waits let other threads of the script have their turns, and hear a stop.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/file_object.h"
#include "interpreter/modules/errno_error.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/threads.h"

namespace tsc::interp {
namespace {

constexpr size_t kPiece = 64 << 10;

void need_process(Vm& vm) { check_grant(vm, Grant::Process, "subprocess"); }

// A descriptor that is closed with its last reference.
struct Descriptor : Instance {
  int number = -1;
  Descriptor() : Instance(Kind::Native) {}
  ~Descriptor() { close(); }
  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};
const char kDescriptorType = 0;

Type* descriptor_type(Vm& vm) {
  std::shared_ptr<void>& kept = vm.extension(&kDescriptorType);
  if (!kept) {
    TypeBuilder type(vm, "descriptor", Kind::Native);
    type.slots().destroy = destroy_as<Descriptor>;
    type.attribute("__module__", str_value(vm, "_process"));
    kept = std::make_shared<Type*>(type.finish());
  }
  return *static_cast<Type**>(kept.get());
}

// The object is made before there is something to close.
Local<Descriptor> make_descriptor(Vm& vm) { return vm.heap().make<Descriptor>(descriptor_type(vm)); }
Descriptor* as_descriptor(Vm& vm, const Value& v) {
  return v.is_object() && v.object()->type == descriptor_type(vm) ? static_cast<Descriptor*>(v.object()) : nullptr;
}
// Of one of these objects, or a number that the program has.
int descriptor(Vm& vm, const Value& v) {
  if (const Descriptor* made = as_descriptor(vm, v)) return made->number;
  return static_cast<int>(to_index(vm, v));
}

// In seconds from now; None: for ever.
int64_t moment_of(Vm& vm, const Value& timeout) {
  if (timeout.is_none()) return INT64_MAX;
  return moment_after(to_double(vm, timeout));
}

int milliseconds(int64_t nanoseconds) { return static_cast<int>((nanoseconds + 999'999) / 1'000'000); }

Value pipe_(Vm& vm, Args&) {
  need_process(vm);
  const Local<Descriptor> reads = make_descriptor(vm), writes = make_descriptor(vm);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) raise_errno(vm);
  reads->number = ends[0];
  writes->number = ends[1];
  return make_tuple(vm, std::vector<Value>{reads.value(), writes.value()}).take();
}
Value open_null(Vm& vm, Args&) {
  need_process(vm);
  Local<Descriptor> made = make_descriptor(vm);
  made->number = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (made->number < 0) raise_os_error(vm, errno, "/dev/null");
  return made.take();
}
Value close_(Vm& vm, Args& a) {
  need_process(vm);
  if (Descriptor* made = as_descriptor(vm, a[0])) made->close();
  return Value::none();
}
Value number(Vm& vm, Args& a) {
  need_process(vm);
  return Value::integer(descriptor(vm, a[0]));
}

// descriptor_of(file): of a file object that the system knows, whose text is written out first.
Value descriptor_of(Vm& vm, Args& a) {
  need_process(vm);
  auto* file = try_cast<FileObject>(a[0]);
  if (!file) raise_type_error(vm, "a file, PIPE, DEVNULL or STDOUT is needed, not " + type_name(vm, a[0]));
  if (file->closed) raise_value_error(vm, "I/O operation on closed file");
  call_method(vm, a[0], "flush");
  switch (file->standard) {
    case StandardStream::In: return Value::integer(STDIN_FILENO);
    case StandardStream::Out: return Value::integer(STDOUT_FILENO);
    case StandardStream::Error: return Value::integer(STDERR_FILENO);
    case StandardStream::None: break;
  }
  const int of = ::fileno(file->file);
  if (of < 0) raise_value_error(vm, "the file has no descriptor that another program could use");
  return Value::integer(of);
}

std::vector<std::string> texts(Vm& vm, const Value& list) {
  std::vector<std::string> out;
  const Local<ListObject> items = to_list(vm, list);
  for (const Value& item : items->items) {
    const std::string_view text = text_of(vm, item);
    if (text.find('\0') != std::string_view::npos) raise_value_error(vm, "embedded null byte");
    out.push_back(to_system(vm, text));
  }
  return out;
}
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// What the child is given: its three streams, its folder, and signals as a program expects them.
class Preparation {
 public:
  Preparation() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Preparation() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
    for (int copy : copies_) ::close(copy);
  }
  Preparation(const Preparation&) = delete;

  // Through copies above the three, so that none is overwritten before it is used.
  void streams(Vm& vm, const int (&given)[3]) {
    for (int to = 0; to < 3; ++to) {
      if (given[to] < 0) continue;
      const int copy = ::fcntl(given[to], F_DUPFD_CLOEXEC, 3);
      if (copy < 0) raise_errno(vm);
      copies_.push_back(copy);
      posix_spawn_file_actions_adddup2(&actions_, copy, to);
    }
  }
  void folder(const std::string& path) { posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()); }
  void attributes(bool new_session) {
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (int number : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    const int session = new_session ? POSIX_SPAWN_SETSID : 0;
    posix_spawnattr_setflags(&attributes_,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session));
  }
  int spawn(pid_t* pid, const std::string& path, char* const* arguments, char* const* environment) {
    return ::posix_spawn(pid, path.c_str(), &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<int> copies_;
};

// spawn(paths, arguments, environment, folder, streams, new_session): the process's number. The first of the paths that
// there is runs.
Value spawn(Vm& vm, Args& a) {
  need_process(vm);
  std::vector<std::string> paths = texts(vm, a[0]), arguments = texts(vm, a[1]), environment = texts(vm, a[2]);
  const Local<TupleObject> streams = to_tuple(vm, a[4]);
  if (streams->size != 3) raise_value_error(vm, "spawn() needs three streams");
  int given[3];
  for (uint32_t i = 0; i < 3; ++i) given[i] = descriptor(vm, streams->items[i]);
  Preparation preparation;
  preparation.streams(vm, given);
  if (!a[3].is_none()) {
    const std::string folder = to_system(vm, text_of(vm, a[3]));
    struct stat about{};
    if (::stat(folder.c_str(), &about) != 0) raise_os_error(vm, errno, folder);
    if (!S_ISDIR(about.st_mode)) raise_os_error(vm, ENOTDIR, folder);
    preparation.folder(folder);
  }
  preparation.attributes(truth(vm, a[5]));
  const std::vector<char*> words = pointers(arguments), names = pointers(environment);
  int error = ENOENT;
  for (const std::string& path : paths) {
    pid_t pid = 0;
    const int now = preparation.spawn(&pid, path, words.data(), names.data());
    if (now == 0) return Value::integer(pid);
    if (now != ENOENT && now != ENOTDIR) error = now;  // a place of PATH without it says nothing
  }
  raise_os_error(vm, error, arguments.empty() ? "" : arguments[0]);
}

// wait(pid, timeout): how it ended, minus the number of the signal that did; None when the time is over first.
Value wait_(Vm& vm, Args& a) {
  need_process(vm);
  const pid_t pid = static_cast<pid_t>(to_index(vm, a[0]));
  const int64_t until = moment_of(vm, a[1]);
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  struct Close {
    int descriptor;
    ~Close() {
      if (descriptor >= 0) ::close(descriptor);
    }
  } closes{handle};
  const bool ended = wait_in_slices(vm, until, [&](int64_t nanoseconds) {
    // It stays to be asked once the turn is back: of two threads that wait, both see its end.
    const auto is_over = [&] {
      siginfo_t about{};
      const int failed = ::waitid(P_PID, static_cast<id_t>(pid), &about, WEXITED | WNOHANG | WNOWAIT);
      return failed != 0 ? errno != EINTR : about.si_pid != 0;
    };
    if (is_over()) return true;
    pollfd waited{handle, POLLIN, 0};
    // A kernel without such handles is asked every millisecond.
    ::poll(&waited, handle >= 0 ? 1 : 0,
           handle >= 0 ? milliseconds(nanoseconds) : std::min(milliseconds(nanoseconds), 1));
    return is_over();
  });
  if (!ended) return Value::none();
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid)
    return Value::integer(0);  // somebody else has waited for it: nobody knows
  return Value::integer(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

Value kill_(Vm& vm, Args& a) {
  need_process(vm);
  if (::kill(static_cast<pid_t>(to_index(vm, a[0])), static_cast<int>(to_index(vm, a[1]))) != 0 && errno != ESRCH)
    raise_errno(vm);
  return Value::none();
}

// Writing to a pipe that nobody reads ends a process, unless it looks at the error.
ssize_t write_without_signal(int to, const char* data, size_t size) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t written = ::write(to, data, size);
  const int error = errno;
  if (written < 0 && error == EPIPE) {
    const timespec now{0, 0};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

// exchange(to, data, begin, sources, timeout): waits until one of the pipes can go on, and moves what is there:
// (bytes written, None when nobody reads any more; a list with bytes of each source, b"" at its end, None where nothing
// came). None when the time is over. `to` is -1 where there is nothing to write.
Value exchange(Vm& vm, Args& a) {
  need_process(vm);
  const int to = descriptor(vm, a[0]);
  const Value given = as_bytes(vm, a[1]);
  const std::string& data = cast<BytesObject>(given)->data;
  const size_t begin = std::min(static_cast<size_t>(to_index(vm, a[2])), data.size());
  std::vector<pollfd> waited;
  const Local<ListObject> sources = to_list(vm, a[3]);
  for (const Value& source : sources->items) waited.push_back({descriptor(vm, source), POLLIN, 0});
  if (to >= 0) waited.push_back({to, POLLOUT, 0});
  const bool ready = wait_in_slices(vm, moment_of(vm, a[4]), [&](int64_t nanoseconds) {
    return ::poll(waited.data(), waited.size(), milliseconds(nanoseconds)) > 0;
  });
  if (!ready) return Value::none();
  Value written = Value::integer(0);
  if (to >= 0) {
    // No more than a pipe that is ready takes at once: it must not block.
    if (waited.back().revents != 0) {
      const ssize_t moved =
          write_without_signal(to, data.data() + begin, std::min<size_t>(data.size() - begin, PIPE_BUF));
      if (moved < 0 && errno != EPIPE) raise_errno(vm);
      written = moved < 0 ? Value::none() : Value::integer(moved);
    }
    waited.pop_back();
  }
  Local<ListObject> came = make_list(vm);
  std::string piece(kPiece, '\0');
  for (const pollfd& source : waited) {
    Value bytes = Value::none();
    if (source.revents != 0) {
      const ssize_t size = ::read(source.fd, piece.data(), piece.size());
      if (size < 0) raise_errno(vm);
      bytes = make_bytes(vm, piece.substr(0, static_cast<size_t>(size))).take();
    }
    came->items.push_back(bytes);
  }
  return make_tuple(vm, std::vector<Value>{written, came.take()}).take();
}

}  // namespace

Local<ModuleObject> make_process_module(Vm& vm) {
  ModuleBuilder m(vm, "_process");
  m.function("pipe", "", pipe_)
      .function("open_null", "", open_null)
      .function("close", "descriptor", close_)
      .function("number", "descriptor", number)
      .function("descriptor_of", "file", descriptor_of)
      .function("spawn", "paths, arguments, environment, folder, streams, new_session", spawn)
      .function("wait", "pid, timeout", wait_)
      .function("kill", "pid, signal", kill_)
      .function("exchange", "to, data, begin, sources, timeout", exchange);
  return m.finish();
}

}  // namespace tsc::interp
