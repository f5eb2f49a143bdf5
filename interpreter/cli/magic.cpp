#include "interpreter/cli/magic.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace tsc::cli {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string trimmed_text(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

std::string format_number(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", value, unit);
  return text;
}

std::string duration_text(double seconds) {
  if (seconds >= 1) return format_number(seconds, "s");
  if (seconds >= 1e-3) return format_number(seconds * 1e3, "ms");
  if (seconds >= 1e-6) return format_number(seconds * 1e6, "us");
  return format_number(seconds * 1e9, "ns");
}

std::string bytes_text(int64_t bytes) {
  if (bytes >= int64_t{1} << 30) return format_number(static_cast<double>(bytes) / (1 << 30), "GiB");
  if (bytes >= int64_t{1} << 20) return format_number(static_cast<double>(bytes) / (1 << 20), "MiB");
  if (bytes >= int64_t{1} << 10) return format_number(static_cast<double>(bytes) / (1 << 10), "KiB");
  return std::to_string(bytes) + " B";
}

tsc_status* run_entry(Session& session, const char* name, const std::string& text, tsc_value** value) {
  return session.api().run_entry(session.engine(), name, text.data(), text.size(), value);
}

// ---- x? and x??

tsc_status* ask(Session& session, const std::string& expression, bool with_source) {
  const tsc_api& api = session.api();
  tsc_value* value = nullptr;
  tsc_status* status = run_entry(session, "<input>", expression, &value);
  if (status == nullptr && value != nullptr)
    status = api.describe(session.engine(), value, with_source, print_text, stdout);
  api.value_free(value);
  return status;
}

// ---- %time and %timeit

tsc_statistics counters(Session& session) {
  tsc_statistics now{};
  now.struct_size = sizeof now;
  session.api().status_free(session.api().statistics(session.engine(), &now));
  return now;
}

tsc_status* time_once(Session& session, const std::string& statement) {
  const tsc_api& api = session.api();
  api.status_free(api.reset_tensor_peak(session.engine()));
  const tsc_statistics before = counters(session);
  const std::clock_t processor = std::clock();
  const auto start = Clock::now();
  tsc_value* value = nullptr;
  tsc_status* status = run_entry(session, "<time>", statement, &value);
  const double wall = since(start);
  const double cpu = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  const tsc_statistics after = counters(session);
  if (status == nullptr && value != nullptr && api.kind(value) != TSC_NONE) {
    std::string text;
    status = api.represent(session.engine(), value, append_text, &text);
    if (status == nullptr) std::printf("%s\n", text.c_str());
  }
  api.value_free(value);
  std::printf("wall %s, cpu %s, compile %s, %lld tensors, peak %s above %s\n", duration_text(wall).c_str(),
              duration_text(cpu).c_str(),
              duration_text(static_cast<double>(after.compile_ns - before.compile_ns) / 1e9).c_str(),
              static_cast<long long>(after.tensor_allocations - before.tensor_allocations),
              bytes_text(static_cast<int64_t>(after.peak_tensor_bytes - before.tensor_bytes)).c_str(),
              bytes_text(static_cast<int64_t>(before.tensor_bytes)).c_str());
  return status;
}

// Seconds that `count` turns of the loop take, or a status.
tsc_status* run_loop(Session& session, int64_t count, double& seconds) {
  const tsc_api& api = session.api();
  tsc_value *function = nullptr, *number = nullptr;
  tsc_status* status = api.get(session.engine(), "_timeit", &function);
  if (status == nullptr) status = api.int_new(session.engine(), count, &number);
  const auto start = Clock::now();
  if (status == nullptr) status = api.call(session.engine(), function, &number, 1, nullptr, nullptr, 0, nullptr);
  seconds = since(start);
  api.value_free(number);
  api.value_free(function);
  return status;
}

// The statement in a loop of a function, so that it is compiled once; seven repeats of as many
// turns as take a fifth of a second.
tsc_status* time_many(Session& session, const std::string& statement) {
  constexpr int kRepeats = 7;
  constexpr double kEnough = 0.2;
  const std::string function = "def _timeit(_count):\n    for _turn in range(_count):\n        " + statement + "\n";
  tsc_status* status = run_entry(session, "<timeit>", function, nullptr);
  double seconds = 0;
  int64_t count = 1;
  while (status == nullptr) {
    status = run_loop(session, count, seconds);
    if (seconds >= kEnough || count >= 1000000000) break;
    count *= seconds > kEnough / 10 ? 2 : 10;
  }
  double sum = 0, squares = 0, best = INFINITY;
  for (int i = 0; i < kRepeats && status == nullptr; ++i) {
    status = run_loop(session, count, seconds);
    const double each = seconds / static_cast<double>(count);
    sum += each;
    squares += each * each;
    best = std::min(best, each);
  }
  if (status != nullptr) return status;
  const double mean = sum / kRepeats;
  const double deviation = std::sqrt(std::max(0.0, squares / kRepeats - mean * mean));
  std::printf("%s +- %s a loop, best %s (%d runs of %lld loops)\n", duration_text(mean).c_str(),
              duration_text(deviation).c_str(), duration_text(best).c_str(), kRepeats, static_cast<long long>(count));
  return nullptr;
}

