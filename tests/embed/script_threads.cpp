// Threads of a script inside an engine: limits end all of them, an engine closes over them, the host's calls and theirs
// do not mix.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

Options with_threads() {
  Options options;
  options.grants = TSC_GRANT_CLOCK | TSC_GRANT_THREADS;
  return options;
}

const char kStart[] =
    "import threading, time\n"
    "def start(function, daemon=True):\n"
    "    thread = threading.Thread(target=function, daemon=daemon)\n"
    "    thread.start()\n"
    "    return thread\n"
    "held = threading.Lock()\n"
    "held.acquire()\n"
    "turns = [0]\n"
    "def turn():\n"
    "    while True:\n"
    "        turns[0] += 1\n";

}  // namespace

TEST_CASE("an engine closes over daemon threads that run, wait and sleep") {
  for (const char* work : {"turn", "held.acquire", "threading.Event().wait", "lambda: time.sleep(1000)",
                           "lambda: [x for x in iter(int, 1) if x]"}) {
    Engine engine(with_threads());
    engine.run_source(kStart);
    engine.run_source(std::string("for _ in range(3): start(") + work + ")\ntime.sleep(0.01)\n");
    CHECK(engine.call("threading.active_count").as<int>() == 4);
  }
}

TEST_CASE("threads stand still between the calls of the host") {
  Engine engine(with_threads());
  engine.run_source(kStart);
  engine.run_source("start(turn)\ntime.sleep(0.01)\nbefore = turns[0]\n");
  const auto first = engine.get("turns")[0].as<int64_t>();
  std::this_thread::sleep_for(30ms);
  CHECK(engine.get("turns")[0].as<int64_t>() == first);
  engine.run_source("time.sleep(0.03)\n");
  CHECK(engine.get("turns")[0].as<int64_t>() > first);
  // The host may call from another thread of its own.
  std::thread([&] {
    engine.run_source("time.sleep(0.01)\nthread = start(lambda: None, False)\nthread.join()\n");
  }).join();
  CHECK(!engine.call("thread.is_alive").as<bool>());
}

TEST_CASE("a time limit ends all threads of a script") {
  Options options = with_threads();
  options.time_limit = 100ms;
  for (const char* last : {"turn()", "start(turn, False).join()", "time.sleep(100)", "threading.Event().wait()"}) {
    Engine engine(options);
    engine.run_source(kStart);
    const auto began = Clock::now();
    try {
      engine.run_source(std::string("for _ in range(2): start(turn, False)\nstart(lambda: time.sleep(100), False)\n") +
                        last);
      FAIL("it ended by itself");
    } catch (const Error& error) {
      CHECK(error.type() == "LimitError");
    }
    CHECK(Clock::now() - began < 4s);
    CHECK(engine.call("threading.active_count").as<int>() == 1);
    engine.run_source("x = start(lambda: None)\nx.join()\n");
  }
}

TEST_CASE("finish waits for threads and calls what atexit has, within the limits") {
  std::string out;
  Options options = with_threads();
  options.output = [&](tsc_stream, std::string_view text) { out += text; };
  {
    Engine engine(options);
    engine.run_source(kStart);
    engine.run_source(
        "import atexit\natexit.register(print, 'at exit')\n"
        "start(lambda: (time.sleep(0.02), print('thread')), False)\n");
    engine.finish();
    CHECK(out == "thread\nat exit\n");
    engine.run_source("atexit.register(print, 'again')\nstart(turn)\n");
  }
  CHECK(out == "thread\nat exit\nagain\n");
  options.time_limit = 100ms;
  Engine engine(options);
  engine.run_source(kStart);
  engine.run_source("start(turn, False)\n");
  CHECK_THROWS_AS(engine.finish(), Error);
  CHECK(engine.call("threading.active_count").as<int>() == 1);
}

