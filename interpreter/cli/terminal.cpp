#include "interpreter/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <cerrno>
#include <csignal>

namespace tsc::cli {
namespace {

// A signal handler has no other way to the terminal that it must leave usable.
volatile sig_atomic_t g_raw_input = -1;
termios g_saved_mode;

void on_terminate(int signal) {
  if (g_raw_input >= 0) tcsetattr(g_raw_input, TCSANOW, &g_saved_mode);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

constexpr char kPasteEnd[] = "\033[201~";

struct ControlKey {
  unsigned char byte;
  KeyKind kind;
};

constexpr ControlKey kControlKeys[] = {
    {'\r', KeyKind::Enter},     {'\n', KeyKind::Enter},   {'\t', KeyKind::Tab},       {127, KeyKind::Backspace},
    {8, KeyKind::Backspace},    {1, KeyKind::Home},       {5, KeyKind::End},          {2, KeyKind::Left},
    {6, KeyKind::Right},        {16, KeyKind::Up},        {14, KeyKind::Down},        {11, KeyKind::KillToEnd},
    {21, KeyKind::KillToStart}, {23, KeyKind::KillWord},  {12, KeyKind::ClearScreen}, {18, KeyKind::Search},
    {3, KeyKind::Interrupt},    {4, KeyKind::EndOfInput}, {25, KeyKind::Yank},        {20, KeyKind::Transpose},
    {31, KeyKind::Undo},
};

// After Escape, or with Alt.
constexpr ControlKey kAltKeys[] = {
    {'b', KeyKind::WordLeft},  {'f', KeyKind::WordRight}, {'\r', KeyKind::AltEnter},
    {'\n', KeyKind::AltEnter}, {127, KeyKind::KillWord},  {'d', KeyKind::KillWordRight},
    {'u', KeyKind::UpperWord}, {'l', KeyKind::LowerWord}, {'c', KeyKind::CapitalWord},
};

struct SequenceKey {
  const char* sequence;  // after ESC [ or ESC O
  KeyKind kind;
};

constexpr SequenceKey kSequenceKeys[] = {
    {"A", KeyKind::Up},          {"B", KeyKind::Down},         {"C", KeyKind::Right},
    {"D", KeyKind::Left},        {"H", KeyKind::Home},         {"F", KeyKind::End},
    {"1~", KeyKind::Home},       {"4~", KeyKind::End},         {"7~", KeyKind::Home},
    {"8~", KeyKind::End},        {"3~", KeyKind::Delete},      {"1;5C", KeyKind::WordRight},
    {"1;5D", KeyKind::WordLeft}, {"1;3C", KeyKind::WordRight}, {"1;3D", KeyKind::WordLeft},
    {"5C", KeyKind::WordRight},  {"5D", KeyKind::WordLeft},
};

}  // namespace

Terminal::Terminal(int input, int output) : input_(input), output_(output) { tcgetattr(input_, &saved_); }

Terminal::~Terminal() { restore(); }

void Terminal::raw() {
  if (is_raw_) return;
  termios mode = saved_;
  mode.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  tcsetattr(input_, TCSADRAIN, &mode);
  is_raw_ = true;
  g_saved_mode = saved_;
  g_raw_input = input_;
  for (int signal : {SIGTERM, SIGHUP}) std::signal(signal, on_terminate);
  write("\033[?2004h");  // bracketed paste
}

void Terminal::restore() {
  if (!is_raw_) return;
  write("\033[?2004l");
  tcsetattr(input_, TCSADRAIN, &saved_);
  is_raw_ = false;
  g_raw_input = -1;
}

void Terminal::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(output_, text.data(), text.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

int Terminal::columns() const {
  winsize size{};
  return ioctl(output_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int Terminal::rows() const {
  winsize size{};
  return ioctl(output_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

// -1: nothing came in time, or the terminal is gone. A negative wait waits for ever.
int Terminal::read_byte(int wait_milliseconds) {
  if (used_ == pending_.size()) {
    pollfd ready{input_, POLLIN, 0};
    int count = 0;
    do {
      count = poll(&ready, 1, wait_milliseconds);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return -1;
    char buffer[65536];
    const ssize_t got = read(input_, buffer, sizeof buffer);
    if (got <= 0) return -1;
    pending_.assign(buffer, static_cast<std::size_t>(got));
    used_ = 0;
  }
  return static_cast<unsigned char>(pending_[used_++]);
}

Key Terminal::read_key() {
  const int byte = read_byte(-1);
  if (byte < 0) return {KeyKind::Closed, ""};
  if (byte == 27) return read_escape();
  for (const ControlKey& key : kControlKeys)
    if (key.byte == byte) return {key.kind, ""};
  if (byte < 32) return {KeyKind::Ignored, ""};
  return read_character(static_cast<unsigned char>(byte));
}

Key Terminal::read_character(unsigned char first) {
  std::string text(1, static_cast<char>(first));
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  for (int i = 0; i < more; ++i) {
    const int byte = read_byte(100);
    if (byte < 0) return {KeyKind::Ignored, ""};
    text += static_cast<char>(byte);
  }
  return {KeyKind::Text, text};
}

Key Terminal::read_escape() {
  // A lone Escape has nothing behind it.
  const int byte = read_byte(50);
  if (escape_is_key_ && byte != '[') {
    if (byte >= 0) --used_;
    return {KeyKind::Escape, ""};
  }
  if (byte == '[' || byte == 'O') return read_sequence();
  for (const ControlKey& key : kAltKeys)
    if (key.byte == byte) return {key.kind, ""};
  return {KeyKind::Ignored, ""};
}

Key Terminal::read_sequence() {
  std::string sequence;
  for (int byte = read_byte(50); byte >= 0 && sequence.size() < 16; byte = read_byte(50)) {
    sequence += static_cast<char>(byte);
    if (byte >= 0x40 && byte <= 0x7E) break;
  }
  if (sequence == "200~") return read_paste();
  for (const SequenceKey& key : kSequenceKeys)
    if (sequence == key.sequence) return {key.kind, ""};
  return {KeyKind::Ignored, ""};
}

Key Terminal::read_paste() {
  Key key{KeyKind::Paste, ""};
  const std::string_view end = kPasteEnd;
  for (int byte = read_byte(2000); byte >= 0; byte = read_byte(2000)) {
    key.text += byte == '\r' ? '\n' : static_cast<char>(byte);
    if (byte == '~' && key.text.size() >= end.size() &&
        std::string_view(key.text).substr(key.text.size() - end.size()) == end) {
      key.text.resize(key.text.size() - end.size());
      break;
    }
  }
  return key;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(&text[at]),
                                         static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    width += length > 0 ? utf8proc_charwidth(point) : 1;
    at += length > 0 ? static_cast<std::size_t>(length) : 1;
  }
  return width;
}

std::size_t next_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  ++at;
  while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  return at;
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  --at;
  while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace tsc::cli
