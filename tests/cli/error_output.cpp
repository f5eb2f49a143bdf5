// Errors as machines read them, the pages of error codes, and how tracebacks are drawn.
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_tenscript.h"

using namespace tsc::test;
using nlohmann::json;

namespace {

// Each line of standard error as an object.
std::vector<json> objects_of(const ProcessResult& result) {
  std::vector<json> objects;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    json object = json::parse(line, nullptr, false);
    REQUIRE(object.is_object());
    objects.push_back(std::move(object));
  }
  return objects;
}

ProcessResult as_json(const std::string& code) { return tenscript({"--error-format=json", "-c", code}); }

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace

TEST_CASE("diagnostics as JSON: one object each, in the shape of the language server protocol") {
  const ProcessResult result = as_json("x = = 1\nprint 'é' + (2\n");
  CHECK(result.exit_code == 1);
  const std::vector<json> found = objects_of(result);
  REQUIRE(found.size() >= 2);
  CHECK(found[0]["kind"] == "diagnostic");
  CHECK(found[0]["code"] == "E0302");
  CHECK(found[0]["severity"] == 1);
  CHECK(found[0]["file"] == "<string>");
  CHECK(found[0]["range"]["start"] == json({{"line", 0}, {"character", 3}}));
  CHECK(found[0]["message"] == "expected an expression after '='");
  CHECK(found[1]["range"]["start"]["line"] == 1);
}

TEST_CASE("an exception as JSON: type, message, frames, cause") {
  const ProcessResult result = as_json(
      "def f():\n    return 1 / 0\ntry:\n    f()\nexcept ZeroDivisionError as e:\n    raise ValueError('\"x\\n') from "
      "e");
  CHECK(result.exit_code == 1);
  const std::vector<json> found = objects_of(result);
  REQUIRE(found.size() == 1);
  const json& error = found[0];
  CHECK(error["kind"] == "exception");
  CHECK(error["type"] == "ValueError");
  CHECK(error["message"] == "\"x\n");
  CHECK(error["exit_code"] == 1);
  REQUIRE(error["frames"].size() == 1);
  CHECK(error["frames"][0]["line"] == 6);
  REQUIRE(error["cause"]["frames"].size() == 2);
  const json& inner = error["cause"]["frames"][1];
  CHECK(inner["function"] == "f");
  CHECK(inner["line"] == 2);
  CHECK(inner["column"] == 12);
  CHECK(inner["end_column"] == 17);
  CHECK(inner["source"] == "    return 1 / 0");
}

TEST_CASE("other ends as JSON") {
  CHECK(as_json("print(1)").err.empty());
  CHECK(as_json("import sys\nsys.exit(3)").err.empty());
  CHECK(as_json("import sys\nsys.exit(3)").exit_code == 3);
  const json exit = objects_of(as_json("import sys\nsys.exit('why')")).at(0);
  CHECK(exit["kind"] == "exit");
  CHECK(exit["message"] == "why");
  const json limit =
      objects_of(tenscript({"--error-format=json", "--time-limit=50ms", "-c", "while True: pass"})).at(0);
  CHECK(limit["kind"] == "limit");
  CHECK(limit["exit_code"] == 3);
  CHECK(contains(tenscript({"--error-format=xml", "-c", "1"}).err, "--error-format needs FORMAT"));
  CHECK(contains(tenscript({"--error-format=full", "-c", "x ="}).err, "error[E0302]"));
  const json warning = objects_of(as_json("assert (1, 'always')")).empty()
                           ? json({{"severity", 2}})
                           : objects_of(as_json("assert (1, 'always')")).at(0);
  CHECK(warning["severity"] == 2);
}

TEST_CASE("explain CODE prints the page of an error code") {
  const ProcessResult page = tenscript({"explain", "E0103"});
  CHECK(page.exit_code == 0);
  CHECK(page.out.rfind("E0103 UnterminatedString: ", 0) == 0);
  CHECK(contains(page.out, "\n    greeting = \"hello\n"));
  CHECK(tenscript({"explain", "103"}).out == page.out);
  CHECK(tenscript({"explain", "unterminatedstring"}).out == page.out);
  const ProcessResult near = tenscript({"explain", "UnclosedBraket"});
  CHECK(near.exit_code == 2);
  CHECK(contains(near.err, "there is no error code 'UnclosedBraket'; did you mean 'UnclosedBracket'?"));
  CHECK(contains(tenscript({"explain", "E0999"}).err, "did you mean 'E0"));
  TemporaryFolder folder;  // a file of that name is a script
  folder.write("E0103", "print('ran')\n");
  CHECK(contains(tenscript({"explain", "E0103"}, "", folder.path()).err, "ran"));
}

