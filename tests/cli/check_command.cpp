// `tenscript check` as a person meets it.
#include <sstream>

#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("check shows findings with their place and exits 1") {
  TemporaryFolder folder;
  folder.write("bad.tsc", "value = 1\nprint(vlaue)\n");
  folder.write("good.tsc", "print(1)\n");
  const ProcessResult result = tenscript({"check"}, "", folder.path());
  CHECK(result.exit_code == 1);
  CHECK(contains(result.out, "bad.tsc:2:7: error[E0701]: name 'vlaue' is not defined"));
  CHECK(contains(result.out, "^^^^^"));
  CHECK(contains(result.out, "did you mean `value`?"));
  CHECK(contains(result.err, "1 finding in 2 files"));
  CHECK(tenscript({"check", "good.tsc"}, "", folder.path()).exit_code == 0);
  CHECK(tenscript({"check", "none.tsc"}, "", folder.path()).exit_code == 2);
}

TEST_CASE("check --json prints one array") {
  const ProcessResult result = tenscript({"check", "--json", "-q", "-"}, "import os\nx = (y)\n");
  CHECK(result.exit_code == 1);
  CHECK(result.err.empty());
  CHECK(result.out.substr(0, 2) == "[{");
  CHECK(contains(result.out, "\"code\":\"E0706\""));
  CHECK(contains(result.out, "\"code\":\"E0701\""));
  CHECK(tenscript({"check", "--json", "-q", "-"}, "x = 1\n").out == "[]\n");
}

// Every finding in the corpus is true: those of tests/scripts/errors are what these scripts are
// about, the other three are a variable, an import and a statement that really do nothing.
TEST_CASE("check raises no false alarm on the corpus") {
  const ProcessResult result = tenscript({"check", "--color=never", std::string(TSC_SOURCE_FOLDER) + "/tests/scripts"});
  INFO(result.out);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("[E07") == std::string::npos) continue;
    const bool about_it = line.find("/errors/") != std::string::npos;
    const bool warning = line.find("warning[E0703]") != std::string::npos ||
                         line.find("warning[E0706]") != std::string::npos ||
                         line.find("warning[E0707]") != std::string::npos;
    INFO(line);
    CHECK((about_it || warning));
  }
}

TEST_CASE("check finds nothing in the library and the examples") {
  for (const char* part : {"stdlib", "examples"}) {
    const ProcessResult result = tenscript({"check", std::string(TSC_SOURCE_FOLDER) + "/" + part});
    INFO(result.out);
    CHECK(result.exit_code == 0);
  }
}
