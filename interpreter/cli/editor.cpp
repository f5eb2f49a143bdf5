#include "interpreter/cli/editor.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace tsc::cli {
namespace {

constexpr std::size_t kIndent = 4;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

std::string common_prefix(const std::vector<std::string>& names) {
  std::string prefix = names.front();
  for (const std::string& name : names) {
    std::size_t length = 0;
    while (length < prefix.size() && length < name.size() && prefix[length] == name[length]) ++length;
    prefix.resize(length);
  }
  return prefix;
}

bool is_kill(KeyKind kind) {
  return kind == KeyKind::KillToEnd || kind == KeyKind::KillToStart || kind == KeyKind::KillWord ||
         kind == KeyKind::KillWordRight;
}

// Text copied from a session carries its prompts, and answers on the lines without one: both go. What is left
// are its entries; none where the text is no session.
std::vector<std::string> session_entries(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  if (first == std::string::npos || text.compare(first, 3, ">>>") != 0) return {};
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool opens = line.rfind(">>>", 0) == 0;
    if (opens) entries.emplace_back();
    if (!entries.empty() && (opens || line.rfind("...", 0) == 0))
      entries.back() += (line.size() > 4 ? line.substr(4) : "") + (end < text.size() ? "\n" : "");
    begin = end + 1;
  }
  return entries;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

// Without what a terminal would take for a command, and without tabs.
std::string plain_text(const std::string& text) {
  std::string plain;
  for (char c : text) {
    if (c == '\t') plain += std::string(kIndent, ' ');
    else if (c == '\n' || static_cast<unsigned char>(c) >= 32) plain += c;
  }
  return plain;
}

}  // namespace

Editor::Editor(Terminal& terminal, History& history, EditorQuestions questions, EditKeys keys)
    : terminal_(terminal), history_(history), questions_(std::move(questions)), keys_(keys) {
  terminal_.escape_is_key(keys == EditKeys::Vi);
}

EditResult Editor::read(const std::string& prompt, const std::string& continuation, std::string& text) {
  prompt_ = prompt;
  continuation_ = continuation;
  text_.clear();
  cursor_ = 0;
  cursor_row_ = 0;
  history_at_ = history_.size();
  last_key_ = KeyKind::Ignored;
  undo_.clear();
  pasted_.clear();
  vi_.begin();
  terminal_.raw();
  draw();
  Outcome outcome;
  while (!outcome) {
    outcome = handle(terminal_.read_key());
    if (!outcome) draw();
  }
  draw(true);
  terminal_.restore();
  terminal_.write(outcome == EditResult::Cancelled ? "^C\r\n" : "\r\n");
  text = text_;
  return *outcome;
}

Editor::Outcome Editor::handle(const Key& key) { return keys_ == EditKeys::Vi ? handle_vi(key) : handle_emacs(key); }

Editor::Outcome Editor::handle_vi(const Key& key) {
  switch (vi_.handle(key, text_, cursor_)) {
    case ViKeys::Ask::Nothing: break;
    case ViKeys::Ask::NotMine: return handle_emacs(key);
    case ViKeys::Ask::Enter: {
      cursor_ = text_.size();
      const Outcome outcome = enter();
      if (!outcome) vi_.insert_on();
      return outcome;
    }
    case ViKeys::Ask::Up: vertical(-1); break;
    case ViKeys::Ask::Down: vertical(1); break;
    case ViKeys::Ask::Search: search(); break;
    case ViKeys::Ask::Repeat:
      for (const Key& again : vi_.begin_repeat()) handle_vi(again);
      vi_.end_repeat();
      break;
  }
  return std::nullopt;
}

// What a key changed can be undone; letters that were typed in a row go together.
Editor::Outcome Editor::handle_emacs(const Key& key) {
  State before{text_, cursor_};
  const Outcome outcome = handle_editing(key);
  const bool typing = key.kind == KeyKind::Text && last_key_ == KeyKind::Text;
  if (text_ != before.text && key.kind != KeyKind::Undo && !typing) undo_.push_back(std::move(before));
  last_key_ = key.kind;
  return outcome;
}

