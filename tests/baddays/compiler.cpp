// A compiler that fails at its n-th kernel: the script goes on with the same results, one line says
// so, and under TENSCRIPT_STRICT_COMPILER it is an error.
#include <algorithm>

#include "catch2/catch.hpp"
#include "process.h"

using namespace tsc::test;

namespace {

constexpr const char* kScript =
    "import torch\n"
    "@torch.compile\n"
    "def f(x):\n"
    "    return (x * 2 + 1).exp().sum(0), x.softmax(1)\n"
    "@torch.compile\n"
    "def g(x, w):\n"
    "    return ((x @ w).relu() - 1).sum()\n"
    "x = torch.arange(12).reshape(3, 4) / 7\n"
    "w = torch.ones(4, 2, requires_grad=True)\n"
    "for i in range(3):\n"
    "    a, b = f(x + i)\n"
    "    loss = g(x + i, w)\n"
    "    loss.backward()\n"
    "    print(a.tolist(), b.sum().item(), loss.item(), w.grad.tolist())\n";
constexpr int kMostKernels = 40;

ProcessResult run(int at, const std::string& how, bool strict, const char* log = "") {
  ProcessOptions options;
  options.arguments = {TENSCRIPT_EXECUTABLE, "-c", kScript};
  options.environment = {{"NO_COLOR", "1"},
                         {"TENSCRIPT_CACHE_DIR", "off"},
                         {"TENSCRIPT_STRICT_COMPILER", strict ? "1" : "0"},
                         {"TENSCRIPT_LLVM_MODULE", BROKEN_COMPILER},
                         {"TENSCRIPT_LOGS", log},
                         {"BROKEN_COMPILER_REAL", TENSCRIPT_LLVM},
                         {"BROKEN_COMPILER_AT", std::to_string(at)},
                         {"BROKEN_COMPILER_HOW", how}};
  // An internal fault ends the process without unwinding the script's frames, so what they hold is not freed.
  if (strict && at > 0) options.environment.push_back({"ASAN_OPTIONS", "detect_leaks=0"});
  return run_process(options);
}

bool contains_line(const std::string& text, const std::string& beginning) {
  return text.starts_with(beginning) || text.find("\n" + beginning) != std::string::npos;
}

}  // namespace

TEST_CASE("a compiler that fails at any kernel changes no result, and says so in one line") {
  const ProcessResult whole = run(0, "fault", true);
  INFO(whole.err);
  REQUIRE(whole.exit_code == 0);
  int broken = 0;
  for (int at = 1; at <= kMostKernels; ++at) {
    const std::string how = at % 3 == 0 ? "memory" : at % 3 == 1 ? "fault" : "other";
    INFO("kernel " << at << ": " << how);
    const ProcessResult result = run(at, how, false);
    CHECK(result.exit_code == 0);
    CHECK(result.out == whole.out);
    if (result.err.empty()) break;  // it has fewer kernels
    ++broken;
    INFO(result.err);
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(contains_line(result.err, "warning: the compiler failed at the "));
    const ProcessResult strict = run(at, how, true);
    CHECK(strict.exit_code == (how == "memory" ? 1 : 70));
    CHECK(strict.err.find(how == "memory" ? "MemoryError" : "internal fault") != std::string::npos);
  }
  CHECK(broken > 3);
}

TEST_CASE("a compiler of another build is told once, and the interpreter goes on") {
  const ProcessResult whole = run(0, "fault", true);
  const ProcessResult result = run(0, "build", false);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == whole.out);
  CHECK(contains_line(result.err,
                      "warning: nothing is compiled; the interpreter goes on (libtenscript_llvm is of another build"));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}
