// Engines: running, output, calls both ways, interrupts, two at once.
#include <chrono>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;

extern "C" int run_c_host(void);

TEST_CASE("a C host") { CHECK(run_c_host() == 0); }

TEST_CASE("source runs in __main__, which keeps its names") {
  Engine engine;
  engine.run_source("x = 20");
  engine.run_source("y = x + 1");
  CHECK(engine.get("y").as<int>() == 21);
  engine.set("z", engine.value("text"));
  engine.run_source("assert z == 'text' and __name__ == '__main__'");
}

TEST_CASE("output goes to the callback") {
  std::string out, err;
  Options options;
  options.output = [&](tsc_stream stream, std::string_view text) { (stream == TSC_STDOUT ? out : err) += text; };
  Engine engine(options);
  engine.run_source("import sys\nprint('a', 1)\nprint('b', file=sys.stderr)");
  CHECK(out == "a 1\n");
  CHECK(err == "b\n");
}

TEST_CASE("the host calls script functions") {
  Engine engine;
  engine.run_source(
      "def f(a, b=2, *rest, k=0): return a + b + sum(rest) + k\n"
      "class Model:\n    def forward(self, x): return x * 10\n"
      "model = Model()\n");
  CHECK(engine.call("f", 1).as<int>() == 3);
  CHECK(engine.call("f", 1, 2, 3, 4).as<int>() == 10);
  CHECK(engine.call("model.forward", 2.5).as<double>() == 25);
  const Value f = engine.get("f");
  const Value k = engine.value(5);
  tsc_value* argument = k.handle();
  const char* name = "k";
  tsc_value* result = nullptr;
  check(api().call(engine.handle(), f.handle(), &argument, 1, &name, &argument, 1, &result));
  CHECK(Value(result).as<int>() == 12);
}

TEST_CASE("the script calls host functions") {
  Engine engine;
  int calls = 0;
  engine.define("host", "half", [&](double x) {
    ++calls;
    return x / 2;
  });
  engine.define("host", "greet", [](std::string name) { return "hello " + name; });
  engine.define("host", "nothing", [] {});
  engine.run_source("import host\na = host.half(5)\nb = host.greet('you')\nc = host.nothing()");
  CHECK(engine.get("a").as<double>() == 2.5);
  CHECK(engine.get("b").as<std::string>() == "hello you");
  CHECK(engine.get("c").is_none());
  CHECK(calls == 1);
  CHECK_THROWS_WITH(engine.run_source("host.half('x')"), Catch::Contains("not float"));
  CHECK_THROWS_WITH(engine.run_source("host.half()"), Catch::Contains("TypeError: half() takes 1"));
}

TEST_CASE("an exception of the host is an exception of the script") {
  Engine engine;
  engine.define("host", "fail", []() -> int { throw std::runtime_error("host trouble"); });
  engine.run_source(
      "import host\n"
      "try:\n    host.fail()\nexcept RuntimeError as e:\n    message = str(e)\n");
  CHECK(engine.get("message").as<std::string>() == "host trouble");
}

TEST_CASE("functions of the host take and return values as they are") {
  Engine engine;
  Value kept;
  engine.define("host", "size", [](const Value& v) { return static_cast<int64_t>(v.size()); });
  engine.define("host", "keep", [&](Value v) { kept = std::move(v); });
  engine.define("host", "kept", [&]() -> const Value& { return kept; });
  engine.define("host", "same", [](Value v) { return v; });
  engine.define("host", "show", [](const std::string& s, std::string_view t) { return s + std::string(t); });
  engine.run_source(
      "import host\nx = [1, 2]\nassert host.size(x) == 2 and host.same(x) is x and host.show('a', 'b') == 'ab'\n"
      "host.keep(x)\nx.append(3)\nassert host.kept() is x\n");
  CHECK(kept.size() == 3);
}

TEST_CASE("what an output or a log callback throws is an exception of the script") {
  Options options;
  bool broken = true;
  std::string out;
  options.output = [&](tsc_stream, std::string_view text) {
    if (broken) throw std::runtime_error("the pipe is closed");
    out += text;
  };
  Engine engine(options);
  engine.run_source("try:\n    print('x')\nexcept RuntimeError as e:\n    seen = str(e)\n");
  CHECK(engine.get("seen").as<std::string>() == "the pipe is closed");
  CHECK_THROWS_WITH(engine.run_source("print('x')"), "RuntimeError: the pipe is closed");
  broken = false;
  engine.run_source("print('y')");
  CHECK(out == "y\n");

  Options logging;
  logging.logs = "graph_breaks";
  logging.background = false;
  logging.log = [&](std::string_view) { throw std::runtime_error("the disk is full"); };
  Engine compiled(logging);
  compiled.run_source(
      "import torch\n"
      "@torch.compile\n"
      "def f(x):\n    y = x * 2\n    print(end='')\n    return y + 1\n"
      "try:\n    f(torch.ones(3))\n    f(torch.ones(3))\n    seen = ''\n"
      "except RuntimeError as e:\n    seen = str(e)\n");
  CHECK(compiled.get("seen").as<std::string>() == "the disk is full");
  compiled.run_source("alive = 1");
}

