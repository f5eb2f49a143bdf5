// What a stopped script held is freed without keeping the host waiting: what takes longer is put off to the next calls.
#include "catch2/catch.hpp"
#include "timed_run.h"

using tenscript::Engine;
using tenscript::Limits;
using tenscript::Options;
using namespace std::chrono_literals;

namespace {

// Holds more than can be freed in the time for it, and never ends. A tensor, whose memory is counted apart, is what
// goes last.
struct Hoard {
  const char *what, *text;
};
const Hoard kHoards[] = {
    {"lists in a list", "held = [mark] + [[i] for i in range(n)]"},
    {"tuples in a tuple", "held = tuple([mark] + [(i, str(i)) for i in range(n)])"},
    {"a tuple of numbers", "held = (mark,) + tuple(range(10 * n))"},
    {"classes", "held = mark\n    for i in range(n // 200):\n        held = type('C', (Link,), {'last': held})"},
    {"a dict of texts", "held = {-1: mark} | {i: str(i) for i in range(n)}"},
    {"a set of texts", "held = {mark}\n    held.update([str(i) for i in range(n)])"},
    {"a deque", "held = collections.deque([mark] + [[i] for i in range(n)])"},
    {"a cache of calls",
     "import functools\n    held = functools.lru_cache(None)(lambda i: str(i) if i else mark)\n"
     "    for i in range(n):\n        held(i)"},
    {"a long chain", "held = mark\n    for i in range(n):\n        held = Link(held)"},
    {"lists in lists", "held = mark\n    for i in range(n):\n        held = [held, i]"},
    {"large texts", "held = ['x' * 40000000 + str(i) for i in range(4)]"},
    {"a large bytes", "held = bytes(200000000)"},
};

std::string hoarding(const char* text) {
  return std::string(
             "import collections\nimport torch\nclass Link:\n    def __init__(self, last):\n        self.last = last\n"
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

}  // namespace

TEST_CASE("what a stopped call held is freed in front of the next one") {
  int put_off = 0;
  for (const Hoard& hoard : kHoards) {
    INFO(hoard.what);
    Stopping engine;
    engine->run_source(hoarding(hoard.text));
    CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
    put_off += !is_freed(*engine);
    engine->run_source("assert sum([1, 2]) == 3");
    CHECK(is_freed(*engine));
  }
  CHECK(put_off > 3);
}

TEST_CASE("what a stopped call left does not count as time of the next one") {
  Stopping engine;
  engine->run_source(hoarding("held = [mark] + [[i] for i in range(n)]"));
  for (int i = 0; i < 3; ++i) {
    CHECK(run(*engine, "hoard(2000000)").limit == TSC_LIMIT_STOP);
    Limits limits;
    limits.time = 50ms;
    engine->set_limits(limits);
    CHECK(run(*engine, "x = 1").code == TSC_OK);
    engine->set_limits(Limits());
  }
}

TEST_CASE("stopped calls one after the other do not add up") {
  Stopping engine;
  engine->run_source(hoarding("held = [mark] + [str(i) for i in range(n)]"));
  CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
  const uint64_t once = engine->statistics().peak_memory_bytes;
  for (int i = 0; i < 4; ++i) CHECK(run(*engine, "hoard(1000000)").limit == TSC_LIMIT_STOP);
  CHECK(engine->statistics().peak_memory_bytes < once + once / 4);
}

TEST_CASE("a class that died is dead for its bases at once") {
  Stopping engine;
  engine->run_source(
      hoarding("held = mark\n    for i in range(n):\n        held = type('C', (Link,), {'last': held, 'more':"
               " [type('L', (Link,), {}) for k in range(30)]})") +
      "kept = []\ndef look():\n    try:\n        hoard(1500)\n    finally:\n"
      "        kept.extend(Link.__subclasses__())\n");
  CHECK(run(*engine, "look()").limit == TSC_LIMIT_STOP);
  engine->run_source("for C in kept:\n    C.__name__, C(1), getattr(C, 'last', 0)\nkept = []\nimport gc\ngc.collect()");
}

TEST_CASE("an engine may be closed before the rest is freed") {
  for (const Hoard& hoard : kHoards) {
    INFO(hoard.what);
    Stopping engine;
    engine->run_source(hoarding(hoard.text));
    CHECK(run(*engine, "hoard(500000)").limit == TSC_LIMIT_STOP);
  }
}

TEST_CASE("a collection beside what is put off keeps what lives") {
  Stopping engine;
  engine->run_source(hoarding("held = [mark] + [[i, alive] for i in range(n)]") +
                     "import gc\nalive = [1, 2]\nalive.append(alive)\n"
                     "def look():\n    try:\n        hoard(1000000)\n    finally:\n        gc.collect()\n");
  CHECK(run(*engine, "look()").limit == TSC_LIMIT_STOP);
  CHECK_FALSE(is_freed(*engine));
  engine->run_source("assert alive[:2] == [1, 2] and alive[2] is alive");
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

TEST_CASE("a generator that is put off is not asked to clean up any more, also beside collections") {
  Stopping engine;
  engine->run_source(hoarding("first = waiting(mark)\n    next(first)\n    held = [first] + [[i] for i in range(n)]\n"
                              "    first = None") +
                     "import gc\nended = []\ndef waiting(mark):\n    seen = ended\n    def clean():\n"
                     "        seen.append(len(seen))\n    try:\n        yield 1\n    finally:\n        clean()\n"
                     "def look():\n    try:\n        hoard(1000000)\n    finally:\n        gc.collect()\n");
  for (const char* call : {"hoard(1000000)", "look()"}) {
    CHECK(run(*engine, call).limit == TSC_LIMIT_STOP);
    engine->run_source("assert ended == [], ended");
    CHECK(is_freed(*engine));
  }
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
  engine->run_source("pass");
  CHECK(is_freed(*engine));
}
