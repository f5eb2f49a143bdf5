// Limits inside builtins: one call of one builtin ends about when the host said, and what it builds is
// charged. Neither the clean-up of a script nor an exception of its own making changes how a call ends.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "catch2/catch.hpp"
#include "timed_run.h"

using namespace tenscript;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr auto kLate = 20s;
constexpr bool kSlow = true;
#else
constexpr auto kLate = 250ms;
constexpr bool kSlow = false;
#endif
constexpr auto kLimit = 60ms;

// `setup` runs without a limit; `text` would take much longer than the limit, or for ever.
struct Work {
  const char* setup;
  const char* text;
};
const Work kWork[] = {
    {"import re", "re.search('a*b', 'a' * 1000000)"},
    {"import re", "re.findall('a*b', 'a' * 1000000)"},
    {"import re", "re.sub('a*b', '', 'a' * 1000000)"},
    {"import re", "re.findall('a', 'a' * 30000000)"},
    {"l = []\nk = []\nfor i in range(30):\n    l = [l, l]\n    k = [k, k]\n", "k == l"},
    {"l = []\nfor i in range(30): l = [l, l]\n", "repr(l)"},
    {"t = ()\nfor i in range(40): t = (t, t)\n", "hash(t)"},
    {"d = {}\ne = {}\nfor i in range(30):\n    d = {1: d, 2: d}\n    e = {1: e, 2: e}\n", "d == e"},
    {"import torch\nl = []\nfor i in range(30): l = [l, l]\n", "torch.tensor(l)"},
    {"", "'%0*d' % (10 ** 9, 5)"},
    {"", "'%*s' % (10 ** 9, 'x')"},
    {"", "f\"{'x':>1000000000}\""},
    {"", "x = 'ab' * 500000000"},
    {"", "x = b'ab' * 500000000"},
    {"import itertools", "itertools.product(range(30000000), repeat=3)"},
    {"s = 'ab' * 20000000", "s.replace('a', 'xyz')"},
    {"s = 'a ' * 20000000", "s.split()"},
    {"s = 'a,' * 20000000", "s.rsplit(',')"},
    {"s = 'a' * 50000000", "while True: s.upper()"},
    {"import hashlib\ns = b'a' * 100000000", "hashlib.sha256(s).hexdigest()"},
    {"x = list(range(3000000))", "for i in range(100): x.sort(key=lambda v: -v)"},
    {"import random\nx = list(range(3000000))", "while True: random.shuffle(x)"},
    {"import random", "random.choices(range(10), k=10 ** 9)"},
    {"import json\nx = list(range(3000000))", "while True: json.dumps(x)"},
    {"import json\nx = '[' + '1,' * 5000000 + '1]'", "while True: json.loads(x)"},
    {"a = set(range(1000000))\nb = set(range(500000, 1500000))", "while True: a | b; a & b; a - b"},
    {"d = {i: i for i in range(500000)}", "while True: d.copy(); dict(d); d.update(d)"},
    {"x = [1] * 3000000", "while True: y = x.copy(); y += x; y.extend(x)"},
    {"x = tuple(range(3000000))", "while True: x + x; x[::2]; x.count(-1); (-1) in x"},
    {"s = 'é' * 10000000", "while True: s[::2]; s[::-1]"},
    {"s = b'a' * 50000000", "while True: s.decode().encode().hex()"},
};

}  // namespace

TEST_CASE("one call of a builtin ends when the time is over") {
  for (const Work& work : kWork) {
    INFO(work.setup << "\n" << work.text);
    Engine engine;
    engine.run_source(work.setup);
    engine.set_limits({0, kLimit, 0, 0});
    const Outcome ended = run(engine, work.text);
    CHECK(ended.limit == TSC_LIMIT_TIME);
    CHECK(ended.taken < kLimit + kLate);
    engine.set_limits({});
    engine.run_source("a = b = d = e = k = l = s = t = x = None\nassert sum([1, 2]) == 3");
  }
}

TEST_CASE("searching takes time in proportion to the text, whatever is searched for") {
  Engine engine;
  engine.set_limits({0, kSlow ? std::chrono::nanoseconds(60s) : std::chrono::nanoseconds(10s), 0, 0});
  engine.run_source(
      "s = 'a' * 2000000\n"
      "p = 'a' * 1000000 + 'b'\n"
      "q = 'b' + 'a' * 1000000\n"
      "assert s.find(p) == s.rfind(p) == s.find(q) == s.rfind(q) == -1\n"
      "assert p not in s and q not in s and s.count(p) == 0 and s.replace(p, '') == s\n"
      "assert (s + p + s).find(p) == 2000000 and (s + q + s).rfind(q) == 2000000\n"
      "assert (s + q + s + q).count(q) == 2\n"
      "assert (s + q + s).split(q) == [s, s] and (s + q + s).rsplit(q) == [s, s]\n"
      "assert s.encode().find(p.encode()) == -1 and s.encode().rfind(q.encode()) == -1\n"
      "r = 'ab' * 100 + 'a'\n"
      "t = ('ab' * 99 + 'b') * 3000 + r + 'x' * 300000\n"
      "assert t.find(r) == t.rfind(r) == 199 * 3000\n");
}