Editor::Outcome Editor::handle_editing(const Key& key) {
  if (handle_motion(key.kind) || handle_erasing(key.kind) || handle_kill(key.kind) || handle_change(key.kind))
    return std::nullopt;
  switch (key.kind) {
    case KeyKind::Text: insert(key.text); break;
    case KeyKind::Paste: paste(key.text); break;
    case KeyKind::Enter: return enter();
    case KeyKind::AltEnter: insert("\n"); break;
    case KeyKind::Tab: tab(); break;
    case KeyKind::Search: search(); break;
    case KeyKind::ClearScreen:
      terminal_.write("\033[H\033[2J");
      cursor_row_ = 0;
      break;
    case KeyKind::Interrupt: cursor_ = text_.size(); return EditResult::Cancelled;
    case KeyKind::Closed: return EditResult::End;
    case KeyKind::EndOfInput:
      if (text_.empty()) return EditResult::End;
      erase(cursor_, next_character(text_, cursor_));
      break;
    default: break;
  }
  return std::nullopt;
}

bool Editor::handle_motion(KeyKind kind) {
  switch (kind) {
    case KeyKind::Left: cursor_ = previous_character(text_, cursor_); return true;
    case KeyKind::Right: cursor_ = next_character(text_, cursor_); return true;
    case KeyKind::Home: cursor_ = line_start(cursor_); return true;
    case KeyKind::End: cursor_ = line_end(cursor_); return true;
    case KeyKind::WordLeft: cursor_ = word_left(); return true;
    case KeyKind::WordRight: cursor_ = word_right(); return true;
    case KeyKind::Up: vertical(-1); return true;
    case KeyKind::Down: vertical(1); return true;
    default: return false;
  }
}

bool Editor::handle_kill(KeyKind kind) {
  switch (kind) {
    case KeyKind::KillToEnd: kill(cursor_, std::max(line_end(cursor_), cursor_)); return true;
    case KeyKind::KillToStart: kill(line_start(cursor_), cursor_); return true;
    case KeyKind::KillWord: kill(word_left(), cursor_); return true;
    case KeyKind::KillWordRight: kill(cursor_, word_right()); return true;
    default: return false;
  }
}

bool Editor::handle_change(KeyKind kind) {
  switch (kind) {
    case KeyKind::Yank: insert(killed_); return true;
    case KeyKind::Transpose: transpose(); return true;
    case KeyKind::UpperWord:
    case KeyKind::LowerWord:
    case KeyKind::CapitalWord: change_case(kind); return true;
    case KeyKind::Undo: undo(); return true;
    default: return false;
  }
}

bool Editor::handle_erasing(KeyKind kind) {
  switch (kind) {
    case KeyKind::Delete: erase(cursor_, next_character(text_, cursor_)); return true;
    case KeyKind::Backspace: {
      // Inside the indentation one key takes back one level.
      const std::size_t start = line_start(cursor_);
      const bool indented =
          cursor_ > start && (cursor_ - start) % kIndent == 0 && text_.find_first_not_of(' ', start) >= cursor_;
      erase(indented ? cursor_ - kIndent : previous_character(text_, cursor_), cursor_);
      return true;
    }
    default: return false;
  }
}

Editor::Outcome Editor::enter() {
  // Anywhere in the last line, as in a shell; above it a line break is meant.
  const std::size_t rest = std::min(text_.find('\n', cursor_), text_.size());
  const bool in_last_line = text_.find_first_not_of(" \n", rest) == std::string::npos;
  if (in_last_line && questions_.is_complete(text_)) {
    cursor_ = text_.size();
    return EditResult::Entry;
  }
  const std::size_t start = line_start(cursor_);
  const std::string line = text_.substr(start, cursor_ - start);
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t last = line.find_last_not_of(' ');
  if (last != std::string::npos && line[last] == ':') indent += kIndent;
  if (last == std::string::npos) indent = 0;
  insert("\n" + std::string(indent, ' '));
  return std::nullopt;
}

