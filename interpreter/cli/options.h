#pragma once
// The command line and the environment, read into one struct. Knows: flags, commands, their help
// text. Must not know: the engine. Keeps: one table of flags and one of commands; help, parsing and
// "did you mean" all read it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::cli {

enum class Command { Run, Repl, Explain, Info, Cache, Format, Check, Test, Complete, Help, Version };
enum class ColorMode { Auto, Always, Never };
enum class KeyStyle { Inputrc, Emacs, Vi };
enum class ErrorFormat { Full, Json, Short };  // as tsc_error_format

struct Invocation {
  Command command = Command::Repl;
  std::string script;  // a path, or "-" for standard input
  std::string code;    // -c
  std::string module;  // -m
  bool has_code = false;
  std::vector<std::string> arguments;  // sys.argv, the script's name first
  bool interactive = false;            // -i
  bool json = false;
  ErrorFormat error_format = ErrorFormat::Full;
  bool import_python = false;  // --import-py
  bool basic = false;          // plain line mode also on a terminal
  KeyStyle keys = KeyStyle::Inputrc;
  bool quiet = false;
  std::string emit;
  ColorMode color = ColorMode::Auto;

  // fmt, check, test: the files and folders to work on.
  std::vector<std::string> paths;
  bool format_check = false, format_diff = false;
  std::string test_pattern, junit_file;
  uint32_t test_jobs = 0;  // 0: one for each core
  bool test_docs = false;

  // What the engine is made with.
  uint32_t threads = 0;
  bool no_jit = false;
  bool no_background = false;
  bool check_shapes = false;
  uint32_t verify_percent = 0;
  bool has_seed = false;
  uint64_t seed = 0;
  std::string logs, disabled_passes, report_file;
  std::string cuda;  // what torch.cuda is
  bool stress_break = false, strict_compiler = false, untimed = false, poison_memory = false;
  std::string cache_dir;  // empty: compiled kernels are not kept
  uint64_t cache_bytes = 0;
  uint64_t memory_limit = 0, time_limit_ns = 0;  // 0: none
  std::vector<std::string> search_paths;
  // Who types a command trusts it; --sandbox takes everything away, --allow-* gives back.
  bool sandbox = false;
  uint32_t grants = 0;
  std::vector<std::string> read_roots, write_roots;
};

// On failure `problem` says what is wrong, with the nearest name when there is one.
struct ParsedCommandLine {
  Invocation invocation;
  std::string problem;
};

// The environment is read first; flags win.
ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments);

std::string help_text();
// Every environment variable with its value and meaning, for `info --env`.
std::string environment_text();

// The candidate within two edits of `word`, or an empty view.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);
// The names of the commands.
std::vector<std::string_view> command_names();

}  // namespace tsc::cli
