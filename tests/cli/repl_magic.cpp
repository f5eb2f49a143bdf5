// What the prompt knows besides the language, on a terminal and fed by a pipe.
#include "pseudo_terminal.h"
#include "run_tenscript.h"

using namespace tsc::test;

namespace {

struct Prompt {
  TemporaryFolder folder;
  Pty pty;
  explicit Prompt(std::vector<std::pair<std::string, std::string>> environment = {{"NO_COLOR", "1"}},
                  const std::string& terminal = "xterm")
      : pty({TENSCRIPT_EXECUTABLE}, with(std::move(environment), terminal, folder.path())) {
    REQUIRE(pty.expect(">>> "));
  }

 private:
  static std::vector<std::pair<std::string, std::string>> with(
      std::vector<std::pair<std::string, std::string>> environment, const std::string& terminal,
      const std::string& folder) {
    environment.insert(environment.end(), {{"TERM", terminal},
                                           {"XDG_STATE_HOME", folder},
                                           {"TENSCRIPT_CACHE_DIR", "off"},
                                           {"TENSCRIPT_STRICT_COMPILER", "1"}});
    return environment;
  }
};

std::string piped(const std::string& input) { return tenscript({"repl"}, input).out; }

}  // namespace

TEST_CASE("help(x), x? and x?? tell signature, documentation, place and source") {
  const std::string define =
      "def scale(x, by=2, *rest, key=None, **more):\n    \"\"\"Scales x.\n\n    Twice.\n    "
      "\"\"\"\n"
      "    return x * by\n\n";
  const std::string page =
      "scale(x, by=2, *rest, key=None, **more)\n    Scales x.\n\n    Twice.\ndefined in <input "
      "1>:1\n";
  CHECK(piped(define + "help(scale)\n") == page);
  CHECK(piped(define + "scale?\n") == page);
  CHECK(contains(piped(define + "scale??\n"), "    return x * by\n"));
  CHECK(contains(piped("len?\n"), "len("));
  const std::string box = piped(
      "class Box(object):\n    'A box.'\n    def __init__(self, w): self.w = w\n"
      "    def area(self):\n        'Its area.'\n        return self.w\n\nBox?\nBox(2).area?\n");
  CHECK(contains(box, "class Box\nBox(w)\n    A box.\n"));
  CHECK(contains(box, "    area(self) - Its area.\n"));
  CHECK(contains(box, "area()\n    Its area.\n"));
  CHECK(contains(piped("import math\nmath?\n"), "module math"));
  CHECK(contains(piped("x = 5\nx?\n"), "int 5"));
  CHECK(contains(tenscript({"repl"}, "nothing?\n").err, "NameError"));
  CHECK(contains(piped("help()\n"), "help(x)"));
}

TEST_CASE("a word with % that is none, or without its statement, says how it is used") {
  const std::string unknown = tenscript({"repl"}, "%bogus 1\n'alive'\n").err;
  CHECK(contains(unknown, "there is no %bogus; %time STATEMENT"));
  CHECK(contains(tenscript({"repl"}, "%timeit\n").err, "a statement is missing: %timeit STATEMENT"));
  CHECK(contains(tenscript({"repl"}, "%time \n").err, "a statement is missing: %time STATEMENT"));
}

TEST_CASE("%time and %timeit") {
  const std::string once = piped("%time 6 * 7\n");
  CHECK(contains(once, "42\nwall "));
  CHECK(contains(once, ", cpu "));
  CHECK(contains(once, ", compile "));
  CHECK(contains(once, ", peak "));
  CHECK(contains(piped("%timeit 1 + 1\n"), "a loop, best "));
  CHECK(contains(tenscript({"repl"}, "%time 1 / 0\n'alive'\n").err, "ZeroDivisionError"));
  CHECK(contains(tenscript({"repl"}, "%timeit (\n'alive'\n").out, "'alive'"));
}