TEST_CASE("tracebacks: repeated places are counted, anchors, carets inside f-strings") {
  const std::string deep = tenscript({"-c", "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(20)"}).err;
  CHECK(contains(deep, "  [Previous line repeated 17 more times]\n"));
  CHECK(count_of(deep, ", in f\n") == 4);
  TemporaryFolder folder;
  folder.write("t.tsc", "a, b = 1, 'x'\nprint(f'{a} and {a + b:>5}')\n");
  const std::string inside = tenscript({"t.tsc"}, "", folder.path()).err;
  CHECK(contains(inside, "    print(f'{a} and {a + b:>5}')\n                     ~~^~~\n"));
  folder.write("u.tsc", "d = {}\nx = d['a']['b'] + 1\n");
  // Marks stand below what they mean where characters take two columns, or none.
  folder.write("w.tsc", "x = '日本' + 1\n");
  CHECK(contains(tenscript({"w.tsc"}, "", folder.path()).err, "    x = '日本' + 1\n        ~~~~~~~^~~\n"));
  folder.write("w.tsc", "x = 'e\u0301' + 1\n");
  CHECK(contains(tenscript({"w.tsc"}, "", folder.path()).err, "        ~~~~^~~\n"));
  CHECK(contains(tenscript({"u.tsc"}, "", folder.path()).err, "    x = d['a']['b'] + 1\n        ~^^^^^\n"));
  folder.write("s.tsc", "print(f'{a b}')\n");
  CHECK(contains(tenscript({"s.tsc"}, "", folder.path()).err, " 1 | print(f'{a b}')\n"));
}

TEST_CASE("a diagnostic has secondary labels; a traceback in colour dims the library") {
  TemporaryFolder folder;
  folder.write("t.tsc", "values = (1, 2]\n");
  const std::string text = tenscript({"t.tsc"}, "", folder.path()).err;
  CHECK(contains(text, "t.tsc:1:15: error[E0202]"));
  CHECK(count_of(text, "^") == 1);
  CHECK(count_of(text, " - ") == 1);
  folder.write("u.tsc", "import json\njson.dumps(object())\n");
  const std::string colored = tenscript({"--color=always", "u.tsc"}, "", folder.path()).err;
  CHECK(contains(colored, "\033[2m  File \"u.tsc\", line 2, in <module>\033[0m\n    json.dumps(object())\n"));
  CHECK(contains(colored, "\033[2m  File \"<stdlib>/json/__init__.tsc\""));
  CHECK(!contains(colored, "\n    return "));  // source of the library is dimmed too
}

TEST_CASE("scripts read standard input: lines, characters, all of it, input()") {
  const std::string lines = "eins\nzwei é\n\nlast";
  TemporaryFolder folder;
  const auto run = [&](const std::string& code, const std::string& input) {
    folder.write("t.tsc", code);
    return tenscript({"t.tsc"}, input, folder.path()).out;
  };
  CHECK(run("import sys\nfor line in sys.stdin: print(repr(line))", lines) ==
        "'eins\\n'\n'zwei é\\n'\n'\\n'\n'last'\n");
  CHECK(run("import sys\nprint(repr(sys.stdin.read(6)), repr(sys.stdin.readline()), input(), sys.stdin.readlines())",
            lines) == "'eins\\nz' 'wei é\\n'  ['last']\n");
  CHECK(run("print(input('? '), input())", lines) == "? eins zwei é\n");
  CHECK(run("import sys\nprint(repr(sys.stdin.read()), repr(sys.stdin.read()), repr(sys.stdin.readline()))", "a\nb") ==
        "'a\\nb' '' ''\n");
  CHECK(run("import sys\nprint(sys.stdin.buffer.read(), sys.stdin.isatty(), sys.stdin.readable(), sys.stdin.fileno())",
            "\xff\n") == "b'\\xff\\n' False True 0\n");
  CHECK(run("try: input()\nexcept EOFError as e: print(e)", "") == "EOF when reading a line\n");
  CHECK(run("import sys, io\nsys.stdin = io.StringIO('own\\n')\nprint(input())", "not") == "own\n");
}

TEST_CASE("--emit runs a script as a file") {
  TemporaryFolder folder;
  folder.write("helper.tsc", "name = 'found'\n");
  folder.write(
      "job/t.tsc",
      "import beside, torch\n@torch.compile\ndef f(x): return x + 1\nf(torch.ones(2))\nprint(__file__, beside.name)\n");
  folder.write("job/beside.tsc", "name = 'beside'\n");
  const ProcessResult result = tenscript({"--emit=region", "job/t.tsc"}, "", folder.path());
  CHECK(contains(result.err, "job/t.tsc beside"));
  CHECK(contains(result.out, "add"));
}

TEST_CASE("a file that hides a module of the library is named where something is missing in it") {
  const struct {
    const char *file, *code;
  } slips[] = {
      {"random", "import random\nfrom random import randint\n"},
      {"einops", "import einops\nprint(einops.rearrange)\n"},
      {"json", "import json\njson.dumps([1])\n"},
      {"torch", "import torch.nn as nn\n"},
  };
  for (const auto& slip : slips) {
    const TemporaryFolder folder;
    const std::string hiding = folder.write(std::string(slip.file) + ".tsc", "x = 1\n");
    const ProcessResult result = tenscript({folder.write("main.tsc", slip.code)});
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "Rename '" + hiding + "': it hides the library's module '" + slip.file + "'."));
  }
  // Another module is no library's, and one that has what is asked for is left in peace.
  const TemporaryFolder folder;
  folder.write("tools.tsc", "x = 1\n");
  folder.write("json.tsc", "def dumps(x):\n    return 'mine'\n");
  const ProcessResult other =
      tenscript({folder.write("main.tsc", "import tools, json\nprint(json.dumps(1))\ntools.y\n")});
  CHECK(other.out == "mine\n");
  CHECK_FALSE(contains(other.err, "Rename"));
}
