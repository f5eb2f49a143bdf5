// Limits: whatever a script does, it ends when the host said, and the engine works afterwards.
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"
#include "timed_run.h"

using namespace tenscript;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// Sanitizers and busy machines stretch everything; what must hold is that nothing hangs.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr auto kPatience = 60s;
#else
constexpr auto kPatience = 12s;
#endif

void check_alive(Engine& engine) {
  engine.run_source("alive = sum([1, 2, 3])");
  CHECK(engine.get("alive").as<int>() == 6);
}

// Programs that never end and do what they can not to be ended.
struct Attack {
  const char* name;
  const char* text;
};
const Attack kAttacks[] = {
    {"a loop", "while True: pass"},
    {"catches everything", "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"},
    {"catches without a type", "while True:\n    try:\n        while True: pass\n    except: pass\n"},
    {"goes on in finally", "while True:\n    try:\n        while True: pass\n    finally:\n        continue\n"},
    {"returns from finally",
     "def f():\n    try:\n        while True: pass\n    finally:\n        return 1\nwhile True: f()\n"},
    {"loops in finally", "try:\n    while True: pass\nfinally:\n    while True: pass\n"},
    {"suppresses in __exit__",
     "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\n"
     "while True:\n    with C():\n        while True: pass\n"},
    {"suppresses once and comes to its end",
     "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\n"
     "with C():\n    while True: pass\nprint('the end')\n"},
    {"returns once from finally",
     "def f():\n    try:\n        while True: pass\n    finally:\n        return 1\nf()\n"},
    {"loops in __exit__",
     "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a):\n        while True: pass\n"
     "with C():\n    while True: pass\n"},
    {"hides in a generator",
     "def g():\n    while True:\n        try:\n            yield 1\n        finally:\n            while True: pass\n"
     "def h():\n    for x in g(): break\nwhile True: h()\n"},
    {"a generator that catches",
     "def g():\n    while True:\n        try:\n            yield 1\n        except BaseException: pass\n"
     "for x in g(): pass\n"},
    {"deep recursion that catches",
     "def f():\n    try:\n        f()\n    except BaseException:\n        f()\nwhile True:\n    try: f()\n"
     "    except BaseException: pass\n"},
    {"a native loop", "sum(range(10 ** 15))"},
    {"a native search", "(10 ** 15) in iter(range(10 ** 15 + 1))"},
    {"a key function", "sorted(range(10 ** 9), key=lambda x: -x)"},
    {"raises in str()", "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()\n"},
    {"compares forever",
     "class K:\n    def __hash__(self): return 1\n    def __eq__(self, other):\n        while True: pass\n"
     "{K(), K()}\n"},
};

}  // namespace

TEST_CASE("a time limit ends every program, and scripts cannot catch it") {
  for (const Attack& attack : kAttacks) {
    INFO(attack.name);
    Options options;
    options.time_limit = 60ms;
    Engine engine(options);
    const Outcome outcome = run(engine, attack.text);
    CHECK(outcome.code == (std::string(attack.name) == "raises in str()" ? outcome.code : TSC_LIMIT));
    if (outcome.code == TSC_LIMIT) CHECK(outcome.limit == TSC_LIMIT_TIME);
    CHECK(outcome.taken < kPatience);
    engine.set_limits({});
    check_alive(engine);
  }
}

TEST_CASE("a step limit ends every loop of a script") {
  for (const Attack& attack : kAttacks) {
    if (std::string(attack.text).find("while") == std::string::npos) continue;
    INFO(attack.name);
    Options options;
    options.step_limit = 20000;
    Engine engine(options);
    const Outcome outcome = run(engine, attack.text);
    if (std::string(attack.name) != "raises in str()") {
      CHECK(outcome.code == TSC_LIMIT);
      CHECK(outcome.limit == TSC_LIMIT_STEPS);
      CHECK(outcome.message == "LimitError: the script used up its limit of 20000 steps");
    }
    CHECK(outcome.taken < kPatience);
    check_alive(engine);
  }
}

