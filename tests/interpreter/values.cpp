// Memory: counts, cycles, deep structures, tables.
#include <random>

#include "catch2/catch.hpp"
#include "support.h"

using namespace tsc::interp;
using tsc::StopCause;

TEST_CASE("a value releases what it held") {
  TestVm t;
  Local<ListObject> list = make_list(t.vm);
  Value v = list.value();
  CHECK(list->reference_count == 2);
  v = Value::integer(1);
  CHECK(list->reference_count == 1);
  Value w = list.value();
  w = w;  // self-assignment keeps it
  CHECK(list->reference_count == 2);
}

TEST_CASE("deep structures are freed without deep recursion") {
  TestVm t;
  Local<ListObject> outer = make_list(t.vm);
  for (int i = 0; i < 1000000; ++i) {
    Local<ListObject> next = make_list(t.vm);
    next->items.push_back(outer.take());
    outer = next;
  }
  uint64_t before = t.vm.heap().bytes();
  outer = nullptr;
  CHECK(t.vm.heap().bytes() < before - 1000000 * sizeof(Value));
}

TEST_CASE("cycles are collected, reachable ones kept") {
  TestVm t;
  CHECK(t.run("import gc\n"
              "class N: pass\n"
              "gc.collect()\n"
              "keep = N(); keep.me = keep\n"
              "for i in range(100):\n"
              "    a = N(); b = N(); a.b = b; b.a = a\n"
              "    d = {}; d['d'] = d\n"
              "    f = lambda: f\n"
              "del a, b, d, f\n"
              "print(gc.collect() >= 297, keep.me is keep, gc.collect())\n") == "True True 0\n");
}

TEST_CASE("suspended generators run their finally blocks when they die") {
  TestVm t;
  CHECK(t.run("def g():\n"
              "    try:\n"
              "        yield 1\n"
              "    finally:\n"
              "        print('closed')\n"
              "x = g(); next(x); x = None\n"
              "print('after')\n") == "closed\nafter\n");
}

TEST_CASE("tables keep order and survive removals") {
  TestVm t;
  Local<DictObject> dict = make_dict(t.vm);
  for (int64_t i = 0; i < 5000; ++i) dict_set(t.vm, dict, Value::integer(i), Value::integer(i * i));
  for (int64_t i = 0; i < 5000; i += 2) CHECK(dict_remove(t.vm, dict, Value::integer(i)));
  CHECK(dict->table.size() == 2500);
  for (int64_t round = 0; round < 20000; ++round) {  // tombstones must not fill the index
    dict_set(t.vm, dict, Value::integer(-1 - round), Value::none());
    CHECK(dict_remove(t.vm, dict, Value::integer(-1 - round)));
  }
  CHECK(dict_get(t.vm, dict, Value::integer(4999)).as_int() == 4999 * 4999);
  CHECK(!dict_get(t.vm, dict, Value::integer(4998)));
  CHECK(dict_get(t.vm, dict, Value::real(7.0)).as_int() == 49);
}

TEST_CASE("a stop ends a collection; the next one finds what is left") {
  TestVm t;
  t.run(
      "import gc\n"
      "gc.disable()\n"
      "def make():\n"
      "    for i in range(100000):\n"
      "        a = []; a.append(a)\n"
      "make()\n");
  t.vm.stop(StopCause::Host);
  CHECK(t.vm.heap().collect() == 0);
  t.vm.end_entry();
  CHECK(t.vm.heap().collect() >= 100000);
  CHECK(t.vm.heap().collect() == 0);
}

TEST_CASE("a stop ends the growth of a table, which stays as it was") {
  TestVm t;
  const HeapScope scope(&t.vm.heap());
  for (const bool removed : {false, true}) {
    Local<DictObject> dict = make_dict(t.vm);
    const auto add = [&](int64_t i) { dict_set(t.vm, dict, Value::integer(i), Value::real(0.5)); };
    for (int64_t i = 0; i < 100000; ++i) add(i);
    if (removed) dict_remove(t.vm, dict, Value::integer(0));
    const uint64_t bytes = t.vm.heap().bytes();
    t.vm.stop(StopCause::Host);
    int64_t next = 100000;
    for (bool stopped = false; !stopped; next += !stopped) {
      REQUIRE(next < 1000000);
      try {
        add(next);
      } catch (const ScriptException&) {
        stopped = true;
      }
    }
    CHECK(t.vm.heap().bytes() == bytes);
    CHECK(static_cast<int64_t>(dict->table.size()) == next - removed);
    t.vm.end_entry();
    add(next);
    for (int64_t i = removed; i <= next; ++i) REQUIRE(dict_get(t.vm, dict, Value::integer(i)).as_float() == 0.5);
    CHECK(static_cast<int64_t>(dict->table.size()) == next + 1 - removed);
  }
}

TEST_CASE("the items of a list are as those of a std::vector") {
  TestVm t;
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return random() % n; };
  Values items;
  std::vector<Value> expected;
  for (int step = 0; step < 20000; ++step) {
    const Value v = step % 2 ? str_value(t.vm, std::to_string(step)) : Value::integer(step);
    const size_t at = below(expected.size() + 1), end = at + below(expected.size() - at + 1);
    const auto from = [&](size_t i) { return expected.begin() + static_cast<std::ptrdiff_t>(i); };
    switch (below(7)) {
      case 0: items.push_back(v), expected.push_back(v); break;
      case 1: items.insert(items.begin() + at, v), expected.insert(from(at), v); break;
      case 2: {
        const std::vector<Value> more(below(20), v);
        items.insert(items.begin() + at, more);
        expected.insert(from(at), more.begin(), more.end());
        break;
      }
      case 3: {
        const Values taken = items.take(items.begin() + at, items.begin() + end);
        REQUIRE(taken.size() == end - at);
        for (size_t i = at; i < end; ++i) REQUIRE(taken[i - at].is(expected[i]));
        expected.erase(from(at), from(end));
        break;
      }
      case 4:
        if (at < expected.size()) items.erase(items.begin() + at), expected.erase(from(at));
        break;
      case 5:  // one of its own items, which growth moves
        if (!expected.empty()) items.push_back(items[at / 2]), expected.push_back(Value(expected[at / 2]));
        break;
      default: items.resize(end), expected.resize(end);
    }
    REQUIRE(items.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) REQUIRE(items[i].is(expected[i]));
  }
}

TEST_CASE("two virtual machines share nothing") {
  TestVm a, b;
  CHECK(a.run("import sys\nsys.mark = 1\nx = 5\nprint(x)\n") == "5\n");
  CHECK(b.run("import sys\nprint(hasattr(sys, 'mark'))\nprint(x)\n") == "False\n!NameError: name 'x' is not defined");
}
