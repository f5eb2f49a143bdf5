#include "lang/format/writer.h"

#include <algorithm>

namespace tsc::lang {

namespace {

constexpr uint32_t kIndent = 4;
// A bracket of fewer columns is not worth breaking: `(self)`, `[:, None]`.
constexpr uint32_t kLeastBreakable = 12;
constexpr uint32_t kOptionalColumns = 2;  // of a pair of optional brackets

uint32_t columns_of(std::string_view text) {
  return static_cast<uint32_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool has_break(std::string_view text) { return text.find_first_of("\n\r") != text.npos; }

}  // namespace

LineWriter::LineWriter(const std::vector<Piece>& pieces, uint32_t indent, uint32_t width)
    : pieces_(pieces), indent_(indent), limit_(width) {
  is_definition_ = pieces.front().kind == TokenKind::DEF;
  const auto sum = [&](std::vector<uint32_t>& out, auto value) {
    out.assign(pieces.size() + 1, 0);
    for (size_t i = 0; i < pieces.size(); ++i) out[i + 1] = out[i] + value(pieces[i]);
  };
  sum(position_, [](const Piece& p) { return p.optional ? 0 : (p.space ? 1 : 0) + columns_of(p.text); });
  sum(leading_, [](const Piece& p) { return p.leading.empty() ? 0u : 1u; });
  sum(trailing_, [](const Piece& p) { return p.trailing.empty() ? 0u : 1u; });
  sum(breaks_, [](const Piece& p) { return has_break(p.text) ? 1u : 0u; });
  magic_.assign(pieces.size() + 1, 0);
  for (size_t i = 0; i < pieces.size(); ++i)
    magic_[i + 1] = magic_[i] + (pieces[i].opens() && !pieces[i].optional && has_magic_comma(i) ? 1 : 0);
}

std::string LineWriter::run() {
  const Range all{0, pieces_.size()};
  size_t optional = 0;
  while (optional < pieces_.size() && !pieces_[optional].optional) ++optional;
  start();
  if (!is_forced(all) && fits(all, 0)) flat(all);
  else if (optional < pieces_.size()) choose_brackets(all, optional);
  else broken_at_brackets(all, indent_, 0);
  trailing(pieces_.back());
  return std::move(out_);
}

void LineWriter::start() {
  out_.assign(indent_, ' ');
  column_ = widest_ = indent_;
  fresh_ = true;
}

// Writes the line without and, if that is not good enough, with its optional brackets.
void LineWriter::choose_brackets(Range all, size_t open) {
  broken_at_brackets(all, indent_, 0);
  const bool fitted = widest_ <= limit_;
  if (fitted && accepts_without_brackets(open)) return;
  std::string without = std::move(out_);
  const uint32_t widest = widest_;
  show_optional_ = true;
  start();
  broken_at_brackets(all, indent_, 0);
  if (widest_ > limit_ && (fitted || widest_ >= widest)) out_ = std::move(without);
}

bool LineWriter::accepts_without_brackets(size_t open) const {
  const Range content{open + 1, pieces_[open].match};
  size_t count = 0;
  if (has_comments(content) || best_priority(content, count) == 0) return true;
  const Piece& last = pieces_[content.end - 1];
  return count == 1 && last.closes() && is_breakable(last.match);
}

void LineWriter::inside(Range range, uint32_t indent, uint32_t suffix) {
  size_t count = 0;
  if (!is_forced(range) && fits(range, suffix)) flat(range);
  else if (best_priority(range, count) != 0) segments(range, indent, suffix, false);
  else broken_at_brackets(range, indent, suffix);
}

// One row for each part between the most willing places.
void LineWriter::segments(Range range, uint32_t indent, uint32_t suffix, bool add_comma) {
  size_t count = 0;
  const uint8_t priority = best_priority(range, count);
  const bool commas = priority == kCommaPriority;
  add_comma = add_comma && commas && pieces_[range.end - 1].kind != TokenKind::COMMA;
  size_t begin = range.begin;
  const auto part = [&](size_t end, uint32_t room) {
    if (begin != range.begin) {
      new_row(indent);
      comments(pieces_[begin].leading, indent);
    }
    inside({begin, end}, indent, room);
  };
  for (size_t i = range.begin + 1; i < range.end; ++i) {
    if (pieces_[i - 1].opens()) i = pieces_[i - 1].match + 1;
    if (i >= range.end) break;
    if (pieces_[i].priority != priority) continue;
    part(i, commas ? 1 : 0);
    if (commas) put(",");
    if (commas && i + 1 == range.end) return;
    trailing(pieces_[commas ? i : i - 1]);
    begin = commas ? i + 1 : i;
  }
  part(range.end, suffix + (add_comma ? 1 : 0));
  if (add_comma) put(",");
}

void LineWriter::broken_at_brackets(Range range, uint32_t indent, uint32_t suffix) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const Piece& p = pieces_[i];
    if (p.optional && !show_optional_) continue;
    if (i > range.begin && !p.leading.empty()) {
      new_row(indent);
      comments(p.leading, indent);
    }
    if (!p.opens()) {
      piece(i);
    } else if (breaks_bracket(i, range, suffix)) {
      group(i, indent);
      i = p.match;
    } else {
      flat({i, p.match + 1});
      i = p.match;
    }
    if (i + 1 < range.end && !pieces_[i].trailing.empty()) {
      trailing(pieces_[i]);
      new_row(indent);
    }
  }
}