TEST_CASE("the limit is for each call from the host, and its message says what it was") {
  Options options;
  options.time_limit = 50ms;
  Engine engine(options);
  engine.run_source("def quick(): return 1\ndef slow():\n    while True: pass\n");
  for (int i = 0; i < 3; ++i) {
    CHECK(engine.call("quick").as<int>() == 1);
    CHECK_THROWS_WITH(engine.call("slow"), "LimitError: the script ran longer than its time limit of 50 ms");
  }
  std::this_thread::sleep_for(80ms);  // time between calls is the host's
  CHECK(engine.call("quick").as<int>() == 1);
}

TEST_CASE("finally and __exit__ have a moment to clean up") {
  Options options;
  options.time_limit = 50ms;
  Engine engine(options);
  const Outcome outcome = run(engine,
                              "log = []\n"
                              "class C:\n"
                              "    def __enter__(self): return self\n"
                              "    def __exit__(self, kind, value, trace): log.append(kind.__name__)\n"
                              "def f():\n"
                              "    try:\n"
                              "        with C():\n"
                              "            while True: pass\n"
                              "    except BaseException:\n"
                              "        log.append('caught')\n"
                              "    finally:\n"
                              "        log.append('finally')\n"
                              "f()\n");
  CHECK(outcome.limit == TSC_LIMIT_TIME);
  CHECK(engine.represent(engine.get("log")) == "['LimitError', 'finally']");
}

TEST_CASE("stop: from any thread, from a signal handler, before the call") {
  Engine engine;
  SECTION("from another thread, with a reason") {
    std::thread stopper([&] {
      std::this_thread::sleep_for(30ms);
      engine.stop("the user closed the window");
      engine.stop("too late");
    });
    const Outcome outcome = run(engine, "while True: pass");
    stopper.join();
    CHECK(outcome.limit == TSC_LIMIT_STOP);
    CHECK(outcome.message == "LimitError: stopped by the host: the user closed the window");
  }
  SECTION("from a signal handler") {
    static Engine* stopped = nullptr;
    stopped = &engine;
    struct sigaction action{};
    action.sa_handler = [](int) { stopped->stop("alarm"); };
    struct sigaction before{};
    sigaction(SIGALRM, &action, &before);
    itimerval timer{};
    timer.it_value.tv_usec = 30000;
    setitimer(ITIMER_REAL, &timer, nullptr);
    CHECK(run(engine, "while True: pass").limit == TSC_LIMIT_STOP);
    sigaction(SIGALRM, &before, nullptr);
  }
  SECTION("before the call, which it ends at once") {
    engine.stop();
    CHECK(engine.value(3).as<int>() == 3);  // making a value runs nothing
    const Outcome outcome = run(engine, "while True: pass");
    CHECK(outcome.message == "LimitError: stopped by the host");
    CHECK(outcome.taken < kPatience);
  }
  SECTION("and taken back") {
    engine.stop();
    engine.clear_stop();
  }
  check_alive(engine);
}

TEST_CASE("one stop ends one call, the shortest too") {
  Engine engine;
  engine.run_source("class C:\n    x = 1\nc, d = C(), {}\ndef f(): return 1\n");
  const Value c = engine.get("c"), f = engine.get("f"), d = engine.get("d"), one = engine.value(1);
  const std::function<void()> calls[] = {[&] { engine.run_source("a = 1"); },
                                         [&] { engine.run_entry("1"); },
                                         [&] { engine.call(f); },
                                         [&] { engine.import_module("math"); },
                                         [&] { engine.get("c.x"); },
                                         [&] { engine.get_attribute(c, "x"); },
                                         [&] { engine.set_attribute(c, "y", one); },
                                         [&] { engine.set_item(d, 1, one); },
                                         [&] { engine.get_item(d, 1); },
                                         [&] { engine.represent(c); },
                                         [&] { engine.emit("region", "<string>", "a = 1"); }};
  engine.set_item(d, 1, one);
  int number = 0;
  for (const auto& call : calls) {
    INFO(number++);
    engine.stop("enough");
    CHECK_THROWS_WITH(call(), "LimitError: stopped by the host: enough");
    CHECK_NOTHROW(call());
  }
}

