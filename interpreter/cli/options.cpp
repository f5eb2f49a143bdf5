#include "interpreter/cli/options.h"

#include <algorithm>
#include <cstdlib>

#include "interpreter/embed/tenscript.h"

namespace tsc::cli {
namespace {

// ---- tables ------------------------------------------------------------------------------------

struct CommandRow {
  const char* name;
  Command command;
  const char* arguments;
  const char* help;
};

constexpr CommandRow kCommands[] = {
    {"run", Command::Run, "FILE [args]", "run a script; the word `run` may be left out"},
    {"repl", Command::Repl, "", "the interactive prompt, also what no argument starts"},
    {"explain", Command::Explain, "FILE [args]",
     "run a script, then say what was compiled and why"},
    {"info", Command::Info, "[--env]", "version, processor, threads, compiler, folders"},
    {"cache", Command::Cache, "list|verify|clear|path", "the compiled kernels kept on disk"},
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
};

bool parse_number(const std::string& text, uint64_t& number) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
  char* end = nullptr;
  errno = 0;
  number = std::strtoull(text.c_str(), &end, 10);
  return errno == 0;
}

bool is_on(const std::string& value) { return value != "0" && value != "" && value != "false"; }

bool set_threads(Invocation& into, const std::string& value) {
  uint64_t number = 0;
  if (!parse_number(value, number) || number == 0 || number > 4096) return false;
  into.threads = static_cast<uint32_t>(number);
  return true;
}

bool set_seed(Invocation& into, const std::string& value) {
  into.has_seed = true;
  return parse_number(value, into.seed);
}

bool set_color(Invocation& into, const std::string& value) {
  if (value != "auto" && value != "always" && value != "never") return false;
  into.color = value == "auto"     ? ColorMode::Auto
               : value == "always" ? ColorMode::Always
                                   : ColorMode::Never;
  return true;
}

bool set_path(Invocation& into, const std::string& value) {
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find(':', begin), value.size());
    if (end > begin) into.search_paths.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return true;
}

template <std::string Invocation::*field>
bool set_text(Invocation& into, const std::string& value) {
  into.*field = value;
  return true;
}

template <bool Invocation::*field>
bool set_switch(Invocation& into, const std::string& value) {
  into.*field = is_on(value);
  return true;
}

// --allow-* mean something in a sandbox only, so each of them makes one.
template <std::vector<std::string> Invocation::*roots>
bool add_root(Invocation& into, const std::string& value) {
  into.sandbox = true;
  (into.*roots).push_back(value);
  return !value.empty();
}

template <tsc_grant grant>
bool add_grant(Invocation& into, const std::string& value) {
  into.sandbox = true;
  if (is_on(value)) into.grants |= static_cast<uint32_t>(grant);
  return true;
}

// "512M": bytes, or with a letter thousands of them, counted in 1024.
bool set_cache_bytes(Invocation& into, const std::string& value) {
  constexpr std::string_view kUnits = "KMGT";
  std::string digits = value;
  int shift = 0;
  if (!digits.empty()) {
    const std::size_t unit = kUnits.find(digits.back());
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      digits.pop_back();
    }
  }
  uint64_t number = 0;
  if (!parse_number(digits, number) || number == 0 || number > UINT64_MAX >> shift) return false;
  into.cache_bytes = number << shift;
  return true;
}

bool set_cache_dir(Invocation& into, const std::string& value) {
  into.cache_dir = value == "off" ? "" : value;
  return true;
}

bool set_no_cache(Invocation& into, const std::string&) {
  into.cache_dir.clear();
  return true;
}

// Where the user's caches are, by the XDG Base Directory rules; empty without a home.
std::string default_cache_dir() {
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && *caches == '/') return std::string(caches) + "/tenscript";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/tenscript" : "";
}

bool set_code(Invocation& into, const std::string& value) {
  into.code = value;
  into.has_code = true;
  return true;
}

template <Command command>
bool set_command(Invocation& into, const std::string&) {
  into.command = command;
  return true;
}

