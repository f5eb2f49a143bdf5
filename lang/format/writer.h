#pragma once
// Lays one logical line out: on one row when it fits, else broken inside its brackets.
// Knows: pieces and the width. Must not know: statements and blocks.
// Keeps: the choice depends on the pieces alone, never on how the text was broken before; that is
// what makes formatting twice the same as formatting once.
#include <string>

#include "lang/format/pieces.h"

namespace tsc::lang {

class LineWriter {
 public:
  LineWriter(const std::vector<Piece>& pieces, uint32_t indent, uint32_t width);
  // With its indentation and the comment after it, without the line break at the end.
  std::string run();

 private:
  struct Range {
    size_t begin, end;
    bool empty() const { return begin >= end; }
  };

  void start();
  void choose_brackets(Range all, size_t open);
  bool accepts_without_brackets(size_t open) const;
  // Writes pieces at the beginning of a row; `suffix` columns must be left after them.
  void inside(Range range, uint32_t indent, uint32_t suffix);
  void segments(Range range, uint32_t indent, uint32_t suffix, bool add_comma);
  void broken_at_brackets(Range range, uint32_t indent, uint32_t suffix);
  void group(size_t open, uint32_t indent);
  void flat(Range range);
  void piece(size_t i);
  bool breaks_bracket(size_t open, Range range, uint32_t suffix) const;

  // Facts about ranges, in constant time.
  bool is_forced(Range range) const;
  bool has_comments(Range range) const;
  bool fits(Range range, uint32_t suffix) const;
  bool fits_text(Range range, uint32_t suffix) const;
  uint32_t flat_width(Range range) const;
  bool is_breakable(size_t open) const;
  bool has_magic_comma(size_t open) const;
  uint8_t best_priority(Range range, size_t& count) const;

  void put(std::string_view text);
  void new_row(uint32_t indent);
  void comments(const std::vector<std::string_view>& list, uint32_t indent);
  void trailing(const Piece& p);

  const std::vector<Piece>& pieces_;
  uint32_t indent_, limit_;
  bool is_definition_;
  bool show_optional_ = false;
  std::vector<uint32_t> position_;  // flat columns before each piece
  // Before each piece: pieces with comments before and after them, brackets with a forcing comma.
  std::vector<uint32_t> leading_, trailing_, magic_;
  std::vector<uint32_t> breaks_;  // texts of several rows before each piece
  std::string out_;
  uint32_t column_ = 0, widest_ = 0;
  bool fresh_ = true;  // nothing but indentation is on the row
};

}  // namespace tsc::lang
