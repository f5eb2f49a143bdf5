#include "interpreter/builtins/file_object.h"

#include <algorithm>
#include <cerrno>

#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/streams.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {
namespace {

void raise_unsupported(Vm& vm, std::string_view what) { raise(vm, unsupported_operation(vm), what); }

// Between writing and reading the stream has to be told where it is.
void turn_to(Vm& vm, FileObject* f, bool write) {
  if (!f->file || f->wrote_last == write) return;
  if (write) {
    const auto ahead = static_cast<long>(f->text.bytes_left(vm));
    f->text.drop();
    if (f->readable && std::fseek(f->file, -ahead, SEEK_CUR) != 0) std::clearerr(f->file);
  } else if (std::fseek(f->file, 0, SEEK_CUR) != 0) {
    std::clearerr(f->file);
  }
  f->wrote_last = write;
}

// The next line of standard input, or what is left of it.
bool hold_line(Vm& vm, FileObject* f) {
  if (f->held.empty()) f->held = vm.read_line().value_or("");
  return !f->held.empty();
}
std::string take_held(FileObject* f, int64_t limit) {
  const size_t size = limit < 0 ? f->held.size() : std::min(f->held.size(), static_cast<size_t>(limit));
  std::string data = f->held.substr(0, size);
  f->held.erase(0, size);
  return data;
}

// Bytes of the stream: at most `limit`, all when it is negative.
std::string read_bytes(Vm& vm, FileObject* f, int64_t limit) {
  TextBuilder data(vm);
  if (f->standard == StandardStream::In) {
    while (limit != 0 && hold_line(vm, f)) {
      vm.poll();
      const std::string part = take_held(f, limit);
      data += part;
      if (limit > 0) limit -= static_cast<int64_t>(part.size());
    }
    return data.text();
  }
  char buffer[65536];
  while (limit != 0) {
    size_t want = limit < 0 ? sizeof buffer : std::min<size_t>(sizeof buffer, static_cast<size_t>(limit));
    vm.poll();
    size_t n = std::fread(buffer, 1, want, f->file);
    if (!n) break;
    data += std::string_view(buffer, n);
    if (limit > 0) limit -= static_cast<int64_t>(n);
  }
  check_stream(vm, f);
  return data.text();
}

// Bytes up to and with the next \n.
std::string read_raw_line(Vm& vm, FileObject* f, int64_t limit = -1) {
  if (f->standard == StandardStream::In) return hold_line(vm, f) ? take_held(f, limit) : "";
  vm.poll();
  std::string line;
  int c;
  while (static_cast<int64_t>(line.size()) != limit && (c = std::getc(f->file)) != EOF) {
    line += static_cast<char>(c);
    if (c == '\n') break;
    if (line.size() % 65536 == 0) {
      vm.poll();
      check_text_room(line.size());
    }
  }
  check_stream(vm, f);
  return line;
}

// More text; false at the end of the file.
bool feed(Vm& vm, FileObject* f, bool whole) {
  std::string bytes = whole || f->text.needs_whole_file() ? read_bytes(vm, f, -1) : read_raw_line(vm, f);
  if (bytes.empty()) return false;
  f->text.feed(vm, std::move(bytes));
  return true;
}

}  // namespace

void wait_for_stream(Vm& vm, FileObject* f) {
  while (f->turn && f->turn->is_taken) f->turn->others.wait(vm, INT64_MAX);
}

FileObject* usable(Vm& vm, const Value& v, bool write) {
  FileObject* f = cast<FileObject>(v);
  wait_for_stream(vm, f);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  if (write ? !f->writable : !f->readable)
    raise_unsupported(vm, f->binary ? (write ? "write" : "read") : (write ? "not writable" : "not readable"));
  turn_to(vm, f, write);
  return f;
}

void check_stream(Vm& vm, FileObject* f) {
  if (!f->file || !std::ferror(f->file)) return;
  const int error = errno;
  std::clearerr(f->file);
  vm.poll();
  raise_os_error(vm, error, f->name);
}

std::string read_from(Vm& vm, FileObject* f, int64_t limit) {
  if (f->binary) return read_bytes(vm, f, limit);
  if (limit < 0) feed(vm, f, true);
  while (limit > f->text.characters_left() && feed(vm, f, false)) {
  }
  return f->text.take(limit);
}

std::string read_line_from(Vm& vm, FileObject* f, int64_t limit) {
  if (f->binary) return read_raw_line(vm, f, limit);
  std::string line;
  bool at_end = false;
  while (!f->text.take_line(limit, at_end, line)) at_end = !feed(vm, f, false);
  return line;
}

void write_to_file(Vm& vm, FileObject* f, std::string_view data) {
  std::string encoded;
  if (!f->binary && f->standard == StandardStream::None) {
    encoded = f->text.encode(vm, data, std::ftell(f->file) <= 0);
    data = encoded;
  }
  if (f->standard == StandardStream::Out) check_whole(vm, data);
  if (f->standard != StandardStream::None)
    vm.write(f->standard == StandardStream::Out ? Stream::Out : Stream::Error, data);
  else
    in_pieces(data.size(), [&](size_t begin, size_t end) {
      if (std::fwrite(data.data() + begin, 1, end - begin, f->file) != end - begin) check_stream(vm, f);
    });
}

int64_t position_of(Vm& vm, FileObject* f) {
  wait_for_stream(vm, f);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  const long at = f->file ? std::ftell(f->file) : -1;
  if (at < 0) raise_unsupported(vm, "underlying stream is not seekable");
  return at - static_cast<int64_t>(f->text.bytes_left(vm));
}

int64_t move_to(Vm& vm, FileObject* f, int64_t offset, int64_t whence) {
  wait_for_stream(vm, f);
  if (f->closed) raise_value_error(vm, "I/O operation on closed file.");
  if (!f->file) raise_unsupported(vm, "underlying stream is not seekable");
  if (!f->binary && offset != 0 && whence == 1) raise_unsupported(vm, "can't do nonzero cur-relative seeks");
  if (!f->binary && offset != 0 && whence == 2) raise_unsupported(vm, "can't do nonzero end-relative seeks");
  if (!f->binary && offset < 0 && whence == 0)
    raise_value_error(vm, "negative seek position " + std::to_string(offset));
  if (whence == 1) offset += position_of(vm, f) - std::ftell(f->file);
  f->text.drop();
  const int from = whence == 1 ? SEEK_CUR : whence == 2 ? SEEK_END : SEEK_SET;
  if (std::fseek(f->file, offset, from) != 0) raise_os_error(vm, errno, f->name);
  return std::ftell(f->file);
}

}  // namespace tsc::interp
