// Compiling beside the program, with a compiler that is slow, broken or both: the program prints the same,
// never waits, and ends when it ends.
#include <algorithm>
#include <chrono>
#include <memory>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"

using namespace tsc::test;

namespace {

// Prints every step, before and after the kernels are there; some steps change what was assumed.
constexpr const char* kTraining =
    "import sys, time, torch\n"
    "from torch import nn\n"
    "torch.manual_seed(1)\n"
    "model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.LayerNorm(12), nn.Linear(12, 2))\n"
    "optimizer = torch.optim.Adam(model.parameters(), lr=0.02)\n"
    "@torch.compile\n"
    "def step(x, y):\n"
    "    optimizer.zero_grad()\n"
    "    loss = ((model(x) - y) ** 2).mean()\n"
    "    loss.backward()\n"
    "    optimizer.step()\n"
    "    return loss.detach()\n"
    "@torch.compile\n"
    "def turns(x):\n"
    "    for i in range(6):\n"
    "        x = x * 1.5 - x.mean()\n"
    "    return x.sum().item()\n"
    "@torch.compile\n"
    "def stray(x):\n"
    "    return x.softmax(1).sum(0) * x.exp().sum()\n"
    "steps, pause, wait = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])\n"
    "for i in range(steps):\n"
    "    x = torch.randn(5 + i % 3, 6)\n"
    "    y = torch.randn(5 + i % 3, 2)\n"
    "    if i % 7 == 3:\n"
    "        model[0].bias.requires_grad_(i % 2 == 0)\n"
    "    if i % 11 == 5:\n"
    "        model[3].weight.data = model[3].weight.data * 0.5\n"
    "    print(step(x, y).item(), stray(x if i % 4 else x.double()).tolist(), turns(x))\n"
    "    time.sleep(pause)\n"
    "    if i == wait:\n"
    "        torch.compiler.report()  # whoever reads it waits for the compiler\n";

struct Setting {
  std::vector<std::string> flags = {};
  int slow_ms = 0;    // of every kernel
  int broken_at = 0;  // the kernel that fails; 0: none
  std::string report = {};
  int wait_at = -1;  // the step after which all kernels are there
};

ProcessResult train(int steps, const std::string& pause, const Setting& setting = {}) {
  ProcessOptions options;
  options.arguments = {TENSCRIPT_EXECUTABLE};
  options.arguments.insert(options.arguments.end(), setting.flags.begin(), setting.flags.end());
  for (const std::string& word :
       {std::string("-c"), std::string(kTraining), std::to_string(steps), pause, std::to_string(setting.wait_at)})
    options.arguments.push_back(word);
  options.environment = {{"NO_COLOR", "1"},
                         {"TENSCRIPT_CACHE_DIR", "off"},
                         {"TENSCRIPT_STRICT_COMPILER", "0"},
                         {"TENSCRIPT_THREADS", "2"},
                         {"TENSCRIPT_NO_BACKGROUND", "0"},
                         {"TENSCRIPT_LLVM_MODULE", BROKEN_COMPILER},
                         {"TENSCRIPT_REPORT", setting.report},
                         {"BROKEN_COMPILER_REAL", TENSCRIPT_LLVM},
                         {"BROKEN_COMPILER_AT", std::to_string(setting.broken_at)},
                         {"BROKEN_COMPILER_HOW", "fault"},
                         {"BROKEN_COMPILER_SLOW", std::to_string(setting.slow_ms)}};
  return run_process(options);
}

long total_of(const std::string& report, const std::string& kind) {
  const std::string text = read_file(report), key = "\"" + kind + "\": ";
  const std::size_t found = text.find(key);
  return found == std::string::npos ? -1 : std::atol(text.c_str() + found + key.size());
}

}  // namespace

TEST_CASE("the same bits before the kernels are there, while they come, and after") {
  const ProcessResult expected = train(60, "0", {{"--no-jit"}});
  REQUIRE(expected.exit_code == 0);
  for (const int slow : {0, 3, 20}) {
    INFO("each kernel takes " << slow << " ms longer");
    const ProcessResult result = train(60, slow == 3 ? "0.004" : "0", {{}, slow});
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
    CHECK(result.out == expected.out);
  }
  CHECK(train(60, "0", {{"--threads", "1"}}).out == expected.out);
}

