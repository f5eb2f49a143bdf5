// Values across the border.
#include <limits>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;

TEST_CASE("scalars and strings") {
  Engine engine;
  CHECK(engine.none().is_none());
  CHECK(engine.value(true).as<bool>());
  CHECK(engine.value(std::numeric_limits<int64_t>::min()).as<int64_t>() == std::numeric_limits<int64_t>::min());
  CHECK(engine.value(2.5).as<double>() == 2.5);
  CHECK(engine.value(3).as<double>() == 3);
  CHECK(engine.value("héllo").as<std::string>() == "héllo");
  CHECK(engine.value(std::string("a\0b", 3)).as<std::string>().size() == 3);
  CHECK(engine.value("héllo").size() == 5);
  CHECK(engine.value(1).kind() == TSC_INT);
  CHECK(engine.value(1).type_name() == "int");
}

TEST_CASE("numbers that do not fit are errors, not other numbers") {
  Engine engine;
  engine.run_source("big = 2 ** 40 + 7\nsmall = -1\nbyte = 200\nlargest = 9223372036854775807\n");
  const Value big = engine.get("big"), small = engine.get("small"), byte = engine.get("byte");
  CHECK(big.as<int64_t>() == (int64_t{1} << 40) + 7);
  CHECK(engine.get("largest").as<uint64_t>() == std::numeric_limits<int64_t>::max());
  CHECK(byte.as<uint8_t>() == 200);
  CHECK(small.as<int8_t>() == -1);
  CHECK_THROWS_WITH(big.as<int>(),
                    Catch::Contains("OverflowError: the int 1099511627783 does not fit the 32-bit integer"));
  CHECK_THROWS_WITH(byte.as<int8_t>(), Catch::Contains("8-bit integer"));
  CHECK_THROWS_WITH(small.as<unsigned>(), Catch::Contains("32-bit unsigned"));
  CHECK_THROWS_WITH(small.as<uint64_t>(), Catch::Contains("64-bit unsigned"));
  CHECK_THROWS_WITH(engine.value(~0ull), Catch::Contains("OverflowError: the number 18446744073709551615 of the host"));
  CHECK(engine.value(uint64_t{1} << 62).as<int64_t>() == int64_t{1} << 62);
  engine.define("host", "small", [](int8_t x) { return x; });
  CHECK_THROWS_WITH(engine.run_source("import host\nhost.small(200)"), Catch::Contains("OverflowError"));
}

TEST_CASE("borrowed memory of a const type, and of bools") {
  Engine engine;
  const std::vector<float> data = {1, 2, 3};
  engine.set("x", engine.borrow({3}, data.data()));
  engine.run_source("x[0] = 5.0\nassert x.tolist() == [5, 2, 3]");
  CHECK(data[0] == 1);
  const bool bits[] = {true, false};
  engine.set("b", engine.borrow({2}, bits));
  engine.run_source("assert b.tolist() == [True, False]");
}

TEST_CASE("lists, tuples, dicts") {
  Engine engine;
  engine.run_source("a = [1, 'two', None]\nt = (1, 2)\nd = {'k': 1, 2: [3]}\ndel d['k']\nd['n'] = 4");
  const Value a = engine.get("a");
  REQUIRE(a.size() == 3);
  CHECK(a[1].as<std::string>() == "two");
  CHECK(a[2].is_none());
  CHECK(engine.get("t")[1].as<int>() == 2);
  const Value d = engine.get("d");
  REQUIRE(d.size() == 2);
  CHECK(d.entry(0).first.as<int>() == 2);
  CHECK(d.entry(1).second.as<int>() == 4);
  std::vector<Value> items;
  items.push_back(engine.value(1));
  items.push_back(engine.value("x"));
  engine.set("made", engine.list(items));
  CHECK(engine.represent(engine.get("made")) == "[1, 'x']");
}

TEST_CASE("tensors in and out") {
  Engine engine;
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  engine.set("x", engine.tensor({2, 3}, data.data()));
  engine.run_source("import torch\nt = x.t()\ns = x.sum()\nempty = torch.ones(0, 3)");
  const Value t = engine.get("t");
  CHECK(t.kind() == TSC_TENSOR);
  CHECK(t.sizes() == std::vector<int64_t>{3, 2});
  const tsc_tensor_info info = t.tensor();
  CHECK(info.dtype == TSC_FLOAT32);
  CHECK(info.strides[0] == 1);
  CHECK(info.strides[1] == 3);
  CHECK(static_cast<const float*>(info.data)[5] == 6);
  CHECK(engine.get("s").as<double>() == 21);
  CHECK(engine.get("empty").sizes() == std::vector<int64_t>{0, 3});
  CHECK_THROWS_AS(engine.tensor({-1}, data.data()), Error);
  CHECK_THROWS_AS(engine.tensor(std::vector<int64_t>(100, 1), data.data()), Error);
}

TEST_CASE("borrowed memory is used in place and released once") {
  int released = 0;
  std::vector<float> data = {1, 2, 3, 4};
  {
    Engine engine;
    {
      Value x = engine.borrow({4}, data.data(), [&] { ++released; });
      engine.set("x", x);
    }
    engine.run_source("view = x[1:3]\nx.mul_(2)\ndel x");
    CHECK(released == 0);
    CHECK(data[3] == 8);
    engine.run_source("del view");
    CHECK(released == 1);
  }
  CHECK(released == 1);
}
