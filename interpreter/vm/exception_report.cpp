// The report of an exception as CPython's C code writes it: places, causes and contexts, and the boxes of groups.
#include <utf8proc.h>

#include <set>

#include "interpreter/vm/exception_groups.h"
#include "interpreter/vm/traceback_text.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {

namespace {

// The character at a text's beginning: its bytes, and the columns that a terminal gives it.
struct ShownCharacter {
  size_t bytes, columns;
};
ShownCharacter first_shown(std::string_view text) {
  utf8proc_int32_t point = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (bytes <= 0 || point < 0x80) return {1, 1};
  return {static_cast<size_t>(bytes), static_cast<size_t>(utf8proc_charwidth(point))};
}

}  // namespace

std::string caret_line(const TracebackEntry& entry) {
  const lang::CodeObject& code = *entry.code;
  const uint32_t line = entry.line();
  if (!code.source || !line || line > code.source->line_count() || entry.pc >= code.spans.size()) return "";
  const lang::InstructionSpan& span = code.spans[entry.pc];
  const std::string_view text = code.source->line_text(line);
  const uint32_t begin = code.source->line_begin(line);
  // Of what goes on below the line no part is pointed at.
  const bool anchored = span.anchor.begin != span.anchor.end && span.whole.end <= begin + text.size();
  std::string carets;
  for (size_t at = std::min(text.find_first_not_of(" \t"), text.size()); at < text.size();) {
    const ShownCharacter shown = first_shown(text.substr(at));
    const uint32_t offset = begin + static_cast<uint32_t>(at);
    const char mark = !span.whole.contains(offset) ? ' ' : !anchored || span.anchor.contains(offset) ? '^' : '~';
    carets.append(shown.columns, mark);
    at += shown.bytes;
  }
  while (!carets.empty() && carets.back() == ' ') carets.pop_back();
  const size_t last = text.find_last_not_of(" \t");
  const bool whole_line = last != std::string_view::npos && span.whole.end >= begin + last + 1 &&
                          carets.find_first_not_of('^') == std::string::npos;
  return whole_line ? "" : carets;
}

namespace {

constexpr size_t kGroupWidth = 15, kGroupDepth = 10;  // what of groups is shown

// The places of a traceback, of equal ones in a row three.
std::string places_text(const ExceptionObject* e) {
  std::string out;
  std::string last;
  size_t repeated = 0;
  auto flush = [&] {
    if (repeated > 3)
      out += "  [Previous line repeated " + std::to_string(repeated - 3) + " more time" + (repeated > 4 ? "s" : "") +
             "]\n";
  };
  for (size_t i = e->traceback.size(); i-- > 0;) {
    const TracebackEntry& entry = e->traceback[i];
    std::string text = "  File \"" + std::string(entry.file()) + "\", line " + std::to_string(entry.line()) + ", in " +
                       entry.name() + "\n";
    std::string source = entry.source_line();
    if (!source.empty()) text += "    " + source + "\n";
    const std::string carets = caret_line(entry);
    if (!carets.empty()) text += "    " + carets + "\n";
    if (text != last) {
      flush();
      repeated = 0;
      last = text;
    }
    if (++repeated <= 3) out += text;
  }
  flush();
  return out;
}

class Report {
 public:
  explicit Report(Vm& vm) : vm_(vm) {}
  void write(ExceptionObject* exception);
  std::string text;

 private:
  void one(ExceptionObject* exception);
  void group(ExceptionObject* exception);
  void members(ExceptionObject* exception);
  void message(ExceptionObject* exception);
  // In groups each line stands behind a margin.
  void line(std::string_view line, char margin = '|') {
    if (depth_) text += indent() + margin + ' ';
    text += line;
  }
  void lines(std::string_view all) {
    while (!all.empty()) {
      const size_t end = std::min(all.find('\n'), all.size() - 1) + 1;
      line(all.substr(0, end));
      all.remove_prefix(end);
    }
  }
  std::string indent() const { return std::string(2 * depth_, ' '); }

  Vm& vm_;
  size_t depth_ = 0;
  bool need_close_ = false;  // the box that the last exception of a group closes
  std::set<const ExceptionObject*> seen_;
};

// Causes first; a chain may contain a cycle made by the script.
void Report::write(ExceptionObject* exception) {
  std::vector<std::pair<ExceptionObject*, const char*>> chain{{exception, ""}};
  for (ExceptionObject* e = exception;;) {
    seen_.insert(e);
    const char* link = nullptr;
    ExceptionObject* next = nullptr;
    if (is_kind(e->cause, Kind::Exception)) {
      next = cast<ExceptionObject>(e->cause);
      link = "\nThe above exception was the direct cause of the following exception:\n\n";
    } else if (!e->suppress_context && is_kind(e->context, Kind::Exception)) {
      next = cast<ExceptionObject>(e->context);
      link = "\nDuring handling of the above exception, another exception occurred:\n\n";
    }
    if (!next || seen_.contains(next)) break;
    chain.emplace_back(next, link);
    e = next;
  }
  const bool need_close = std::exchange(need_close_, false);
  for (size_t i = chain.size(); i-- > 0;) {
    if (i == 0) need_close_ = need_close;
    one(chain[i].first);
    lines(chain[i].second);
  }
}

void Report::one(ExceptionObject* e) {
  if (is_group(vm_, Value(e))) return group(e);
  if (!e->traceback.empty()) {
    line("Traceback (most recent call last):\n");
    lines(places_text(e));
  }
  message(e);
}

// The text of an exception may have lines of its own, which have no margin.
void Report::message(ExceptionObject* e) {
  for (const std::string& one : exception_lines(vm_, e, true)) line(one);
  for (const std::string& one : note_lines(vm_, e)) line(one);
}

void Report::group(ExceptionObject* e) {
  if (depth_ > kGroupDepth) return line("... (max_group_depth is " + std::to_string(kGroupDepth) + ")\n");
  const bool is_outermost = depth_ == 0;
  if (is_outermost) ++depth_;
  if (!e->traceback.empty()) {
    line("Exception Group Traceback (most recent call last):\n", is_outermost ? '+' : '|');
    lines(places_text(e));
  }
  message(e);
  members(e);
  if (is_outermost) --depth_;
}

void Report::members(ExceptionObject* e) {
  const std::span<const Value> all = group_exceptions(e);
  const size_t shown = std::min(all.size(), kGroupWidth + 1);
  need_close_ = false;
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == shown, is_cut = i >= kGroupWidth;
    if (is_last) need_close_ = true;
    const std::string title = is_cut ? "..." : std::to_string(i + 1);
    text += indent() + (i == 0 ? "+-" : "  ") + "+---------------- " + title + " ----------------\n";
    ++depth_;
    const size_t more = all.size() - kGroupWidth;
    if (is_cut) line("and " + std::to_string(more) + (more > 1 ? " more exceptions\n" : " more exception\n"));
    else write(cast<ExceptionObject>(all[i]));
    if (is_last && need_close_) {
      text += indent() + "+------------------------------------\n";
      need_close_ = false;
    }
    --depth_;
  }
}

}  // namespace

std::string render_traceback(Vm& vm, ExceptionObject* exception) {
  Report report(vm);
  report.write(exception);
  return std::move(report.text);
}

}  // namespace tsc::interp
