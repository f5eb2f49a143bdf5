// SIGINT at random moments of training: each ends the run with KeyboardInterrupt, the session works
// afterwards, and what it trains from there on has the bits of a session that was never interrupted
// and began at the same state. Usage: tsc_interrupts [--count N] [--seed N] [--background 1].
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "../fuzz/random.h"
#include "interpreter/embed/tenscript.hpp"

namespace {

constexpr const char* kModel =
    "import io, torch\n"
    "import torch.nn as nn\n"
    "import torch.nn.functional as F\n"
    "torch.manual_seed(5)\n"
    "model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))\n"
    "optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)\n"
    "x = torch.randn(24, 16)\n"
    "y = torch.randint(0, 4, (24,))\n"
    "def loss_of(noise):\n"
    "    return F.cross_entropy(model(x + noise), y)\n"
    "compiled = torch.compile(loss_of)\n"
    "def step(use):\n"
    "    optimizer.zero_grad()\n"
    "    loss = use(torch.randn(24, 16) * 0.1)\n"
    "    loss.backward()\n"
    "    with torch.no_grad():\n"
    "        for p in model.parameters():\n"
    "            p.grad.clamp_(-1, 1)\n"
    "    optimizer.step()\n"
    "def dump():\n"
    "    file = io.BytesIO()\n"
    "    torch.save([model.state_dict(), optimizer.state_dict(), torch.get_rng_state()], file)\n"
    "    return file.getvalue().hex()\n"
    "def restore(text):\n"
    "    states = torch.load(io.BytesIO(bytes.fromhex(text)))\n"
    "    model.load_state_dict(states[0])\n"
    "    optimizer.load_state_dict(states[1])\n"
    "    torch.set_rng_state(states[2])\n"
    "def go_on():\n"
    "    for _ in range(3): step(compiled)\n"
    "    step(loss_of)\n"
    "    return dump()\n"
    "def forever():\n"
    "    while True:\n"
    "        step(compiled)\n"
    "        step(loss_of)\n";

// What the signal handler reaches.
std::atomic<tsc_engine*> interrupted{nullptr};

void on_signal(int) {
  if (tsc_engine* engine = interrupted.load()) tenscript::api().interrupt(engine);
}

int fail(unsigned long long trial, const std::string& what) {
  std::printf("trial %llu: %s\n", trial, what.c_str());
  return 1;
}

// A session that trains until a signal comes; what was wrong, or "".
std::string interrupted_training(tenscript::Engine& engine, tsc::fuzz::Random& random) {
  const pthread_t here = pthread_self();
  const auto wait = std::chrono::microseconds(random.below(12000));
  interrupted = engine.handle();
  std::thread sender([&] {
    std::this_thread::sleep_for(wait);
    pthread_kill(here, SIGINT);
  });
  std::string problem = "it was never interrupted";
  try {
    engine.run_source("forever()");
  } catch (const tenscript::Error& error) {
    problem = error.code() == TSC_INTERRUPTED && std::string(error.type()) == "KeyboardInterrupt" ? "" : error.render();
  }
  sender.join();
  interrupted = nullptr;
  engine.clear_interrupt();
  return problem;
}

// `background`: the one that is interrupted compiles beside the program.
int run(unsigned long long count, unsigned long long seed, bool background) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  tenscript::Options options;
  options.strict_compiler = true;
  options.background = background;
  tenscript::Engine engine(options);
  options.background = false;
  tenscript::Engine other(options);
  engine.run_source(kModel);
  other.run_source(kModel);
  for (unsigned long long trial = 0; trial < count; ++trial) {
    tsc::fuzz::Random random(seed, trial);
    try {
      if (const std::string problem = interrupted_training(engine, random); !problem.empty())
        return fail(trial, problem);
      const std::string state = engine.call("dump").as<std::string>();
      other.call("restore", state);
      if (engine.call("go_on").as<std::string>() != other.call("go_on").as<std::string>())
        return fail(trial, "the training after the interrupt has other bits");
    } catch (const tenscript::Error& error) {
      return fail(trial, "afterwards: " + error.render());
    }
  }
  std::printf("%llu interrupts, all well\n", count);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  unsigned long long trials = 20, seed = 1, background = 0;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i];
    unsigned long long& to = word == "--seed" ? seed : word == "--background" ? background : trials;
    to = std::strtoull(words[i + 1], nullptr, 10);
  }
  return run(trials, seed, background != 0);
}