void Editor::insert(const std::string& text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void Editor::paste(const std::string& text) {
  const std::string plain = plain_text(text);
  pasted_ = session_entries(plain);
  insert(pasted_.empty() ? plain : joined(pasted_));
}

std::vector<std::string> Editor::blocks() const {
  const std::string whole = joined(pasted_);
  const bool untouched = whole.size() <= text_.size() && text_.compare(0, whole.size(), whole) == 0 &&
                         text_.find_first_not_of(" \n", whole.size()) == std::string::npos;
  return pasted_.empty() || !untouched ? std::vector<std::string>{text_} : pasted_;
}

void Editor::erase(std::size_t begin, std::size_t end) {
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

// Kills in a row are brought back together.
void Editor::kill(std::size_t begin, std::size_t end) {
  if (!is_kill(last_key_)) killed_.clear();
  const std::string text = text_.substr(begin, end - begin);
  killed_ = begin < cursor_ ? text + killed_ : killed_ + text;
  erase(begin, end);
}

// The character before the cursor and the one on it; at a line's end the last two.
void Editor::transpose() {
  std::size_t middle = cursor_;
  if (middle == line_end(cursor_)) middle = previous_character(text_, middle);
  const std::size_t begin = previous_character(text_, middle), end = next_character(text_, middle);
  if (middle <= line_start(cursor_) || end > line_end(cursor_)) return;
  const std::string pair = text_.substr(middle, end - middle) + text_.substr(begin, middle - begin);
  text_.replace(begin, end - begin, pair);
  cursor_ = end;
}

void Editor::change_case(KeyKind kind) {
  const std::size_t end = word_right();
  bool upper = kind != KeyKind::LowerWord;
  for (; cursor_ < end; ++cursor_) {
    const auto c = static_cast<unsigned char>(text_[cursor_]);
    text_[cursor_] = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    if (kind == KeyKind::CapitalWord && is_word(text_[cursor_])) upper = false;
  }
}

void Editor::undo() {
  if (undo_.empty()) return;
  text_ = std::move(undo_.back().text);
  cursor_ = undo_.back().cursor;
  undo_.pop_back();
}

// Up on the first line and Down on the last walk through the history, whole blocks at a time.
void Editor::vertical(int direction) {
  const std::size_t start = line_start(cursor_), end = line_end(cursor_);
  const std::size_t column = cursor_ - start;
  if (direction < 0 && start > 0) {
    const std::size_t above = line_start(start - 1);
    cursor_ = std::min(above + column, start - 1);
  } else if (direction > 0 && end < text_.size()) {
    cursor_ = std::min(end + 1 + column, line_end(end + 1));
  } else if (direction < 0 && history_at_ > 0) {
    recall(history_at_ - 1);
  } else if (direction > 0 && history_at_ < history_.size()) {
    recall(history_at_ + 1);
  }
  while (cursor_ > 0 && cursor_ < text_.size() && (text_[cursor_] & 0xC0) == 0x80) --cursor_;
}

void Editor::recall(std::size_t index) {
  if (history_at_ == history_.size()) unfinished_ = text_;
  history_at_ = index;
  text_ = index < history_.size() ? history_.at(index) : unfinished_;
  cursor_ = text_.size();
}

// Ctrl-R: each further key narrows, another Ctrl-R goes further back, Enter or a motion takes it.
void Editor::search() {
  std::string wanted;
  std::size_t found = history_.size();
  const std::string saved_prompt = prompt_, saved_text = text_;
  for (;;) {
    prompt_ = "(search '" + wanted + "') ";
    draw();
    const Key key = terminal_.read_key();
    std::size_t from = history_.size();
    if (key.kind == KeyKind::Text) {
      wanted += key.text;
    } else if (key.kind == KeyKind::Backspace && !wanted.empty()) {
      wanted.resize(previous_character(wanted, wanted.size()));
    } else if (key.kind == KeyKind::Search) {
      from = found;
    } else {
      if (key.kind == KeyKind::Interrupt) text_ = saved_text;
      break;
    }
    const std::size_t match = history_.find_back(wanted, from);
    if (match == History::npos) continue;
    found = match;
    text_ = history_.at(match);
    cursor_ = text_.size();
  }
  cursor_ = text_.size();
  prompt_ = saved_prompt;
}

void Editor::tab() {
  const std::size_t start = line_start(cursor_);
  if (text_.find_first_not_of(' ', start) >= cursor_) {
    insert(std::string(kIndent - (cursor_ - start) % kIndent, ' '));
    return;
  }
  const auto [begin, names] = questions_.complete(text_, cursor_);
  if (names.empty()) return;
  const std::string prefix = common_prefix(names);
  if (prefix.size() > cursor_ - begin) {
    erase(begin, cursor_);
    insert(prefix);
  } else if (names.size() > 1) {
    show(names);
  }
}

void Editor::show(const std::vector<std::string>& names) {
  std::size_t widest = 0;
  for (const std::string& name : names) widest = std::max(widest, name.size());
  const std::size_t columns = std::max<std::size_t>(1, static_cast<std::size_t>(terminal_.columns()) / (widest + 2));
  draw(true);
  std::string list = "\r\n";
  constexpr std::size_t kMost = 200;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) {
    list += names[i];
    const bool last = i + 1 == names.size() || i + 1 == kMost || (i + 1) % columns == 0;
    list += last ? "\r\n" : std::string(widest + 2 - names[i].size(), ' ');
  }
  if (names.size() > kMost) list += "and " + std::to_string(names.size() - kMost) + " more\r\n";
  terminal_.write(list);
  cursor_row_ = 0;
}

std::vector<Editor::Line> Editor::measure(int columns) const {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin <= text_.size();) {
    const std::size_t end = line_end(begin);
    const std::string& prompt = begin == 0 ? prompt_ : continuation_;
    const int prompt_width = display_width(prompt);
    const int width = prompt_width + display_width({text_.data() + begin, end - begin});
    lines.push_back({begin, end, prompt_width, width, 1 + width / columns});
    begin = end + 1;
  }
  return lines;
}

