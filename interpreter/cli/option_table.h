#pragma once
// The tables of commands, flags and variables. Parsing, help, `info --env`, the manual page and the
// shells' completions all read them. Knows: Invocation. Must not know: the engine.
#include <span>

#include "interpreter/cli/options.h"

namespace tsc::cli {

// What stands after a command: a program with its own arguments, paths between flags, one word of
// those that `arguments` lists between '|', nothing.
enum class Takes { Program, Paths, Word, Nothing };

struct CommandRow {
  const char* name;
  Command command;
  const char* arguments;
  const char* help;
  Takes takes = Takes::Program;
};

// A setter returns false when the value is not one.
using Setter = bool (*)(Invocation&, const std::string& value);

struct FlagRow {
  const char* name;        // the long form, or the short one when there is no long form
  const char* short_name;  // or null
  const char* value;       // the value's name in the help, or null for a switch
  const char* variable;    // the environment variable that sets it, or null
  const char* help;
  Setter set;
  Command command = Command::Help;  // the only command it belongs to; Help: to all
  const char* words = nullptr;      // the values that there are; null where they cannot be listed
};

std::span<const CommandRow> command_rows();
std::span<const FlagRow> flag_rows();
std::span<const FlagRow> variable_rows();  // without a flag

}  // namespace tsc::cli
