// What the prompt's Tab offers, asked through the interface.
#include <algorithm>
#include <filesystem>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"

using namespace tenscript;

namespace {
bool completes(Engine& engine, const std::string& text, const std::string& name) {
  const auto names = engine.complete(text, text.size()).second;
  return std::find(names.begin(), names.end(), name) != names.end();
}
}  // namespace

TEST_CASE("completion knows the type of a literal") {
  Engine engine;
  engine.run_source("def f(x): return x\nxs = [1]\n");
  for (const char* text :
       {"'abc'.", "x = \"a(b\".", "f(\"a'b\").real; r'\\\\'.", "return f'{1}'.", "('a').", "print('a' 'b'."})
    CHECK(completes(engine, text, "upper"));
  CHECK(completes(engine, "b'x'.", "decode"));
  CHECK(completes(engine, "[].", "append"));
  CHECK(completes(engine, "for x in [1, (2)].", "append"));
  CHECK(completes(engine, "{}.", "items"));
  CHECK(completes(engine, "f({1: 2}.", "items"));
  CHECK(completes(engine, "{1, 2}.", "union"));
  CHECK(completes(engine, "(1, 2).", "count"));
  CHECK(completes(engine, "'abc'.up", "upper"));
  for (const char* text :
       {"f(1).", "xs[0].", "f()[0].", "'a'.upper().", "(xs).", "'abc'.upper.x.", "'abc.", "# 'a'."}) {
    INFO(text);
    CHECK(engine.complete(text, std::string(text).size()).second.empty());
  }
}

TEST_CASE("completion behind from ... import reads modules and runs none") {
  tsc::test::TemporaryFolder folder;
  folder.write("helper.tsc", "print('it runs')\ndef compute(): pass\nfrom inner.deep import *\n_hidden = 1\n");
  std::filesystem::create_directory(folder.path() + "/inner");
  folder.write("inner/__init__.tsc", "");
  folder.write("inner/deep.tsc", "from .deeper import *\nDEPTH = 3\n");
  folder.write("inner/deeper.tsc", "class Well: pass\n");
  Options options;
  options.search_paths = {folder.path()};
  std::string printed;
  options.output = [&](tsc_stream, std::string_view text) { printed += text; };
  Engine engine(options);
  for (const char* name : {"compute", "DEPTH", "Well"}) CHECK(completes(engine, "from helper import ", name));
  CHECK(completes(engine, "from helper import compute, DE", "DEPTH"));
  CHECK(completes(engine, "from helper import (compute, _h", "_hidden"));
  CHECK(completes(engine, "from inner import ", "deep"));
  CHECK(completes(engine, "from inner.deep import ", "Well"));
  CHECK(completes(engine, "from torch.nn import Lin", "Linear"));
  CHECK(completes(engine, "from math import ", "sqrt"));
  CHECK(completes(engine, "from hel", "helper"));
  CHECK_FALSE(completes(engine, "from helper import compute ", "DEPTH"));
  CHECK_FALSE(completes(engine, "from nowhere import ", "compute"));
  CHECK(printed.empty());
}

TEST_CASE("completion offers no name that only says what to use instead") {
  Engine engine;
  for (const char* name : {"aiter", "breakpoint"}) CHECK_FALSE(completes(engine, std::string(name).substr(0, 3), name));
  engine.run_source("def break_all(): pass\nbreakpoint = 1");
  CHECK(completes(engine, "brea", "breakpoint"));
  CHECK(completes(engine, "comp", "compile"));
}

TEST_CASE("completion reads names and runs nothing") {
  Engine engine;
  engine.run_source(
      "ran = False\n"
      "class Box:\n"
      "    def __init__(self): self.inside = 1\n"
      "    @property\n"
      "    def danger(self):\n        global ran\n        ran = True\n        return self\n"
      "box = Box()\n");
  CHECK(engine.complete("x = bo", 6).second == std::vector<std::string>{"bool", "box"});
  CHECK(engine.complete("box.in", 6).second == std::vector<std::string>{"inside"});
  CHECK(engine.complete("box.in", 6).first == 4);
  CHECK(engine.complete("box.", 4).second == std::vector<std::string>{"danger", "inside"});
  CHECK(engine.complete("box.danger.", 11).second.empty());
  CHECK(engine.complete("nothing.here", 12).second.empty());
  CHECK(engine.complete("whil", 4).second == std::vector<std::string>{"while"});
  CHECK_FALSE(engine.get("ran").as<bool>());
}
