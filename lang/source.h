#pragma once
// One source text and its line table. Every place in a program is a Span of byte offsets into one
// Source; lines and columns are computed only when somebody has to read them.
// Knows: bytes, lines, columns. Must not know: tokens, files on disk.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/once.h"

namespace tsc::lang {

// Half-open range of byte offsets.
struct Span {
  uint32_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
  bool contains(uint32_t offset) const { return begin <= offset && offset < end; }
};

inline Span cover(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

// Both 1-based; the column counts code points.
struct LineColumn {
  uint32_t line = 1, column = 1;
};

// Texts beyond this are refused with a diagnostic (offsets are 32 bits).
inline constexpr size_t kMaxSourceBytes = size_t{1} << 30;

class Source {
 public:
  Source(std::string name, std::string text);
  // Of a text that outlives the source and whose sentinel is there already: the program's own library. It is not
  // copied, and not looked at until somebody asks for a line.
  static std::shared_ptr<const Source> of_lasting(std::string name, std::string_view text);
  const std::string& name() const { return name_; }
  // Followed in memory by one NUL byte, the lexer's sentinel.
  std::string_view text() const { return text_; }
  std::string_view slice(Span span) const;
  uint32_t line_count() const { return static_cast<uint32_t>(line_begins().size()); }
  uint32_t line_of(uint32_t offset) const;
  LineColumn locate(uint32_t offset) const;
  // Byte offset where a 1-based line begins, and the line's text without its line break.
  uint32_t line_begin(uint32_t line) const;
  std::string_view line_text(uint32_t line) const;

 private:
  struct Lasting {};
  Source(Lasting, std::string name, std::string_view text);
  // Made on first use.
  const std::vector<uint32_t>& line_begins() const;
  void find_lines() const;

  std::string name_;
  std::string own_text_;
  std::string_view text_;
  mutable Once lines_once_;
  mutable std::vector<uint32_t> line_begins_;
};

}  // namespace tsc::lang