TEST_CASE("a stop that comes while a call ends is not kept for a later one") {
  Engine engine;
  engine.define("host", "stop_me", [&] { engine.stop(); });
  engine.run_source("import host\ndef f(): host.stop_me()\n");
  CHECK_THROWS_WITH(engine.call("f"), "LimitError: stopped by the host");
  CHECK_NOTHROW(engine.run_source("a = 1"));
  // The output callback is the last thing that the script does.
  Options options;
  Engine* printing = nullptr;
  options.output = [&](tsc_stream, std::string_view) { printing->stop(); };
  Engine printer(options);
  printing = &printer;
  CHECK(run(printer, "print()").limit == TSC_LIMIT_STOP);
  CHECK(run(printer, "a = 1").code == TSC_OK);
  CHECK(run(printer, "x = (").code == TSC_SYNTAX_ERROR);
}

TEST_CASE("a call that took longer than its time limit was stopped, however short it was") {
  Options options;
  options.time_limit = 1ns;
  Engine engine(options);
  for (int i = 0; i < 20; ++i) CHECK(run(engine, "a = 1").limit == TSC_LIMIT_TIME);
  CHECK(engine.value(3).as<int>() == 3);
  engine.set_limits({});
  check_alive(engine);
}

TEST_CASE("stops at random moments of training: the engine works, the model is whole") {
  Engine engine;
  engine.run_source(
      "import torch\n"
      "from torch import nn\n"
      "torch.manual_seed(1)\n"
      "model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))\n"
      "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
      "x, y = torch.randn(32, 16), torch.randn(32, 4)\n"
      "def step():\n"
      "    optimizer.zero_grad()\n"
      "    loss = ((model(x) - y) ** 2).mean()\n"
      "    loss.backward()\n"
      "    optimizer.step()\n"
      "    return loss\n"
      "def train():\n"
      "    while True: step()\n"
      "def fresh():\n"
      "    f = torch.compile(lambda a: (a * 2).sum())\n"
      "    while True: f(x)\n");
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    std::atomic<bool> started{false};
    std::thread stopper([&] {
      while (!started) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      engine.stop();
    });
    started = true;
    tsc_code code = TSC_OK;
    std::string shown;
    const auto start = Clock::now();
    try {
      engine.call(i % 2 ? "train" : "fresh");
    } catch (const Error& error) {
      code = error.code();
      shown = error.render();
    }
    stopper.join();
    INFO(i << "\n" << shown);
    CHECK(code == TSC_LIMIT);
    CHECK(Clock::now() - start < kPatience);
  }
  CHECK(engine.call("step").as<double>() >= 0);
}

TEST_CASE("a stop is heard inside kernels, sleeping and reading") {
  Engine engine([] {
    Options options;
    options.grants = TSC_GRANT_ALL;
    return options;
  }());
  engine.run_source(
      "import torch, time\na = torch.ones(3000, 3000)\nb = torch.rand(1, 20000000)\n"
      "i = torch.ones(1500, 1500, dtype=torch.int64)\n");
  for (const char* text :
       {"while True: a @ a", "while True: i @ i", "while True: torch.sort(b)", "while True: b.exp().sum()",
        "while True: torch.cumsum(b, 1)", "time.sleep(1000)", "while True: x = [0] * 10 ** 7",
        "while True: sorted([(i * 7919) % 1000003 for i in range(20000)] * 100)"}) {
    INFO(text);
    std::thread stopper([&] {
      std::this_thread::sleep_for(100ms);
      engine.stop();
    });
    const Outcome outcome = run(engine, text);
    stopper.join();
    CHECK(outcome.limit == TSC_LIMIT_STOP);
    CHECK(outcome.taken < kPatience);
    check_alive(engine);
  }
}

