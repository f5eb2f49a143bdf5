#include "interpreter/cli/vi_keys.h"

#include <algorithm>
#include <cctype>

#include "interpreter/cli/vi_text.h"

namespace tsc::cli {
namespace {

constexpr std::size_t kMostSteps = 1000;  // of undo, and of a count

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Motions of one character; `lines` take whole lines with a verb.
constexpr std::string_view kMotions = "hlwbeWBE0^$G;,% ", kLineMotions = "jkG";
// Commands that stand without a verb and want no further character.
constexpr std::string_view kActions = "xXDCSsYpPiaIAouOJ~./";
// What changes the text, for '.'.
constexpr std::string_view kChanges = "xXDCSspPiaIAoOJ~r";

std::size_t read_count(const std::string& typed, std::size_t& at, bool& counted) {
  std::size_t count = 0;
  while (at < typed.size() && std::isdigit(static_cast<unsigned char>(typed[at])) && (count > 0 || typed[at] != '0')) {
    count = std::min(count * 10 + static_cast<std::size_t>(typed[at] - '0'), kMostSteps);
    ++at;
    counted = true;
  }
  return std::max<std::size_t>(count, 1);
}

char swap_case(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return c;
  return static_cast<char>(std::islower(byte) ? std::toupper(byte) : std::tolower(byte));
}

}  // namespace

void ViKeys::begin() {
  inserting_ = true;
  insertion_by_command_ = false;
  typed_.clear();
  keys_.clear();
  undo_.assign(1, {"", 0});
  redo_.clear();
}

void ViKeys::insert_on() {
  inserting_ = true;
  insertion_by_command_ = false;
}

std::vector<Key> ViKeys::begin_repeat() {
  repeating_ = true;
  return change_;
}

ViKeys::Ask ViKeys::handle(const Key& key, std::string& text, std::size_t& cursor) {
  if (inserting_) {
    if (!repeating_) keys_.push_back(key);
    if (key.kind != KeyKind::Escape) return Ask::NotMine;
    leave_insertion(text, cursor);
    return Ask::Nothing;
  }
  switch (key.kind) {
    case KeyKind::Text:
      if (!repeating_) {
        if (typed_.empty()) keys_.clear();
        keys_.push_back(key);
      }
      // A character beyond ASCII is an argument of r, f and t, or nothing.
      return key.text.size() == 1 ? typed(key.text[0], text, cursor) : Ask::Nothing;
    case KeyKind::Escape:
    case KeyKind::Tab:
    case KeyKind::AltEnter: typed_.clear(); return Ask::Nothing;
    case KeyKind::Backspace: return typed('h', text, cursor);
    case KeyKind::Enter: typed_.clear(); return Ask::Enter;
    case KeyKind::Search: step_history(redo_, undo_, text, cursor); return Ask::Nothing;
    default: typed_.clear(); return Ask::NotMine;
  }
}

void ViKeys::leave_insertion(const std::string& text, std::size_t& cursor) {
  inserting_ = false;
  if (cursor > vi::line_start(text, cursor)) cursor = previous_character(text, cursor);
  cursor = vi::clamp_to_line(text, cursor);
  if (!repeating_ && insertion_by_command_) change_ = keys_;
}

ViKeys::Ask ViKeys::typed(char c, std::string& text, std::size_t& cursor) {
  typed_ += c;
  Command command;
  const Parsed parsed = parse(typed_, command);
  if (parsed == Parsed::Incomplete) return Ask::Nothing;
  typed_.clear();
  if (parsed == Parsed::Invalid) return Ask::Nothing;
  const Ask ask = run(command, text, cursor);
  const bool changes =
      command.verb == 'd' || command.verb == 'c' || (command.verb == 0 && is_one_of(command.action[0], kChanges));
  if (changes && !inserting_ && !repeating_) change_ = keys_;
  if (!inserting_) cursor = vi::clamp_to_line(text, cursor);
  return ask;
}

ViKeys::Parsed ViKeys::parse(const std::string& typed, Command& command) {
  std::size_t at = 0;
  command.count = read_count(typed, at, command.counted);
  if (at == typed.size()) return Parsed::Incomplete;
  if (is_one_of(typed[at], "dcy")) {
    command.verb = typed[at++];
    command.count = std::min(command.count * read_count(typed, at, command.counted), kMostSteps);
    if (at == typed.size()) return Parsed::Incomplete;
  }
  command.action = typed.substr(at);
  const char first = command.action[0];
  const bool verb = command.verb != 0;
  const bool wants_more = is_one_of(first, "fFtTg") || (verb && is_one_of(first, "ia")) || (!verb && first == 'r');
  if (wants_more && command.action.size() == 1) return Parsed::Incomplete;
  if (wants_more) return first != 'g' || command.action[1] == 'g' ? Parsed::Whole : Parsed::Invalid;
  const bool known = is_one_of(first, kMotions) || is_one_of(first, kLineMotions) ||
                     (verb ? first == command.verb : is_one_of(first, kActions));
  return known ? Parsed::Whole : Parsed::Invalid;
}

ViKeys::Ask ViKeys::run(const Command& command, std::string& text, std::size_t& cursor) {
  if (command.verb != 0) {
    if (const auto range = range_of(command, text, cursor)) run_verb(command.verb, *range, text, cursor);
    return Ask::Nothing;
  }
  const char action = command.action[0];
  if (action == 'j') return Ask::Down;
  if (action == 'k') return Ask::Up;
  bool inclusive = false;
  if (is_one_of(action, kMotions) || is_one_of(action, "fFtTg")) {
    if (const auto to = target(command, text, cursor, inclusive)) cursor = *to;
    return Ask::Nothing;
  }
  return run_action(command, text, cursor);
}

ViKeys::Ask ViKeys::run_action(const Command& command, std::string& text, std::size_t& cursor) {
  switch (command.action[0]) {
    case '/': return Ask::Search;
    case '.': return Ask::Repeat;
    case 'u': step_history(undo_, redo_, text, cursor); return Ask::Nothing;
    case 'p':
    case 'P': put(command, text, cursor); return Ask::Nothing;
    default:
      if (!run_edit(command, text, cursor)) run_insertion(command.action[0], text, cursor);
      return Ask::Nothing;
  }
}

// The commands that are short for a verb and a motion, and those that change characters in place.
bool ViKeys::run_edit(const Command& command, std::string& text, std::size_t& cursor) {
  struct Short {
    char action, verb;
    const char* motion;
  };
  constexpr Short kShort[] = {{'x', 'd', "l"}, {'X', 'd', "h"}, {'D', 'd', "$"}, {'C', 'c', "$"},
                              {'S', 'c', "c"}, {'s', 'c', "l"}, {'Y', 'y', "y"}};
  const char action = command.action[0];
  for (const Short& row : kShort) {
    if (row.action != action) continue;
    Command whole = command;
    whole.verb = row.verb;
    whole.action = row.motion;
    run(whole, text, cursor);
    return true;
  }
  if (action == 'J') {
    remember(text, cursor);
    for (std::size_t i = 1; i < std::max<std::size_t>(command.count, 2); ++i) {
      const std::size_t end = vi::line_end(text, cursor);
      if (end == text.size()) break;
      const std::size_t next = vi::first_in_line(text, end + 1);
      text.replace(end, next - end, next < text.size() && text[next] != '\n' ? " " : "");
      cursor = end;
    }
    return true;
  }
  if (action != '~' && action != 'r') return false;
  remember(text, cursor);
  for (std::size_t i = 0; i < command.count && cursor < vi::line_end(text, cursor); ++i) {
    const std::size_t next = next_character(text, cursor);
    if (action == '~') text[cursor] = swap_case(text[cursor]);
    else text.replace(cursor, next - cursor, 1, command.action[1]);
    cursor = next_character(text, cursor);
  }
  if (action == 'r') cursor = previous_character(text, cursor);
  return true;
}

void ViKeys::run_insertion(char action, std::string& text, std::size_t& cursor) {
  remember(text, cursor);
  inserting_ = insertion_by_command_ = true;
  const std::size_t end = vi::line_end(text, cursor);
  const std::string indent(vi::first_in_line(text, cursor) - vi::line_start(text, cursor), ' ');
  switch (action) {
    case 'a': cursor = std::min(next_character(text, cursor), end); break;
    case 'I': cursor = vi::first_in_line(text, cursor); break;
    case 'A': cursor = end; break;
    case 'o':
      text.insert(end, "\n" + indent);
      cursor = end + 1 + indent.size();
      break;
    case 'O':
      cursor = vi::line_start(text, cursor);
      text.insert(cursor, indent + "\n");
      cursor += indent.size();
      break;
    default: break;
  }
}

void ViKeys::run_verb(char verb, Range range, std::string& text, std::size_t& cursor) {
  register_ = text.substr(range.begin, range.end - range.begin);
  register_lines_ = range.whole_lines;
  if (verb == 'y') {
    cursor = range.begin;
    return;
  }
  remember(text, cursor);
  if (range.whole_lines && verb == 'd') {
    // With the line break after them, or, of the last lines, the one before.
    if (range.end < text.size()) ++range.end;
    else if (range.begin > 0) --range.begin;
  }
  text.erase(range.begin, range.end - range.begin);
  cursor = std::min(range.begin, text.size());
  if (range.whole_lines && verb == 'd') cursor = vi::first_in_line(text, cursor);
  if (verb == 'c') inserting_ = insertion_by_command_ = true;
}

void ViKeys::put(const Command& command, std::string& text, std::size_t& cursor) {
  if (register_.empty()) return;
  remember(text, cursor);
  const bool after = command.action[0] == 'p';
  std::string added;
  for (std::size_t i = 0; i < command.count; ++i) added += register_ + (register_lines_ ? "\n" : "");
  if (!register_lines_) {
    if (after) cursor = std::min(next_character(text, cursor), vi::line_end(text, cursor));
    text.insert(cursor, added);
    cursor = previous_character(text, cursor + added.size());
    return;
  }
  added.pop_back();
  const std::size_t at = after ? vi::line_end(text, cursor) : vi::line_start(text, cursor);
  text.insert(at, after ? "\n" + added : added + "\n");
  cursor = vi::first_in_line(text, after ? at + 1 : at);
}

void ViKeys::remember(const std::string& text, std::size_t cursor) {
  if (undo_.size() == kMostSteps) undo_.erase(undo_.begin());
  undo_.push_back({text, cursor});
  redo_.clear();
}

void ViKeys::step_history(std::vector<State>& from, std::vector<State>& to, std::string& text, std::size_t& cursor) {
  typed_.clear();
  if (from.empty()) return;
  to.push_back({text, cursor});
  text = std::move(from.back().text);
  cursor = vi::clamp_to_line(text, from.back().cursor);
  from.pop_back();
}

std::optional<std::size_t> ViKeys::find(char how, char wanted, std::size_t count, const std::string& text,
                                        std::size_t cursor) const {
  const std::size_t start = vi::line_start(text, cursor), end = vi::line_end(text, cursor);
  const bool forward = how == 'f' || how == 't';
  std::size_t at = cursor;
  for (std::size_t i = 0; i < count; ++i) {
    do {
      if (forward ? at + 1 >= end : at <= start) return std::nullopt;
      at += forward ? 1 : std::size_t(-1);
    } while (text[at] != wanted);
  }
  if (how == 't') return previous_character(text, at);
  return how == 'T' ? next_character(text, at) : at;
}

std::optional<std::size_t> ViKeys::target(const Command& command, const std::string& text, std::size_t cursor,
                                          bool& inclusive) {
  const char action = command.action[0];
  if (is_one_of(action, "fFtT")) {
    find_how_ = action;
    find_what_ = command.action[1];
  }
  if (is_one_of(action, "fFtT;,")) {
    if (find_how_ == 0) return std::nullopt;
    constexpr std::string_view kHow = "fFtT", kOpposite = "FfTt";
    const char how = action == ',' ? kOpposite[kHow.find(find_how_)] : find_how_;
    inclusive = how == 'f' || how == 't';
    return find(how, find_what_, command.count, text, cursor);
  }
  if (action == '%') {
    inclusive = true;
    return vi::matching_bracket(text, cursor);
  }
  const std::size_t start = vi::line_start(text, cursor), end = vi::line_end(text, cursor);
  if (action == '0') return start;
  if (action == '^') return vi::first_in_line(text, cursor);
  if (action == '$') return end;
  if (action == 'g' || (action == 'G' && command.counted)) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < command.count && vi::line_end(text, at) < text.size(); ++i)
      at = vi::line_end(text, at) + 1;
    return vi::first_in_line(text, at);
  }
  if (action == 'G') return vi::first_in_line(text, text.size());
  inclusive = action == 'e' || action == 'E';
  std::size_t at = cursor;
  const bool big = std::isupper(static_cast<unsigned char>(action)) != 0;
  for (std::size_t i = 0; i < command.count; ++i) switch (action) {
      case 'h': at = at > start ? previous_character(text, at) : at; break;
      case 'l':
      case ' ': at = at < end ? next_character(text, at) : at; break;
      case 'w':
      case 'W': at = vi::next_word(text, at, big); break;
      case 'e':
      case 'E': at = vi::word_end(text, at, big); break;
      default: at = vi::previous_word(text, at, big); break;
    }
  return at;
}