const FlagRow kFlags[] = {
    {"-c", nullptr, "CODE", nullptr, "run this code; what follows is sys.argv", set_code},
    {"-m", nullptr, "MODULE", nullptr, "run a module found by its dotted name",
     set_text<&Invocation::module>},
    {"-i", nullptr, nullptr, nullptr, "stay at the prompt afterwards",
     set_switch<&Invocation::interactive>},
    {"--emit", nullptr, "STAGE", nullptr,
     "print a stage: tokens ast bytecode region backward fused loops llvm asm ptx",
     set_text<&Invocation::emit>},
    {"--no-jit", nullptr, nullptr, "TENSCRIPT_NO_JIT", "compile nothing, interpret everything",
     set_switch<&Invocation::no_jit>},
    {"--threads", nullptr, "N", "TENSCRIPT_THREADS", "threads of tensor work (one for each core)",
     set_threads},
    {"--seed", nullptr, "N", "TENSCRIPT_SEED", "seed of the random numbers", set_seed},
    {"--log", nullptr, "EVENTS", "TENSCRIPT_LOGS",
     "print compiler events as they come: graph_breaks,recompiles,...",
     set_text<&Invocation::logs>},
    {"--disable", nullptr, "PASSES", "TENSCRIPT_DISABLE", "compiler passes to leave out: fuse,...",
     set_text<&Invocation::disabled_passes>},
    {"--report", nullptr, "FILE", "TENSCRIPT_REPORT",
     "write the compiler's events as JSON at the end", set_text<&Invocation::report_file>},
    {"--sandbox", nullptr, nullptr, "TENSCRIPT_SANDBOX",
     "no files, environment, clock or processes but what --allow-* names",
     set_switch<&Invocation::sandbox>},
    {"--allow-read", nullptr, "DIR", nullptr, "in the sandbox: read files below this folder",
     add_root<&Invocation::read_roots>},
    {"--allow-write", nullptr, "DIR", nullptr, "in the sandbox: write files below this folder",
     add_root<&Invocation::write_roots>},
    {"--allow-env", nullptr, nullptr, nullptr, "in the sandbox: environment variables",
     add_grant<TSC_GRANT_ENVIRONMENT>},
    {"--allow-clock", nullptr, nullptr, nullptr, "in the sandbox: the time, and sleeping",
     add_grant<TSC_GRANT_CLOCK>},
    {"--allow-run", nullptr, nullptr, nullptr, "in the sandbox: processes",
     add_grant<TSC_GRANT_PROCESS>},
    {"--allow-net", nullptr, nullptr, nullptr, "in the sandbox: the network",
     add_grant<TSC_GRANT_NETWORK>},
    {"--no-cache", nullptr, nullptr, nullptr, "neither use nor keep compiled kernels on disk",
     set_no_cache},
    {"--color", nullptr, "WHEN", nullptr, "auto, always or never", set_color},
    {"--json", nullptr, nullptr, nullptr, "explain, info and cache: print JSON",
     set_switch<&Invocation::json>},
    {"--basic", nullptr, nullptr, nullptr, "the prompt without line editing",
     set_switch<&Invocation::basic>},
    {"--version", "-V", nullptr, nullptr, "print the version", set_command<Command::Version>},
    {"--help", "-h", nullptr, nullptr, "print this text", set_command<Command::Help>},
};

// Variables without a flag.
const FlagRow kVariables[] = {
    {nullptr, nullptr, nullptr, "TENSCRIPT_PATH", "folders that import searches, separated by ':'",
     set_path},
    {nullptr, nullptr, nullptr, "TENSCRIPT_CACHE_DIR",
     "where compiled kernels are kept; empty or `off`: nowhere", set_cache_dir},
    {nullptr, nullptr, nullptr, "TENSCRIPT_CACHE_SIZE",
     "at most so many bytes of them: 512M, 2G (1G)", set_cache_bytes},
    {nullptr, nullptr, nullptr, "TENSCRIPT_STRESS_BREAK",
     "for tests: every statement leaves compiled code", set_switch<&Invocation::stress_break>},
    {nullptr, nullptr, nullptr, "TENSCRIPT_STRICT_COMPILER",
     "for tests: a fault of the compiler is an error", set_switch<&Invocation::strict_compiler>},
};

// ---- reading -----------------------------------------------------------------------------------

const FlagRow* find_flag(const std::string& name) {
  for (const FlagRow& row : kFlags)
    if (name == row.name || (row.short_name != nullptr && name == row.short_name)) return &row;
  return nullptr;
}

std::string unknown(const char* what, const std::string& word,
                    const std::vector<std::string_view>& candidates) {
  std::string problem = std::string("unknown ") + what + " '" + word + "'";
  const std::string_view near = nearest(word, candidates);
  if (!near.empty()) problem += "; did you mean '" + std::string(near) + "'?";
  return problem;
}

