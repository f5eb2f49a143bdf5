#include "interpreter/cli/vi_text.h"

#include <algorithm>
#include <cctype>

#include "interpreter/cli/terminal.h"

namespace tsc::cli::vi {
namespace {

// 0: blank, 1: letters, digits and what is beyond ASCII, 2: other signs.
int class_of(char c, bool big) {
  if (c == ' ' || c == '\t' || c == '\n') return 0;
  const bool name = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
  return big || name ? 1 : 2;
}

using Bounds = std::optional<std::pair<std::size_t, std::size_t>>;

Bounds word_object(std::string_view text, std::size_t at, bool around) {
  const std::size_t from = line_start(text, at), to = line_end(text, at);
  if (from == to) return std::nullopt;
  at = std::min(at, to - 1);
  const int kind = class_of(text[at], false);
  std::size_t begin = at, end = at;
  while (begin > from && class_of(text[begin - 1], false) == kind) --begin;
  while (end < to && class_of(text[end], false) == kind) ++end;
  const std::size_t bare = end;
  while (around && end < to && class_of(text[end], false) == 0) ++end;
  while (around && end == bare && begin > from && class_of(text[begin - 1], false) == 0) --begin;
  return std::pair(begin, end);
}

Bounds quote_object(std::string_view text, std::size_t at, bool around, char quote) {
  const std::size_t to = line_end(text, at);
  std::size_t open = text.find(quote, line_start(text, at));
  while (open < to) {
    const std::size_t close = text.find(quote, open + 1);
    if (close >= to) return std::nullopt;
    if (at <= close) return std::pair(around ? open : open + 1, around ? close + 1 : close);
    open = text.find(quote, close + 1);
  }
  return std::nullopt;
}

Bounds bracket_object(std::string_view text, std::size_t at, bool around, char open, char close) {
  int depth = 0;
  std::size_t begin = at;
  for (;; --begin) {
    if (begin < text.size() && text[begin] == open && depth-- == 0) break;
    if (begin < text.size() && text[begin] == close && begin != at) ++depth;
    if (begin == 0) return std::nullopt;
  }
  depth = 0;
  for (std::size_t end = begin; end < text.size(); ++end) {
    depth += (text[end] == open) - (text[end] == close);
    if (depth == 0) return std::pair(around ? begin : begin + 1, around ? end + 1 : end);
  }
  return std::nullopt;
}

constexpr std::string_view kOpeners = "([{", kClosers = ")]}";

}  // namespace

std::size_t line_start(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  const std::size_t found = text.rfind('\n', at - 1);
  return found == std::string_view::npos ? 0 : found + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

std::size_t first_in_line(std::string_view text, std::size_t at) {
  const std::size_t end = line_end(text, at);
  return std::min(text.find_first_not_of(" \t", line_start(text, at)), end);
}

std::size_t clamp_to_line(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t start = line_start(text, at), end = line_end(text, at);
  return at == end && end > start ? previous_character(text, end) : at;
}

std::size_t next_word(std::string_view text, std::size_t at, bool big) {
  if (at >= text.size()) return text.size();
  const int kind = class_of(text[at], big);
  while (at < text.size() && kind != 0 && class_of(text[at], big) == kind) ++at;
  while (at < text.size() && class_of(text[at], big) == 0) ++at;
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at, bool big) {
  at = next_character(text, at);
  while (at < text.size() && class_of(text[at], big) == 0) ++at;
  return previous_character(text, past_word(text, at, big));
}

std::size_t past_word(std::string_view text, std::size_t at, bool big) {
  const int kind = at < text.size() ? class_of(text[at], big) : 0;
  while (at < text.size() && class_of(text[at], big) == kind) ++at;
  return at;
}

std::size_t previous_word(std::string_view text, std::size_t at, bool big) {
  while (at > 0 && class_of(text[at - 1], big) == 0) --at;
  if (at == 0) return 0;
  const int kind = class_of(text[at - 1], big);
  while (at > 0 && class_of(text[at - 1], big) == kind) --at;
  return at;
}

std::optional<std::size_t> matching_bracket(std::string_view text, std::size_t at) {
  const std::size_t end = line_end(text, at);
  while (at < end && kOpeners.find(text[at]) == std::string_view::npos &&
         kClosers.find(text[at]) == std::string_view::npos)
    ++at;
  if (at >= end) return std::nullopt;
  const bool forward = kOpeners.find(text[at]) != std::string_view::npos;
  const std::size_t which = forward ? kOpeners.find(text[at]) : kClosers.find(text[at]);
  int depth = 0;
  for (std::size_t i = at;; i += forward ? 1 : std::size_t(-1)) {
    depth += (text[i] == kOpeners[which]) - (text[i] == kClosers[which]);
    if (depth == 0) return i;
    if (forward ? i + 1 == text.size() : i == 0) return std::nullopt;
  }
}

Bounds text_object(std::string_view text, std::size_t at, bool around, char what) {
  if (what == 'w') return word_object(text, at, around);
  if (what == '"' || what == '\'' || what == '`') return quote_object(text, at, around, what);
  if (what == 'b') what = '(';
  if (what == 'B') what = '{';
  for (std::size_t i = 0; i < kOpeners.size(); ++i)
    if (what == kOpeners[i] || what == kClosers[i]) return bracket_object(text, at, around, kOpeners[i], kClosers[i]);
  return std::nullopt;
}

}  // namespace tsc::cli::vi
