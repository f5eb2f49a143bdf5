#pragma once
// Edits one block of source on a terminal. Knows: keys, the text, how it is drawn, history. Must
// not know: the language; what it has to ask (is this complete? what could this name become?) it
// asks through EditorQuestions.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/cli/history.h"
#include "interpreter/cli/terminal.h"
#include "interpreter/cli/vi_keys.h"

namespace tsc::cli {

struct EditorQuestions {
  // Does Enter at the end of this text run it?
  std::function<bool(const std::string& text)> is_complete;
  // Where the name before the cursor begins, and what it could become.
  std::function<std::pair<std::size_t, std::vector<std::string>>(const std::string& text, std::size_t cursor)> complete;
};

enum class EditKeys { Emacs, Vi };
enum class EditResult { Entry, Cancelled, End };

class Editor {
 public:
  Editor(Terminal& terminal, History& history, EditorQuestions questions, EditKeys keys = EditKeys::Emacs);
  // Reads one block into `text`.
  EditResult read(const std::string& prompt, const std::string& continuation, std::string& text);
  // What was read, entry by entry: a session that was pasted has several.
  std::vector<std::string> blocks() const;

 private:
  // What a key did: go on editing, or leave with a result.
  using Outcome = std::optional<EditResult>;
  Outcome handle(const Key& key);
  Outcome handle_vi(const Key& key);
  Outcome handle_emacs(const Key& key);
  Outcome handle_editing(const Key& key);
  bool handle_motion(KeyKind kind);
  bool handle_erasing(KeyKind kind);
  bool handle_kill(KeyKind kind);
  bool handle_change(KeyKind kind);
  Outcome enter();
  void insert(const std::string& text);
  void paste(const std::string& text);
  void erase(std::size_t begin, std::size_t end);
  void kill(std::size_t begin, std::size_t end);
  void transpose();
  void change_case(KeyKind kind);
  void undo();
  void vertical(int direction);
  void recall(std::size_t index);
  void search();
  void tab();
  void show(const std::vector<std::string>& names);
  void draw(bool final = false);

  struct State {
    std::string text;
    std::size_t cursor;
  };
  struct Line {
    std::size_t begin, end;
    int prompt_width, width, rows;
  };
  std::vector<Line> measure(int columns) const;
  static std::pair<std::size_t, std::size_t> visible(const std::vector<Line>& lines, std::size_t cursor_line,
                                                     int height);

  std::size_t line_start(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  std::size_t word_left() const;
  std::size_t word_right() const;

  Terminal& terminal_;
  History& history_;
  EditorQuestions questions_;
  const EditKeys keys_;
  ViKeys vi_;
  std::string prompt_, continuation_;
  std::string text_;
  std::size_t cursor_ = 0;
  std::size_t history_at_ = 0;
  std::string unfinished_;  // what was being written before the history was entered
  std::string killed_;      // of the last kills in a row
  KeyKind last_key_ = KeyKind::Ignored;
  std::vector<State> undo_;
  std::vector<std::string> pasted_;  // the entries of the session that was pasted last
  int cursor_row_ = 0;               // of the screen, below the first drawn row
};

}  // namespace tsc::cli
