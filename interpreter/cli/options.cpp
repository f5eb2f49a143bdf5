#include "interpreter/cli/options.h"

#include <algorithm>
#include <cstdlib>

#include "interpreter/cli/option_table.h"
#include "interpreter/embed/tenscript.h"

namespace tsc::cli {
namespace {

// ---- tables ------------------------------------------------------------------------------------

constexpr CommandRow kCommands[] = {
    {"run", Command::Run, "FILE [args]", "run a script; the word `run` may be left out"},
    {"repl", Command::Repl, "", "the interactive prompt, also what no argument starts"},
    {"explain", Command::Explain, "FILE [args] | CODE",
     "run a script, then say what was compiled and why; or what an error code means"},
    {"fmt", Command::Format, "PATH...", "give scripts the one style; - is standard input", Takes::Paths},
    {"check", Command::Check, "[PATH...]", "find mistakes in scripts without running them", Takes::Paths},
    {"test", Command::Test, "[PATH...]", "run the test functions of test_*.tsc", Takes::Paths},
    {"info", Command::Info, "[--env]", "version, processor, threads, compiler, folders", Takes::Nothing},
    {"cache", Command::Cache, "list|verify|clear|path", "the compiled kernels kept on disk", Takes::Word},
    {"completions", Command::Complete, "bash|zsh|fish|man", "print the shell's completions, or the manual page",
     Takes::Word},
};

bool parse_number(const std::string& text, uint64_t& number) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
  char* end = nullptr;
  errno = 0;
  number = std::strtoull(text.c_str(), &end, 10);
  return errno == 0;
}

bool is_on(const std::string& value) { return value != "0" && value != "" && value != "false"; }

bool set_verify(Invocation& into, const std::string& value) {
  uint64_t number = 0;
  const bool percent = !value.empty() && value.back() == '%';
  if (!parse_number(percent ? value.substr(0, value.size() - 1) : value, number) || number > 100) return false;
  into.verify_percent = static_cast<uint32_t>(number);
  return true;
}

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

// The place of a word in a list with blanks between; -1: it is not there.
int place_in(std::string_view words, std::string_view word) {
  for (int place = 0;; ++place) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return place;
    if (end == words.size()) return -1;
    words.remove_prefix(end + 1);
  }
}

// `words` in the order of the values; the first stands for the value `first`.
template <auto field, const char* const& words, int first = 0>
bool set_choice(Invocation& into, const std::string& value) {
  const int place = place_in(words, value);
  if (place >= 0) into.*field = static_cast<std::remove_reference_t<decltype(into.*field)>>(first + place);
  return place >= 0;
}

constexpr const char* kColors = "auto always never";
constexpr const char* kErrorFormats = "full json short";
constexpr const char* kKeys = "emacs vi";  // behind KeyStyle::Inputrc

bool set_jobs(Invocation& into, const std::string& value) {
  uint64_t number = 0;
  if (!parse_number(value, number) || number == 0 || number > 1024) return false;
  into.test_jobs = static_cast<uint32_t>(number);
  return true;
}

