// Limits that strike inside the work of a device: they end the script as those of the CPU do, no handler of the script
// takes them for an error of its own, and the engine and its devices work afterwards.
#include <chrono>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "timed_run.h"

using namespace tenscript;
using namespace std::chrono_literals;

namespace {

Options with_devices() {
  Options options;
  options.cuda = "simulated";
  return options;
}

void check_devices_work(Engine& engine) {
  engine.run_source(
      "import torch\n"
      "total = torch.ones(4, device='cuda').sum().item() + torch.full((4,), 2.0, device='cuda:1').sum().item()\n");
  CHECK(engine.get("total").as<double>() == 12);
}

// The work takes long and is waited for where every error would be caught.
constexpr const char* kLongWork =
    "import torch\n"
    "caught = []\n"
    "x = torch.ones(1500, 1500, device='cuda')\n"
    "while True:\n"
    "    try:\n"
    "        y = x\n"
    "        for i in range(20):\n"
    "            y = (y @ x) / 1500\n"
    "        y.sum().item()\n"
    "    except BaseException as error:\n"
    "        caught.append(str(error))\n";

}  // namespace

TEST_CASE("a time limit that strikes inside the work of a device is no error of the script") {
  Options options = with_devices();
  options.time_limit = 150ms;
  Engine engine(options);
  const Outcome outcome = run(engine, kLongWork);
  CHECK(outcome.limit == TSC_LIMIT_TIME);
  CHECK(outcome.message == "LimitError: the script ran longer than its time limit of 150 ms");
  CHECK(engine.represent(engine.get("caught")) == "[]");
  check_devices_work(engine);
}

TEST_CASE("a stop ends the work of a device") {
  Engine engine(with_devices());
  std::thread stopper([&] {
    std::this_thread::sleep_for(100ms);
    engine.stop("enough");
  });
  const Outcome outcome = run(engine, kLongWork);
  stopper.join();
  CHECK(outcome.limit == TSC_LIMIT_STOP);
  CHECK(outcome.message == "LimitError: stopped by the host: enough");
  CHECK(engine.represent(engine.get("caught")) == "[]");
  check_devices_work(engine);
}

TEST_CASE("a step limit leaves nothing of the work that was queued to the next call") {
  Options options = with_devices();
  options.step_limit = 20000;
  Engine engine(options);
  const Outcome outcome = run(engine,
                              "import torch\n"
                              "x = torch.ones(600, 600, device='cuda')\n"
                              "while True:\n"
                              "    x = x @ x\n");
  CHECK(outcome.limit == TSC_LIMIT_STEPS);
  check_devices_work(engine);
}

TEST_CASE("the memory limit keeps its kind where a kernel of a device meets it") {
  Options options = with_devices();
  options.memory_limit = 100 << 20;
  Engine engine(options);
  const Outcome outcome = run(engine,
                              "import torch\n"
                              "caught = []\n"
                              "try:\n"
                              "    x = torch.ones(9 << 20, device='cuda')\n"
                              "    y = x + x\n"
                              "    torch.cuda.synchronize()\n"
                              "except BaseException as error:\n"
                              "    caught.append(str(error))\n");
  CHECK(outcome.limit == TSC_LIMIT_MEMORY);
  CHECK(outcome.message.find("exceeds the memory limit") != std::string::npos);
  CHECK(engine.represent(engine.get("caught")) == "[]");
  check_devices_work(engine);
}
