#pragma once
// The text side of a file: an encoding with its error handler, and the line breaks. Knows codecs. Must not
// know: where the bytes come from. Keeps: text that was decoded and not yet read, with the bytes it came
// from, so that a position in the text is a position in the file.
#include <optional>
#include <string>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

class TextLayer {
 public:
  std::string encoding = "UTF-8", errors = "strict";
  std::optional<std::string> newline;  // as open() takes it; empty: \r and \r\n become \n

  // Takes bytes of the file, which end behind a line break or with the file.
  void feed(Vm& vm, std::string bytes);
  // The text is cut behind whole lines only where a line break is one byte.
  bool needs_whole_file() const;
  // Text that is left: all of it, at most `limit` characters, or a line of at most `limit` characters.
  // `complete` tells whether more bytes could not change the answer.
  std::string take(int64_t limit);
  bool take_line(int64_t limit, bool at_end, std::string& line);
  int64_t characters_left() const;
  // The bytes that were fed and whose text was not read.
  size_t bytes_left(Vm& vm) const;
  void drop();
  // What goes into the file for `text`; `first`: nothing lies before it (marks of byte order).
  std::string encode(Vm& vm, std::string_view text, bool first) const;

 private:
  std::string pending_, raw_;  // decoded, line breaks translated; the bytes of it
  size_t at_ = 0;              // read so far of pending_
  bool translates() const { return !newline.has_value(); }
};

}  // namespace tsc::interp
