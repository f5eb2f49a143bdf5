// What a stopped script held is freed without keeping the host waiting: what takes longer is put off to the next calls.
#include "catch2/catch.hpp"
#include "timed_run.h"

using tenscript::Engine;
using tenscript::Limits;
using tenscript::Options;
using namespace std::chrono_literals;

namespace {

// Holds more than can be freed in the time for it, and never ends. A tensor, whose memory is counted apart, is what goes
// last.
struct Hoard {
  const char *what, *text;
};
const Hoard kHoards[] = {
    {"lists in a list", "held = [mark] + [[i] for i in range(n)]"},
    {"tuples in a tuple", "held = tuple([mark] + [(i, str(i)) for i in range(n)])"},
    {"a dict of texts", "held = {-1: mark} | {i: str(i) for i in range(n)}"},
    {"a set of texts", "held = {mark}\n    held.update([str(i) for i in range(n)])"},
    {"a deque", "held = collections.deque([mark] + [[i] for i in range(n)])"},
    {"a long chain", "held = mark\n    for i in range(n):\n        held = Link(held)"},
    {"lists in lists", "held = mark\n    for i in range(n):\n        held = [held, i]"},
    {"large texts", "held = ['x' * 40000000 + str(i) for i in range(4)]"},
    {"a large bytes", "held = bytes(200000000)"},
};

std::string hoarding(const char* text) {
  return std::string("import collections\nimport torch\nclass Link:\n    def __init__(self, last):\n        self.last = last\n"
                     "def hoard(n):\n    mark = torch.ones(1000)\n    ") +
         text + "\n    mark = None" + "\n    print()\n    while True:\n        pass\n";
}

// Small objects' memory stays with the engine: what shows is the tensor, and texts.
bool is_freed(const Engine& engine) {
  const tsc_statistics now = engine.statistics();
  return now.tensor_bytes == 0 && now.memory_bytes < (130 << 20);
}

// An engine that is stopped by what prints.
class Stopping {
 public:
  explicit Stopping(uint64_t memory = 0) : engine_(options(memory)) { self_ = &engine_; }
  Engine& operator*() { return engine_; }
  Engine* operator->() { return &engine_; }

 private:
  Options options(uint64_t memory) {
    Options options;
    options.memory_limit = memory;
    options.output = [this](tsc_stream, std::string_view) { self_->stop(); };
    return options;
  }
  Engine* self_ = nullptr;
  Engine engine_;
};

// How many calls it takes; -1: too many.
int calls_until_freed(Engine& engine) {
  for (int calls = 0; calls < 1000; ++calls) {
    if (is_freed(engine)) return calls;
    engine.run_source("pass");
  }
  return -1;
}

}  // namespace

TEST_CASE("what a stopped call held is freed by the calls after it") {
  int put_off = 0;
  for (const Hoard& hoard : kHoards) {
    INFO(hoard.what);
    Stopping engine;
    engine->run_source(hoarding(hoard.text));
    CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
    const int calls = calls_until_freed(*engine);
    CHECK(calls >= 0);
    put_off += calls > 0;
    engine->run_source("assert sum([1, 2]) == 3");
  }
  CHECK(put_off > 3);
}

TEST_CASE("an engine may be closed before the rest is freed") {
  for (const Hoard& hoard : kHoards) {
    INFO(hoard.what);
    Stopping engine;
    engine->run_source(hoarding(hoard.text));
    CHECK(run(*engine, "hoard(500000)").limit == TSC_LIMIT_STOP);
  }
}

TEST_CASE("gc.collect() frees the rest and keeps what lives") {
  Stopping engine;
  engine->run_source(hoarding("held = [mark] + [[i, alive] for i in range(n)]") +
                     "import gc\nalive = [1, 2]\nalive.append(alive)\n");
  CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
  engine->run_source("gc.collect()\nassert alive[:2] == [1, 2] and alive[2] is alive");
  CHECK(is_freed(*engine));
}

TEST_CASE("where memory is limited the next call has all of it") {
  Stopping engine(200 << 20);
  engine->run_source(hoarding("held = ['x' * 30000000 + str(i) for i in range(5)]"));
  for (int i = 0; i < 3; ++i) {
    CHECK(run(*engine, "hoard(0)").limit == TSC_LIMIT_STOP);
    CHECK(run(*engine, "assert len('y' * 150000000) == 150000000").code == TSC_OK);
  }
}

TEST_CASE("a generator that is put off ends its finally once") {
  Stopping engine;
  engine->run_source(hoarding("first = waiting(mark)\n    next(first)\n    held = [first] + [[i] for i in range(n)]\n"
                              "    first = None") +
                     "ended = []\ndef waiting(mark):\n    try:\n        yield 1\n    finally:\n"
                     "        ended.append(len(ended))\n");
  CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
  CHECK(calls_until_freed(*engine) > 0);
  engine->run_source("assert ended == [0], ended");
}

TEST_CASE("a stop may come while the rest is freed") {
  Stopping engine;
  engine->run_source(hoarding("held = [mark] + [[i] for i in range(n)]") + "import gc\n");
  for (int i = 0; i < 5; ++i) {
    CHECK(run(*engine, "hoard(300000)").limit == TSC_LIMIT_STOP);
    Limits limits;
    limits.time = std::chrono::milliseconds(i) + 1ns;
    engine->set_limits(limits);
    run(*engine, "gc.collect()\nwhile True:\n    pass\n");
    engine->set_limits(Limits());
  }
  CHECK(calls_until_freed(*engine) >= 0);
}
