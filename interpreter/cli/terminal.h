#pragma once
// The terminal as keys and a size. Knows: raw mode, escape sequences, display widths. Must not
// know: the text being edited. Keeps: the terminal's mode is restored when the object goes.
#include <termios.h>

#include <string>
#include <string_view>

namespace tsc::cli {

enum class KeyKind {
  Text,  // one character, or a whole bracketed paste
  Paste,
  Enter,
  AltEnter,  // a line break without running
  Tab,
  Backspace,
  Delete,
  Left,
  Right,
  Up,
  Down,
  Home,
  End,
  WordLeft,
  WordRight,
  KillToEnd,
  KillToStart,
  KillWord,
  KillWordRight,
  Yank,       // what was killed last
  Transpose,  // the two characters around the cursor
  UpperWord,
  LowerWord,
  CapitalWord,
  Undo,
  ClearScreen,
  Search,
  Escape,  // only when asked for: see escape_is_key
  Interrupt,
  EndOfInput,  // Ctrl-D
  Closed,      // the terminal is gone
  Ignored,
};

struct Key {
  KeyKind kind = KeyKind::Ignored;
  std::string text;
};

class Terminal {
 public:
  Terminal(int input, int output);
  ~Terminal();
  Terminal(const Terminal&) = delete;

  // Raw while a line is edited; the user's own mode while a statement runs.
  void raw();
  void restore();

  Key read_key();
  // For vi: Escape is a key, and a letter that follows it is the next one.
  void escape_is_key(bool on) { escape_is_key_ = on; }
  void write(std::string_view text);
  int columns() const;
  int rows() const;

 private:
  int read_byte(int wait_milliseconds);
  Key read_escape();
  Key read_sequence();
  Key read_paste();
  Key read_character(unsigned char first);

  int input_, output_;
  bool is_raw_ = false, escape_is_key_ = false;
  termios saved_{};
  std::string pending_;  // bytes read and not yet used
  std::size_t used_ = 0;
};

// Columns that one line of UTF-8 takes.
int display_width(std::string_view text);
// Byte offset of the next and the previous character.
std::size_t next_character(std::string_view text, std::size_t at);
std::size_t previous_character(std::string_view text, std::size_t at);

}  // namespace tsc::cli