// ---- Words that begin with %

tsc_status* usage(Session& session, const std::string& message) {
  return session.api().error_new(session.engine(), "SyntaxError", message.c_str());
}

struct MagicRow {
  const char *word, *help;
  tsc_status* (*run)(Session& session, const std::string& rest);
};
constexpr MagicRow kMagics[] = {{"%time", "%time STATEMENT runs it once, as in %time model(x)", time_once},
                                {"%timeit", "%timeit STATEMENT runs it many times, as in %timeit x @ x", time_many}};

tsc_status* run_word(Session& session, const std::string& word, const std::string& rest) {
  for (const MagicRow& row : kMagics) {
    if (word != row.word) continue;
    return rest.empty() ? usage(session, std::string("a statement is missing: ") + row.help) : row.run(session, rest);
  }
  std::string known;
  for (const MagicRow& row : kMagics) known += (known.empty() ? "" : "; ") + std::string(row.help);
  return usage(session, "there is no " + word + "; " + known);
}

// ---- !command

// By the shell, on this terminal. Ctrl-C reaches the command as it reaches this process.
tsc_status* run_shell(Session& session, const std::string& command) {
  if (!session.may_run_programs())
    return session.api().error_new(session.engine(), "PermissionError",
                                   "!command starts a process, and the sandbox does not grant that; "
                                   "--allow-run does");
  if (command.empty()) return nullptr;
  std::fflush(nullptr);
  std::string text = command;
  char shell[] = "/bin/sh", flag[] = "-c";
  char* const arguments[] = {shell, flag, text.data(), nullptr};
  pid_t child = -1;
  if (const int error = posix_spawn(&child, shell, nullptr, nullptr, arguments, environ); error != 0)
    return session.api().error_new(session.engine(), "OSError",
                                   (std::string("cannot start /bin/sh: ") + std::strerror(error)).c_str());
  int result = 0;
  while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(result)) std::printf("(ended by signal %d)\n", WTERMSIG(result));
  else if (WEXITSTATUS(result) != 0) std::printf("(exit code %d)\n", WEXITSTATUS(result));
  return nullptr;
}

// ---- Tensors

struct Counts {
  int64_t nan = 0, inf = 0;
};

double element(const tsc_tensor_info& info, int64_t offset) {
  const char* data = static_cast<const char*>(info.data);
  if (info.dtype == TSC_FLOAT64) {
    double value = 0;
    std::memcpy(&value, data + offset * 8, 8);
    return value;
  }
  uint32_t bits = 0;
  if (info.dtype == TSC_FLOAT32) {
    std::memcpy(&bits, data + offset * 4, 4);
  } else {
    uint16_t half = 0;
    std::memcpy(&half, data + offset * 2, 2);
    bits = static_cast<uint32_t>(half) << 16;
    // Of a float16 whether it is an infinity or nan: all five bits of its exponent.
    if (info.dtype == TSC_FLOAT16) bits = (half & 0x7C00) != 0x7C00 ? 0 : 0x7F800000u | (half & 0x3FFu) << 13;
  }
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

void count_special(const tsc_tensor_info& info, uint32_t axis, int64_t offset, Counts& counts) {
  if (axis == info.rank) {
    const double value = element(info, offset);
    counts.nan += std::isnan(value);
    counts.inf += std::isinf(value);
    return;
  }
  for (int64_t i = 0; i < info.sizes[axis]; ++i) count_special(info, axis + 1, offset + i * info.strides[axis], counts);
}

// In the order of tsc_dtype.
constexpr const char* kDtypes[] = {"bool",    "uint8", "int32", "int64",   "bfloat16",  "float32",
                                   "float64", "int8",  "int16", "float16", "complex64", "complex128"};

// The files that a path may become; `begin`: where its last part begins.
void add_files(const std::string& path, std::size_t cursor, std::size_t& begin, std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string prefix = slash == std::string::npos ? path : path.substr(slash + 1);
  begin = cursor - prefix.size();
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.rfind(prefix, 0) != 0 || (prefix.empty() && name[0] == '.')) continue;
    names.push_back(name + (at->is_directory(error) ? "/" : ""));
  }
}

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

// Of something: x[", f()[", and not the beginning of a list.
bool is_subscript(const std::string& line, std::size_t quote) {
  if (quote < 2 || line[quote - 1] != '[') return false;
  const char before = line[quote - 2];
  return is_name_part(before) || before == ')' || before == ']';
}

// Empty for what is more than a name: to read it could run code.
std::string name_before(const std::string& line, std::size_t end) {
  std::size_t start = end;
  while (start > 0 && is_name_part(line[start - 1])) --start;
  return start > 0 && line[start - 1] == '.' ? "" : line.substr(start, end - start);
}

