#pragma once
// The open brackets of a text, f-string replacement fields among them. The lexer asks it what a '}'
// or
// ':' means; the layout asks it whether a line break counts.
// Keeps: at most kMaxBrackets open.
#include <vector>

#include "lang/diagnostic.h"

namespace tsc::lang {

inline constexpr size_t kMaxBrackets = 200;

class Brackets {
 public:
  struct Open {
    char opener = 0;
    bool is_field = false;  // of an f-string
    bool in_spec = false;   // the lexer is in the field's format specification
    Span span;
  };
  enum class Closed : uint8_t {
    Matched,   // the innermost bracket
    Repaired,  // reported; an outer bracket matches
    Retyped,   // reported; taken for the closer of the innermost bracket
    Stray,     // reported; nothing to close
  };

  explicit Brackets(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  bool empty() const { return open_.empty(); }
  size_t size() const { return open_.size(); }
  Open& top() { return open_.back(); }
  const std::vector<Open>& all() const { return open_; }

  // False, and reported, when the limit is reached.
  bool open(char opener, Span span, bool is_field = false);
  // Brackets below `floor` are out of reach: they surround the f-string that holds the closer.
  // `match` receives the index of the bracket that the closer belongs to. Repaired leaves that one
  // and the ones above it open, for the lexer to close.
  Closed close(char closer, Span span, size_t floor, size_t& match);
  void shrink(size_t size) { open_.resize(size < open_.size() ? size : open_.size()); }

 private:
  Diagnostics& diagnostics_;
  std::vector<Open> open_;
};

}  // namespace tsc::lang
