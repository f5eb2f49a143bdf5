// The executable among other programs: pipes, signals, completions, the manual page, variables.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "run_tenscript.h"

using namespace tsc::test;

namespace {

ProcessResult shell(const std::string& command) {
  ProcessOptions options;
  options.arguments = {"/bin/bash", "-c", command};
  options.environment = {{"T", TENSCRIPT_EXECUTABLE}, {"TENSCRIPT_CACHE_DIR", "off"}};
  return run_process(options);
}

bool has_program(const std::string& name) { return shell("command -v " + name + " > /dev/null").exit_code == 0; }

}  // namespace

TEST_CASE("a pipe that nobody reads ends the process silently with 141") {
  const ProcessResult result = shell("$T -c 'while True: print(1)' | head -1; echo ${PIPESTATUS[0]}");
  CHECK(result.out == "1\n141\n");
  CHECK(result.err.empty());
  // Also where the parent ignores the signal, as some test runners do.
  CHECK(shell("trap '' PIPE; $T -c 'while True: print(1)' | head -1; echo ${PIPESTATUS[0]}").out == "1\n141\n");
}

TEST_CASE("termination is 143, interruption 130") {
  CHECK(shell("$T -c 'while True: pass' & sleep 0.3; kill -TERM $!; wait $!").exit_code == 143);
  CHECK(shell("set -m; $T -c 'while True: pass' 2> /dev/null & sleep 0.5; kill -INT $!; wait $!").exit_code == 130);
}

TEST_CASE("what a script prints does not mix with a report about it") {
  TemporaryFolder folder;
  folder.write("a.tsc", "print('from the script')\n");
  const ProcessResult json = tenscript({"explain", "--json", "a.tsc"}, "", folder.path());
  CHECK(json.out.substr(0, 1) == "{");
  CHECK_FALSE(contains(json.out, "from the script"));
  CHECK(contains(json.err, "from the script"));
  const ProcessResult loops = tenscript({"--emit=loops", "a.tsc"}, "", folder.path());
  CHECK_FALSE(contains(loops.out, "from the script"));
}

TEST_CASE("every flag has a variable, but those that say what to run") {
  const std::string help = tenscript({"-h"}).out, variables = tenscript({"info", "--env"}).out;
  std::istringstream lines(help);
  size_t flags = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("--");
    if (line.rfind("  ", 0) != 0 || at == std::string::npos || at > 6) continue;
    std::string name = line.substr(at + 2, line.find(' ', at) - at - 2);
    if (name == "version" || name == "help" || name == "env") continue;
    ++flags;
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(toupper(c));
    const bool listed =
        variables.find("_" + name) != std::string::npos || variables.find("_" + name + "S") != std::string::npos;
    INFO(name);
    CHECK(listed);
  }
  CHECK(flags > 15);
}

TEST_CASE("completions and the manual page come from the option table") {
  TemporaryFolder folder;
  const std::string bash = tenscript({"completions", "bash"}).out;
  folder.write("completion.bash", bash);
  const std::string use = "cd " + folder.path() +
                          "; . ./completion.bash; complete_words() { COMP_WORDS=(\"$@\"); "
                          "COMP_CWORD=$(($# - 1)); COMPREPLY=(); _tenscript; "
                          "echo \"${COMPREPLY[@]}\"; }; ";
  CHECK(shell(use + "complete_words tenscript che").out == "check\n");
  CHECK(shell(use + "complete_words tenscript fmt --c").out == "--check-shapes --cuda --color --check\n");
  CHECK(shell(use + "complete_words tenscript --thr").out == "--threads\n");
  CHECK(shell(use + "complete_words tenscript cache ver").out == "verify\n");
  folder.write("verify.tsc", "");
  CHECK(shell(use + "complete_words tenscript cache ver").out == "verify\n");
  CHECK(shell(use + "complete_words tenscript completions ''").out == "bash zsh fish man\n");
  CHECK(shell(use + "complete_words tenscript run ver").out == "verify.tsc\n");
  CHECK(shell(use + "complete_words tenscript --color ''").out == "auto always never\n");
  CHECK(shell(use + "complete_words tenscript --color = al").out == "always\n");
  CHECK(shell(use + "complete_words tenscript --color =").out == "auto always never\n");
  CHECK(shell(use + "complete_words tenscript --error-format s").out == "short\n");
  CHECK(shell(use + "complete_words tenscript --keys v").out == "vi\n");
  CHECK(shell(use + "complete_words tenscript --emit b").out == "bytecode backward\n");
  CHECK(shell(use + "complete_words tenscript --log rec").out == "recompiles\n");
  CHECK(shell(use + "complete_words tenscript --disable fu").out == "fuse\n");
  CHECK(contains(tenscript({"completions", "zsh"}).out, ":WHEN:(auto always never)"));
  CHECK(contains(tenscript({"completions", "fish"}).out, "-l color -x -a 'auto always never'"));
  for (const char* kind : {"zsh", "fish"}) {
    const std::string page = tenscript({"completions", kind}).out;
    CHECK(contains(page, "fmt"));
    CHECK(contains(page, "junit"));
    if (!has_program(kind)) continue;  // its syntax is checked where the shell is installed
    const std::string file = folder.write(std::string("page.") + kind, page);
    CHECK(shell(std::string(kind) + " -n " + file).exit_code == 0);
  }
  const std::string man = tenscript({"completions", "man"}).out;
  CHECK(contains(man, ".TH TENSCRIPT 1"));
  CHECK(contains(man, "\\fB\\-\\-threads\\fR \\fIN\\fR"));
  CHECK(contains(man, "TENSCRIPT_THREADS"));
  if (has_program("groff")) {
    const std::string file = folder.write("tenscript.1", man);
    CHECK(shell("groff -man -Tascii -ww " + file + " 2>&1 >/dev/null").out.empty());
  }
  CHECK(tenscript({"completions", "csh"}).exit_code == 2);
  CHECK(tenscript({"completions"}).exit_code == 2);
}
