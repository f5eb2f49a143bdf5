// Texts made of the option tables: help, the list of variables, nearest names.
#include <algorithm>
#include <cstdlib>

#include "interpreter/cli/option_table.h"

namespace tsc::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

// Characters to add, to remove, to change, or neighbours to swap.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string flag_line(const FlagRow& row) {
  std::string name = row.short_name != nullptr ? std::string(row.short_name) + ", " : "";
  name += row.name;
  if (row.value != nullptr) name += std::string(" ") + row.value;
  return "  " + padded(name, 22) + row.help + "\n";
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  // Two edits at most, and fewer in a short word, of which they would leave nothing.
  std::size_t best_distance = std::min<std::size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const CommandRow& row : command_rows()) names.push_back(row.name);
  return names;
}

std::string help_text() {
  std::string text = "usage: tenscript [flags] [command] [FILE [args]]\n\ncommands:\n";
  for (const CommandRow& row : command_rows())
    text += "  " + padded(std::string(row.name) + " " + row.arguments, 22) + row.help + "\n";
  text += "\nflags:\n";
  for (const FlagRow& row : flag_rows())
    if (row.command == Command::Help) text += flag_line(row);
  for (const CommandRow& command : command_rows()) {
    std::string own;
    for (const FlagRow& row : flag_rows())
      if (row.command == command.command) own += flag_line(row);
    if (!own.empty()) text += std::string("\nflags of ") + command.name + ":\n" + own;
  }
  text +=
      "\n`tenscript info --env` lists the environment variables.\n"
      "Exit codes: 0 done, 1 the script, a test or a check failed, 2 wrong usage or no such file, "
      "3 stopped\nby a limit, 70 an internal fault, 130 interrupted, 141 nobody reads the output, 143 terminated.\n";
  return text;
}

std::string environment_text() {
  std::string text;
  auto add = [&](const FlagRow& row) {
    if (row.variable == nullptr) return;
    const char* value = std::getenv(row.variable);
    text += padded(row.variable, 28) + padded(value != nullptr ? value : "(not set)", 14) + row.help + "\n";
  };
  for (const FlagRow& row : flag_rows()) add(row);
  for (const FlagRow& row : variable_rows()) add(row);
  return text;
}

}  // namespace tsc::cli
