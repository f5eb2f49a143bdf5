#pragma once
// A file object: a C stream, or a standard stream of the Vm, with a text layer unless it is binary. Knows
// TextLayer and the stream. Must not know: modes of open(), methods. Keeps: before bytes are written, text
// that was read ahead is given back, so that reading and writing share one position.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "interpreter/builtins/patient_stream.h"
#include "interpreter/builtins/text_layer.h"

namespace tsc::interp {

enum class StandardStream : uint8_t { None, In, Out, Error };

struct FileObject : Object {
  static constexpr Kind kKind = Kind::File;
  std::unique_ptr<StreamTurn> turn;  // of a stream that may wait
  std::FILE* file = nullptr;         // null: closed, or a standard stream
  StandardStream standard = StandardStream::None;
  bool closed = false, binary = false, readable = false, writable = false;
  bool wrote_last = false;  // a C stream needs a seek between writing and reading
  std::string name, mode;
  bool has_bytes_name = false;  // the path was given as bytes
  TextLayer text;               // of text files
  std::string held;             // of sys.stdin: what is left of the last line
  FileObject() : Object(Kind::File) {}
  ~FileObject() {
    if (turn) turn->keeps_turn = true;
    if (file) std::fclose(file);
  }
};

// Waits for the thread that is in the middle of an operation of the file.
void wait_for_stream(Vm& vm, FileObject* f);
// Raises unless the file is open and made for it.
FileObject* usable(Vm& vm, const Value& v, bool write);
// After an operation that may have waited: a stop is raised, any other failure is an OSError.
void check_stream(Vm& vm, FileObject* f);
// At most `limit` characters (bytes of a binary file), all that are left when it is negative.
std::string read_from(Vm& vm, FileObject* f, int64_t limit);
// The next line with its break, at most `limit` characters of it; empty at the end.
std::string read_line_from(Vm& vm, FileObject* f, int64_t limit);
void write_to_file(Vm& vm, FileObject* f, std::string_view data);
int64_t position_of(Vm& vm, FileObject* f);
int64_t move_to(Vm& vm, FileObject* f, int64_t offset, int64_t whence);

}  // namespace tsc::interp