bool set_show_environment(Invocation& into, const std::string&) {
  into.arguments = {"--env"};
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

template <std::string Invocation::* field>
bool set_text(Invocation& into, const std::string& value) {
  into.*field = value;
  return true;
}

template <bool Invocation::* field>
bool set_switch(Invocation& into, const std::string& value) {
  into.*field = is_on(value);
  return true;
}

// --allow-* mean something in a sandbox only, so each of them makes one.
template <std::vector<std::string> Invocation::* roots>
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
bool parse_bytes(const std::string& value, uint64_t& bytes) {
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
  bytes = number << shift;
  return true;
}

template <uint64_t Invocation::* field>
bool set_bytes(Invocation& into, const std::string& value) {
  return parse_bytes(value, into.*field);
}

// Seconds, or with a unit: "1.5", "200ms", "3m".
bool set_time_limit(Invocation& into, const std::string& value) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (end == value.c_str()) return false;
  for (const Unit& unit : kUnits) {
    if (unit.name != end) continue;
    const double nanoseconds = number * unit.seconds * 1e9;
    into.time_limit_ns = nanoseconds < 9e18 ? static_cast<uint64_t>(std::max(nanoseconds, 0.0)) : 0;
    return nanoseconds >= 1 && nanoseconds < 9e18;
  }
  return false;
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
    {"-m", nullptr, "MODULE", nullptr, "run a module found by its dotted name", set_text<&Invocation::module>},
    {"-i", nullptr, nullptr, "TENSCRIPT_INTERACTIVE", "stay at the prompt afterwards",
     set_switch<&Invocation::interactive>},
    {"--emit", nullptr, "STAGE", "TENSCRIPT_EMIT",
     "print a stage: tokens ast bytecode region backward fused loops llvm asm ptx", set_text<&Invocation::emit>,
     Command::Help, "tokens ast bytecode region backward fused loops llvm asm ptx"},
    {"--no-jit", nullptr, nullptr, "TENSCRIPT_NO_JIT", "compile nothing, interpret everything",
     set_switch<&Invocation::no_jit>},
    {"--no-background", nullptr, nullptr, "TENSCRIPT_NO_BACKGROUND",
     "wait for the compiler instead of interpreting meanwhile", set_switch<&Invocation::no_background>},
    {"--check-shapes", nullptr, nullptr, "TENSCRIPT_CHECK_SHAPES",
     "compare calls and results with their Tensor[...] annotations", set_switch<&Invocation::check_shapes>},
    {"--verify", nullptr, "N%", "TENSCRIPT_VERIFY", "interpret N of 100 compiled calls too, and compare the bits",
     set_verify},
    {"--threads", nullptr, "N", "TENSCRIPT_THREADS", "threads of tensor work (one for each core)", set_threads},
    {"--cuda", nullptr, "DEVICES", "TENSCRIPT_CUDA", "what device \"cuda\" is: simulated, and settings behind it",
     set_text<&Invocation::cuda>},
    {"--seed", nullptr, "N", "TENSCRIPT_SEED", "seed of the random numbers", set_seed},
    {"--log", nullptr, "EVENTS", "TENSCRIPT_LOGS", "print compiler events as they come: graph_breaks,recompiles,...",
     set_text<&Invocation::logs>, Command::Help,
     "all graph_breaks breaks recompiles fusion kernels guards cache perf fallback regions"},
    {"--disable", nullptr, "PASSES", "TENSCRIPT_DISABLE", "compiler passes to leave out: fuse,...",
     set_text<&Invocation::disabled_passes>, Command::Help, "fuse memory strips dce sizes simplify cse products"},
    {"--report", nullptr, "FILE", "TENSCRIPT_REPORT", "write the compiler's events as JSON at the end",
     set_text<&Invocation::report_file>},
    {"--sandbox", nullptr, nullptr, "TENSCRIPT_SANDBOX",
     "no files, input, environment, clock or processes but what --allow-* names", set_switch<&Invocation::sandbox>},
    {"--allow-read", nullptr, "DIR", "TENSCRIPT_ALLOW_READ", "in the sandbox: read files below this folder",
     add_root<&Invocation::read_roots>},
    {"--allow-write", nullptr, "DIR", "TENSCRIPT_ALLOW_WRITE", "in the sandbox: write files below this folder",
     add_root<&Invocation::write_roots>},
    {"--allow-env", nullptr, nullptr, "TENSCRIPT_ALLOW_ENV", "in the sandbox: environment variables",
     add_grant<TSC_GRANT_ENVIRONMENT>},
    {"--allow-clock", nullptr, nullptr, "TENSCRIPT_ALLOW_CLOCK", "in the sandbox: the time, and sleeping",
     add_grant<TSC_GRANT_CLOCK>},
    {"--allow-run", nullptr, nullptr, "TENSCRIPT_ALLOW_RUN", "in the sandbox: processes", add_grant<TSC_GRANT_PROCESS>},
    {"--allow-net", nullptr, nullptr, "TENSCRIPT_ALLOW_NET", "in the sandbox: the network",
     add_grant<TSC_GRANT_NETWORK>},
    {"--allow-input", nullptr, nullptr, "TENSCRIPT_ALLOW_INPUT",
     "in the sandbox: standard input, for input() and sys.stdin", add_grant<TSC_GRANT_INPUT>},
    {"--allow-code", nullptr, nullptr, "TENSCRIPT_ALLOW_CODE",
     "in the sandbox: text run by exec(), eval() and compile()", add_grant<TSC_GRANT_CODE>},
    {"--allow-threads", nullptr, nullptr, "TENSCRIPT_ALLOW_THREADS", "in the sandbox: threads of the script",
     add_grant<TSC_GRANT_THREADS>},
    {"--mem-limit", nullptr, "BYTES", "TENSCRIPT_MEM_LIMIT", "objects and tensors together: 512M, 2G",
     set_bytes<&Invocation::memory_limit>},
    {"--time-limit", nullptr, "TIME", "TENSCRIPT_TIME_LIMIT", "seconds that the program may run, or 200ms, 3m",
     set_time_limit},
    {"--no-cache", nullptr, nullptr, "TENSCRIPT_NO_CACHE", "neither use nor keep compiled kernels on disk",
     set_no_cache},
    {"--color", nullptr, "WHEN", "TENSCRIPT_COLOR", "auto, always or never", set_choice<&Invocation::color, kColors>,
     Command::Help, kColors},
    {"--error-format", nullptr, "FORMAT", "TENSCRIPT_ERROR_FORMAT",
     "full; short: one line each; json: errors and warnings as JSON objects, one a line",
     set_choice<&Invocation::error_format, kErrorFormats>, Command::Help, kErrorFormats},
    {"--import-py", nullptr, nullptr, "TENSCRIPT_IMPORT_PY",
     "import also finds .py files, after .tsc files of the same name", set_switch<&Invocation::import_python>},
    {"--json", nullptr, nullptr, "TENSCRIPT_JSON", "explain, info, cache, check and test: print JSON",
     set_switch<&Invocation::json>},
    {"--quiet", "-q", nullptr, "TENSCRIPT_QUIET", "no closing summary", set_switch<&Invocation::quiet>},
    {"--check", nullptr, nullptr, "TENSCRIPT_FMT_CHECK",
     "write nothing, list the files that would change; exit 1 when there are any",
     set_switch<&Invocation::format_check>, Command::Format},
    {"--diff", nullptr, nullptr, "TENSCRIPT_FMT_DIFF", "write nothing, print what would change",
     set_switch<&Invocation::format_diff>, Command::Format},
    {"-k", nullptr, "PATTERN", "TENSCRIPT_TEST_PATTERN",
     "only tests whose name holds this text; several with 'or', 'and', 'not'", set_text<&Invocation::test_pattern>,
     Command::Test},
    {"-j", nullptr, "N", "TENSCRIPT_TEST_JOBS", "files at a time (one for each core)", set_jobs, Command::Test},
    {"--junit", nullptr, "FILE", "TENSCRIPT_TEST_JUNIT", "write the results as JUnit XML",
     set_text<&Invocation::junit_file>, Command::Test},
    {"--doc", nullptr, nullptr, "TENSCRIPT_TEST_DOC", "run the >>> examples of docstrings too",
     set_switch<&Invocation::test_docs>, Command::Test},
    {"--env", nullptr, nullptr, nullptr, "list the environment variables", set_show_environment, Command::Info},
    {"--basic", nullptr, nullptr, "TENSCRIPT_BASIC", "the prompt without line editing", set_switch<&Invocation::basic>},
    {"--keys", nullptr, "STYLE", "TENSCRIPT_KEYS", "keys of the prompt: emacs or vi (what ~/.inputrc sets, else emacs)",
     set_choice<&Invocation::keys, kKeys, static_cast<int>(KeyStyle::Emacs)>, Command::Help, kKeys},
    {"--version", "-V", nullptr, nullptr, "print the version", set_command<Command::Version>},
    {"--help", "-h", nullptr, nullptr, "print this text", set_command<Command::Help>},
};

