#include "interpreter/cli/check_command.h"

#include <unistd.h>

#include <cstdio>

#include "interpreter/cli/files.h"

namespace tsc::cli {
namespace {

void append_entry(void* user, const char* text, size_t size) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(text, size);
}

}  // namespace

int run_check(Session& session, const Invocation& invocation) {
  const ScriptList scripts = collect_scripts(invocation.paths);
  if (!scripts.problem.empty()) {
    std::fprintf(stderr, "tenscript: %s\n", scripts.problem.c_str());
    return kExitUsage;
  }
  const bool json = invocation.json || invocation.error_format == ErrorFormat::Json;
  const bool lines = invocation.error_format == ErrorFormat::Short;
  const char* format = json ? "json" : lines ? "short" : use_color(invocation.color, STDOUT_FILENO) ? "color" : "text";
  std::vector<std::string> found;
  int exit_code = 0;
  for (const std::string& path : scripts.files) {
    std::string text, problem;
    if (!read_text(path, text, problem)) {
      std::fprintf(stderr, "tenscript: %s\n", problem.c_str());
      exit_code = 1;
      continue;
    }
    const std::string name = path == "-" ? "<stdin>" : path;
    size_t findings = 0;
    const int failed = session.finish(session.api().check(session.engine(), name.c_str(), text.data(), text.size(),
                                                          format, append_entry, &found, &findings));
    if (failed != 0) return failed;
  }
  if (json) std::fputs("[", stdout);
  for (size_t i = 0; i < found.size(); ++i)
    std::printf("%s%s", i == 0 || lines ? "" : json ? ",\n" : "\n", found[i].c_str());
  if (json) std::fputs("]\n", stdout);
  std::fflush(stdout);
  if (!invocation.quiet)
    std::fprintf(stderr, "%zu %s in %zu files\n", found.size(), found.size() == 1 ? "finding" : "findings",
                 scripts.files.size());
  return found.empty() ? exit_code : 1;
}

}  // namespace tsc::cli
