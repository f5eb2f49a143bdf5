// open() and file objects; sys.stdout and sys.stderr are file objects over the Vm's output.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/patient_stream.h"
#include "interpreter/builtins/streams.h"

namespace tsc::interp {
namespace {

struct FileObject : Object {
  static constexpr Kind kKind = Kind::File;
  std::FILE* file = nullptr;  // null: closed, or a stream of the Vm
  bool standard = false, closed = false, binary = false, readable = false, writable = false;
  Stream stream = Stream::Out;
  std::string name, mode;
  FileObject() : Object(Kind::File) {}
  ~FileObject() {
    if (file) std::fclose(file);
  }
};

FileObject* file_of(const Value& v) { return cast<FileObject>(v); }

FileObject* usable(Vm& vm, const Value& v, bool write) {
  FileObject* f = file_of(v);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  if (write ? !f->writable : !f->readable)
    raise(vm, vm.exceptions().OSError, write ? "not writable" : "not readable");
  return f;
}

Value text_or_bytes(Vm& vm, FileObject* f, std::string data) {
  return f->binary ? make_bytes(vm, std::move(data)).take() : str_value(vm, data);
}

// A mode that open() takes, as the flags of open(2) and the mode of fdopen(3).
struct OpenMode {
  int flags = 0;
  std::string stream;
};
OpenMode open_mode(const std::string& mode) {
  auto has = [&](char c) { return mode.find(c) != std::string::npos; };
  OpenMode out;
  out.flags = has('+') ? O_RDWR : has('r') ? O_RDONLY : O_WRONLY;
  if (!has('r')) out.flags |= O_CREAT;
  if (has('w')) out.flags |= O_TRUNC;
  if (has('x')) out.flags |= O_EXCL;
  if (has('a')) out.flags |= O_APPEND;
  out.stream = has('r') ? "r" : has('a') ? "a" : "w";
  if (has('+')) out.stream += '+';
  return out;
}

Value open(Vm& vm, Args& a) {
  Value path_value = a[0];
  if (!is_kind(path_value, Kind::Str))
    if (Value method = find_attribute(vm, path_value, intern(vm, "__fspath__").get()))
      path_value = call(vm, method);
  std::string path(text_of(vm, path_value, "path"));
  std::string mode(text_of(vm, a[1], "open() argument 'mode'"));
  if (mode.find_first_not_of("rwabt+x") != std::string::npos)
    raise_value_error(vm, "invalid mode: '" + mode + "'");
  const auto is_access = [](char c) { return c == 'r' || c == 'w' || c == 'a' || c == 'x'; };
  if (std::count_if(mode.begin(), mode.end(), is_access) != 1)
    raise_value_error(vm, "must have exactly one of create/read/write/append mode");
  const OpenMode how = open_mode(mode);
  Local<FileObject> f = vm.heap().make<FileObject>(vm.types().file);
  const int descriptor = open_patiently(vm, path, how.flags);
  struct stat about {};
  const bool folder = descriptor >= 0 && ::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode);
  if (folder) {
    ::close(descriptor);
    errno = EISDIR;
  } else if (descriptor >= 0) {
    f->file = make_stream(vm, descriptor, how.stream.c_str());
  }
  if (!f->file) raise_os_error(vm, errno, path);
  f->name = path;
  f->mode = mode;
  f->binary = mode.find('b') != std::string::npos;
  bool plus = mode.find('+') != std::string::npos;
  f->readable = mode.find('r') != std::string::npos || plus;
  f->writable = mode.find('r') == std::string::npos || plus;
  return f.take();
}

// After an operation that may have waited: a stop is raised, any other failure is an OSError.
void check_stream(Vm& vm, FileObject* f) {
  if (!std::ferror(f->file)) return;
  const int error = errno;
  std::clearerr(f->file);
  vm.poll();
  raise_os_error(vm, error, f->name);
}
std::string read_some(Vm& vm, FileObject* f, int64_t limit) {
  std::string data;
  char buffer[65536];
  while (limit != 0) {
    size_t want = limit < 0 ? sizeof buffer : std::min<size_t>(sizeof buffer, static_cast<size_t>(limit));
    vm.poll();
    check_text_room(data.size() + want);
    size_t n = std::fread(buffer, 1, want, f->file);
    if (!n) break;
    data.append(buffer, n);
    if (limit > 0) limit -= static_cast<int64_t>(n);
  }
  check_stream(vm, f);
  return data;
}
Value read(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  return text_or_bytes(vm, f, read_some(vm, f, a[1].is_none() ? -1 : to_index(vm, a[1])));
}
bool read_line(Vm& vm, FileObject* f, std::string& line) {
  line.clear();
  int c;
  while ((c = std::getc(f->file)) != EOF) {
    line += static_cast<char>(c);
    if (c == '\n') break;
    if (line.size() % 65536 == 0) {
      vm.poll();
      check_text_room(line.size());
    }
  }
  check_stream(vm, f);
  return !line.empty();
}
Value readline(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  std::string line;
  read_line(vm, f, line);
  return text_or_bytes(vm, f, line);
}
Value readlines(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  Local<ListObject> list = make_list(vm);
  for (std::string line; read_line(vm, f, line);) list->items.push_back(text_or_bytes(vm, f, line));
  return list.take();
}
Value write(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], true);
  std::string_view data;
  if (f->binary) {
    if (!is_kind(a[1], Kind::Bytes))
      raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, a[1]) + "'");
    data = cast<BytesObject>(a[1])->data;
  } else {
    data = text_of(vm, a[1], "write() argument");
  }
  if (f->standard) vm.write(f->stream, data);
  else if (std::fwrite(data.data(), 1, data.size(), f->file) != data.size())
    check_stream(vm, f);
  bool ascii;
  return Value::integer(f->binary ? static_cast<int64_t>(data.size()) : count_code_points(data, ascii));
}
Value writelines(Vm& vm, Args& a) {
  Value self = a[0];
  for_each(vm, a[1], [&](const Value& line) {
    Value args[] = {self, line};
    Args inner;
    inner.positional = args;
    inner.count = 2;
    write(vm, inner);
    return true;
  });
  return Value::none();
}
Value flush(Vm& vm, Args& a) {
  FileObject* f = file_of(a[0]);
  if (f->file && std::fflush(f->file) != 0) check_stream(vm, f);
  if (f->standard && !vm.config().write) std::fflush(f->stream == Stream::Out ? stdout : stderr);
  return Value::none();
}
void close_file(Vm& vm, FileObject* f) {
  if (f->standard || f->closed) return;
  f->closed = true;
  std::FILE* file = std::exchange(f->file, nullptr);
  if (file && std::fclose(file) != 0) raise_os_error(vm, errno, f->name);
}
Value close(Vm& vm, Args& a) {
  close_file(vm, file_of(a[0]));
  return Value::none();
}
Value seek(Vm& vm, Args& a) {
  FileObject* f = file_of(a[0]);
  if (!f->file) raise_value_error(vm, "I/O operation on closed file.");
  int64_t whence = to_index(vm, a[2]);
  if (std::fseek(f->file, to_index(vm, a[1]), whence == 1 ? SEEK_CUR : whence == 2 ? SEEK_END : SEEK_SET) != 0)
    raise_os_error(vm, errno, f->name);
  return Value::integer(std::ftell(f->file));
}
Value tell(Vm& vm, Args& a) {
  FileObject* f = file_of(a[0]);
  if (!f->file) raise_value_error(vm, "I/O operation on closed file.");
  return Value::integer(std::ftell(f->file));
}
Value enter(Vm&, Args& a) { return a[0]; }
Value exit(Vm& vm, Args& a) {
  close_file(vm, file_of(a[0]));
  return Value::none();
}
Value isatty(Vm& vm, Args& a) {
  // Files of the disk are no terminals; the standard streams are what the host says.
  return Value::boolean(file_of(a[0])->standard && vm.config().terminal);
}
bool file_next(Vm& vm, const Value& self, Value& out) {
  FileObject* f = usable(vm, self, false);
  std::string line;
  if (!read_line(vm, f, line)) return false;
  out = text_or_bytes(vm, f, line);
  return true;
}
Value file_repr(Vm& vm, const Value& v) {
  FileObject* f = file_of(v);
  return str_value(vm, "<file '" + f->name + "' mode='" + f->mode + "'>");
}
Value get_name(Vm& vm, const Value& v) { return str_value(vm, file_of(v)->name); }
Value get_mode(Vm& vm, const Value& v) { return str_value(vm, file_of(v)->mode); }
Value get_closed(Vm&, const Value& v) { return Value::boolean(file_of(v)->closed); }

}  // namespace

