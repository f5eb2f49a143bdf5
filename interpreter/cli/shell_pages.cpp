#include "interpreter/cli/shell_pages.h"

#include <algorithm>

#include "interpreter/cli/option_table.h"

namespace tsc::cli {
namespace {

// ---- Rows as lists of words

// "-V" and "--version" of a row.
std::vector<std::string> names_of(const FlagRow& row) {
  std::vector<std::string> names;
  if (row.short_name != nullptr) names.emplace_back(row.short_name);
  names.emplace_back(row.name);
  return names;
}

std::vector<const FlagRow*> flags_of(Command command) {
  std::vector<const FlagRow*> rows;
  for (const FlagRow& row : flag_rows())
    if (row.command == command) rows.push_back(&row);
  return rows;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string joined_flags(Command command, bool with_value) {
  std::vector<std::string> names;
  for (const FlagRow* row : flags_of(command))
    if (!with_value || row->value != nullptr)
      for (std::string& name : names_of(*row)) names.push_back(std::move(name));
  return joined(names);
}

std::string joined_commands() {
  std::string out;
  for (const CommandRow& row : command_rows()) out += (out.empty() ? "" : " ") + std::string(row.name);
  return out;
}

std::string words_of(const CommandRow& row) {
  std::string words = row.takes == Takes::Word ? row.arguments : "";
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

// `text` inside single quotes of a shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string piped(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '|');
  return words;
}

// The commands that take words of a list, and no file.
std::vector<std::string> commands_of_words() {
  std::vector<std::string> names;
  for (const CommandRow& row : command_rows())
    if (row.takes == Takes::Word) names.emplace_back(row.name);
  return names;
}

// ---- bash

std::string bash_page() {
  std::string out =
      "# bash completion for tenscript\n"
      "_tenscript() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command= "
      "i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"${COMP_WORDS[i]}\" in\n"
      "      " +
      piped(joined_commands()) +
      ") command=\"${COMP_WORDS[i]}\"; break ;;\n"
      "    esac\n"
      "  done\n"
      "  local flags=" +
      shell_quoted(joined_flags(Command::Help, false)) +
      " words=\n"
      "  case \"$command\" in\n"
      "    '') words=" +
      shell_quoted(joined_commands()) + " ;;\n";
  for (const CommandRow& row : command_rows()) {
    const std::string flags = joined_flags(row.command, false), words = words_of(row);
    if (flags.empty() && words.empty()) continue;
    out += "    " + std::string(row.name) + ") flags=\"$flags " + flags + "\" words=" + shell_quoted(words) + " ;;\n";
  }
  out +=
      "  esac\n"
      // bash takes --color=never for three words.
      "  [[ $word == '=' ]] && word=\n"
      "  [[ $before == '=' ]] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
      "  case \"$before\" in\n";
  for (const FlagRow& row : flag_rows())
    if (row.words != nullptr)
      out += "    " + piped(joined(names_of(row))) + ") COMPREPLY=($(compgen -W " + shell_quoted(row.words) +
             " -- \"$word\")); return ;;\n";
  std::string with_value = joined_flags(Command::Help, true);
  for (const CommandRow& row : command_rows()) {
    const std::string more = joined_flags(row.command, true);
    if (!more.empty()) with_value += " " + more;
  }
  return out + "    " + piped(with_value) +
         ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
         "  esac\n"
         "  COMPREPLY=()\n"
         "  case \"$word\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "       case \"$command\" in\n"
         "         " +
         piped(joined(commands_of_words())) +
         ") ;;\n"
         "         *) COMPREPLY+=($(compgen -f -X '!*.tsc' -- \"$word\") $(compgen -d -- \"$word\")) ;;\n"
         "       esac ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _tenscript tenscript\n";
}

// ---- zsh

// Inside an _arguments specification ':' and brackets have a meaning.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_flag(const FlagRow& row) {
  std::string out;
  for (const std::string& name : names_of(row)) {
    std::string spec = name + "[" + zsh_text(row.help) + "]";
    if (row.value != nullptr)
      spec += ":" + zsh_text(row.value) + ":" + (row.words != nullptr ? "(" + std::string(row.words) + ")" : "_files");
    out += " " + shell_quoted(spec);
  }
  return out;
}

std::string zsh_page() {
  std::string out =
      "#compdef tenscript\n"
      "# zsh completion for tenscript\n"
      "_tenscript() {\n"
      "  local -a commands\n"
      "  commands=(";
  for (const CommandRow& row : command_rows())
    out += "\n    " + shell_quoted(std::string(row.name) + ":" + zsh_text(row.help));
  out += ")\n  _arguments -C";
  for (const FlagRow* row : flags_of(Command::Help)) out += zsh_flag(*row);
  out +=
      " '1: :->first' '*:: :->rest'\n"
      "  case $state in\n"
      "    first) _describe command commands; _files -g '*.tsc' ;;\n"
      "    rest)\n"
      "      case $words[1] in\n";
  for (const CommandRow& row : command_rows()) {
    out += "        " + std::string(row.name) + ") _arguments";
    for (const FlagRow* flag : flags_of(row.command)) out += zsh_flag(*flag);
    const std::string words = words_of(row);
    out += words.empty() ? " '*:file:_files'" : " " + shell_quoted("1:word:(" + words + ")");
    out += " ;;\n";
  }
  return out +
         "        *) _files ;;\n"
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "_tenscript \"$@\"\n";
}

// ---- fish

std::string fish_flag(const FlagRow& row, const std::string& condition) {
  std::string out = "complete -c tenscript" + condition;
  for (const std::string& name : names_of(row))
    out += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (row.words != nullptr) out += " -x -a " + shell_quoted(row.words);
  else if (row.value != nullptr) out += " -r";
  return out + " -d " + shell_quoted(row.help) + "\n";
}

std::string fish_page() {
  std::string out = "# fish completion for tenscript\n";
  for (const FlagRow* row : flags_of(Command::Help)) out += fish_flag(*row, "");
  for (const CommandRow& row : command_rows()) {
    const std::string inside = " -n '__fish_seen_subcommand_from " + std::string(row.name) + "'";
    out += "complete -c tenscript -n __fish_use_subcommand -a " + std::string(row.name) + " -d " +
           shell_quoted(row.help) + "\n";
    for (const FlagRow* flag : flags_of(row.command)) out += fish_flag(*flag, inside);
    const std::string words = words_of(row);
    if (!words.empty()) out += "complete -c tenscript" + inside + " -f -a " + shell_quoted(words) + "\n";
  }
  return out;
}

// ---- man

// A backslash, and a dot or quote at a line's beginning, are commands of troff; a hyphen that is to
// be copied is written with a backslash.
std::string troff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) (out += "\\&") += c;
    else out += c;
  }
  return out;
}