// Variables without a flag.
const FlagRow kVariables[] = {
    {nullptr, nullptr, nullptr, "TENSCRIPT_PATH", "folders that import searches, separated by ':'", set_path},
    {nullptr, nullptr, nullptr, "TENSCRIPT_CACHE_DIR", "where compiled kernels are kept; empty or `off`: nowhere",
     set_cache_dir},
    {nullptr, nullptr, nullptr, "TENSCRIPT_CACHE_SIZE", "at most so many bytes of them: 512M, 2G (1G)",
     set_bytes<&Invocation::cache_bytes>},
    {nullptr, nullptr, nullptr, "TENSCRIPT_STRESS_BREAK", "for tests: every statement leaves compiled code",
     set_switch<&Invocation::stress_break>},
    {nullptr, nullptr, nullptr, "TENSCRIPT_POISON", "for tests: new and freed tensor memory is no number",
     set_switch<&Invocation::poison_memory>},
    {nullptr, nullptr, nullptr, "TENSCRIPT_STRICT_COMPILER", "for tests: a fault of the compiler is an error",
     set_switch<&Invocation::strict_compiler>},
    {nullptr, nullptr, nullptr, "TENSCRIPT_UNTIMED", "for tests: the compiler decides nothing by the clock",
     set_switch<&Invocation::untimed>},
};

// ---- reading -----------------------------------------------------------------------------------

// Whether the flag means something after this command; what runs a program takes all the rest.
bool belongs(const FlagRow& row, Command command) { return row.command == Command::Help || row.command == command; }

const FlagRow* find_flag(const std::string& name, Command command) {
  const FlagRow* other = nullptr;
  for (const FlagRow& row : kFlags) {
    if (name != row.name && (row.short_name == nullptr || name != row.short_name)) continue;
    if (belongs(row, command)) return &row;
    other = &row;
  }
  return other;
}

std::string unknown(const char* what, const std::string& word, const std::vector<std::string_view>& candidates) {
  std::string problem = std::string("unknown ") + what + " '" + word + "'";
  const std::string_view near = nearest(word, candidates);
  if (!near.empty()) problem += "; did you mean '" + std::string(near) + "'?";
  return problem;
}