TEST_CASE("a callback's data goes with its engine") {
  auto held = std::make_shared<int>(1);
  {
    Engine engine;
    engine.define("host", "f", [held] { return *held; });
    CHECK(held.use_count() == 2);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("prompt entries give the value of their last expression") {
  Engine engine;
  CHECK(engine.run_entry("1 + 2").as<int>() == 3);
  CHECK_FALSE(engine.run_entry("x = 5"));
  CHECK(engine.run_entry("y = 1\nx + y").as<int>() == 6);
  CHECK(engine.run_entry("None").is_none());
  CHECK(engine.is_incomplete("if True:"));
  CHECK(engine.is_incomplete("(1,"));
  CHECK(engine.is_incomplete("x = '''abc"));
  CHECK_FALSE(engine.is_incomplete("x = 1"));
  CHECK_FALSE(engine.is_incomplete("x = )"));
}

TEST_CASE("an interrupt from another thread stops a script that never ends") {
  Engine engine;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    engine.interrupt();
  });
  const auto start = std::chrono::steady_clock::now();
  tsc_code code = TSC_OK;
  try {
    engine.run_source("while True: pass");
  } catch (const Error& error) {
    code = error.code();
    CHECK(error.exit_code() == 130);
  }
  stopper.join();
  CHECK(code == TSC_INTERRUPTED);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  engine.clear_interrupt();
  engine.run_source("alive = True");
  CHECK(engine.get("alive").as<bool>());
}

TEST_CASE("two engines do not see each other") {
  Engine a, b;
  a.run_source("import sys\nx = 'a'\nsys.marker = 1");
  b.run_source("import sys\nx = 'b'\nfound = hasattr(sys, 'marker')");
  CHECK(a.get("x").as<std::string>() == "a");
  CHECK(b.get("x").as<std::string>() == "b");
  CHECK_FALSE(b.get("found").as<bool>());
}

TEST_CASE("many engines come and go") {
  for (int i = 0; i < 100; ++i) {
    Engine engine;
    engine.run_source("import sys\nx = [i for i in range(10)]\nclass A: pass\na = A(); a.self = a");
    CHECK(engine.get("x").size() == 10);
  }
}

TEST_CASE("stages of the source") {
  Engine engine;
  for (const char* stage : {"tokens", "ast", "bytecode"})
    CHECK_FALSE(engine.emit(stage, "a.tsc", "x = 1 + y\n").empty());
  CHECK_THROWS_WITH(engine.emit("tokns", "a.tsc", ""), Catch::Contains("did you mean 'tokens'?"));
  CHECK_THROWS_AS(engine.emit("bytecode", "a.tsc", "x = ("), Error);
}

TEST_CASE("a program that fails while a stage is shown leaves the engine as it was") {
  std::string out;
  Options options;
  options.output = [&](tsc_stream stream, std::string_view text) {
    if (stream == TSC_STDOUT) out += text;
  };
  Engine engine(options);
  CHECK_THROWS_WITH(engine.emit("region", "<string>", "print('aside')\n1 / 0\n"), Catch::Contains("ZeroDivisionError"));
  engine.run_source("print('here')");
  CHECK(out == "here\n");
}

TEST_CASE("a package whose import failed is imported anew, its parts too") {
  Engine engine;
  int calls = 0;
  engine.define("host", "fails_once", [&calls] {
    if (++calls == 1) throw std::runtime_error("not yet");
  });
  engine.add_module("pack", "from . import part\nimport host\nhost.fails_once()\nvalue = 7\n", true);
  engine.add_module("pack.part", "import pack\ndef get(): return pack.value\n");
  CHECK_THROWS_AS(engine.run_source("import pack\n"), Error);
  // The part that was loaded the first time knows the package that was given up.
  engine.run_source("import pack\nx = pack.part.get()\n");
  CHECK(engine.get("x").as<int>() == 7);
}
