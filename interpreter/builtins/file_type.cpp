// open() and the methods of file objects.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/file_object.h"
#include "interpreter/builtins/patient_stream.h"
#include "interpreter/builtins/streams.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

const char kFileTypes = 0;

struct FileTypes {
  Type* reader = nullptr;  // of binary files: for reading
  Type* writer = nullptr;  // for writing
  Type* both = nullptr;
  Type* unsupported = nullptr;
};
FileTypes& file_types(Vm& vm) { return *std::static_pointer_cast<FileTypes>(vm.extension(&kFileTypes)); }

FileObject* file_of(const Value& v) { return cast<FileObject>(v); }

Value text_or_bytes(Vm& vm, FileObject* f, std::string data) {
  return f->binary ? make_bytes(vm, std::move(data)).take() : str_value(vm, data);
}

// ---- open ---------------------------------------------------------------------------------------

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

void check_mode(Vm& vm, const std::string& mode) {
  const auto repeated = [&](char c) { return std::count(mode.begin(), mode.end(), c) > 1; };
  if (mode.find_first_not_of("rwabt+x") != std::string::npos || std::any_of(mode.begin(), mode.end(), repeated))
    raise_value_error(vm, "invalid mode: '" + mode + "'");
  const auto has = [&](char c) { return mode.find(c) != std::string::npos; };
  if (has('b') && has('t')) raise_value_error(vm, "can't have text and binary mode at once");
  const auto is_access = [](char c) { return c == 'r' || c == 'w' || c == 'a' || c == 'x'; };
  const auto accesses = std::count_if(mode.begin(), mode.end(), is_access);
  if (accesses > 1) raise_value_error(vm, "must have exactly one of create/read/write/append mode");
  if (accesses == 0)
    raise_value_error(vm, "Must have exactly one of create/read/write/append mode and at most one plus");
}

// The arguments that only text files have; encodings are looked up now.
void set_text_options(Vm& vm, Args& a, FileObject* f) {
  constexpr const char* kNames[] = {"encoding", "errors", "newline"};
  for (uint32_t i = 0; f->binary && i < 3; ++i)
    if (!a[3 + i].is_none())
      raise_value_error(vm, std::string("binary mode doesn't take ") +
                                (i == 0   ? "an "
                                 : i == 1 ? "an "
                                          : "a ") +
                                kNames[i] + " argument");
  if (!a[3].is_none()) {
    f->text.encoding = text_of(vm, a[3], "open() argument 'encoding'");
    encode_text(vm, str_value(vm, ""), f->text.encoding, "strict");
  }
  if (!a[4].is_none()) f->text.errors = text_of(vm, a[4], "open() argument 'errors'");
  if (a[5].is_none()) return;
  f->text.newline = text_of(vm, a[5], "open() argument 'newline'");
  for (const char* known : {"", "\n", "\r", "\r\n"})
    if (*f->text.newline == known) return;
  raise_value_error(vm, "illegal newline value: " + *f->text.newline);
}

std::string path_of(Vm& vm, const Value& given) {
  Value path = given;
  if (!is_kind(path, Kind::Str) && !is_kind(path, Kind::Bytes)) {
    Value method = find_attribute(vm, path, intern(vm, "__fspath__").get());
    if (!method) raise_type_error(vm, "expected str, bytes or os.PathLike object, not " + type_name(vm, path));
    path = call(vm, method);
  }
  if (is_kind(path, Kind::Bytes)) return from_system(cast<BytesObject>(path)->data);
  return std::string(text_of(vm, path, "path"));
}

Type* type_for(Vm& vm, const FileObject* f) {
  if (!f->binary) return vm.types().file;
  const FileTypes& types = file_types(vm);
  return f->readable && f->writable ? types.both : f->readable ? types.reader : types.writer;
}