TEST_CASE("_ is the last value, _err the last error, a semicolon keeps it quiet") {
  CHECK(piped("40\n_ + 2\n5;\n_\nNone\n_\n") == "40\n42\n5\n5\n");
  CHECK(piped("1 / 0\ntype(_err).__name__\n") == "'ZeroDivisionError'\n");
}

TEST_CASE("a large tensor has a line about it") {
  const std::string out = piped(
      "import torch\nx = torch.ones(40, 50)\nx[0, 0] = float('nan')\nx[1, 1] = float('inf')\n"
      "x\ntorch.ones(3)\n");
  CHECK(contains(out, "# [40, 50] float32 cpu, 1 nan, 1 inf\n"));
  CHECK(contains(out, "\ntensor([1., 1., 1.])\n"));
}

TEST_CASE("prompts of a pasted session go, its answers too") {
  CHECK(piped(">>> x = 1\n>>> def f():\n...     return x\n...\n>>> f()\n") == "1\n");
  Prompt prompt;
  prompt.pty.type("\033[200~>>> def f():\n...     return 'pas' + 'ted'\n...\n>>> f()\nanswer\033[201~\r");
  CHECK(prompt.pty.expect("\n'pasted'\r\n"));
}

TEST_CASE("Tab completes keyword arguments, modules, paths and magic words") {
  Prompt prompt;
  prompt.pty.type("def f(alpha, kernel_size=3): return kernel_size\r\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("f(1, ker\t7)\r");
  CHECK(prompt.pty.expect("f(1, kernel_size=7)"));
  CHECK(prompt.pty.expect("\n7\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("import torch.nn.functi\t as F\r");
  CHECK(prompt.pty.expect("import torch.nn.functional as F"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("sizes = {'width': 3, 'height': 40, 5: 6}\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("sizes['hei\t'] + 2\r");
  CHECK(prompt.pty.expect("sizes['height'] + 2"));
  CHECK(prompt.pty.expect("\n42\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.folder.write("some_data_file.txt", "x");
  prompt.pty.type("p = '" + prompt.folder.path() + "/some_da\t'\r");
  CHECK(prompt.pty.expect("some_data_file.txt'"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("%timei\t 1\r");
  CHECK(prompt.pty.expect("a loop, best "));
}

TEST_CASE("colours obey NO_COLOR, FORCE_COLOR, TERM and --color") {
  const std::string red = "\033[1;31m";
  const auto shows_color = [&](std::vector<std::pair<std::string, std::string>> environment,
                               const std::string& terminal) {
    Prompt prompt(std::move(environment), terminal);
    prompt.pty.type("1/0\r");
    REQUIRE(prompt.pty.expect("Traceback"));
    // From the word to the prompt after it.
    const bool colored = prompt.pty.expect(red, 1);
    return colored;
  };
  CHECK(shows_color({}, "xterm"));
  CHECK_FALSE(shows_color({{"NO_COLOR", "1"}}, "xterm"));
  CHECK_FALSE(shows_color({}, "dumb"));
  CHECK(shows_color({{"FORCE_COLOR", "1"}}, "dumb"));
  const auto error = [](const std::string& flag) {
    ProcessOptions options;
    options.arguments = {TENSCRIPT_EXECUTABLE, flag, "-c", "1/0"};
    return run_process(options).err;
  };
  CHECK(contains(error("--color=always"), red));
  CHECK_FALSE(contains(error("--color=auto"), red));
}

TEST_CASE("!command needs the grant of processes") {
  CHECK(piped("!echo one\n1 + 1\n! echo two\n") == "one\n2\ntwo\n");
  const auto refused = tenscript({"--sandbox", "repl"}, "!echo one\n1 + 1\n");
  CHECK(refused.out == "2\n");
  CHECK(contains(refused.err, "PermissionError: !command starts a process, and the sandbox"));
  CHECK(tenscript({"--sandbox", "--allow-run", "repl"}, "!echo one\n").out == "one\n");
}
