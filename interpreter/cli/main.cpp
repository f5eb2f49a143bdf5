// The executable `tenscript`: reads the command line and does what it says.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "interpreter/cli/check_command.h"
#include "interpreter/cli/files.h"
#include "interpreter/cli/format_command.h"
#include "interpreter/cli/heap.h"
#include "interpreter/cli/options.h"
#include "interpreter/cli/repl.h"
#include "interpreter/cli/session.h"
#include "interpreter/cli/shell_pages.h"
#include "interpreter/cli/test_command.h"

namespace tsc::cli {
namespace {

int usage_error(const std::string& problem) {
  std::fprintf(stderr, "tenscript: %s\nTry 'tenscript --help'.\n", problem.c_str());
  return kExitUsage;
}

// The text of the program and the name it goes by. A folder stands for its __main__.tsc.
struct Program {
  std::string name, text, problem;
};

Program load_program(const Invocation& invocation) {
  Program program;
  if (invocation.has_code) {
    program.name = "<string>";
    program.text = invocation.code;
  } else if (invocation.script == "-") {
    program.name = "<stdin>";
    read_text("-", program.text, program.problem);
  } else {
    program.name = invocation.script;
    struct stat about{};
    if (stat(program.name.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) program.name += "/__main__.tsc";
    read_text(program.name, program.text, program.problem);
  }
  return program;
}

int emit(Session& session, const Invocation& invocation) {
  const Program program = load_program(invocation);
  if (!program.problem.empty()) return usage_error(program.problem);
  return session.finish(session.api().emit(session.engine(), invocation.emit.c_str(), program.name.c_str(),
                                           program.text.data(), program.text.size(), print_text, stdout));
}

int run_program(Session& session, const Invocation& invocation) {
  const tsc_api& api = session.api();
  if (!invocation.module.empty()) return session.finish(api.run_module(session.engine(), invocation.module.c_str()));
  if (invocation.has_code || invocation.script == "-") {
    const Program program = load_program(invocation);
    return session.finish(
        api.run_source(session.engine(), program.name.c_str(), program.text.data(), program.text.size()));
  }
  const Program program = load_program(invocation);
  if (!program.problem.empty()) return usage_error(program.problem);
  return session.finish(api.run_file(session.engine(), program.name.c_str()));
}

// Its threads end and atexit's functions run. What they end with counts where the program itself went well.
int finish_program(Session& session, int exit_code) {
  Session::CatchInterrupts guard(session);
  const int of_end = session.finish(session.api().finish(session.engine()));
  return exit_code != 0 ? exit_code : of_end;
}

int info(Session& session, const Invocation& invocation) {
  if (!invocation.arguments.empty()) {
    std::fputs(environment_text().c_str(), stdout);
    return 0;
  }
  return session.finish(session.api().info(session.engine(), invocation.json ? "json" : "text", print_text, stdout));
}

int cache(Session& session, const Invocation& invocation) {
  return session.finish(session.api().cache(session.engine(), invocation.arguments[0].c_str(),
                                            invocation.json ? "json" : "text", print_text, stdout));
}

// Results go to standard output: of `explain` that is the report, so the script's own output goes
// to standard error.
void write_to_error(void*, tsc_stream, const char* text, size_t size) { std::fwrite(text, 1, size, stderr); }

// `explain WORD` without such a file, and the word is none of a path: an error code.
bool asks_for_code(const Invocation& invocation) {
  const std::string& word = invocation.script;
  struct stat about{};
  return invocation.command == Command::Explain && !word.empty() && word != "-" &&
         word.find_first_of("./") == std::string::npos && stat(word.c_str(), &about) != 0;
}

int explain_code(const Invocation& invocation) {
  const tsc_api& api = *tsc_get_api(TSC_API_VERSION);
  const int color = use_color(invocation.color, STDOUT_FILENO);
  tsc_status* status = api.error_page(invocation.script.c_str(), color, print_text, stdout);
  if (status == nullptr) return 0;
  const int exit_code = usage_error(api.status_message(status));
  api.status_free(status);
  return exit_code;
}

int run(const Invocation& invocation) {
  if (asks_for_code(invocation)) return explain_code(invocation);
  if (invocation.command == Command::Test) return run_tests(invocation);
  Session session(invocation, invocation.command == Command::Explain ? write_to_error : nullptr);
  if (!session.ok()) return session.exit_code();
  if (invocation.command == Command::Format) return run_format(session, invocation);
  if (invocation.command == Command::Check) return run_check(session, invocation);
  if (invocation.command == Command::Info) return info(session, invocation);
  if (invocation.command == Command::Cache) return cache(session, invocation);
  if (!invocation.emit.empty() && invocation.command != Command::Repl)
    return session.write_report(emit(session, invocation));
  int exit_code = 0;
  if (invocation.command != Command::Repl) {
    Session::CatchInterrupts guard(session);
    exit_code = run_program(session, invocation);
  }
  if (invocation.command == Command::Explain) {
    exit_code = finish_program(session, exit_code);
    const char* format = invocation.json ? "json" : "explain";
    session.finish(session.api().report(session.engine(), format, print_text, stdout));
  }
  if (invocation.command == Command::Repl || invocation.interactive) exit_code = run_repl(session, invocation);
  return session.write_report(finish_program(session, exit_code));
}

int main(int count, char** words) {
  ParsedCommandLine parsed = parse_command_line(std::vector<std::string>(words + 1, words + count));
  if (!parsed.problem.empty()) return usage_error(parsed.problem);
  Invocation& invocation = parsed.invocation;
  if (invocation.command == Command::Help) {
    std::fputs(help_text().c_str(), stdout);
    return 0;
  }
  if (invocation.command == Command::Complete) {
    std::fputs(shell_page(invocation.arguments[0]).c_str(), stdout);
    return 0;
  }
  if (invocation.command == Command::Version) {
    std::printf("tenscript %s\n", tsc_get_api(TSC_API_VERSION)->version_text());
    return 0;
  }
  // As with other languages: a pipe into the bare command is a script, not a conversation.
  const bool bare = count == 1;
  if (bare && !isatty(STDIN_FILENO)) {
    invocation.command = Command::Run;
    invocation.script = "-";
    invocation.arguments = {"-"};
  }
  return run(invocation);
}

}  // namespace
}  // namespace tsc::cli

int main(int count, char** words) {
  tsc::cli::set_up_heap();
  // A pipe that nobody reads ends the process silently (141), also where the parent ignores that.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write
  const int exit_code = tsc::cli::main(count, words);
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && std::ferror(stdout) == 0) return exit_code;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  std::fprintf(stderr, "tenscript: standard output could not be written%s\n", reason.c_str());
  return exit_code != 0 ? exit_code : 1;
}