Value open(Vm& vm, Args& a) {
  if (a[0].is_int() || a[0].is_bool())
    raise(vm, unsupported_operation(vm), "open() of a file descriptor: files are opened by their path");
  const std::string path = path_of(vm, a[0]);
  if (!is_kind(a[1], Kind::Str)) raise_type_error(vm, "open() argument 'mode' must be str, not " + type_name(vm, a[1]));
  const std::string mode(cast<StrObject>(a[1])->view());
  check_mode(vm, mode);
  if (!truth(vm, a[6])) raise_value_error(vm, "Cannot use closefd=False with file name");
  if (!a[7].is_none())
    raise(vm, unsupported_operation(vm),
          "open() with an opener, which gives a file descriptor: files are opened by their path");
  const OpenMode how = open_mode(mode);
  const auto has = [&](char c) { return mode.find(c) != std::string::npos; };
  Local<FileObject> f = vm.heap().make<FileObject>(vm.types().file);
  f->binary = has('b');
  f->readable = has('r') || has('+');
  f->writable = !has('r') || has('+');
  f->type = type_for(vm, f);
  f->name = path;
  f->has_bytes_name = is_kind(a[0], Kind::Bytes);
  f->mode = f->binary && has('+') ? (has('r') || has('w') ? "rb+" : has('x') ? "xb+" : "ab+") : mode;
  set_text_options(vm, a, f);
  const int descriptor = open_patiently(vm, to_system(vm, path), how.flags);
  struct stat about{};
  const bool folder = descriptor >= 0 && ::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode);
  if (folder) {
    ::close(descriptor);
    errno = EISDIR;
  } else if (descriptor >= 0) {
    f->file = make_stream(vm, descriptor, how.stream.c_str(), f->turn);
  }
  if (const int number = errno; !f->file && f->has_bytes_name) {
    const Value args[] = {Value::integer(number), str_value(vm, std::strerror(number))};
    Local<ExceptionObject> e = make_exception(vm, os_error_type(vm, number), args);
    e->subject = a[0];
    throw ScriptException(std::move(e));
  }
  if (!f->file) raise_os_error(vm, errno, path);
  if (has('a')) std::fseek(f->file, 0, SEEK_END);
  f->wrote_last = !f->readable;
  return f.take();
}

// ---- methods ------------------------------------------------------------------------------------