Value make_standard_stream(Vm& vm, Stream stream) {
  Local<FileObject> f = vm.heap().make<FileObject>(vm.types().file);
  f->standard = f->writable = true;
  f->stream = stream;
  f->name = stream == Stream::Out ? "<stdout>" : "<stderr>";
  f->mode = "w";
  return f.take();
}

bool is_standard_stream(const Value& v, Stream stream) {
  return is_kind(v, Kind::File) && file_of(v)->standard && file_of(v)->stream == stream;
}

void init_file_type(Vm& vm) {
  TypeBuilder b(vm, "file", Kind::File);
  b.slots().destroy = destroy_as<FileObject>;
  b.slots().iterate = [](Vm&, const Value& self) { return self; };
  b.slots().next = file_next;
  b.slots().repr = file_repr;
  b.method("read", "self, size=-1, /", read)
      .method("readline", "self", readline)
      .method("readlines", "self", readlines)
      .method("write", "self, text, /", write)
      .method("writelines", "self, lines, /", writelines)
      .method("flush", "self", flush)
      .method("close", "self", close)
      .method("seek", "self, offset, whence=0, /", seek)
      .method("tell", "self", tell)
      .method("isatty", "self", isatty)
      .method("__enter__", "self", enter)
      .method("__exit__", "self, *args", exit)
      .getter("name", get_name)
      .getter("mode", get_mode)
      .getter("closed", get_closed);
  VmAccess::types(vm).file = b.finish();
  add_builtin(vm, "open",
              make_native(vm, "open",
                          "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None",
                          open)
                  .take());
}

}  // namespace tsc::interp
