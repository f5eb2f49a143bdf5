#pragma once
// Reading a pattern unit by unit: escapes, names, numbers. Used by the parser only.
#include "interpreter/modules/regex.h"
#include "interpreter/value/string.h"

namespace tsc::interp::regex {

class Reader {
 protected:
  Reader(const std::vector<uint32_t>& pattern, bool bytes) : pattern_(pattern), bytes_(bytes) {}
  [[noreturn]] void fail(std::string message, int64_t position) const {
    throw PatternError{std::move(message), position};
  }
  bool at_end() const { return at_ >= pattern_.size(); }
  uint32_t peek() const { return pattern_[at_]; }
  uint32_t next() { return pattern_[at_++]; }
  bool take(uint32_t c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  int64_t place() const { return static_cast<int64_t>(at_); }
  std::string text(size_t begin, size_t end) const {
    std::string out;
    for (size_t i = begin; i < end && i < pattern_.size(); ++i) append_utf8(out, pattern_[i]);
    return out;
  }
  std::string digits() {
    std::string out;
    while (!at_end() && peek() >= '0' && peek() <= '9') out += static_cast<char>(next());
    return out;
  }
  // The unit that `\c` stands for; categories, assertions and references are dealt with before.
  uint32_t escaped_unit(uint32_t c, int64_t start, bool in_set);
  // A group's name up to `end`; `number_allowed`: digits do as well.
  std::string group_name(uint32_t end, const char* what, bool number_allowed = false);

  const std::vector<uint32_t>& pattern_;
  bool bytes_;
  size_t at_ = 0;

 private:
  uint32_t hexadecimal(int64_t start, size_t count);
  uint32_t named_character(int64_t start);
};

}  // namespace tsc::interp::regex