int64_t limit_of(Vm& vm, const Value& v) {
  if (v.is_none()) return -1;
  if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index)
    raise_type_error(vm, "argument should be integer or None, not '" + type_name(vm, v) + "'");
  return to_index(vm, v);
}
Value read(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  return text_or_bytes(vm, f, read_from(vm, f, limit_of(vm, a[1])));
}
// The next bytes into a buffer; how many there were.
Value readinto(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  const Buffer buffer = writable_buffer(vm, a[1], "readinto() argument");
  const std::string data = read_from(vm, f, static_cast<int64_t>(buffer.bytes().size()));
  note_store(vm, a[1].object(), Value());
  if (!data.empty()) copy_bytes(buffer.data(), data.data(), data.size());
  return Value::integer(static_cast<int64_t>(data.size()));
}
Value readline(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  return text_or_bytes(vm, f, read_line_from(vm, f, limit_of(vm, a[1])));
}
Value readlines(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  int64_t hint = limit_of(vm, a[1]);
  Local<ListObject> list = make_list(vm);
  for (std::string line; !(line = read_line_from(vm, f, -1)).empty();) {
    list->items.push_back(text_or_bytes(vm, f, line));
    if (hint > 0 && (hint -= static_cast<int64_t>(line.size())) <= 0) break;
  }
  return list.take();
}
Value write(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], true);
  if (f->binary) {
    const Buffer data(vm, a[1]);
    write_to_file(vm, f, data);
    return Value::integer(static_cast<int64_t>(data.bytes().size()));
  }
  if (!is_kind(a[1], Kind::Str)) raise_type_error(vm, "write() argument must be str, not " + type_name(vm, a[1]));
  const std::string_view text = cast<StrObject>(a[1])->view();
  write_to_file(vm, f, text);
  bool ascii;
  return Value::integer(count_code_points(text, ascii));
}
// What comes next, without moving: one byte.
Value peek(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], false);
  if (!f->file) raise(vm, unsupported_operation(vm), "peek");
  const int c = std::getc(f->file);
  check_stream(vm, f);
  if (c != EOF) std::ungetc(c, f->file);
  return make_bytes(vm, c == EOF ? std::string() : std::string(1, static_cast<char>(c))).take();
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
  wait_for_stream(vm, f);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  if (f->file && f->writable && std::fflush(f->file) != 0) check_stream(vm, f);
  if (f->standard != StandardStream::None) std::fflush(f->standard == StandardStream::Error ? stderr : stdout);
  return Value::none();
}
void close_file(Vm& vm, FileObject* f) {
  wait_for_stream(vm, f);
  if (f->standard != StandardStream::None || f->closed) return;
  f->closed = true;
  std::FILE* file = std::exchange(f->file, nullptr);
  if (file && std::fclose(file) != 0) raise_os_error(vm, errno, f->name);
}
Value close(Vm& vm, Args& a) {
  close_file(vm, file_of(a[0]));
  return Value::none();
}
Value seek(Vm& vm, Args& a) {
  return Value::integer(move_to(vm, file_of(a[0]), to_index(vm, a[1]), to_index(vm, a[2])));
}
Value tell(Vm& vm, Args& a) { return Value::integer(position_of(vm, file_of(a[0]))); }
Value truncate(Vm& vm, Args& a) {
  FileObject* f = usable(vm, a[0], true);
  if (!f->file) raise(vm, unsupported_operation(vm), "truncate");
  const int64_t size = a[1].is_none() ? position_of(vm, f) : to_index(vm, a[1]);
  if (std::fflush(f->file) != 0 || ::ftruncate(::fileno(f->file), size) != 0) raise_os_error(vm, errno, f->name);
  return Value::integer(size);
}
Value enter(Vm& vm, Args& a) {
  if (file_of(a[0])->closed) raise_value_error(vm, "I/O operation on closed file.");
  return a[0];
}
Value exit(Vm& vm, Args& a) {
  close_file(vm, file_of(a[0]));
  return Value::none();
}
Value isatty(Vm& vm, Args& a) {
  // Files of the disk are no terminals; the standard streams are what the host says.
  const FileObject* f = file_of(a[0]);
  if (f->standard == StandardStream::In) return Value::boolean(vm.config().terminal && ::isatty(STDIN_FILENO));
  return Value::boolean(f->standard != StandardStream::None && vm.config().terminal);
}
Value fileno(Vm& vm, Args& a) {
  const FileObject* f = file_of(a[0]);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  if (f->standard != StandardStream::None) return Value::integer(static_cast<int>(f->standard) - 1);
  const int descriptor = ::fileno(f->file);
  if (descriptor < 0) raise(vm, unsupported_operation(vm), "fileno");
  return Value::integer(descriptor);
}
template <bool FileObject::* flag>
Value flag_of(Vm& vm, Args& a) {
  if (file_of(a[0])->closed) raise_value_error(vm, "I/O operation on closed file.");
  return Value::boolean(file_of(a[0])->*flag);
}
Value seekable(Vm& vm, Args& a) {
  FileObject* f = file_of(a[0]);
  wait_for_stream(vm, f);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  return Value::boolean(f->file && std::ftell(f->file) >= 0);
}
bool file_next(Vm& vm, const Value& self, Value& out) {
  FileObject* f = usable(vm, self, false);
  std::string line = read_line_from(vm, f, -1);
  if (line.empty()) return false;
  out = text_or_bytes(vm, f, std::move(line));
  return true;
}
Value get_name(Vm& vm, const Value& v) {
  const FileObject* f = file_of(v);
  return f->has_bytes_name ? make_bytes(vm, to_system(vm, f->name)).take() : str_value(vm, f->name);
}
Value file_repr(Vm& vm, const Value& v) {
  FileObject* f = file_of(v);
  std::string text = "<_io." + own_name(f->type) + " name=" + repr(vm, get_name(vm, v));
  if (!f->binary) text += " mode='" + f->mode + "' encoding='" + f->text.encoding + "'";
  return str_value(vm, text + ">");
}
Value get_mode(Vm& vm, const Value& v) { return str_value(vm, file_of(v)->mode); }
Value get_closed(Vm&, const Value& v) { return Value::boolean(file_of(v)->closed); }
Value get_encoding(Vm& vm, const Value& v) { return str_value(vm, file_of(v)->text.encoding); }
Value get_errors(Vm& vm, const Value& v) { return str_value(vm, file_of(v)->text.errors); }
Value none(Vm&, const Value&) { return Value::none(); }
Value is_line_buffered(Vm&, const Value&) { return Value::boolean(false); }