TEST_CASE("a stop is heard while a pipe keeps the script waiting") {
  tsc::test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  Options options;
  options.grants = TSC_GRANT_ALL;
  options.time_limit = 100ms;
  Engine engine(options);
  engine.set("path", engine.value(pipe));
  for (const char* text :
       {"open(path).read()", "open(path).readline()", "for line in open(path): pass", "open(path, 'w')"}) {
    INFO(text);
    const Outcome outcome = run(engine, text);
    CHECK(outcome.limit == TSC_LIMIT_TIME);
    CHECK(outcome.taken < kPatience);
  }
  std::thread writer([&] {
    FILE* file = std::fopen(pipe.c_str(), "w");
    std::fputs("one\ntwo\n", file);
    std::fclose(file);
  });
  engine.set_limits({});
  engine.run_source("lines = open(path).readlines()");
  writer.join();
  CHECK(engine.represent(engine.get("lines")) == "['one\\n', 'two\\n']");
}

TEST_CASE("a memory limit counts objects, containers and tensors together") {
  constexpr uint64_t kLimit = 64 << 20;
  for (const char* text : {"x = [0] * 10 ** 8",
                           "x = []\nwhile True: x.append(0)",
                           "x = 'a' * 10 ** 9",
                           "x = 'a'\nwhile True: x += x",
                           "x = {}\ni = 0\nwhile True:\n    x[i] = str(i)\n    i += 1",
                           "x = set()\ni = 0\nwhile True:\n    x.add(i)\n    i += 1",
                           "x = b'a' * 10 ** 9",
                           "x = list(range(10 ** 9))",
                           "x = tuple(range(10 ** 9))",
                           "x = [[] for i in range(10 ** 8)]",
                           "x = 'a'.ljust(10 ** 10)",
                           "x = f'{1:>1000000000}'",
                           "x = ','.join(['ab' * 1000] * 10 ** 6)",
                           "x = ('ab' * 10 ** 6).replace('b', 'c' * 1000)",
                           "x = (0,) * 10 ** 8",
                           "x = [('a' * 100000) + str(i) for i in range(10 ** 5)]",
                           "import torch\nx = torch.zeros(10 ** 9)",
                           "import torch\nx = []\nwhile True: x.append(torch.ones(1000))",
                           "import torch\nx = torch.ones(1000, 1)\ny = (x.expand(1000, 100000) + 1)",
                           "class C: pass\nx = []\nwhile True:\n    c = C()\n    c.a = c\n    x.append(c)",
                           "def f(n): return [n, f(n + 1)] if n < 900 else 'a' * 10 ** 9\nx = f(0)",
                           "x = ' '.join(['a'] * 10 ** 6).split() * 100",
                           "while True:\n    try:\n        x = [0] * 10 ** 8\n    except BaseException: pass\n",
                           "while True:\n    try:\n        x = [0] * 10 ** 8\n    finally: continue\n"}) {
    INFO(text);
    Options options;
    options.memory_limit = kLimit;
    Engine engine(options);
    const Outcome outcome = run(engine, text);
    CHECK(outcome.code == TSC_LIMIT);
    CHECK(outcome.limit == TSC_LIMIT_MEMORY);
    CHECK(engine.statistics().peak_memory_bytes <= kLimit + kLimit / 20);
    CHECK(outcome.taken < 10 * kPatience);
    engine.run_source("x = y = None");
    check_alive(engine);
    // All of it is there again, for other kinds of things too.
    engine.run_source("import torch\nx = torch.zeros(8 * 2 ** 20)\nx = None\nx = ['a' * 1000 for i in range(20000)]");
  }
}