TEST_CASE("kernels are taken as soon as they are there") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/report.json";
  const ProcessResult result = train(30, "0", {{}, 0, 0, file, 12});
  CHECK(result.exit_code == 0);
  CHECK(result.out == train(30, "0", {{"--no-jit"}}).out);
  CHECK(total_of(file, "cache_hit") > 5);  // runs ask for what the report had waited for
}

// The first step's kernels: with one thread nothing is compiled for it, and the second step waits for them.
TEST_CASE("the first call is interpreted, with one thread too") {
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2"}) {
    const std::string first = folder.path() + "/first" + threads, second = folder.path() + "/second" + threads;
    REQUIRE(train(1, "0", {{"--threads", threads}, 0, 0, first}).exit_code == 0);
    REQUIRE(train(2, "0", {{"--threads", threads}, 0, 0, second}).exit_code == 0);
    // A loop is captured from its second turn on, where nothing has to wait for it.
    const bool beside = std::string(threads) == "2";
    CHECK((total_of(first, "region") > 0) == beside);
    CHECK((total_of(first, "kernel") > 0) == beside);
    CHECK(total_of(second, "region") > 0);
    CHECK(total_of(second, "kernel") > 5);
  }
}

TEST_CASE("a program does not wait for its kernels, nor for those it leaves behind") {
  const ProcessResult result = train(4, "0", {{}, 400});
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(result.out == train(4, "0", {{"--no-jit"}}).out);
  CHECK(result.seconds < 4);  // a dozen kernels of 0.4 s; one of them may be at work at the end
}

TEST_CASE("a compiler that breaks beside the program is told of in one line") {
  const ProcessResult expected = train(30, "0", {{"--no-jit"}});
  for (const int at : {1, 2, 5}) {
    const ProcessResult result = train(30, "0", {{}, 0, at, "", 10});
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == expected.out);
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.err.starts_with("warning: the compiler failed at the "));
  }
}

// Runs over the blocks ask for the kernels that runs over compiled ones would ask for.
TEST_CASE("a report tells of all regions and kernels however fast the compiler was") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/report.json";
  REQUIRE(train(25, "0", {{}, 0, 0, file}).exit_code == 0);
  const long regions = total_of(file, "region"), kernels = total_of(file, "kernel");
  CHECK(kernels > 10);
  for (const int slow : {1, 10, 40}) {
    INFO("each kernel takes " << slow << " ms longer");
    REQUIRE(train(25, slow == 1 ? "0.01" : "0", {{}, slow, 0, file}).exit_code == 0);
    CHECK(total_of(file, "kernel") == kernels);
    CHECK(total_of(file, "region") == regions);
  }
}

TEST_CASE("a time limit lands while kernels are being compiled") {
  const ProcessResult result = train(100000, "0", {{"--time-limit", "700ms"}, 150});
  CHECK(result.exit_code == 3);
  CHECK(result.err.find("LimitError") != std::string::npos);
  CHECK(result.seconds < 4);
}

namespace {

constexpr const char* kFunction =
    "import torch\n"
    "@torch.compile\n"
    "def f(x, w):\n"
    "    return ((x @ w).tanh() * 2 + x.sum()).softmax(1), x.exp().sum(0)\n"
    "x = torch.arange(12.0).reshape(3, 4) / 9\n"
    "w = torch.ones(4, 4)\n"
    "def go(n):\n"
    "    return repr([[t.tolist() for t in f(x * i, w)] for i in range(n)])\n";

std::unique_ptr<tenscript::Engine> engine(bool jit = true) {
  tenscript::Options options;
  options.threads = 2;
  options.jit = jit;
  auto made = std::make_unique<tenscript::Engine>(options);
  made->run_source(kFunction);
  return made;
}

}  // namespace

TEST_CASE("engines go while they compile, side by side") {
  const std::string expected = engine(false)->call("go", 12).as<std::string>();
  for (int round = 0; round < 12; ++round) {
    auto one = engine(), two = engine();
    one->call("go", round % 4);
    CHECK(two->call("go", 12).as<std::string>() == expected);
    one.reset();
    CHECK(two->call("go", 12).as<std::string>() == expected);
  }
}

TEST_CASE("ten thousand calls across the swap") {
  auto made = engine();
  made->run_source(
      "first = go(3)\n"
      "plain = torch.compiler.disable(lambda x: ((x @ w).tanh() * 2 + x.sum()).softmax(1))\n"
      "for i in range(10000):\n"
      "    y = f(x * (i % 5), w)[0]\n"
      "    assert i % 100 or torch.equal(y, plain(x * (i % 5)))\n"
      "assert go(3) == first\n");
}