std::string unknown_flag(const std::string& name) {
  std::vector<std::string_view> names;
  for (const FlagRow& row : kFlags) names.push_back(row.name);
  return unknown("flag", name, names);
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  ParsedCommandLine read() {
    read_environment();
    while (result_.problem.empty() && at_ < arguments_.size() && !done_) read_next();
    if (result_.problem.empty()) finish();
    return std::move(result_);
  }

 private:
  Invocation& into() { return result_.invocation; }

  void read_environment() {
    if (std::getenv("TENSCRIPT_CACHE_DIR") == nullptr) into().cache_dir = default_cache_dir();
    for (const FlagRow& row : kFlags) take_variable(row);
    for (const FlagRow& row : kVariables) take_variable(row);
  }

  void take_variable(const FlagRow& row) {
    const char* value = row.variable != nullptr ? std::getenv(row.variable) : nullptr;
    if (value == nullptr || *value == '\0') return;
    if (!row.set(into(), value))
      result_.problem =
          std::string("the environment variable ") + row.variable + " cannot be '" + value + "'";
  }

  void read_next() {
    const std::string word = arguments_[at_++];
    if (word.size() > 1 && word[0] == '-')
      read_flag(word);
    else
      read_word(word);
  }

  void read_flag(const std::string& word) {
    const std::size_t equals = word.compare(0, 2, "--") == 0 ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (name == "--env" && command_ == Command::Info) {
      into().arguments = {"--env"};
      return;
    }
    const FlagRow* row = find_flag(name);
    if (row == nullptr) {
      result_.problem = unknown_flag(name);
      return;
    }
    std::string value = "1";
    if (equals != std::string::npos && row->value == nullptr) {
      result_.problem = name + " takes no value";
      return;
    }
    if (row->value != nullptr && !take_value(name, *row, word, equals, value)) return;
    if (!row->set(into(), value))
      result_.problem = std::string(row->name) + " needs " + row->value + ", not '" + value + "'";
    if (name == "-c" || name == "-m") take_rest(name);
  }

  bool take_value(const std::string& name, const FlagRow& row, const std::string& word,
                  std::size_t equals, std::string& value) {
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (at_ < arguments_.size()) {
      value = arguments_[at_++];
    } else {
      result_.problem = name + " needs a value: " + name + " " + row.value;
      return false;
    }
    return true;
  }

  // What follows the program is the program's.
  void take_rest(const std::string& program) {
    into().arguments.assign({program});
    into().arguments.insert(into().arguments.end(), arguments_.begin() + static_cast<long>(at_),
                            arguments_.end());
    if (command_ == Command::Repl) command_ = Command::Run;
    done_ = true;
  }

  void read_word(const std::string& word) {
    if (!command_seen_) {
      for (const CommandRow& row : kCommands)
        if (word == row.name) {
          command_ = row.command;
          command_seen_ = true;
          return;
        }
    }
    if (command_ == Command::Info) {
      result_.problem = "info takes no file";
      return;
    }
    if (command_ == Command::Cache) {
      if (!into().arguments.empty())
        result_.problem = "cache takes one word: list, verify, clear or path";
      into().arguments = {word};
      return;
    }
    if (command_ == Command::Repl && !command_seen_) command_ = Command::Run;
    into().script = word;
    take_rest(word);
  }

  void finish() {
    if (into().command == Command::Help || into().command == Command::Version) return;
    into().command = command_;
    const bool has_program = !into().script.empty() || into().has_code || !into().module.empty();
    const bool needs_program = (command_ == Command::Run || command_ == Command::Explain);
    if (needs_program && !has_program)
      result_.problem = command_ == Command::Explain
                            ? "explain needs a script: tenscript explain FILE"
                            : "run needs a script: tenscript run FILE";
    if (command_ == Command::Cache && into().arguments.empty())
      result_.problem = "cache needs one word: list, verify, clear or path";
  }

  const std::vector<std::string>& arguments_;
  ParsedCommandLine result_;
  Command command_ = Command::Repl;
  bool command_seen_ = false;
  bool done_ = false;
  std::size_t at_ = 0;
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
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
  for (const CommandRow& row : kCommands) names.push_back(row.name);
  return names;
}

ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

std::string help_text() {
  std::string text = "usage: tenscript [flags] [command] [FILE [args]]\n\ncommands:\n";
  for (const CommandRow& row : kCommands)
    text += "  " + padded(std::string(row.name) + " " + row.arguments, 22) + row.help + "\n";
  text += "\nflags:\n";
  for (const FlagRow& row : kFlags) {
    std::string name = row.short_name != nullptr ? std::string(row.short_name) + ", " : "";
    name += row.name;
    if (row.value != nullptr) name += std::string(" ") + row.value;
    text += "  " + padded(name, 22) + row.help + "\n";
  }
  text +=
      "\n`tenscript info --env` lists the environment variables.\n"
      "Exit codes: 0 done, 1 the script failed, 2 wrong usage or no such file, 70 an internal "
      "fault, 130 interrupted.\n";
  return text;
}

std::string environment_text() {
  std::string text;
  auto add = [&](const FlagRow& row) {
    if (row.variable == nullptr) return;
    const char* value = std::getenv(row.variable);
    text += padded(row.variable, 28) + padded(value != nullptr ? value : "(not set)", 14) +
            row.help + "\n";
  };
  for (const FlagRow& row : kFlags) add(row);
  for (const FlagRow& row : kVariables) add(row);
  return text;
}

}  // namespace tsc::cli