TEST_CASE("what builtins build is charged") {
  constexpr uint64_t kMemory = 48 << 20;
  for (const char* text : {"import sys\nsys.setrecursionlimit(10 ** 6)\ndef f(): f()\nf()",
                           "e = ValueError()\nwhile True:\n    try: raise e\n    except ValueError: pass",
                           "import itertools\na, b = itertools.tee(itertools.count())\nfor x in a: pass",
                           "import torch\nx = torch.ones(1, requires_grad=True)\nwhile True: x = x * 1.5",
                           "import json\nl = [1]\nfor i in range(28): l = [l, l]\njson.dumps(l)",
                           "import re\nre.sub('a', 'b' * 100, 'a' * 5000000)", "x = ('a ' * 10000000).split()",
                           "import re\nx = [re.compile('a' + str(i)) for i in range(10 ** 6)]",
                           "l = [[]]\nfor i in range(30): l = [l, l]\nrepr(l)", "'%0*d' % (10 ** 9, 5)"}) {
    INFO(text);
    Options options;
    options.memory_limit = kMemory;
    Engine engine(options);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const Outcome ended = run(engine, text);
    getrusage(RUSAGE_SELF, &after);
    CHECK(ended.limit == TSC_LIMIT_MEMORY);
    CHECK(engine.statistics().peak_memory_bytes <= kMemory + kMemory / 20);
    if (!kSlow) CHECK(after.ru_maxrss - before.ru_maxrss < 200 << 10);
    engine.run_source("e = l = x = a = b = None");
  }
}

TEST_CASE("after a memory limit there is room for the line that frees memory") {
  Options options;
  options.memory_limit = 32 << 20;
  Engine engine(options);
  for (const char* text : {"l = []\nwhile True: l.append(lambda x: x + 1)", "l = []\nwhile True: l.append([1])",
                           "l = {}\ni = 0\nwhile True:\n    l[i] = str(i)\n    i += 1"}) {
    INFO(text);
    CHECK(run(engine, text).limit == TSC_LIMIT_MEMORY);
    for (int i = 0; i < 20; ++i) {  // what is above the limit does not grow with each call
      run(engine, "for i in range(10000): l[i] = [i]");
      CHECK(engine.statistics().memory_bytes < uint64_t{36} << 20);
    }
    CHECK(run(engine, "l = None").message.empty());
    CHECK(engine.statistics().memory_bytes < uint64_t{31} << 20);
  }
}

TEST_CASE("no clean-up swallows a limit") {
  for (const char* text :
       {"import contextlib\nwith contextlib.suppress(BaseException):\n    while True: pass\nsurvived = True",
        "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\n"
        "with C():\n    while True: pass\nsurvived = True",
        "def f():\n    try:\n        while True: pass\n    finally:\n        return 1\nf()\nsurvived = True",
        "while True:\n    try:\n        while True: pass\n    finally:\n        cleaned = True\n        break\n"
        "survived = True",
        "try:\n    try:\n        while True: pass\n    finally:\n        raise ValueError('swap')\n"
        "except ValueError:\n    survived = True",
        "def g():\n    try:\n        while True: pass\n    finally:\n        yield 1\n"
        "for x in g(): survived = True",
        "try:\n    with open('/nowhere') as f: pass\nexcept OSError:\n    try:\n        while True: pass\n"
        "    finally:\n        try: int('x')\n        except ValueError: pass\nsurvived = True"}) {
    INFO(text);
    Options options;
    options.grants = TSC_GRANT_ALL;
    options.time_limit = 40ms;
    Engine engine(options);
    engine.run_source("survived = False");
    CHECK(run(engine, text).limit == TSC_LIMIT_TIME);
    CHECK_FALSE(engine.get("survived").as<bool>());
  }
}

TEST_CASE("a LimitError that a script made itself is no limit") {
  Engine engine;
  Outcome ended = run(engine, "raise LimitError('fake')");
  CHECK(ended.code == TSC_SCRIPT_ERROR);
  CHECK(ended.limit == TSC_LIMIT_NONE);
  engine.run_source("try: raise LimitError('fake')\nexcept LimitError: caught = True\nassert caught");
  engine.set_limits({0, 30ms, 0, 0});
  run(engine,
      "class C:\n    def __enter__(self): return self\n    def __exit__(self, k, v, t):\n"
      "        global kept\n        kept = v\nwith C():\n    while True: pass");
  ended = run(engine, "raise kept");
  CHECK(ended.code == TSC_SCRIPT_ERROR);
  CHECK(ended.limit == TSC_LIMIT_NONE);
}

TEST_CASE("a limit is heard while standard input is silent") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  for (const char* text : {"input()", "import sys\nsys.stdin.read()", "import sys\nfor line in sys.stdin: pass"}) {
    INFO(text);
    Options options;
    options.grants = TSC_GRANT_ALL;
    options.time_limit = kLimit;
    Engine engine(options);
    const Outcome ended = run(engine, text);
    CHECK(ended.limit == TSC_LIMIT_TIME);
    CHECK(ended.taken < kLimit + kLate);
  }
  dup2(before, STDIN_FILENO);
  for (const int descriptor : {before, ends[0], ends[1]}) close(descriptor);
}