// A bracket is broken when what follows it up to the next place to break does not fit.
bool LineWriter::breaks_bracket(size_t open, Range range, uint32_t suffix) const {
  const size_t close = pieces_[open].match;
  if (is_forced({open, close + 1})) return true;
  if (!is_breakable(open)) return false;
  size_t end = close + 1;
  // A function's parameters are broken before its return annotation is.
  const bool to_the_end = is_definition_ && range.begin == 0;
  for (; end < range.end; ++end) {
    if (!pieces_[end].opens()) continue;
    if (pieces_[end].optional && !show_optional_) continue;  // not there: what lies inside may break
    // What is broken in any case may have a comma of its own before it closes, which must not count here.
    if (!to_the_end && (is_breakable(end) || is_forced({end, pieces_[end].match + 1}))) {
      ++end;
      suffix = 0;
      break;
    }
    end = pieces_[end].match;
  }
  return !fits({open, std::min(end, range.end)}, suffix + (pieces_[open].optional ? kOptionalColumns : 0));
}

void LineWriter::group(size_t open, uint32_t indent) {
  const Range content{open + 1, pieces_[open].match};
  const uint32_t inner = indent + kIndent;
  piece(open);
  trailing(pieces_[open]);
  if (!content.empty()) {
    new_row(inner);
    comments(pieces_[content.begin].leading, inner);
    size_t count = 0;
    const bool magic = has_magic_comma(open);
    if (!magic && !is_forced(content) && fits(content, 0)) flat(content);
    else if (best_priority(content, count) != 0) segments(content, inner, 0, true);
    else broken_at_brackets(content, inner, 0);
    trailing(pieces_[content.end - 1]);
  }
  for (std::string_view comment : pieces_[content.end].leading) {
    new_row(inner);
    out_ += comment;
  }
  new_row(indent);
  put(pieces_[content.end].text);
}

void LineWriter::flat(Range range) {
  for (size_t i = range.begin; i < range.end; ++i)
    if (!pieces_[i].optional) piece(i);
}

void LineWriter::piece(size_t i) {
  if (!fresh_ && pieces_[i].space) put(" ");
  put(pieces_[i].text);
}

// ---- Facts

// Whether a comment or a comma before a closing bracket keeps the range from standing on one row.
bool LineWriter::is_forced(Range range) const {
  return has_comments(range) || magic_[range.end] != magic_[range.begin];
}

bool LineWriter::has_comments(Range range) const {
  return !range.empty() &&
         (leading_[range.end] != leading_[range.begin + 1] || trailing_[range.end - 1] != trailing_[range.begin]);
}

