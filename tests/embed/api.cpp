// The rest of the interface, used as an enemy would: memory lent and given back, ops and functions of the
// host that fail, modules from memory, causes of errors.
#include "interpreter/embed/dlpack.h"

#include <cmath>
#include <cstring>
#include <thread>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"

using namespace tenscript;

TEST_CASE("lent memory: strides, read-only, released once when the last view is gone") {
  int released = 0;
  std::vector<float> data = {0, 1, 2, 3, 4, 5};
  Engine engine;
  {
    engine.set("x", engine.lend<float>({3, 2}, {1, 3}, data.data(), [&] { ++released; }));
    engine.run_source("import torch\nassert x.tolist() == [[0, 3], [1, 4], [2, 5]]\nx[0, 1] = 30.0\nv = x[1:]\ndel x");
    CHECK(data[3] == 30);
    CHECK(released == 0);
    engine.run_source("del v");
    CHECK(released == 1);
  }
  const std::vector<float> constant = {1, 2, 3};
  Value x = engine.lend<const float>({3}, {}, constant.data(), [&] { ++released; });
  engine.set("x", x);
  CHECK(x.tensor().read_only == 1);
  CHECK(x.tensor().data == constant.data());
  engine.run_source("v = x[1:]\nassert (x + 1).sum().item() == 9");
  CHECK(x.tensor().data == constant.data());
  engine.run_source("v += 10\nassert x.tolist() == [1, 12, 13] and v.tolist() == [12, 13]");
  CHECK(constant[1] == 2);
  CHECK(x.tensor().read_only == 0);
  CHECK(released == 1);
  engine.run_source("del x, v");
  x = Value();
  CHECK(released == 2);
}

TEST_CASE("read-only memory is not written by compiled code either") {
  const std::vector<float> constant = {1, 2, 3, 4};
  Engine engine;
  engine.run_source(
      "import torch\n@torch.compile(options={'background': False})\ndef f(x):\n    x.mul_(2)\n    return x + 1\n"
      "f(torch.ones(4))\n");
  Value x = engine.lend<const float>({4}, {}, constant.data());
  const Value y = engine.call("f", x);
  CHECK(static_cast<const float*>(y.tensor().data)[3] == 9);
  CHECK(static_cast<const float*>(x.tensor().data)[3] == 8);
  CHECK(constant[3] == 4);
}

TEST_CASE("memory that cannot be lent is refused, and stays with the host") {
  int released = 0;
  std::vector<float> data(8);
  Engine engine;
  auto lend = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides, float* at) {
    try {
      engine.lend<float>(sizes, strides, at, [&] { ++released; });
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(lend({-1}, {}, data.data()) == "ValueError: a size cannot be -1");
  CHECK(lend({2}, {-1}, data.data()).find("a stride cannot be -1") != std::string::npos);
  CHECK(lend({2}, {}, nullptr).find("is NULL") != std::string::npos);
  CHECK(lend({int64_t{1} << 62, 8}, {}, data.data()) != "");
  CHECK(lend({1}, {}, reinterpret_cast<float*>(reinterpret_cast<char*>(data.data()) + 1)).find("aligned") !=
        std::string::npos);
  CHECK(lend(std::vector<int64_t>(65, 1), {}, data.data()) != "");
  CHECK(released == 0);
  CHECK(lend({0}, {}, nullptr).empty());
  CHECK(released == 1);
}

TEST_CASE("a buffer outlives the engine's use of it, whoever goes first") {
  int released = 0;
  std::vector<float> data = {1, 2, 3};
  DLManagedTensorVersioned* exported = nullptr;
  {
    Engine engine;
    engine.set("x", engine.borrow({3}, data.data(), [&] { ++released; }));
    engine.run_source("keep = [x, x[1:]]\nkeep.append(keep)");
    exported = engine.get("x").to_dlpack();
  }
  CHECK(released == 0);
  CHECK(static_cast<float*>(exported->dl_tensor.data)[2] == 3);
  std::thread([&] { exported->deleter(exported); }).join();
  CHECK(released == 1);
}

namespace {

struct Foreign {
  DLManagedTensorVersioned managed{};
  std::vector<double> data = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 2}, strides[2] = {3, 1};
  int deleted = 0;
  Foreign() {
    managed.version = {1, 1};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    managed.dl_tensor = {data.data(), {kDLCPU, 0}, 2, {kDLFloat, 64, 1}, shape, strides, 8};
  }
};

}  // namespace

