// The two renderings of a Diagnostic: text for people and JSON for editors.
#include <utf8proc.h>

#include <algorithm>
#include <map>

#include "lang/diagnostic.h"

namespace tsc::lang {

namespace {

struct Style {
  bool color;
  std::string operator()(std::string_view escape, std::string_view text) const {
    if (!color || text.empty()) return std::string(text);
    return "\x1b[" + std::string(escape) + "m" + std::string(text) + "\x1b[0m";
  }
};

constexpr std::string_view kBold = "1", kRed = "1;31", kYellow = "1;33", kBlue = "1;34", kGreen = "1;32";

// A source line made printable: tabs become four spaces, control bytes a dot, and `column[i]` is
// the screen column of byte i (one entry more than bytes).
struct ScreenLine {
  std::string text;
  std::vector<unsigned> column;
};

// Appends the character at the front of `rest`; returns {bytes taken, screen columns}.
std::pair<size_t, unsigned> append_character(std::string_view rest, std::string& out) {
  unsigned char first = static_cast<unsigned char>(rest[0]);
  if (first == '\t') return out += "    ", std::pair<size_t, unsigned>(1, 4);
  if (first < 0x20 || first == 0x7F) return out += '.', std::pair<size_t, unsigned>(1, 1);
  if (first < 0x80) return out += rest[0], std::pair<size_t, unsigned>(1, 1);
  utf8proc_int32_t point = 0;
  auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                 static_cast<utf8proc_ssize_t>(rest.size()), &point);
  if (length <= 0) return out += '?', std::pair<size_t, unsigned>(1, 1);
  // Characters that would reorder or hide the line are shown as a dot.
  if (utf8proc_category(point) == UTF8PROC_CATEGORY_CF) {
    out += '.';
    return {static_cast<size_t>(length), 1};
  }
  out.append(rest.substr(0, static_cast<size_t>(length)));
  return {static_cast<size_t>(length), static_cast<unsigned>(utf8proc_charwidth(point))};
}

// `from` and `to` are byte offsets in the line; only that window is drawn.
ScreenLine draw_line(std::string_view line, size_t from, size_t to) {
  ScreenLine out;
  out.column.assign(line.size() + 1, 0);
  unsigned column = 0;
  if (from > 0) out.text += "...", column = 3;
  for (size_t i = from; i < to;) {
    auto [bytes, columns] = append_character(line.substr(i, to - i), out.text);
    for (size_t k = 0; k < bytes; ++k) out.column[i + k] = column;
    column += columns;
    i += bytes;
  }
  if (to < line.size()) out.text += "...";
  for (size_t i = to; i <= line.size(); ++i) out.column[i] = column;
  return out;
}

bool is_continuation(char c) { return (c & 0xC0) == 0x80; }

// The window of a long line around a focus offset, cut at character borders.
std::pair<size_t, size_t> window(std::string_view line, size_t focus, size_t width) {
  if (line.size() <= width) return {0, line.size()};
  size_t from = focus > width / 2 ? focus - width / 2 : 0;
  from = std::min(from, line.size() - width);
  size_t to = from + width;
  while (from > 0 && is_continuation(line[from])) --from;
  while (to < line.size() && is_continuation(line[to])) ++to;
  return {from, to};
}

struct Mark {
  size_t begin, end;  // bytes of the line
  bool primary;
  std::string_view text;
};

class TextRenderer {
 public:
  TextRenderer(const Diagnostic& diagnostic, const Source& source, const RenderOptions& options)
      : diagnostic_(diagnostic), source_(source), options_(options), style_{options.color} {}

  std::string run() {
    header();
    if (options_.format == ErrorFormat::Short) return out_;
    collect_marks();
    uint32_t previous = 0;
    for (auto& [line, marks] : marks_) {
      if (previous && line > previous + 1) out_ += style_(kBlue, std::string(gutter_, ' ') + "...") + "\n";
      draw(line, marks);
      previous = line;
    }
    for (const std::string& text : diagnostic_.notes) remark("note", kBold, text);
    for (const std::string& text : diagnostic_.helps) remark("help", kGreen, text);
    return out_;
  }

 private:
  std::string_view main_color() const { return diagnostic_.severity == Severity::Error ? kRed : kYellow; }

