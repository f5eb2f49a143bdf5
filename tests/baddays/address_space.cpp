// A process that may not grow (RLIMIT_AS), LLVM's part of it included: a script of compiled
// functions ends well or with MemoryError, whatever the limit; nothing aborts it.
#include "catch2/catch.hpp"
#include "process.h"

using namespace tsc::test;

namespace {

ProcessResult limited(const std::string& limits, const std::string& argument, bool jit = true) {
  ProcessOptions options;
  options.arguments = {"/bin/sh", "-c", limits + " && exec " TENSCRIPT_EXECUTABLE " \"$0\"", argument};
  options.environment = {{"NO_COLOR", "1"},
                         {"TENSCRIPT_CACHE_DIR", "off"},
                         {"TENSCRIPT_STRICT_COMPILER", "0"},
                         {"TENSCRIPT_THREADS", "2"},
                         {"TENSCRIPT_NO_JIT", jit ? "0" : "1"}};
  return run_process(options);
}

ProcessResult train(const std::string& limits, bool jit = true) {
  return limited(limits, TSC_COMPILED_FOLDER "/training.tsc", jit);
}

}  // namespace

TEST_CASE("a process that may not grow runs its script or tells that memory is missing") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  SUCCEED("a sanitizer takes all of the address space");
  return;
#endif
  const std::string expected = train("true", false).out;
  REQUIRE(!expected.empty());
  int ran = 0;
  for (int megabytes = 12; megabytes <= 420; megabytes += megabytes < 180 || megabytes > 300 ? 14 : 5) {
    const std::string limit = "ulimit -v " + std::to_string(megabytes * 1024);
    // The system cannot even start the program.
    if (limited(limit, "--version").exit_code != 0) continue;
    const ProcessResult result = train(limit);
    INFO(megabytes << " MiB: exit code " << result.exit_code << "\n" << result.err);
    if (result.exit_code == 0) {
      CHECK(result.out == expected);
      ++ran;
    } else {
      CHECK(result.exit_code == 1);
      CHECK(result.err.find("MemoryError") != std::string::npos);
      CHECK(expected.starts_with(result.out));
    }
  }
  CHECK(ran > 5);
}