std::string man_flag(const FlagRow& row) {
  std::string out = ".TP\n";
  for (const std::string& name : names_of(row)) out += (out == ".TP\n" ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
  if (row.value != nullptr) out += " \\fI" + troff(row.value) + "\\fR";
  out += "\n" + troff(row.help);
  if (row.variable != nullptr) out += std::string(" (") + row.variable + ")";
  return out + "\n";
}

std::string man_page() {
  std::string out =
      ".TH TENSCRIPT 1\n"
      ".SH NAME\n"
      "tenscript \\- run, check, format and test PyTorch\\-style scripts\n"
      ".SH SYNOPSIS\n"
      ".B tenscript\n[\\fIflags\\fR] [\\fIcommand\\fR] [\\fIFILE\\fR [\\fIargs\\fR]]\n"
      ".SH DESCRIPTION\n"
      "Runs scripts written in Python syntax with PyTorch's names; what it understands it compiles "
      "to native code. Without arguments it opens a prompt.\n"
      ".SH COMMANDS\n";
  for (const CommandRow& row : command_rows())
    out += ".TP\n\\fB" + troff(row.name) + "\\fR " + troff(row.arguments) + "\n" + troff(row.help) + "\n";
  out += ".SH OPTIONS\nEach can also be set by the environment variable in brackets.\n";
  for (const FlagRow* row : flags_of(Command::Help)) out += man_flag(*row);
  for (const CommandRow& command : command_rows()) {
    const auto own = flags_of(command.command);
    if (!own.empty()) out += std::string(".SS Options of ") + command.name + "\n";
    for (const FlagRow* row : own) out += man_flag(*row);
  }
  out += ".SH ENVIRONMENT\n";
  for (const FlagRow& row : variable_rows())
    out += std::string(".TP\n\\fB") + row.variable + "\\fR\n" + troff(row.help) + "\n";
  return out +
         ".TP\n\\fBNO_COLOR\\fR, \\fBFORCE_COLOR\\fR\nNever, always use colours.\n"
         ".SH EXIT STATUS\n"
         "0 done; 1 the script, a test or a check failed; 2 wrong usage or no such file; 3 stopped "
         "by a limit; 70 an internal fault; 130 interrupted; 141 nobody reads the output; 143 "
         "terminated; otherwise what the script gave to sys.exit.\n";
}

}  // namespace

std::string shell_page(const std::string& kind) {
  if (kind == "bash") return bash_page();
  if (kind == "zsh") return zsh_page();
  if (kind == "fish") return fish_page();
  return man_page();
}

}  // namespace tsc::cli