Local<FileObject> make_standard(Vm& vm, StandardStream stream, bool binary) {
  constexpr const char* kNames[] = {"", "<stdin>", "<stdout>", "<stderr>"};
  Local<FileObject> f = vm.heap().make<FileObject>(vm.types().file);
  f->standard = stream;
  f->binary = binary;
  f->readable = stream == StandardStream::In;
  f->writable = !f->readable;
  f->wrote_last = f->writable;
  f->type = type_for(vm, f);
  f->name = kNames[static_cast<int>(stream)];
  f->mode = f->readable ? (binary ? "rb" : "r") : (binary ? "wb" : "w");
  f->text.encoding = "utf-8";
  return f;
}
// The bytes of a standard stream.
Value get_buffer(Vm& vm, const Value& v) {
  FileObject* f = file_of(v);
  if (f->standard == StandardStream::None) raise_attribute_error(vm, v, intern(vm, "buffer").get());
  return make_standard(vm, f->standard, true).take();
}

Type* make_file_type(Vm& vm, const char* name, bool text) {
  TypeBuilder b(vm, name, Kind::File);
  b.module("_io");
  b.slots().destroy = destroy_as<FileObject>;
  b.slots().iterate = [](Vm& v, const Value& self) { return usable(v, self, false), self; };
  b.slots().next = file_next;
  b.slots().repr = file_repr;
  b.method("read", "self, size=-1, /", read)
      .method("readline", "self, size=-1, /", readline)
      .method("readlines", "self, hint=-1, /", readlines)
      .method("write", "self, text, /", write)
      .method("writelines", "self, lines, /", writelines)
      .method("flush", "self", flush)
      .method("close", "self", close)
      .method("seek", "self, offset, whence=0, /", seek)
      .method("tell", "self", tell)
      .method("truncate", "self, size=None, /", truncate)
      .method("isatty", "self", isatty)
      .method("fileno", "self", fileno)
      .method("readable", "self", flag_of<&FileObject::readable>)
      .method("writable", "self", flag_of<&FileObject::writable>)
      .method("seekable", "self", seekable)
      .method("__enter__", "self", enter)
      .method("__exit__", "self, *args", exit)
      .getter("name", get_name)
      .getter("mode", get_mode)
      .getter("closed", get_closed);
  if (text)
    b.getter("encoding", get_encoding)
        .getter("errors", get_errors)
        .getter("newlines", none)
        .getter("line_buffering", is_line_buffered)
        .getter("buffer", get_buffer);
  else
    b.method("read1", "self, size=-1, /", read)
        .method("readinto", "self, buffer, /", readinto)
        .method("readinto1", "self, buffer, /", readinto)
        .method("peek", "self, size=0, /", peek);
  return b.finish();
}

// An OSError and a ValueError, as in Python.
Type* make_unsupported_operation(Vm& vm) {
  TypeBuilder b(vm, "UnsupportedOperation", Kind::Exception, vm.exceptions().OSError);
  b.module("io").allow_subclasses(offset_of(&ExceptionObject::state));
  b.type()->type_flags |= kExceptionType;
  b.also_base(vm.exceptions().ValueError);
  return b.finish();
}

}  // namespace

Value make_standard_stream(Vm& vm, Stream stream) {
  return make_standard(vm, stream == Stream::Out ? StandardStream::Out : StandardStream::Error, false).take();
}
Value make_standard_input(Vm& vm) { return make_standard(vm, StandardStream::In, false).take(); }

bool is_standard_stream(const Value& v, Stream stream) {
  if (!is_kind(v, Kind::File) || file_of(v)->binary) return false;
  return file_of(v)->standard == (stream == Stream::Out ? StandardStream::Out : StandardStream::Error);
}

Type* unsupported_operation(Vm& vm) { return file_types(vm).unsupported; }

void init_file_type(Vm& vm) {
  vm.extension(&kFileTypes) = std::make_shared<FileTypes>();
  FileTypes& types = file_types(vm);
  types.unsupported = make_unsupported_operation(vm);
  types.reader = make_file_type(vm, "BufferedReader", false);
  types.writer = make_file_type(vm, "BufferedWriter", false);
  types.both = make_file_type(vm, "BufferedRandom", false);
  VmAccess::types(vm).file = make_file_type(vm, "TextIOWrapper", true);
  add_builtin(
      vm, "open",
      make_native(vm, "open",
                  "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None",
                  open)
          .take());
}

}  // namespace tsc::interp