std::string unknown_flag(const std::string& name, Command command) {
  std::vector<std::string_view> names;
  for (const FlagRow& row : kFlags)
    if (belongs(row, command)) names.push_back(row.name);
  return unknown("flag", name, names);
}

const CommandRow* row_of(Command command) {
  for (const CommandRow& row : kCommands)
    if (row.command == command) return &row;
  return nullptr;
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
      result_.problem = std::string("the environment variable ") + row.variable + " cannot be '" + value + "'";
  }

  void read_next() {
    const std::string word = arguments_[at_++];
    if (word.size() > 1 && word[0] == '-') read_flag(word);
    else read_word(word);
  }

  void read_flag(const std::string& word) {
    const std::size_t equals = word.compare(0, 2, "--") == 0 ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const FlagRow* row = find_flag(name, command_);
    if (row == nullptr && word[1] != '-' && word.size() > 2) {  // -j4
      const FlagRow* prefix = find_flag(word.substr(0, 2), command_);
      if (prefix != nullptr && prefix->value != nullptr) {
        arguments_.insert(arguments_.begin() + static_cast<long>(at_), word.substr(2));
        return read_flag(word.substr(0, 2));
      }
    }
    if (row == nullptr) {
      result_.problem = unknown_flag(name, command_);
      return;
    }
    if (!belongs(*row, command_)) {
      result_.problem = name + " belongs to the command '" + row_of(row->command)->name + "'";
      return;
    }
    std::string value = "1";
    if (equals != std::string::npos && row->value == nullptr) {
      result_.problem = name + " takes no value";
      return;
    }
    if (row->value != nullptr && !take_value(name, *row, word, equals, value)) return;
    if (!row->set(into(), value))
      result_.problem = std::string(row->name) + " needs " + row->value + ", not '" + value + "'" +
                        (row->words != nullptr ? "; it takes " + std::string(row->words) : "");
    if (name == "-c" || name == "-m") take_rest(name);
  }

  bool take_value(const std::string& name, const FlagRow& row, const std::string& word, std::size_t equals,
                  std::string& value) {
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
    into().arguments.insert(into().arguments.end(), arguments_.begin() + static_cast<long>(at_), arguments_.end());
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
    const Takes takes = command_seen_ ? row_of(command_)->takes : Takes::Program;
    if (takes == Takes::Nothing) {
      result_.problem = std::string(row_of(command_)->name) + " takes no file";
      return;
    }
    if (takes == Takes::Paths) {
      into().paths.push_back(word);
      return;
    }
    if (takes == Takes::Word) return read_choice(*row_of(command_), word);
    if (command_ == Command::Repl && !command_seen_) command_ = Command::Run;
    into().script = word;
    take_rest(word);
  }

  void read_choice(const CommandRow& row, const std::string& word) {
    std::vector<std::string_view> choices;
    const std::string_view all = row.arguments;
    for (std::size_t begin = 0; begin <= all.size();) {
      const std::size_t end = std::min(all.find('|', begin), all.size());
      choices.push_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
    if (!into().arguments.empty()) result_.problem = std::string(row.name) + " takes one word: " + row.arguments;
    else if (std::find(choices.begin(), choices.end(), word) == choices.end())
      result_.problem =
          unknown((std::string(row.name) + " word").c_str(), word, choices) + "; it takes " + row.arguments;
    into().arguments = {word};
  }

  void finish() {
    if (into().command == Command::Help || into().command == Command::Version) return;
    into().command = command_;
    const bool has_program = !into().script.empty() || into().has_code || !into().module.empty();
    const bool needs_program = (command_ == Command::Run || command_ == Command::Explain);
    if (needs_program && !has_program)
      result_.problem = command_ == Command::Explain ? "explain needs a script: tenscript explain FILE"
                                                     : "run needs a script: tenscript run FILE";
    if (command_ == Command::Format && into().paths.empty())
      result_.problem = "fmt needs files, folders or -: tenscript fmt PATH...";
    const CommandRow* row = row_of(command_);
    if (row != nullptr && row->takes == Takes::Word && into().arguments.empty())
      result_.problem = std::string(row->name) + " needs one word: " + row->arguments;
    const bool whole_folder = command_ == Command::Check || command_ == Command::Test;
    if (whole_folder && into().paths.empty()) into().paths = {"."};
  }

  std::vector<std::string> arguments_;
  ParsedCommandLine result_;
  Command command_ = Command::Repl;
  bool command_seen_ = false;
  bool done_ = false;
  std::size_t at_ = 0;
};

}  // namespace

std::span<const CommandRow> command_rows() { return kCommands; }
std::span<const FlagRow> flag_rows() { return kFlags; }
std::span<const FlagRow> variable_rows() { return kVariables; }

ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments) { return Reader(arguments).read(); }

}  // namespace tsc::cli
