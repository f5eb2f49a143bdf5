// Engines and threads: several at once, one that goes from hand to hand, and misuse that is an error.
#include <atomic>
#include <chrono>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTraining = R"(
import torch
from torch import nn
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(64, 8), torch.randn(64, 1)

@torch.compile
def loss_of(x, y):
    return ((model(x) - y) ** 2).mean()

def train(steps):
    for i in range(steps):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
    return loss.item()
)";

}  // namespace

TEST_CASE("engines in several threads do not see each other") {
  double alone = 0;
  {
    Engine engine;
    engine.run_source(kTraining);
    alone = engine.call("train", 20).as<double>();
  }
  std::vector<double> results(4);
  std::vector<std::thread> threads;
  for (double& result : results)
    threads.emplace_back([&result] {
      Engine engine;
      engine.run_source(kTraining);
      result = engine.call("train", 20).as<double>();
    });
  for (std::thread& thread : threads) thread.join();
  for (double result : results) CHECK(result == alone);
}

TEST_CASE("one engine handed between threads") {
  Engine engine;
  engine.run_source(kTraining);
  Value kept;
  for (int i = 0; i < 6; ++i) {
    std::thread([&] {
      engine.call("train", 3);
      kept = engine.get("x");
    }).join();
  }
  CHECK(kept.sizes() == std::vector<int64_t>{64, 8});
  std::thread([value = std::move(kept)]() mutable { value = Value(); }).join();
  CHECK(engine.call("train", 1).as<double>() >= 0);
}

TEST_CASE("a second thread in an engine that is busy: an error, not a crash") {
  Engine engine;
  std::atomic<bool> inside{false}, leave{false};
  engine.define("host", "wait", [&] {
    inside = true;
    while (!leave) std::this_thread::sleep_for(1ms);
  });
  engine.run_source("import host\nitems = [1, 2, 3]\nd = {1: 2}\ndef busy():\n    host.wait()\n    return 7\n");
  Value items = engine.get("items"), dict = engine.get("d"), dropped = engine.get("items");
  int result = 0;
  std::thread worker([&] { result = engine.call("busy").as<int>(); });
  while (!inside) std::this_thread::sleep_for(1ms);
  auto code_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return TSC_OK;
  };
  CHECK(code_of([&] { engine.run_source("x = 1"); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.get("items"); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.call(items); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.value(3); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { items[0]; }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { items.size(); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { dict.entry(0); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.represent(items); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.set_limits({}); }) == TSC_WRONG_THREAD);
  CHECK(code_of([&] { engine.define("host", "f", [] {}); }) == TSC_WRONG_THREAD);
  CHECK(items.kind() == TSC_LIST);
  CHECK(engine.statistics().memory_bytes > 0);
  dropped = Value();  // waits for the engine
  leave = true;
  worker.join();
  CHECK(result == 7);
  CHECK(engine.get("items").size() == 3);
}

TEST_CASE("many threads at one engine: each call is served whole or refused") {
  Engine engine;
  engine.run_source(
      "n = 0\ndef bump():\n    global n\n    before = n\n    for i in range(50): pass\n"
      "    n = before + 1\n    return n\n");
  std::atomic<int> served{0}, refused{0}, strange{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        tsc_value *function = nullptr, *result = nullptr;
        tsc_status* status = api().get(engine.handle(), "bump", &function);
        if (!status) status = api().call(engine.handle(), function, nullptr, 0, nullptr, nullptr, 0, &result);
        if (status && api().status_code(status) != TSC_WRONG_THREAD) ++strange;
        ++(status ? refused : served);
        api().value_free(result);
        api().value_free(function);
        api().status_free(status);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(strange == 0);
  CHECK(served + refused == 2000);
  CHECK(engine.get("n").as<int>() == served);
}