TEST_CASE("DLPack in and out") {
  Foreign foreign;
  Engine engine;
  engine.set("x", engine.from_dlpack(&foreign.managed));
  engine.run_source("assert x.tolist() == [[2, 3], [5, 6]] and str(x.dtype) == 'torch.float64'\nx += 1");
  CHECK(foreign.data[1] == 3);
  CHECK(foreign.deleted == 0);
  engine.run_source("del x");
  CHECK(foreign.deleted == 1);

  engine.run_source("import torch\ny = torch.arange(6, dtype=torch.int32).reshape(2, 3).t()");
  DLManagedTensorVersioned* out = engine.get("y").to_dlpack();
  CHECK(out->version.major == 1);
  CHECK(out->flags == 0);
  CHECK(out->dl_tensor.ndim == 2);
  CHECK(out->dl_tensor.shape[0] == 3);
  CHECK(out->dl_tensor.strides[1] == 3);
  CHECK(out->dl_tensor.dtype.code == kDLInt);
  CHECK(out->dl_tensor.dtype.bits == 32);
  // Its own export comes back as a view of the same memory.
  engine.set("z", engine.from_dlpack(out));
  engine.run_source("z[0, 0] = 100\nassert y[0, 0].item() == 100");
  CHECK_THROWS_WITH(engine.value(1).to_dlpack(), Catch::Contains("not Tensor"));

  const std::vector<float> constant = {1, 2};
  const Value locked = engine.lend<const float>({2}, {}, constant.data());
  out = locked.to_dlpack();
  CHECK(out->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  out->deleter(out);
}

TEST_CASE("DLPack tensors that are refused are deleted all the same") {
  Engine engine;
  auto refused = [&](auto change) {
    Foreign foreign;
    change(foreign.managed);
    std::string message;
    try {
      engine.from_dlpack(&foreign.managed);
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(foreign.deleted == 1);
    return message;
  };
  CHECK(refused([](auto& m) { m.version.major = 2; }).find("DLPack 2.1") != std::string::npos);
  CHECK(refused([](auto& m) { m.dl_tensor.device.device_type = kDLCUDA; }).find("device type 2") != std::string::npos);
  CHECK(refused([](auto& m) { m.dl_tensor.dtype.lanes = 4; }).find("4 lanes") != std::string::npos);
  CHECK(refused([](auto& m) { m.dl_tensor.dtype.bits = 24; }).find("24 bits") != std::string::npos);
  CHECK(refused([](auto& m) { m.dl_tensor.ndim = -1; }) != "");
  CHECK(refused([](auto& m) { m.dl_tensor.byte_offset = 3; }).find("aligned") != std::string::npos);
  CHECK(refused([](auto& m) { m.dl_tensor.strides[0] = -1; }).find("stride") != std::string::npos);
}

TEST_CASE("host functions with parameters as a script writes them") {
  Engine engine;
  engine.define(
      "host", "scale", "x, by=2.0, *, name='n'",
      [&](const std::vector<Value>& v) {
        return engine.value(v[2].as<std::string>() + "=" + std::to_string(int(v[0].as<double>() * v[1].as<double>())));
      },
      "Scales x.");
  engine.run_source(
      "import host\n"
      "assert host.scale(3) == 'n=6' and host.scale(3, 3) == 'n=9' and host.scale(x=3, name='k') == 'k=6'\n"
      "assert host.scale.__doc__ == 'Scales x.'\n");
  CHECK_THROWS_WITH(engine.run_source("host.scale()"), Catch::Contains("missing") && Catch::Contains("'x'"));
  CHECK_THROWS_WITH(engine.run_source("host.scale(1, bye=2)"), Catch::Contains("'bye'"));
}

TEST_CASE("a callback may call back into the engine, raise, and keep values") {
  Engine engine;
  Value kept;
  engine.define("host", "twice", "f, x", [&](const std::vector<Value>& v) {
    kept = v[1].copy();
    return engine.call(v[0], engine.call(v[0], v[1]));
  });
  engine.run_source(
      "import host\n"
      "assert host.twice(lambda x: x + 1, 5) == 7\n"
      "assert host.twice(lambda x: host.twice(lambda y: y * 2, x), 1) == 16\n"
      "def fail(x): raise KeyError('inner')\n"
      "try:\n    host.twice(fail, 1)\nexcept KeyError as e:\n    caught = str(e)\n");
  CHECK(engine.get("caught").as<std::string>().find("inner") != std::string::npos);
  CHECK(kept.as<int>() == 1);
  engine.run_source("def down(n): return host.twice(down, n + 1)\n");
  CHECK_THROWS_WITH(engine.call("down", 0), Catch::Contains("RecursionError"));
  engine.run_source("alive = 1");
}

namespace {

// host.clip01(x) with a gradient that the script's clip_rule computes, host.outer(a, b) without one.
void define_ops(Engine& engine) {
  Op clip;
  clip.module = "host";
  clip.name = "clip01";
  clip.run = [](const Op::Infos& in, const tsc_tensor_info& out) {
    const auto x = view<const float>(in[0]);
    const auto y = view<float>(out);
    for (size_t i = 0; i < x.count; ++i) y[i] = std::fmin(std::fmax(x[i], 0.f), 1.f);
  };
  clip.gradient = [&](const Value& gradient, const std::vector<Value>& arguments, const Value&) {
    std::vector<Value> out;
    out.push_back(engine.call("clip_rule", gradient, arguments[0]));
    return out;
  };
  engine.define_op(clip);
  Op outer;
  outer.module = "host";
  outer.name = "outer";
  outer.arguments = 2;
  outer.shape = [](const Op::Infos& in) {
    if (in[0].rank != 1 || in[1].rank != 1) throw std::invalid_argument("outer takes vectors");
    return Op::Shape{TSC_FLOAT64, {in[0].sizes[0], in[1].sizes[0]}};
  };
  outer.run = [](const Op::Infos& in, const tsc_tensor_info& out) {
    const auto a = view<const float>(in[0]), b = view<const float>(in[1]);
    const auto y = view<double>(out);
    for (size_t i = 0; i < a.count; ++i)
      for (size_t j = 0; j < b.count; ++j) y[i * b.count + j] = double(a[i]) * b[j];
  };
  engine.define_op(outer);
}

}  // namespace

TEST_CASE("ops of the host: shape rule, dtypes, gradient") {
  Engine engine;
  define_ops(engine);
  engine.run_source(
      "import torch, host\n"
      "def clip_rule(g, x): return g * ((x > 0) & (x < 1))\n"
      "x = torch.tensor([-1., 0.5, 2.], requires_grad=True)\n"
      "y = host.clip01(x * 1.0)\n"
      "assert y.tolist() == [0, 0.5, 1]\n"
      "(y * torch.tensor([1., 2., 3.])).sum().backward()\n"
      "assert x.grad.tolist() == [0, 2, 0]\n"
      // A strided argument arrives row-major; sizes 0 and 1 are ordinary.
      "assert host.clip01(torch.tensor([[-1., 2.], [0.25, 5.]]).t()).tolist() == [[0, 0.25], [1, 1]]\n"
      "assert host.clip01(torch.zeros(0, 3)).shape == (0, 3)\n"
      "z = host.outer(torch.tensor([1., 2.]), torch.tensor([3., 4., 5.]))\n"
      "assert z.tolist() == [[3, 4, 5], [6, 8, 10]] and str(z.dtype) == 'torch.float64'\n"
      // In a compiled function too.
      "f = torch.compile(lambda v: host.clip01(v * 2) + 1, options={'background': False})\n"
      "assert f(torch.tensor([0.25, 3.])).tolist() == [1.5, 2] and f(torch.tensor([-1.])).tolist() == [1]\n"
      "w = torch.ones(2, requires_grad=True)\n");
}

TEST_CASE("ops of the host: what is wrong is an error of the script") {
  Engine engine;
  define_ops(engine);
  engine.run_source("import torch, host\ndef clip_rule(g, x): return g\nw = torch.ones(2, requires_grad=True)\n");
  CHECK_THROWS_WITH(engine.run_source("host.outer(torch.ones(2, 2), torch.ones(2))"),
                    "RuntimeError: outer takes vectors");
  CHECK_THROWS_WITH(engine.run_source("host.outer(torch.ones(2))"), Catch::Contains("takes 2 tensors"));
  CHECK_THROWS_WITH(engine.run_source("host.clip01(3)"), Catch::Contains("TypeError"));
  CHECK_THROWS_WITH(engine.run_source("host.clip01(torch.ones(2, dtype=torch.int64))"),
                    Catch::Contains("another dtype"));
  CHECK_THROWS_WITH(engine.run_source("host.outer(w, w).sum().backward()"), Catch::Contains("has no gradient"));
  CHECK_THROWS_WITH(engine.run_source("v = w * 1\ny = host.clip01(v)\nv.add_(1)\ny.sum().backward()"),
                    Catch::Contains("modified by an inplace operation"));
  CHECK_THROWS_WITH(engine.run_source("y = host.clip01(w * 1)\ny.sum().backward()\ny.sum().backward()"),
                    Catch::Contains("second time"));
  engine.run_source("def clip_rule(g, x): return torch.ones(7)\n");
  CHECK_THROWS_WITH(engine.run_source("host.clip01(w * 1).sum().backward()"),
                    Catch::Contains("gradient of argument 0"));
  engine.run_source("def clip_rule(g, x): raise ValueError('rule')\n");
  CHECK_THROWS_WITH(engine.run_source("host.clip01(w * 1).sum().backward()"), "ValueError: rule");
}

TEST_CASE("modules from memory and from a loader") {
  Options options;
  std::vector<std::string> asked;
  options.loader = [&](const std::string& name) -> std::optional<Source> {
    asked.push_back(name);
    if (name == "shop") return Source{"from . import prices\ntotal = prices.apple * 2\n", true};
    if (name == "shop.prices") return Source{"apple = 3\n"};
    if (name == "broken") throw std::runtime_error("the archive is damaged");
    return std::nullopt;
  };
  Engine engine(options);
  engine.add_module("tools", "def double(x): return x * 2\n");
  engine.run_source("import tools, shop\nassert tools.double(shop.total) == 12");
  CHECK(engine.get("shop.prices.apple").as<int>() == 3);
  CHECK_THROWS_WITH(engine.run_source("import nothing_there"), Catch::Contains("No module named 'nothing_there'"));
  CHECK_THROWS_WITH(engine.run_source("import broken"), "RuntimeError: the archive is damaged");
  CHECK(asked == std::vector<std::string>{"shop", "shop.prices", "nothing_there", "broken"});
  engine.add_module("wrong", "x = (\n");
  CHECK_THROWS_WITH(engine.import_module("wrong"), Catch::Contains("SyntaxError"));
  CHECK(engine.get_attribute(engine.import_module("tools"), "double").kind() == TSC_CALLABLE);
}

TEST_CASE("items and attributes") {
  Engine engine;
  engine.run_source("class C: pass\nc = C()\nd = {'k': 1}\nl = [1, 2]");
  engine.set_attribute(engine.get("c"), "x", engine.value(5));
  engine.set_item(engine.get("d"), std::string("n"), engine.value(6));
  engine.set_item(engine.get("l"), 1, engine.value(7));
  engine.run_source("assert c.x == 5 and d == {'k': 1, 'n': 6} and l == [1, 7]");
  CHECK(engine.get_item(engine.get("d"), std::string("n")).as<int>() == 6);
  CHECK_THROWS_WITH(engine.get_item(engine.get("l"), 9), Catch::Contains("IndexError"));
  const Value first = engine.get("l"), second = first.copy();
  CHECK(second.size() == 2);
}

TEST_CASE("the causes of an error, as data") {
  Engine engine;
  try {
    engine.run_source(
        "def f():\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n"
        "        raise ValueError('bad') from e\ntry:\n    f()\nexcept ValueError:\n    [][1]\n",
        "job.tsc");
    FAIL("no error");
  } catch (const Error& error) {
    const auto causes = error.causes();
    REQUIRE(causes.size() == 2);
    CHECK(causes[0].type == "ValueError");
    CHECK(causes[0].message == "ValueError: bad");
    CHECK(causes[1].type == "ZeroDivisionError");
    REQUIRE(causes[1].traceback.size() == 1);
    CHECK(causes[1].traceback[0].line == 3);
  }
}

TEST_CASE("log lines go to the host, and nothing to the script's streams") {
  std::string log, shown;
  Options options;
  options.logs = "all";
  options.background = false;
  options.log = [&](std::string_view line) { log += line; };
  options.output = [&](tsc_stream, std::string_view text) { shown += text; };
  Engine engine(options);
  engine.run_source("import torch\nf = torch.compile(lambda x: x * 2)\nf(torch.ones(3))");
  CHECK_FALSE(log.empty());
  CHECK(shown.empty());
  CHECK(engine.statistics().regions >= 1);
}

TEST_CASE("options and structs of another size") {
  tsc_engine_options options{};
  options.struct_size = offsetof(tsc_engine_options, grants);  // a program of version 1
  tsc_engine* engine = nullptr;
  REQUIRE(api().engine_new(&options, &engine) == nullptr);
  tsc_statistics stats{};
  stats.struct_size = offsetof(tsc_statistics, peak_memory_bytes);
  stats.peak_memory_bytes = 77;
  CHECK(api().statistics(engine, &stats) == nullptr);
  CHECK(stats.memory_bytes > 0);
  CHECK(stats.peak_memory_bytes == 77);
  tsc_status* status = api().statistics(engine, nullptr);
  CHECK(api().status_code(status) == TSC_BAD_ARGUMENT);
  api().status_free(status);
  status = api().set_limits(nullptr, nullptr);
  CHECK(api().status_code(status) == TSC_BAD_ARGUMENT);
  api().status_free(status);
  api().stop(nullptr, "nobody");
  api().engine_free(engine);
}

TEST_CASE("statistics count tensors and what they held") {
  Engine engine;
  engine.run_source("import torch");
  const uint64_t before = engine.statistics().tensor_allocations;
  engine.run_source("x = torch.zeros(1 << 20)\ndel x\ny = torch.zeros(1 << 10)");
  const tsc_statistics now = engine.statistics();
  CHECK(now.tensor_allocations >= before + 2);
  CHECK(now.tensor_bytes >= 4096);
  CHECK(now.peak_tensor_bytes >= (uint64_t{4} << 20));
  engine.reset_tensor_peak();
  CHECK(engine.statistics().peak_tensor_bytes == engine.statistics().tensor_bytes);
  tsc_status* status = api().reset_tensor_peak(nullptr);
  CHECK(api().status_code(status) == TSC_BAD_ARGUMENT);
  api().status_free(status);
}

TEST_CASE("a gradient that lies in rows becomes .grad without a copy, another with one") {
  Engine engine;
  engine.run_source(
      "import torch\nw = torch.ones(64, 32, requires_grad=True)\nc = torch.ones(64, 32)\nd = torch.ones(32, 64)\n");
  const auto allocations = [&](const char* loss) {
    engine.run_source(std::string("w.grad = None\nloss = (") + loss + ").sum()\n");
    const uint64_t before = engine.statistics().tensor_allocations;
    engine.run_source("loss.backward()");
    return engine.statistics().tensor_allocations - before;
  };
  CHECK(allocations("w.t() * d") == allocations("w * c") + 1);
}

TEST_CASE("tools of the wrapper") {
  Engine engine;
  CHECK(engine.format("x  =  [1,2]\n") == "x = [1, 2]\n");
  CHECK_THROWS_AS(engine.format("x = ("), Error);
  CHECK(engine.check_source("x = 1\nprint(x)\n").empty());
  REQUIRE(engine.check_source("print(y)\n").size() == 1);
  CHECK(engine.check_source("print(y)\n", "a.tsc", "json")[0].find("\"a.tsc\"") != std::string::npos);
  engine.run_source("def f(a, *, b=2):\n    'What f does.'\n    return [a, b]\n");
  const std::string text = engine.describe(engine.get("f"));
  CHECK(text.find("f(a, *, b=2)") != std::string::npos);
  CHECK(text.find("What f does.") != std::string::npos);
  CHECK(engine.describe(engine.get("f"), true).find("return [a, b]") != std::string::npos);
  CHECK(Engine::stages().front() == "tokens");
  CHECK_FALSE(Engine::version().empty());
  CHECK_THROWS_AS(engine.cache("no such action"), Error);
}

TEST_CASE("tuples, dicts and keyword arguments of the wrapper") {
  Engine engine;
  engine.run_source("def f(a, *, b=2):\n    return a, b\n");
  std::vector<tenscript::Value> arguments;
  arguments.push_back(engine.value(1));
  std::vector<std::pair<std::string, tenscript::Value>> keywords;
  keywords.emplace_back("b", engine.value(5));
  CHECK(engine.represent(engine.call_with(engine.get("f"), arguments, keywords)) == "(1, 5)");
  CHECK(engine.represent(engine.tuple({})) == "()");
  CHECK(engine.represent(engine.tuple(arguments)) == "(1,)");
  std::vector<std::pair<tenscript::Value, tenscript::Value>> entries;
  entries.emplace_back(engine.value("x"), engine.value(1));
  entries.emplace_back(engine.value("y"), engine.value(2));
  entries.emplace_back(engine.value("x"), engine.value(3));
  CHECK(engine.represent(engine.dict(entries)) == "{'x': 3, 'y': 2}");
  entries.emplace_back(engine.list({}), engine.value(0));
  CHECK_THROWS_AS(engine.dict(entries), Error);  // a list is no key
}
