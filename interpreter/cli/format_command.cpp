#include "interpreter/cli/format_command.h"

#include <algorithm>
#include <cstdio>

#include "interpreter/cli/diff.h"
#include "interpreter/cli/files.h"

namespace tsc::cli {
namespace {

class Formatter {
 public:
  Formatter(Session& session, const Invocation& invocation)
      : session_(session), check_(invocation.format_check), diff_(invocation.format_diff) {}

  void one(const std::string& path) {
    std::string text, problem, formatted;
    if (!read_text(path, text, problem)) return fail(problem);
    const std::string name = path == "-" ? "<stdin>" : path;
    const tsc_api& api = session_.api();
    tsc_status* status = api.format(session_.engine(), name.c_str(), text.data(), text.size(), append_text, &formatted);
    if (status != nullptr) {
      exit_code_ = std::max(exit_code_, session_.finish(status));
      return;
    }
    const bool is_new = formatted != text;
    ++seen_;
    if (diff_) std::fputs(unified_diff(text, formatted, name, name).c_str(), stdout);
    else if (path == "-" && !check_) std::fwrite(formatted.data(), 1, formatted.size(), stdout);
    else if (is_new && check_) std::printf("%s\n", name.c_str());
    else if (is_new && !replace_file(path, formatted, problem)) return fail(problem);
    changed_ += is_new;
  }

  int finish(bool quiet) {
    if (check_ && changed_ != 0) exit_code_ = std::max(exit_code_, 1);
    std::fflush(stdout);
    if (!quiet)
      std::fprintf(stderr, "%zu of %zu files %s\n", changed_, seen_, check_ || diff_ ? "would change" : "changed");
    return exit_code_;
  }

 private:
  void fail(const std::string& problem) {
    std::fprintf(stderr, "tenscript: %s\n", problem.c_str());
    exit_code_ = std::max(exit_code_, 1);
  }

  Session& session_;
  bool check_, diff_;
  size_t changed_ = 0, seen_ = 0;
  int exit_code_ = 0;
};

}  // namespace

int run_format(Session& session, const Invocation& invocation) {
  const ScriptList scripts = collect_scripts(invocation.paths);
  if (!scripts.problem.empty()) {
    std::fprintf(stderr, "tenscript: %s\n", scripts.problem.c_str());
    return kExitUsage;
  }
  Formatter formatter(session, invocation);
  for (const std::string& path : scripts.files) formatter.one(path);
  const bool only_stdin = invocation.paths.size() == 1 && invocation.paths[0] == "-";
  return formatter.finish(invocation.quiet || only_stdin);
}

}  // namespace tsc::cli
