#include "interpreter/cli/options.h"

#include <stdlib.h>

#include "catch2/catch.hpp"

using namespace tsc::cli;

namespace {
Invocation good(const std::vector<std::string>& words) {
  const ParsedCommandLine parsed = parse_command_line(words);
  INFO(parsed.problem);
  REQUIRE(parsed.problem.empty());
  return parsed.invocation;
}
std::string problem(const std::vector<std::string>& words) { return parse_command_line(words).problem; }
}  // namespace

TEST_CASE("a file with arguments; what follows it is the script's") {
  const Invocation call = good({"--threads", "2", "a.tsc", "--threads", "x", "-c"});
  CHECK(call.command == Command::Run);
  CHECK(call.script == "a.tsc");
  CHECK(call.threads == 2);
  CHECK(call.arguments == std::vector<std::string>{"a.tsc", "--threads", "x", "-c"});
}

TEST_CASE("run may be left out, and may be said") {
  CHECK(good({"run", "a.tsc"}).script == "a.tsc");
  CHECK(good({"run", "run"}).script == "run");
}

TEST_CASE("code, modules, standard input") {
  const Invocation call = good({"-c", "print(1)", "x"});
  CHECK(call.has_code);
  CHECK(call.arguments == std::vector<std::string>{"-c", "x"});
  CHECK(good({"-c", ""}).has_code);
  CHECK(good({"-m", "a.b"}).module == "a.b");
  CHECK(good({"-"}).script == "-");
}

TEST_CASE("values after a space and after an equals sign") {
  CHECK(good({"--emit=ast", "a.tsc"}).emit == "ast");
  CHECK(good({"--emit", "ast", "a.tsc"}).emit == "ast");
  CHECK(good({"--seed=7", "a.tsc"}).seed == 7);
}

TEST_CASE("commands") {
  CHECK(good({}).command == Command::Repl);
  CHECK(good({"-i", "a.tsc"}).interactive);
  CHECK(good({"info"}).command == Command::Info);
  CHECK(good({"info", "--env"}).arguments.size() == 1);
  CHECK(good({"explain", "a.tsc", "b"}).command == Command::Explain);
  CHECK(good({"-V"}).command == Command::Version);
  CHECK(good({"--help"}).command == Command::Help);
}

TEST_CASE("mistakes name the nearest flag") {
  CHECK(problem({"--thread", "2"}) == "unknown flag '--thread'; did you mean '--threads'?");
  CHECK(problem({"--nojit", "a.tsc"}) == "unknown flag '--nojit'; did you mean '--no-jit'?");
  CHECK(problem({"--frobnicate"}) == "unknown flag '--frobnicate'");
  CHECK(problem({"-x"}) == "unknown flag '-x'");
}

TEST_CASE("values that are none") {
  CHECK_FALSE(problem({"--threads", "0", "a"}).empty());
  CHECK_FALSE(problem({"--threads", "-1", "a"}).empty());
  CHECK_FALSE(problem({"--threads", "two", "a"}).empty());
  CHECK_FALSE(problem({"--threads"}).empty());
  CHECK_FALSE(problem({"--seed=99999999999999999999", "a"}).empty());
  CHECK_FALSE(problem({"--no-jit=yes", "a"}).empty());
  CHECK_FALSE(problem({"--color=blue", "a"}).empty());
  CHECK_FALSE(problem({"run"}).empty());
  CHECK_FALSE(problem({"explain"}).empty());
}

TEST_CASE("the environment sets what flags set, and flags win") {
  setenv("TENSCRIPT_THREADS", "3", 1);
  CHECK(good({"a.tsc"}).threads == 3);
  CHECK(good({"--threads=4", "a.tsc"}).threads == 4);
  setenv("TENSCRIPT_THREADS", "many", 1);
  CHECK(problem({"a.tsc"}).find("TENSCRIPT_THREADS") != std::string::npos);
  unsetenv("TENSCRIPT_THREADS");
  setenv("TENSCRIPT_PATH", "a:b::c", 1);
  CHECK(good({"a.tsc"}).search_paths == std::vector<std::string>{"a", "b", "c"});
  unsetenv("TENSCRIPT_PATH");
}

TEST_CASE("the help lists every flag") {
  const std::string help = help_text();
  for (const char* flag : {"-c CODE", "--emit STAGE", "--no-jit", "-V, --version", "explain FILE"})
    CHECK(help.find(flag) != std::string::npos);
}
