// What an editor does with errors: one line each, and edits that take a fault away.
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_tenscript.h"

using namespace tsc::test;
using nlohmann::json;

namespace {

json first_object(const std::vector<std::string>& arguments, const std::string& input) {
  const ProcessResult result = tenscript(arguments, input);
  INFO(result.err);
  return json::parse(result.err.substr(0, result.err.find('\n')));
}

// The byte of a place, whose column counts UTF-16 units.
size_t offset_of(const std::string& text, const json& place) {
  size_t at = 0;
  for (int line = place["line"]; line > 0; --line) at = text.find('\n', at) + 1;
  for (int units = place["character"]; units > 0;) {
    units -= static_cast<unsigned char>(text[at++]) >= 0xF0 ? 2 : 1;
    while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  }
  return at;
}

// The text with the edits of a fix, the last one first.
std::string with(std::string text, const json& fix) {
  for (auto edit = fix["edits"].rbegin(); edit != fix["edits"].rend(); ++edit) {
    const size_t begin = offset_of(text, (*edit)["range"]["start"]);
    const size_t end = offset_of(text, (*edit)["range"]["end"]);
    text.replace(begin, end - begin, (*edit)["newText"].get<std::string>());
  }
  return text;
}

struct Row {
  const char* wrong;
  const char* right;
  bool certain;
};

}  // namespace

TEST_CASE("diagnostics carry fixes: edits, and whether they can be taken without looking") {
  constexpr Row kRows[] = {
      {"if 1&&2: pass\n", "if 1 and 2: pass\n", true},
      {"x = a || b\n", "x = a or b\n", true},
      {"x = a <> b\n", "x = a != b\n", true},
      {"x = a === b\n", "x = a == b\n", true},
      {"i++\n", "i += 1\n", true},
      {"x = !a\n", "x = not a\n", true},
      {"if a: pass\nelse if b: pass\n", "if a: pass\nelif b: pass\n", true},
      {"x := 1\n", "x = 1\n", true},
      {"if x\n    pass\n", "if x:\n    pass\n", true},
      {"def f[T](x): pass\n", "def f(x): pass\n", true},
      {"x = a \xE2\x89\xA4 b\n", "x = a <= b\n", true},
      {"x = \xE2\x80\x9Chi\xE2\x80\x9D\n", nullptr, true},
      {"print 1, 2\n", "print(1, 2)\n", false},
      {"if x = 1: pass\n", "if x == 1: pass\n", false},
      {"x = 007\n", "x = 7\n", false},
      {"class = 1\n", "class_ = 1\n", false},
      {"f(a b)\n", "f(a, b)\n", false},
      {"improt os\n", "import os\n", false},
      {"function f(x): pass\n", "def f(x): pass\n", false},
      {"let x = 1\n", "x = 1\n", false},
      {"x = f\"a}\"\n", "x = f\"a}}\"\n", false},
      {"def f():\n    x = 1\n    def g():\n        nonlocal xx\n", nullptr, false},
  };
  for (const Row& row : kRows) {
    INFO(row.wrong);
    const json found = first_object({"--error-format=json", "-"}, row.wrong);
    REQUIRE(found["fixes"].size() >= 1);
    const json& fix = found["fixes"][0];
    CHECK(fix["applicability"] == (row.certain ? "machine-applicable" : "maybe-incorrect"));
    CHECK(!fix["title"].get<std::string>().empty());
    if (row.right != nullptr) CHECK(with(row.wrong, fix) == row.right);
  }
}

TEST_CASE("the checker's findings and exceptions carry fixes where a name is nearly right") {
  const std::string text = "value = 1\nprint(vlaue)\n";
  const json findings = json::parse(tenscript({"check", "--json", "-q", "-"}, text).out);
  CHECK(with(text, findings.at(0)["fixes"].at(0)) == "value = 1\nprint(value)\n");
  const std::string call = "def f(size): return size\nf(sise=1)\n";
  const json calls = json::parse(tenscript({"check", "--json", "-q", "-"}, call).out);
  CHECK(with(call, calls.at(0)["fixes"].at(0)) == "def f(size): return size\nf(size=1)\n");
  const json name = first_object({"--error-format=json", "-"}, text);
  CHECK(name["kind"] == "exception");
  CHECK(with(text, name["fixes"].at(0)) == "value = 1\nprint(value)\n");
  const std::string attribute = "upper = 'upper'\nx = 'a'.uper()\n";
  const json missing = first_object({"--error-format=json", "-"}, attribute);
  CHECK(with(attribute, missing["fixes"].at(0)) == "upper = 'upper'\nx = 'a'.upper()\n");
  CHECK(!first_object({"--error-format=json", "-"}, "1 / 0\n").contains("fixes"));
}

