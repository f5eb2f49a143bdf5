#include "interpreter/builtins/text_layer.h"

#include <algorithm>

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {
namespace {

// \r\n and \r become \n.
void translate_breaks(std::string& text) {
  if (text.find('\r') == std::string::npos) return;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  text = std::move(out);
}

bool is_continuation(char c) { return (c & 0xC0) == 0x80; }

// Where the first `count` characters of text end.
size_t end_of_characters(std::string_view text, int64_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) do
      ++at;
    while (at < text.size() && is_continuation(text[at]));
  return at;
}

std::string plain_name(std::string_view encoding) {
  std::string name;
  for (const char c : encoding)
    if (c != '-' && c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool is_wide(std::string_view encoding) {
  const std::string name = plain_name(encoding);
  return name.find("utf16") == 0 || name.find("utf32") == 0;
}

// The encodings that begin a file with a mark, and what they are behind it.
struct MarkRow {
  std::string_view marked, rest;
};
constexpr MarkRow kMarked[] = {{"utf16", "utf-16-le"}, {"utf32", "utf-32-le"}, {"utf8sig", "utf-8"}};

std::string without_mark(const std::string& encoding) {
  const std::string name = plain_name(encoding);
  for (const MarkRow& row : kMarked)
    if (name == row.marked) return std::string(row.rest);
  return encoding;
}

}  // namespace

bool TextLayer::needs_whole_file() const { return is_wide(encoding); }

void TextLayer::feed(Vm& vm, std::string bytes) {
  if (at_ == pending_.size()) drop();
  const bool first = raw_.empty();
  Value object = make_bytes(vm, copy_text(bytes)).take();
  std::string text = decode_bytes(vm, object, encoding, errors);
  if (translates()) translate_breaks(text);
  if (first && text == bytes && at_ == 0) {
    pending_ = std::move(text);
    raw_ = std::move(bytes);
    return;
  }
  pending_ += text;
  raw_ += bytes;
}

void TextLayer::drop() {
  pending_.clear();
  raw_.clear();
  at_ = 0;
}

int64_t TextLayer::characters_left() const {
  return std::count_if(pending_.begin() + static_cast<std::ptrdiff_t>(at_), pending_.end(),
                       [](char c) { return !is_continuation(c); });
}

std::string TextLayer::take(int64_t limit) {
  const std::string_view left = std::string_view(pending_).substr(at_);
  const size_t end = limit < 0 ? left.size() : end_of_characters(left, limit);
  std::string out = copy_text(left.substr(0, end));
  at_ += end;
  return out;
}

bool TextLayer::take_line(int64_t limit, bool at_end, std::string& line) {
  const std::string_view left = std::string_view(pending_).substr(at_);
  // newline='' also ends lines at \r and \r\n, but leaves them as they are.
  size_t end = std::string_view::npos;
  if (newline && newline->empty()) {
    end = left.find_first_of("\r\n");
    if (end != std::string_view::npos) end += left.substr(end, 2) == "\r\n" ? 2 : 1;
  } else {
    const std::string_view breaks = newline ? std::string_view(*newline) : std::string_view("\n");
    end = left.find(breaks);
    if (end != std::string_view::npos) end += breaks.size();
  }
  const bool found = end != std::string_view::npos;
  if (!found) end = left.size();
  if (limit >= 0) end = std::min(end, end_of_characters(left, limit));
  const bool enough = found || at_end || (limit >= 0 && end < left.size());
  if (!enough) return false;
  line.assign(left.substr(0, end));
  at_ += end;
  return true;
}

size_t TextLayer::bytes_left(Vm& vm) const {
  if (at_ == pending_.size()) return 0;
  if (pending_ == raw_) return raw_.size() - at_;
  // Where line breaks became shorter, the raw text tells; else what is left is encoded again.
  std::string_view left = std::string_view(pending_).substr(at_);
  if (is_wide(encoding)) return encode(vm, left, false).size();
  std::string decoded = decode_bytes(vm, make_bytes(vm, raw_).take(), encoding, errors);
  size_t raw_at = 0;
  for (size_t i = 0; i < at_ && raw_at < decoded.size(); ++i, ++raw_at)
    if (translates() && decoded.compare(raw_at, 2, "\r\n") == 0) ++raw_at;
  return encode(vm, std::string_view(decoded).substr(raw_at), false).size();
}

std::string TextLayer::encode(Vm& vm, std::string_view text, bool first) const {
  std::string translated;
  if (newline && newline->find('\r') == 0) {
    for (const char c : text) {
      if (c == '\n') translated += *newline;
      else translated += c;
    }
    text = translated;
  }
  return encode_text(vm, str_value(vm, text), first ? encoding : without_mark(encoding), errors);
}

}  // namespace tsc::interp
