// Memory: counts, cycles, deep structures, tables.
#include "catch2/catch.hpp"
#include "support.h"

using namespace tsc::interp;

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

TEST_CASE("two virtual machines share nothing") {
  TestVm a, b;
  CHECK(a.run("import sys\nsys.mark = 1\nx = 5\nprint(x)\n") == "5\n");
  CHECK(b.run("import sys\nprint(hasattr(sys, 'mark'))\nprint(x)\n") ==
        "False\n!NameError: name 'x' is not defined");
}
