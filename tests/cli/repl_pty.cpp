// The prompt on a terminal.
#include <signal.h>

#include <chrono>
#include <fstream>

#include "catch2/catch.hpp"
#include "process.h"
#include "pseudo_terminal.h"

using namespace tsc::test;

namespace {

struct Prompt {
  TemporaryFolder folder;
  Pty pty;
  Prompt()
      : pty({TENSCRIPT_EXECUTABLE}, {{"TERM", "xterm"},
                                     {"XDG_STATE_HOME", folder.path()},
                                     {"NO_COLOR", "1"},
                                     {"TENSCRIPT_STRICT_COMPILER", "1"}}) {
    REQUIRE(pty.expect(">>> "));
  }
};

}  // namespace

TEST_CASE("values are shown, the last one has a name") {
  Prompt prompt;
  prompt.pty.type("6 * 7\r");
  CHECK(prompt.pty.expect("\n42\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("_ + 1\r");
  CHECK(prompt.pty.expect("\n43\r\n"));
  // Before the prompt is back, the terminal's own line discipline would swallow Ctrl-D.
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("\x04");
  CHECK(prompt.pty.wait() == 0);
}

TEST_CASE("the program's own sys.displayhook shows what an entry gives") {
  Prompt prompt;
  prompt.pty.type("import sys\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("sys.displayhook = lambda value: print('shown:', value)\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("6 * 7\r");
  CHECK(prompt.pty.expect("\nshown: 42\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("sys.excepthook = lambda *told: print('told:', told[1])\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("None.x = 1\r");
  CHECK(prompt.pty.expect("\ntold: 'NoneType'"));
}

TEST_CASE("a block of several lines ends with an empty one") {
  Prompt prompt;
  prompt.pty.type("for i in range(3):\r");
  CHECK(prompt.pty.expect("... "));
  prompt.pty.type("print('row', i)\r\x7f\r");
  CHECK(prompt.pty.expect("\nrow 0\r\nrow 1\r\nrow 2\r\n"));
}

TEST_CASE("an error keeps the session") {
  Prompt prompt;
  prompt.pty.type("1/0\r");
  CHECK(prompt.pty.expect("ZeroDivisionError: division by zero"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("'still ' + 'here'\r");
  CHECK(prompt.pty.expect("'still here'"));
}

TEST_CASE("Ctrl-C stops the running statement within 50 ms and keeps the session") {
  Prompt prompt;
  prompt.pty.type("def spin():\rprint('g' + 'o')\rwhile True: pass\r\r");
  REQUIRE(prompt.pty.expect(">>> "));
  prompt.pty.type("spin()\r");
  REQUIRE(prompt.pty.expect("\ngo\r\n"));
  CHECK_FALSE(prompt.pty.expect(">>> ", 0.2));
  const auto start = std::chrono::steady_clock::now();
  prompt.pty.type("\x03");
  CHECK(prompt.pty.expect("KeyboardInterrupt"));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds < 1);  // the budget is 0.05; the bound leaves room for a busy machine
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("'alive'\r");
  CHECK(prompt.pty.expect("'alive'"));
}

TEST_CASE("Ctrl-C at the prompt gives the line up") {
  Prompt prompt;
  prompt.pty.type("garbage(\x03");
  CHECK(prompt.pty.expect("^C"));
  prompt.pty.type("1 + 1\r");
  CHECK(prompt.pty.expect("\n2\r\n"));
}

TEST_CASE("Ctrl-C at the prompt without an editor gives the line up") {
  for (const bool basic : {true, false}) {
    TemporaryFolder folder;
    std::vector<std::string> arguments = {TENSCRIPT_EXECUTABLE};
    if (basic) arguments.emplace_back("--basic");
    Pty pty(arguments, {{"TERM", basic ? "xterm" : "dumb"}, {"XDG_STATE_HOME", folder.path()}, {"NO_COLOR", "1"}});
    REQUIRE(pty.expect(">>> "));
    pty.type("for i in [1]:\r");
    REQUIRE(pty.expect("... "));
    pty.type("garbage(\x03");
    CHECK(pty.expect("KeyboardInterrupt\r\n>>> "));
    pty.type("40 + 2\r");
    CHECK(pty.expect("\n42\r\n>>> "));
    pty.type("quit()\r");
    CHECK(pty.wait() == 0);
  }
}

TEST_CASE("a session that is pasted shows what each entry gives") {
  Prompt prompt;
  prompt.pty.type(
      "\033[200~>>> 20 + 1\n21\n>>> for i in [7]:\n...     i * 11\n...\n>>> 'la' + 'st'\n'last'\033[201~\r");
  CHECK(prompt.pty.expect("\n21\r\n"));
  CHECK(prompt.pty.expect("'last'\r\n"));
  prompt.pty.type("\033[200~>>> 1 / 0\n>>> 'not' + 'reached'\n\033[201~\r");
  CHECK(prompt.pty.expect("ZeroDivisionError"));
  CHECK(prompt.pty.expect(">>> "));
  CHECK(prompt.pty.unread().find("notreached") == std::string::npos);
}

TEST_CASE("an entry that no further line can mend is reported at once") {
  Prompt prompt;
  prompt.pty.type("def f(:\r");
  CHECK(prompt.pty.expect("was never closed"));
  CHECK(prompt.pty.expect(">>> "));
}

TEST_CASE("Tab completes names and attributes without running code") {
  Prompt prompt;
  prompt.pty.type("class Box:\r@property\rdef danger(self): print('R' + 'AN')\r\r");
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("some_long_name = Box()\r'ready'\r");
  CHECK(prompt.pty.expect("\n'ready'"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("some_lo\t.dan\t\x15'done'\r");
  CHECK(prompt.pty.expect("some_long_name.danger"));
  CHECK(prompt.pty.expect("\n'done'"));
  CHECK(prompt.pty.unread().find("RAN") == std::string::npos);
}

TEST_CASE("the history is kept between sessions") {
  TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> environment = {
      {"TERM", "xterm"}, {"XDG_STATE_HOME", folder.path()}, {"NO_COLOR", "1"}};
  {
    Pty first({TENSCRIPT_EXECUTABLE}, environment);
    REQUIRE(first.expect(">>> "));
    first.type("'kept' + '!'\r");
    REQUIRE(first.expect("\n'kept!'"));
    REQUIRE(first.expect(">>> "));
    first.type("exit\r");
    CHECK(first.wait() == 0);
  }
  Pty second({TENSCRIPT_EXECUTABLE}, environment);
  REQUIRE(second.expect(">>> "));
  second.type("\033[A\033[A\r");
  CHECK(second.expect("\n'kept!'"));
}

TEST_CASE("a paste of 441,033 characters takes a second at most") {
  Prompt prompt;
  std::string text = "s = '''";
  while (text.size() < 441033) text += "It was on a dreary night of November that I beheld it\n";
  text += "'''";
  const auto start = std::chrono::steady_clock::now();
  prompt.pty.type("\033[200~" + text + "\033[201~\rlen(s) > 440000\r");
  CHECK(prompt.pty.expect("\nTrue\r\n", 60));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds < 10);  // the budget is 1 on an idle machine
}

TEST_CASE("termination at the prompt gives the terminal back") {
  Prompt prompt;
  CHECK_FALSE(prompt.pty.is_canonical());
  prompt.pty.signal(SIGTERM);
  CHECK(prompt.pty.wait() == 143);
  CHECK(prompt.pty.is_canonical());
}

TEST_CASE("vi's keys are asked for by a flag, a variable or ~/.inputrc") {
  const auto run = [](std::vector<std::string> arguments,
                      std::vector<std::pair<std::string, std::string>> environment) {
    TemporaryFolder folder;
    arguments.insert(arguments.begin(), TENSCRIPT_EXECUTABLE);
    environment.insert(environment.end(), {{"TERM", "xterm"}, {"XDG_STATE_HOME", folder.path()}, {"NO_COLOR", "1"}});
    Pty pty(arguments, environment);
    REQUIRE(pty.expect(">>> "));
    // vi makes `10 + 13` of it; with emacs's keys Escape and a letter are Alt and the letter.
    pty.type("3\033i1\033a0 + 1\033\r");
    const bool vi = pty.expect("\n23\r\n", 10);
    pty.type("exit\r");
    pty.wait();
    return vi;
  };
  TemporaryFolder home;
  std::ofstream(home.path() + "/.inputrc") << "# mine\nset editing-mode vi\nset bell-style none\n";
  CHECK(run({"--keys=vi"}, {{"HOME", "/nonexistent"}}));
  CHECK(run({}, {{"TENSCRIPT_KEYS", "vi"}}));
  CHECK(run({}, {{"HOME", home.path()}, {"INPUTRC", ""}}));
  CHECK(run({}, {{"INPUTRC", home.path() + "/.inputrc"}}));
}

TEST_CASE("!command runs in the shell on this terminal, and Ctrl-C ends it alone") {
  Prompt prompt;
  prompt.pty.type("!echo $((6 * 7)) here; exit 3\r");
  CHECK(prompt.pty.expect("\n42 here\r\n(exit code 3)\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("!cat\r");
  REQUIRE(prompt.pty.expect("\n"));
  CHECK_FALSE(prompt.pty.expect(">>> ", 0.3));
  prompt.pty.type("typed\r");
  CHECK(prompt.pty.expect("typed\r\ntyped\r\n"));
  prompt.pty.type("\x03");
  CHECK(prompt.pty.expect("(ended by signal 2)\r\n"));
  CHECK(prompt.pty.expect(">>> "));
  prompt.pty.type("'still ' + 'here'\r");
  CHECK(prompt.pty.expect("'still here'"));
}
