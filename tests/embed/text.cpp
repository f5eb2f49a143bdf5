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
    bytes = ''.join(c for c in more).encode('utf-8', 'surrogateescape')
    assert bytes.decode('utf-8', 'surrogateescape') == more
    return text
)";

}  // namespace

TEST_CASE("bytes of the system that are no text become halves of surrogate pairs") {
  tsc::test::TemporaryFolder folder;
  std::ofstream(folder.path() +
                "/a\xff\xfe"
                "b")
      << "";
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
      "assert [walk(a) for a in sys.argv] == ['\\udcf0\\udc9f', '\\udced\\udca0\\udc80', 'café']\n"
      "assert walk(os.environ['TENSCRIPT_TEST_BYTES']) == 'x\\udcc3'\n"
      "assert [walk(n) for n in os.listdir(folder)] == ['a\\udcff\\udcfeb']\n"
      "assert len({walk(n): 1 for n in os.listdir(folder) + ['a\\udcff\\udcfeb']}) == 1\n"
      "path = os.path.join(folder, os.listdir(folder)[0])\n"
      "with open(path, 'w') as file: file.write('found')\n"
      "assert open(path).read() == 'found' and os.path.getsize(path) == 5 and os.path.isfile(path)\n"
      "os.rename(path, path + '\\udc80')\n"
      "assert os.listdir(folder) == ['a\\udcff\\udcfeb\\udc80'] and not os.path.exists(path)\n"
      "os.environ['TENSCRIPT_TEST_BYTES'] += '\\udcaf'\n");
  CHECK(std::string(::getenv("TENSCRIPT_TEST_BYTES")) == "x\xc3\xaf");
}

TEST_CASE("halves of surrogate pairs do not leave as UTF-8") {
  Engine engine;
  engine.run_source("half = 'a\\ud800b'\nwhole = half.replace('\\ud800', '')");
  CHECK(engine.get("whole").as<std::string>() == "ab");
  CHECK_THROWS_WITH(engine.get("half").as<std::string>(), Catch::Contains("half of a surrogate pair"));
  CHECK_THROWS_WITH(engine.run_source("raise ValueError(half)"), Catch::Contains("ValueError: a\\ud800b"));
  CHECK_THROWS_WITH(engine.value("\xed\xa0\x80"), Catch::Contains("no UTF-8 from byte 0"));
}

TEST_CASE("names and messages of the host that are no text do no harm") {
  Engine engine;
  engine.run_source(kWalk);
  CHECK_THROWS_WITH(engine.get("\xf0\x9f"), Catch::Contains("is not defined"));
  CHECK_THROWS_WITH(engine.get("print.\xf0\x9f"), Catch::Contains("AttributeError"));
  engine.define("host", "fail", []() -> int { throw std::runtime_error("bad \xf0\x9f"); });
  engine.run_source(
      "import host\ntry:\n    host.fail()\nexcept RuntimeError as e:\n    assert walk(str(e)) == 'bad \\ufffd'\n"
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