// The keys, as far as they are text that needs no escapes, of the dict of that name.
void add_keys(Session& session, const std::string& name, const std::string& prefix, std::vector<std::string>& names) {
  const tsc_api& api = session.api();
  tsc_value* dict = nullptr;
  api.status_free(name.empty() ? nullptr : api.get(session.engine(), name.c_str(), &dict));
  if (dict != nullptr && api.kind(dict) == TSC_DICT) {
    size_t count = 0;
    api.status_free(api.length(dict, &count));
    for (size_t i = 0; i < std::min<size_t>(count, 1000); ++i) {
      tsc_value *key = nullptr, *item = nullptr;
      const char* text = nullptr;
      size_t size = 0;
      api.status_free(api.dict_entry(dict, i, &key, &item));
      if (key != nullptr && api.kind(key) == TSC_STR) api.status_free(api.as_str(key, &text, &size));
      const std::string word(text != nullptr ? text : "", size);
      if (!word.empty() && word.rfind(prefix, 0) == 0 && word.find_first_of("'\"\\\n") == std::string::npos)
        names.push_back(word);
      api.value_free(key);
      api.value_free(item);
    }
  }
  api.value_free(dict);
}

}  // namespace

// A name, with attributes, items and calls, and one or two question marks after it.
bool is_question(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \n");
  if (last == std::string_view::npos || text[last] != '?') return false;
  const std::string_view name = text.substr(0, text.find_last_not_of("? \n") + 1);
  if (name.empty() || name.front() == '"' || name.front() == '\'') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0 ||
           std::string_view("_.[]()\"' ,=").find(c) != std::string_view::npos;
  });
}

bool run_magic(Session& session, const std::string& entry, tsc_status** status) {
  const std::string text = trimmed_text(entry);
  *status = nullptr;
  if (is_question(text)) {
    const bool source = text[text.size() - 2] == '?';
    *status = ask(session, text.substr(0, text.size() - (source ? 2 : 1)), source);
    return true;
  }
  if (text.starts_with('!')) {
    *status = run_shell(session, trimmed_text(text.substr(1)));
    return true;
  }
  if (!text.starts_with('%')) return false;
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  *status = run_word(session, text.substr(0, end), trimmed_text(text.substr(end)));
  return true;
}

std::string tensor_summary(Session& session, tsc_value* value) {
  constexpr int64_t kShownWhole = 1000;  // beyond, repr leaves elements out
  if (session.api().kind(value) != TSC_TENSOR) return "";
  tsc_tensor_info info{};
  info.struct_size = sizeof info;
  tsc_status* status = session.api().tensor_info(value, &info);
  if (status != nullptr) {
    session.api().status_free(status);
    return "";
  }
  int64_t count = 1;
  std::string sizes;
  for (uint32_t i = 0; i < info.rank; ++i) {
    count *= info.sizes[i];
    sizes += (i == 0 ? "" : ", ") + std::to_string(info.sizes[i]);
  }
  if (count <= kShownWhole) return "";
  std::string text = "# [" + sizes + "] " + kDtypes[info.dtype] + " cpu";
  if (info.dtype == TSC_FLOAT32 || info.dtype == TSC_FLOAT64 || info.dtype == TSC_BFLOAT16 ||
      info.dtype == TSC_FLOAT16) {
    Counts counts;
    count_special(info, 0, 0, counts);
    text += ", " + std::to_string(counts.nan) + " nan, " + std::to_string(counts.inf) + " inf";
  }
  return text;
}

bool complete_beyond_names(Session& session, const std::string& text, std::size_t cursor, std::size_t& begin,
                           std::vector<std::string>& names) {
  const std::string line = text.substr(0, cursor);
  if (!line.empty() && line[0] == '%' && line.find(' ') == std::string::npos) {
    begin = 0;
    for (const MagicRow& row : kMagics)
      if (std::string(row.word).rfind(line, 0) == 0) names.emplace_back(row.word);
    return true;
  }
  // Inside a string that is open on this line: a key or a path.
  std::size_t open = std::string::npos;
  for (std::size_t i = line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n'); i < line.size(); ++i) {
    if (line[i] == '\\' && open != std::string::npos) ++i;
    else if (open == std::string::npos && (line[i] == '"' || line[i] == '\'')) open = i;
    else if (open != std::string::npos && line[i] == line[open]) open = std::string::npos;
  }
  if (!line.empty() && line[0] == '!') open = line.find_last_of(" !'\"");  // a word of a command
  if (open == std::string::npos) return false;
  if (is_subscript(line, open)) {
    begin = open + 1;
    add_keys(session, name_before(line, open - 1), line.substr(begin), names);
  } else {
    add_files(line.substr(open + 1), cursor, begin, names);
  }
  std::sort(names.begin(), names.end());
  return true;
}

}  // namespace tsc::cli
