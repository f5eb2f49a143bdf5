#pragma once
// vi's keys for the prompt's editor: what command mode does with the text. Knows: the text, the cursor, the
// keys. Must not know: the terminal, the history, how anything is drawn; what those have to do it answers
// as an Ask. Keeps: the unfinished command, the register, undo, the last change for '.'.
#include <optional>
#include <string>
#include <vector>

#include "interpreter/cli/terminal.h"

namespace tsc::cli {

class ViKeys {
 public:
  // What is left for the editor to do.
  enum class Ask { Nothing, NotMine, Enter, Up, Down, Search, Repeat };

  // A new block begins in insert mode.
  void begin();
  bool inserting() const { return inserting_; }
  // Enter could not run the block: typing goes on.
  void insert_on();
  // In insert mode everything but Escape is NotMine.
  Ask handle(const Key& key, std::string& text, std::size_t& cursor);
  // The keys of the last change, to be handled again; while they are, nothing is recorded.
  std::vector<Key> begin_repeat();
  void end_repeat() { repeating_ = false; }

 private:
  struct State {
    std::string text;
    std::size_t cursor;
  };
  // A command as typed: "2d3w" is count 6, verb 'd', motion "w".
  struct Command {
    std::size_t count = 1;
    bool counted = false;
    char verb = 0;       // d, c, y; 0: none
    std::string action;  // a motion, or a command of its own, with its argument
  };
  // The characters that a verb takes.
  struct Range {
    std::size_t begin = 0, end = 0;
    bool whole_lines = false;
  };
  enum class Parsed { Incomplete, Invalid, Whole };

  Ask typed(char c, std::string& text, std::size_t& cursor);
  static Parsed parse(const std::string& typed, Command& command);
  Ask run(const Command& command, std::string& text, std::size_t& cursor);
  Ask run_action(const Command& command, std::string& text, std::size_t& cursor);
  bool run_edit(const Command& command, std::string& text, std::size_t& cursor);
  void run_insertion(char action, std::string& text, std::size_t& cursor);
  void run_verb(char verb, Range range, std::string& text, std::size_t& cursor);
  void put(const Command& command, std::string& text, std::size_t& cursor);
  void step_history(std::vector<State>& from, std::vector<State>& to, std::string& text, std::size_t& cursor);
  // Where the motion leads; nothing when it leads nowhere. `inclusive`: a verb takes the character there too.
  std::optional<std::size_t> target(const Command& command, const std::string& text, std::size_t cursor,
                                    bool& inclusive);
  std::optional<std::size_t> find(char how, char wanted, std::size_t count, const std::string& text,
                                  std::size_t cursor) const;
  static Range changed_words(const Command& command, const std::string& text, std::size_t cursor);
  std::optional<Range> range_of(const Command& command, const std::string& text, std::size_t cursor);
  void remember(const std::string& text, std::size_t cursor);
  void leave_insertion(const std::string& text, std::size_t& cursor);

  bool inserting_ = true, repeating_ = false;
  bool insertion_by_command_ = false;  // the insertion that runs can be repeated
  std::string typed_;                  // of the command that is being typed
  std::string register_;               // what was deleted or yanked last
  bool register_lines_ = false;
  char find_how_ = 0, find_what_ = 0;
  std::vector<State> undo_, redo_;
  std::vector<Key> keys_;    // of the command that is being typed, and of the insertion it began
  std::vector<Key> change_;  // of the last one that changed the text
};

}  // namespace tsc::cli
