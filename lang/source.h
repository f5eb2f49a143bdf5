#pragma once
// One source text and its line table. Every place in a program is a Span of byte offsets into one
// Source; lines and columns are computed only when somebody has to read them.
// Knows: bytes, lines, columns. Must not know: tokens, files on disk.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::lang {

// Half-open range of byte offsets.
struct Span {
  uint32_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
  bool contains(uint32_t offset) const { return begin <= offset && offset < end; }
};

inline Span cover(Span a, Span b) {
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

// Both 1-based; the column counts code points.
struct LineColumn {
  uint32_t line = 1, column = 1;
};

// Texts beyond this are refused with a diagnostic (offsets are 32 bits).
inline constexpr size_t kMaxSourceBytes = size_t{1} << 30;

class Source {
 public:
  Source(std::string name, std::string text);
  const std::string& name() const { return name_; }
  // Followed in memory by one NUL byte, the lexer's sentinel.
  std::string_view text() const { return text_; }
  std::string_view slice(Span span) const;
  uint32_t line_count() const { return static_cast<uint32_t>(line_begins_.size()); }
  uint32_t line_of(uint32_t offset) const;
  LineColumn locate(uint32_t offset) const;
  // Byte offset where a 1-based line begins, and the line's text without its line break.
  uint32_t line_begin(uint32_t line) const;
  std::string_view line_text(uint32_t line) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_begins_;
};

}  // namespace tsc::lang