// cw takes the words and the blanks between them, but not those behind the last one.
ViKeys::Range ViKeys::changed_words(const Command& command, const std::string& text, std::size_t cursor) {
  const bool big = command.action == "W";
  std::size_t end = vi::past_word(text, cursor, big);
  for (std::size_t i = 1; i < command.count; ++i)
    end = vi::past_word(text, std::min(text.find_first_not_of(" \t\n", end), text.size()), big);
  return {cursor, end, false};
}

std::optional<ViKeys::Range> ViKeys::range_of(const Command& command, const std::string& text, std::size_t cursor) {
  const char action = command.action[0];
  if (is_one_of(action, "ia")) {
    const auto bounds = vi::text_object(text, cursor, action == 'a', command.action[1]);
    if (!bounds) return std::nullopt;
    return Range{bounds->first, bounds->second, false};
  }
  if (action == command.verb || is_one_of(action, kLineMotions) || action == 'g') {
    std::size_t begin = cursor, end = cursor;
    bool inclusive = false;
    const bool leads = action == 'G' || action == 'g';
    const std::size_t there = leads ? *target(command, text, cursor, inclusive) : cursor;
    begin = std::min(begin, there);
    end = std::max(end, there);
    const std::size_t more = leads ? 0 : command.count - (action == command.verb ? 1 : 0);
    for (std::size_t i = 0; i < more; ++i) {
      if (action == 'k' && vi::line_start(text, begin) > 0) begin = vi::line_start(text, begin) - 1;
      if (action != 'k' && vi::line_end(text, end) < text.size()) end = vi::line_end(text, end) + 1;
    }
    return Range{vi::line_start(text, begin), vi::line_end(text, end), true};
  }
  bool inclusive = false;
  const bool words = action == 'w' || action == 'W';
  if (words && command.verb == 'c' && cursor < text.size() && !is_one_of(text[cursor], " \t\n"))
    return changed_words(command, text, cursor);
  const auto to = target(command, text, cursor, inclusive);
  if (!to) return std::nullopt;
  std::size_t end = std::max(cursor, *to);
  if (inclusive) end = next_character(text, end);
  // The last word of a line does not take the line break with it.
  if (words) end = std::min(end, vi::line_end(text, cursor));
  return Range{std::min(cursor, *to), end, false};
}

}  // namespace tsc::cli
