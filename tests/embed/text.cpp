// Text that comes from the system is text whatever its bytes are.
#include <stdlib.h>

#include <fstream>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"
#include "standard_input.h"

using namespace tenscript;

namespace {

// What walks over the characters of a text, forwards and backwards.
constexpr const char* kWalk = R"(
def walk(text):
    more = text * 3 + 'xyz'
    assert len([c for c in more]) == len(more) and more[::-1][:3] == 'zyx'
    assert ''.join(c for c in more).encode().decode() == more
    return text
)";

}  // namespace

TEST_CASE("bytes of the system that are no text become U+FFFD") {
  tsc::test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/a\xff\xfe" "b") << "";
  ::setenv("TENSCRIPT_TEST_BYTES", "x\xc3", 1);
  Options options;
  options.grants = TSC_GRANT_ALL;
  options.search_paths = {"/no/\xf0\x9f"};
  options.arguments = {"\xf0\x9f", "\xed\xa0\x80", "caf\xc3\xa9"};
  Engine engine(options);
  CHECK(engine.info("json").find("/no/\xef\xbf\xbd") != std::string::npos);
  engine.run_source(kWalk);
  engine.set("folder", engine.value(folder.path()));
  engine.run_source(
      "import os, sys\n"
      "assert [walk(a) for a in sys.argv] == ['\\ufffd', '\\ufffd\\ufffd\\ufffd', 'café']\n"
      "assert walk(os.environ['TENSCRIPT_TEST_BYTES']) == 'x\\ufffd'\n"
      "assert [walk(n) for n in os.listdir(folder)] == ['a\\ufffd\\ufffdb']\n"
      "assert len({walk(n): 1 for n in os.listdir(folder) + ['a\\ufffd\\ufffdb']}) == 1\n");
}

TEST_CASE("names and messages of the host that are no text do no harm") {
  Engine engine;
  engine.run_source(kWalk);
  CHECK_THROWS_WITH(engine.get("\xf0\x9f"), Catch::Contains("is not defined"));
  CHECK_THROWS_WITH(engine.get("print.\xf0\x9f"), Catch::Contains("AttributeError"));
  engine.define("host", "fail", []() -> int { throw std::runtime_error("bad \xf0\x9f"); });
  engine.run_source("import host\ntry:\n    host.fail()\nexcept RuntimeError as e:\n    assert walk(str(e)) == 'bad \\ufffd'\n"
                    "class C: pass\nc = C()\n");
  engine.set_attribute(engine.get("c"), "\xf0\x9f", engine.value(1));
  engine.set_attribute(engine.get("c"), "\xf0\x9f", engine.value(2));
  engine.run_source("assert c.__dict__ == {'\\ufffd': 2} and [walk(n) for n in dir(c)]");
}

TEST_CASE("a line of standard input that is no text is a UnicodeDecodeError") {
  Options options;
  options.grants = TSC_GRANT_INPUT;
  for (const char* code : {"input()", "import sys\ninput()"}) {
    const StandardInput input("\xf0\x9f\nafter\n");
    Engine engine(options);
    engine.run_source(kWalk);
    CHECK_THROWS_WITH(engine.run_source(code), Catch::Contains("UnicodeDecodeError"));
  }
}