TEST_CASE("a pool of a new program behind the end of another one") {
  Engine engine(with_threads());
  for (int program = 0; program < 3; ++program) {
    engine.run_source(
        "import threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(2)\n"
        "found = list(pool.map(abs, [-1, 2]))\n");
    CHECK(engine.get("found")[1].as<int>() == 2);
    engine.finish();
    CHECK(engine.call("threading.active_count").as<int>() == 1);
  }
}

TEST_CASE("one engine of a process has handlers for its signals") {
  Options options = with_threads();
  options.signals = true;
  Engine first(options), second(options);
  const char* program =
      "import signal\ncame = []\nsignal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))\n";
  first.run_source(program);
  try {
    second.run_source(program);
    FAIL("both have handlers");
  } catch (const Error& error) {
    CHECK(error.type() == "RuntimeError");
  }
  first.run_source("signal.raise_signal(signal.SIGUSR1)\nassert came == [signal.SIGUSR1]\n");
  // Its Ctrl-C is what the script has for it.
  first.run_source("signal.signal(signal.SIGINT, lambda number, frame: came.append(number))\n");
  first.interrupt();
  first.run_source("for _ in range(1000): pass\nassert came == [signal.SIGUSR1, signal.SIGINT]\n");
}

TEST_CASE("every thread cleans up when a script is stopped") {
  Options options = with_threads();
  std::string out;
  options.output = [&](tsc_stream, std::string_view text) { out += text; };
  options.time_limit = 50ms;
  Engine engine(options);
  engine.run_source(kStart);
  try {
    engine.run_source(
        "def work(name):\n"
        "    try:\n"
        "        while True: pass\n"
        "    finally:\n"
        "        print(name)\n"
        "start(lambda: work('other'), False)\n"
        "work('main')\n");
    FAIL("it ended by itself");
  } catch (const Error&) {
  }
  CHECK((out == "main\nother\n" || out == "other\nmain\n"));
}

TEST_CASE("a stop ends threads, and an engine that was told to stop closes at once") {
  auto engine = std::make_unique<Engine>(with_threads());
  engine->run_source(kStart);
  engine->run_source("start(turn, False)\nstart(held.acquire, False)\n");
  engine->stop("enough");
  const auto began = Clock::now();
  engine.reset();
  CHECK(Clock::now() - began < 4s);
}

TEST_CASE("functions of the host run in the script's threads, and may call back") {
  Engine engine(with_threads());
  engine.run_source(kStart);
  std::atomic<int> inside{0}, most{0};
  engine.define("host", "twice", "function", [&](const std::vector<Value>& arguments) {
    most = std::max(most.load(), ++inside);
    Value result = engine.call(arguments[0]);
    --inside;
    return result;
  });
  engine.run_source(
      "import host\nresults = []\n"
      "def slow():\n"
      "    time.sleep(0.002)\n"
      "    return len(results)\n"
      "def work():\n"
      "    for _ in range(5): results.append(host.twice(slow))\n"
      "threads = [start(work) for _ in range(4)]\n"
      "for thread in threads: thread.join()\n");
  CHECK(engine.get("results").size() == 20);
  CHECK(most > 1);
  // Nobody else enters meanwhile, not even while all threads wait.
  std::atomic<bool> refused{false};
  engine.define("host", "ask", "", [&](const std::vector<Value>&) {
    std::thread([&] {
      try {
        engine.run_source("1");
      } catch (const Error& error) {
        refused = error.code() == TSC_WRONG_THREAD;
      }
    }).join();
    return Value();
  });
  engine.run_source("start(host.ask).join()\n");
  CHECK(refused);
}

TEST_CASE("threads and signals are the host's to give") {
  Options options;
  options.grants = TSC_GRANT_CLOCK;
  Engine engine(options);
  for (const char* text : {"import threading\nthreading.Thread(target=print).start()",
                           "import signal\nsignal.signal(10, print)", "import subprocess\nsubprocess.run(['true'])"}) {
    try {
      engine.run_source(text);
      FAIL("it was allowed");
    } catch (const Error& error) {
      CHECK(error.type() == "PermissionError");
    }
  }
}