TEST_CASE("--error-format=short writes one line a fault") {
  const auto lines = [](const std::string& text) { return tenscript({"--error-format=short", "-"}, text).err; };
  CHECK(lines("x = = 1\nif y\n    pass\n") ==
        "<stdin>:1:4: error[E0302]: expected an expression after '='\n"
        "<stdin>:2:5: error[E0302]: expected ':'\n");
  CHECK(lines("def f():\n    return 1 / 0\nf()\n") == "<stdin>:2:12: ZeroDivisionError: division by zero\n");
  // The place is the script's, not the library's.
  CHECK(lines("import json\n\njson.loads('{')\n").rfind("<stdin>:3:1: json.decoder.JSONDecodeError: ", 0) == 0);
  CHECK(lines("raise ValueError('two\\nlines')\n") == "<stdin>:1:1: ValueError: two lines\n");
  CHECK(lines("import sys\nsys.exit('why')\n") == "why\n");
  CHECK(lines("print(1)\n").empty());
  CHECK(lines("assert (1, 'always')\n") ==
        "<stdin>:1:8: warning[E0301]: this assertion is always true: a tuple is tested\n");
  const ProcessResult found = tenscript({"check", "--error-format=short", "-q", "-"}, "print(x)\nprint(y)\n");
  CHECK(found.out ==
        "<stdin>:1:7: error[E0701]: name 'x' is not defined\n"
        "<stdin>:2:7: error[E0701]: name 'y' is not defined\n");
}

TEST_CASE(".py files are imported when asked for, after .tsc files") {
  TemporaryFolder folder;
  folder.write("helper.py", "name = 'python'\n");
  folder.write("both.py", "name = 'python'\n");
  folder.write("both.tsc", "name = 'tsc'\n");
  folder.write("package/__init__.py", "from .part import name\n");
  folder.write("package/part.py", "name = 'part'\n");
  folder.write("main.tsc", "import helper, both, package\nprint(helper.name, both.name, package.name)\n");
  const ProcessResult refused = tenscript({"main.tsc"}, "", folder.path());
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err,
                 "No module named 'helper'; there is './helper.py': the flag --import-py imports Python files") !=
        contains(refused.err,
                 "No module named 'helper'; there is 'helper.py': the flag --import-py imports Python files"));
  CHECK(tenscript({"--import-py", "main.tsc"}, "", folder.path()).out == "python tsc part\n");
  CHECK(tenscript({"--import-py", "-m", "helper"}, "", folder.path()).exit_code == 0);
  CHECK(tenscript({"-m", "helper"}, "", folder.path()).exit_code == 2);
}

TEST_CASE("modules that are not here say why, and what to use") {
  const auto why = [](const std::string& code) { return tenscript({"-c", code}).err; };
  CHECK(contains(why("import pandas as pd"), "No module named 'pandas': use csv and torch.tensor"));
  CHECK(contains(why("import sched"), "use threading.Timer"));
  CHECK(
      contains(why("from concurrent.futures import ProcessPoolExecutor"), "use concurrent.futures.ThreadPoolExecutor"));
  CHECK(contains(why("import urllib.request"), "No module named 'urllib.request': there is no network module"));
  CHECK(contains(why("import importlib.machinery"), "No module named 'importlib.machinery': "));
  CHECK(contains(why("import sys\nsys._current_frames()"), "frames are not objects"));
  CHECK(contains(why("from sys import _current_frames"), "frames are not objects"));
  CHECK(contains(why("import os\nos.system('ls')"), "use subprocess.run"));
  CHECK(!contains(why("import pandas"), "Did you mean"));
  CHECK(tenscript({"-c", "try:\n    import pandas\nexcept ImportError as e:\n    print(e.name)"}).out == "pandas\n");
  CHECK(tenscript({"-c", "import os\nprint(hasattr(os, 'fork'))"}).out == "False\n");
}