namespace {

// 60 products behind chains of functions, no two chains the same: a kernel each.
std::string many_kernels() {
  const char* ops[] = {"sin", "cos", "exp", "tanh", "sigmoid", "sqrt", "abs", "neg"};
  std::string text = "import torch\ndef f(x, w):\n";
  for (int i = 0; i < 60; ++i) {
    text += "    x = x";
    for (int digit = i + 64; digit; digit /= 8) text += std::string(".") + ops[digit % 8] + "()";
    text += "\n    x = torch.softmax(x, -1) @ w\n";
  }
  return text + "    return x\nf = torch.compile(f)\nx, w = torch.ones(8, 8), torch.ones(8, 8)\n";
}

Options on_four_threads() {
  Options options;
  options.background = false;
  options.threads = 4;
  return options;
}

}  // namespace

TEST_CASE("a stop is heard between kernels by every thread that compiles them") {
  const std::string text = many_kernels();
  Engine whole(on_four_threads());
  whole.run_source(text);
  const auto all = run(whole, "f(x, w)").taken;
  if (whole.statistics().kernels < 50) {
    WARN("there is no compiler here");
    return;
  }
  // A busy machine may keep the stop itself waiting: once in time is enough.
  bool in_time = false;
  for (int attempt = 0; attempt < 4 && !in_time; ++attempt) {
    Engine engine(on_four_threads());
    engine.run_source(text);
    std::thread stopper([&] {
      std::this_thread::sleep_for(all / 2);  // capture and the passes are over
      engine.stop();
    });
    const Outcome outcome = run(engine, "f(x, w)");
    stopper.join();
    in_time = outcome.limit == TSC_LIMIT_STOP && outcome.taken < all * 3 / 4;
    engine.clear_stop();
    check_alive(engine);
  }
  CHECK(in_time);
}

TEST_CASE("what is freed counts no more, cycles too") {
  Options options;
  options.memory_limit = 48 << 20;
  Engine engine(options);
  engine.run_source(
      "import torch\n"
      "for i in range(300):\n"
      "    x = [0] * 100000\n"
      "    y = 'a' * 1000000\n"
      "    z = torch.zeros(500000)\n"
      "class Node: pass\n"
      "for i in range(2000):\n"
      "    n = Node()\n"
      "    n.self = n\n"
      "    n.data = torch.zeros(20000)\n");
  CHECK(engine.statistics().peak_memory_bytes <= (uint64_t{48} << 20));
  CHECK(engine.statistics().memory_bytes > 0);
  engine.set_limits({});
  engine.run_source("x = torch.zeros(100 * 2 ** 20)");
  CHECK(engine.statistics().tensor_bytes >= (uint64_t{400} << 20));
}

TEST_CASE("depth: RecursionError as in Python, and a script cannot raise the host's limit") {
  Options options;
  options.max_depth = 100;
  Engine engine(options);
  CHECK_THROWS_WITH(engine.run_source("def f(n): return f(n + 1)\nf(0)"), Catch::Contains("RecursionError"));
  CHECK_THROWS_WITH(engine.run_source("import sys\nsys.setrecursionlimit(1000)"),
                    Catch::Contains("ValueError: the recursion limit cannot be more than 100 here"));
  engine.run_source("import sys\nsys.setrecursionlimit(50)");
}

TEST_CASE("a host function cannot hide a limit from its caller") {
  Engine engine;
  engine.define("host", "swallow", [&](std::string code) {
    try {
      engine.run_source(code);
    } catch (const Error&) {
    }
    return 1;
  });
  engine.set_limits({0, 50ms, 0, 0});
  const Outcome outcome = run(engine, "import host\nwhile True: host.swallow('while True: pass')\n");
  CHECK(outcome.limit == TSC_LIMIT_TIME);
  CHECK(outcome.taken < kPatience);
  check_alive(engine);
}

TEST_CASE("output that raises its hand: a callback may stop its own engine") {
  Engine* self = nullptr;
  Options options;
  options.output = [&](tsc_stream, std::string_view) { self->stop("enough was printed"); };
  Engine engine(options);
  self = &engine;
  CHECK(run(engine, "while True: print('x')").message == "LimitError: stopped by the host: enough was printed");
  check_alive(engine);
}