// The lines to draw: all of them, or, of a block taller than the screen, those around the cursor.
std::pair<std::size_t, std::size_t> Editor::visible(const std::vector<Line>& lines, std::size_t cursor_line,
                                                    int height) {
  std::size_t first = cursor_line, last = cursor_line + 1;
  int rows = lines[cursor_line].rows;
  for (bool grown = true; grown;) {
    grown = false;
    if (first > 0 && rows + lines[first - 1].rows < height) {
      rows += lines[--first].rows;
      grown = true;
    }
    if (last < lines.size() && rows + lines[last].rows < height) {
      rows += lines[last++].rows;
      grown = true;
    }
  }
  return {first, last};
}

// Draws the block over what was drawn before; `final` leaves the cursor at its end.
void Editor::draw(bool final) {
  const int columns = terminal_.columns();
  const std::vector<Line> lines = measure(columns);
  std::size_t cursor_line = 0;
  while (cursor_line + 1 < lines.size() && lines[cursor_line + 1].begin <= cursor_) ++cursor_line;
  std::size_t first = 0, last = lines.size();
  if (!final) std::tie(first, last) = visible(lines, cursor_line, terminal_.rows());
  std::string out = "\r";
  if (cursor_row_ > 0) out += "\033[" + std::to_string(cursor_row_) + "A";
  out += "\033[J";
  int row = 0, cursor_row = 0, cursor_column = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Line& line = lines[i];
    if (i > first) out += "\r\n";
    out += i == 0 ? prompt_ : continuation_;
    out.append(text_, line.begin, line.end - line.begin);
    // A line that just fills its row leaves the cursor hanging on it.
    if (line.width > 0 && line.width % columns == 0) out += " \r";
    if (i == cursor_line) {
      const int before = line.prompt_width + display_width({text_.data() + line.begin, cursor_ - line.begin});
      cursor_row = row + before / columns;
      cursor_column = before % columns;
    }
    row += line.rows;
  }
  if (!final) {
    if (row - 1 > cursor_row) out += "\033[" + std::to_string(row - 1 - cursor_row) + "A";
    out += "\r";
    if (cursor_column > 0) out += "\033[" + std::to_string(cursor_column) + "C";
  }
  cursor_row_ = cursor_row;
  // A bar where keys insert, a block where they are commands.
  if (keys_ == EditKeys::Vi) out += final ? "\033[0 q" : vi_.inserting() ? "\033[6 q" : "\033[2 q";
  terminal_.write(out);
}

std::size_t Editor::line_start(std::size_t at) const {
  if (at == 0) return 0;
  const std::size_t found = text_.rfind('\n', at - 1);
  return found == std::string::npos ? 0 : found + 1;
}

std::size_t Editor::line_end(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

std::size_t Editor::word_left() const {
  std::size_t at = cursor_;
  while (at > 0 && !is_word(text_[at - 1])) --at;
  while (at > 0 && is_word(text_[at - 1])) --at;
  return at;
}

std::size_t Editor::word_right() const {
  std::size_t at = cursor_;
  while (at < text_.size() && !is_word(text_[at])) ++at;
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

}  // namespace tsc::cli