uint32_t LineWriter::flat_width(Range range) const {
  const Piece& first = pieces_[range.begin];
  const uint32_t space = first.space && !first.optional && fresh_ ? 1 : 0;
  return position_[range.end] - position_[range.begin] - space;
}

bool LineWriter::fits(Range range, uint32_t suffix) const {
  if (range.empty()) return true;
  if (breaks_[range.end] != breaks_[range.begin]) return fits_text(range, suffix);
  return column_ + flat_width(range) + suffix <= limit_;
}

// With texts of several rows: their first and last rows count.
bool LineWriter::fits_text(Range range, uint32_t suffix) const {
  uint32_t column = column_;
  for (size_t i = range.begin; i < range.end; ++i) {
    const Piece& p = pieces_[i];
    if (p.optional) continue;
    if (p.space && !(fresh_ && i == range.begin)) ++column;
    if (!has_break(p.text)) {
      column += columns_of(p.text);
      continue;
    }
    column += columns_of(p.text.substr(0, p.text.find_first_of("\n\r")));
    if (column > limit_) return false;
    column = columns_of(p.text.substr(p.text.find_last_of("\n\r") + 1));
  }
  return column + suffix <= limit_;
}

bool LineWriter::is_breakable(size_t open) const {
  const Piece& p = pieces_[open];
  if (p.match == open + 1 || (p.optional && !show_optional_)) return false;
  const uint32_t space = (p.optional ? pieces_[open + 1].space : p.space) ? 1 : 0;
  // A comma before the closing bracket comes from breaking it and may not decide about that.
  const uint32_t comma = pieces_[p.match - 1].kind == TokenKind::COMMA ? 1 : 0;
  const uint32_t brackets = p.optional ? kOptionalColumns : 0;
  return position_[p.match + 1] - position_[open] - space - comma + brackets >= kLeastBreakable;
}

// A comma before the closing bracket keeps one item a row, but for the tuple of one item.
bool LineWriter::has_magic_comma(size_t open) const {
  const Piece& p = pieces_[open];
  if (p.match == open + 1 || pieces_[p.match - 1].kind != TokenKind::COMMA) return false;
  if (p.kind == TokenKind::LBRACE || p.kind == TokenKind::WITH_OPEN) return true;
  const bool follows_operand = open > 0 && !p.space && pieces_[open - 1].kind != TokenKind::LPAR &&
                               !pieces_[open - 1].opens() && !pieces_[open - 1].tight;
  if (p.kind == TokenKind::LPAR ? follows_operand : !follows_operand) return true;
  size_t commas = 0;
  for (size_t i = open + 1; i < p.match; ++i) {
    if (pieces_[i].kind == TokenKind::COMMA) ++commas;
    if (pieces_[i].opens()) i = pieces_[i].match;
  }
  return commas > 1;
}

uint8_t LineWriter::best_priority(Range range, size_t& count) const {
  uint8_t best = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (i > range.begin && pieces_[i].priority != 0) {
      best = std::max(best, pieces_[i].priority);
      ++count;
    }
    if (pieces_[i].opens()) i = pieces_[i].match;
  }
  return best;
}

// ---- Output

void LineWriter::put(std::string_view text) {
  out_ += text;
  fresh_ = false;
  if (!has_break(text)) {
    column_ += columns_of(text);
  } else {
    widest_ = std::max(widest_, column_ + columns_of(text.substr(0, text.find_first_of("\n\r"))));
    column_ = columns_of(text.substr(text.find_last_of("\n\r") + 1));
  }
  widest_ = std::max(widest_, column_);
}

void LineWriter::new_row(uint32_t indent) {
  out_ += '\n';
  out_.append(indent, ' ');
  column_ = indent;
  fresh_ = true;
}

void LineWriter::comments(const std::vector<std::string_view>& list, uint32_t indent) {
  for (std::string_view comment : list) {
    out_ += comment;
    new_row(indent);
  }
}

void LineWriter::trailing(const Piece& p) {
  for (std::string_view comment : p.trailing) (out_ += "  ") += comment;
}

}  // namespace tsc::lang
