#include "lang/source.h"

#include <algorithm>

namespace tsc::lang {

// Offsets are 32 bits: what does not fit is cut here, and the parser refuses a text of that size.
Source::Source(std::string name, std::string text) : name_(std::move(name)), own_text_(std::move(text)) {
  if (own_text_.size() > kMaxSourceBytes + 1) own_text_.resize(kMaxSourceBytes + 1);
  text_ = own_text_;
}

Source::Source(Lasting, std::string name, std::string_view text) : name_(std::move(name)), text_(text) {}

std::shared_ptr<const Source> Source::of_lasting(std::string name, std::string_view text) {
  return std::shared_ptr<const Source>(new Source(Lasting(), std::move(name), text));
}

const std::vector<uint32_t>& Source::line_begins() const {
  lines_once_.call([this] { find_lines(); });
  return line_begins_;
}

void Source::find_lines() const {
  line_begins_.clear();  // an earlier try may have run out of memory half way
  line_begins_.reserve(text_.size() / 32 + 1);
  line_begins_.push_back(0);
  // Nearly every text has line feeds alone, and those memchr finds many bytes at a time.
  const std::string_view ends = text_.find('\r') == std::string_view::npos ? "\n" : "\n\r";
  const size_t size = text_.size();
  const auto next = [&](size_t from) {
    return ends.size() == 1 ? text_.find('\n', from) : text_.find_first_of(ends, from);
  };
  for (size_t i = next(0); i < size; i = next(i)) {
    if (text_[i] == '\r' && i + 1 < size && text_[i + 1] == '\n') ++i;
    line_begins_.push_back(static_cast<uint32_t>(++i));
  }
}

std::string_view Source::slice(Span span) const {
  size_t begin = std::min<size_t>(span.begin, text_.size());
  size_t end = std::clamp<size_t>(span.end, begin, text_.size());
  return text_.substr(begin, end - begin);
}

uint32_t Source::line_of(uint32_t offset) const {
  const std::vector<uint32_t>& lines = line_begins();
  auto after = std::upper_bound(lines.begin(), lines.end(), offset);
  return static_cast<uint32_t>(after - lines.begin());
}

LineColumn Source::locate(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  uint32_t line = line_of(offset), column = 1;
  for (uint32_t i = line_begins()[line - 1]; i < offset; ++i)
    if ((text_[i] & 0xC0) != 0x80) ++column;
  return {line, column};
}

uint32_t Source::line_begin(uint32_t line) const {
  line = std::clamp<uint32_t>(line, 1, line_count());
  return line_begins()[line - 1];
}

std::string_view Source::line_text(uint32_t line) const {
  line = std::clamp<uint32_t>(line, 1, line_count());
  size_t begin = line_begins()[line - 1];
  size_t end = line < line_count() ? line_begins()[line] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return text_.substr(begin, end - begin);
}

}  // namespace tsc::lang