  void header() {
    LineColumn at = source_.locate(diagnostic_.primary.span.begin);
    std::string_view word = diagnostic_.severity == Severity::Error ? "error" : "warning";
    out_ += style_(kBold, source_.name() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ");
    out_ += style_(main_color(), std::string(word) + "[" + code_text(diagnostic_.code) + "]");
    out_ += style_(kBold, ": " + diagnostic_.message) + "\n";
  }

  void collect_marks() {
    add_mark(diagnostic_.primary, true);
    for (const Label& label : diagnostic_.secondary) add_mark(label, false);
    gutter_ = std::to_string(marks_.rbegin()->first).size() + 1;
  }

  // A span over several lines is marked on its first line.
  void add_mark(const Label& label, bool primary) {
    uint32_t line = source_.line_of(label.span.begin);
    size_t base = source_.line_begin(line), size = source_.line_text(line).size();
    size_t begin = std::min<size_t>(label.span.begin - base, size);
    size_t end = std::clamp<size_t>(label.span.end < base ? base : label.span.end - base, begin, size);
    marks_[line].push_back({begin, end, primary, label.text});
  }

  void draw(uint32_t line, std::vector<Mark>& marks) {
    std::string_view text = source_.line_text(line);
    size_t room = std::max<size_t>(options_.width, 40) - gutter_ - 3 - 6;
    auto [from, to] = window(text, marks.front().begin, room);
    ScreenLine screen = draw_line(text, from, to);
    std::string number = std::to_string(line);
    out_ += style_(kBlue, std::string(gutter_ - number.size(), ' ') + number + " | ");
    out_ += screen.text + "\n";
    // One row of markers a label, rightmost last, so that texts never collide.
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
    for (const Mark& mark : marks) {
      unsigned column = screen.column[mark.begin];
      unsigned length = std::max(1u, screen.column[mark.end] - column);
      std::string row(length, mark.primary ? '^' : '-');
      if (!mark.text.empty()) row += " " + std::string(mark.text);
      out_ += style_(kBlue, std::string(gutter_, ' ') + " | ") + std::string(column, ' ');
      out_ += style_(mark.primary ? main_color() : kBlue, row) + "\n";
    }
  }

  void remark(std::string_view word, std::string_view color, const std::string& text) {
    out_ += std::string(gutter_, ' ') + style_(kBlue, " = ") + style_(color, word) + ": " + text + "\n";
  }

  const Diagnostic& diagnostic_;
  const Source& source_;
  const RenderOptions& options_;
  Style style_;
  std::map<uint32_t, std::vector<Mark>> marks_;
  size_t gutter_ = 2;
  std::string out_;
};

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (byte < 0x20) (out += "\\u00") += {kHex[byte >> 4], kHex[byte & 15]};
    else out += c;
  }
  return out + '"';
}

std::string json_position(const Source& source, uint32_t offset) {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(source.text().size()));
  uint32_t line = source.line_of(offset), units = 0;
  for (uint32_t i = source.line_begin(line); i < offset; ++i) {
    unsigned char byte = static_cast<unsigned char>(source.text()[i]);
    units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return "{\"line\":" + std::to_string(line - 1) + ",\"character\":" + std::to_string(units) + "}";
}

std::string json_range(const Source& source, Span span) {
  return "{\"start\":" + json_position(source, span.begin) +
         ",\"end\":" + json_position(source, std::max(span.begin, span.end)) + "}";
}

std::string json_fixes(const std::vector<Fix>& fixes, const Source& source) {
  std::string out = "[";
  for (const Fix& fix : fixes) out += (out.size() > 1 ? "," : "") + render_json(fix, source);
  return out + "]";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + quoted(text);
  return out + "]";
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const Source& source, const RenderOptions& options) {
  return TextRenderer(diagnostic, source, options).run();
}

std::string render_all(const Diagnostics& diagnostics, const Source& source, const RenderOptions& options) {
  std::string out;
  size_t errors = 0;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!out.empty() && options.format == ErrorFormat::Full) out += "\n";
    out += render(diagnostic, source, options);
    errors += diagnostic.severity == Severity::Error;
  }
  if (errors < diagnostics.error_count())
    out += "and " + std::to_string(diagnostics.error_count() - errors) + " more errors\n";
  return out;
}

std::string render_json(const Diagnostic& diagnostic, const Source& source) {
  std::string related = "[";
  for (const Label& label : diagnostic.secondary) {
    if (related.size() > 1) related += ",";
    related += "{\"location\":{\"uri\":" + quoted(source.name()) + ",\"range\":" + json_range(source, label.span) +
               "},\"message\":" + quoted(label.text) + "}";
  }
  int severity = diagnostic.severity == Severity::Error ? 1 : 2;
  return "{\"file\":" + quoted(source.name()) + ",\"range\":" + json_range(source, diagnostic.primary.span) +
         ",\"severity\":" + std::to_string(severity) + ",\"code\":" + quoted(code_text(diagnostic.code)) +
         ",\"source\":\"tenscript\",\"message\":" + quoted(diagnostic.message) + ",\"relatedInformation\":" + related +
         "],\"notes\":" + json_strings(diagnostic.notes) + ",\"helps\":" + json_strings(diagnostic.helps) +
         ",\"fixes\":" + json_fixes(diagnostic.fixes, source) + "}";
}

std::string render_json(const Fix& fix, const Source& source) {
  std::string edits;
  for (const Edit& edit : fix.edits)
    edits += (edits.empty() ? "{\"range\":" : ",{\"range\":") + json_range(source, edit.span) +
             ",\"newText\":" + quoted(edit.text) + "}";
  const bool certain = fix.applicability == Applicability::MachineApplicable;
  return "{\"title\":" + quoted(fix.title) + ",\"applicability\":\"" +
         (certain ? "machine-applicable" : "maybe-incorrect") + "\",\"edits\":[" + edits + "]}";
}

}  // namespace tsc::lang
