// The builder and the region executor.
#include <cmath>

#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

std::vector<ValueId> list(std::initializer_list<ValueId> values) { return values; }

class Recorder final : public Host {
 public:
  std::function<void(uint32_t, std::span<const RunValue>, std::span<RunValue>)> run;
  void host(uint32_t id, std::span<const RunValue> arguments, std::span<RunValue> results) override {
    log += "host" + std::to_string(id) + ";";
    if (run) run(id, arguments, results);
  }
  void poll() override { ++polls; }
  std::string log;
  int polls = 0;
};

}  // namespace

TEST_CASE("equal scalars and constants share one value; constants fold") {
  Region region;
  RegionBuilder b(region);
  const ValueId n = region.add_input(ValueKind::Int);
  const ValueId m = region.add_input(ValueKind::Int);
  CHECK(b.constant(int64_t{3}) == b.constant(int64_t{3}));
  CHECK(b.constant(0.0) != b.constant(-0.0));
  CHECK(b.constant(int64_t{1}) != b.constant(1.0));
  CHECK(b.constant(int64_t{1}) != b.constant_bool(true));
  CHECK(b.scalar(ScalarOp::add, list({n, m})) == b.scalar(ScalarOp::add, list({m, n})));
  CHECK(b.scalar(ScalarOp::mul, list({n, b.constant(int64_t{1})})) == n);
  CHECK(b.known_int(b.scalar(ScalarOp::mul, list({b.constant(int64_t{6}), b.constant(int64_t{7})}))) == 42);
  // A fold that would raise stays an instruction.
  const ValueId bad = b.scalar(ScalarOp::floor_div, list({b.constant(int64_t{1}), b.constant(int64_t{0})}));
  CHECK(!b.known_int(bad));
  b.exit(0, list({bad}));
  const auto executable = make_region_executor(std::move(region));
  RunContext context;
  RunInput inputs[2];
  try {
    executable->run(inputs, context);
    FAIL("no error");
  } catch (const RunError& error) {
    CHECK(error.error.kind() == ErrorKind::ZeroDivisionError);
  }
}

TEST_CASE("shape errors are raised while building, unless the embedder guards") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 1);
  const ValueId y = region.add_tensor_input(DType::F32, 1);
  CHECK_THROWS_WITH(b.op(Op::add, list({x, y}), {}, {}), Catch::Contains("add"));
  b.assume_equal(b.size(x, 0), b.size(y, 0));
  CHECK_NOTHROW(b.op(Op::add, list({x, y}), {}, {}));
  const ValueId two = b.op(Op::full, {}, list({b.constant(0.0), b.constant(int64_t{2})}), {});
  const ValueId three = b.op(Op::full, {}, list({b.constant(0.0), b.constant(int64_t{3})}), {});
  CHECK_THROWS_WITH(b.op(Op::add, list({two, three}), {}, {}), Catch::Contains("(2,)") && Catch::Contains("(3,)"));
  CHECK_THROWS_AS(b.op(Op::sum, list({x}), {}, axes({1})), Error);
  CHECK_THROWS_AS(b.op(Op::exp, list({b.op(Op::lt, list({x, y}), {}, {})}), {}, {}), Error);
  // Common factors cancel: (n) -> (n, 1) needs no guard, (n) -> (m) does.
  CHECK_NOTHROW(b.op(Op::reshape, list({x}), list({b.size(x, 0), b.constant(int64_t{1})}), {}));
  const ValueId m = region.add_input(ValueKind::Int);
  CHECK_THROWS_AS(b.op(Op::reshape, list({x}), list({m}), {}), Error);
  const ValueId nm = b.scalar(ScalarOp::mul, list({b.size(x, 0), m}));
  const ValueId wide = b.op(Op::full, {}, list({b.constant(0.0), m, b.size(x, 0)}), {});
  CHECK_NOTHROW(b.op(Op::reshape, list({wide}), list({nm}), {}));
}

TEST_CASE("sizes are registers: one region serves every size") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 2);
  const ValueId padded =
      b.op(Op::pad, list({x}), list({b.constant(1.0), b.constant(int64_t{1}), b.constant(int64_t{2})}), axes({1}));
  const ValueId joined = b.op(Op::concat, list({padded, padded}), {}, axes({0}));
  const ValueId rows =
      b.op(Op::unfold, list({joined}), list({b.constant(int64_t{2}), b.constant(int64_t{1})}), axes({1}));
  b.exit(7, list({rows, b.size(rows, 0), b.size(rows, 1)}));
  for (int64_t n : {0, 1, 4}) {
    const RunExit exit = run_region(region, {Tensor::empty(DType::F64, {n, 3})});
    CHECK(exit.id == 7);
    CHECK(exit.live[0].tensor.sizes() == Sizes{2 * n, 5, 2});
    CHECK(exit.live[1].scalar.i == 2 * n);
    CHECK(exit.live[2].scalar.i == 5);
  }
}

TEST_CASE("guards leave, host statements run in order, errors carry their place") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 1);
  b.origin = 5;
  const ValueId sum = b.op(Op::sum, list({x}), {}, axes({0}));
  const ValueId total = b.read(sum, ValueKind::Float);
  b.host(1, list({total}), {});
  Type row{ValueKind::Tensor, DType::F64, {kNoValue}};
  const auto made = b.host(2, list({x}), std::span<const Type>(&row, 1));
  const ValueId positive = b.scalar(ScalarOp::lt, list({b.constant(0.0), total}));
  b.origin = 9;
  b.guard(positive, 3, list({total, made[0]}));
  const ValueId size = b.size(made[0], 0);
  const ValueId whole = b.scalar(ScalarOp::floor_div, list({b.constant(int64_t{12}), size}));
  b.exit(0, list({whole}));
  Recorder host;
  int64_t length = 4;
  host.run = [&](uint32_t id, auto arguments, auto results) {
    if (id == 1) CHECK(arguments[0].kind == ValueKind::Float);
    if (id == 2) results[0].tensor = Tensor::empty(DType::F64, {length});
  };
  CHECK(run_region(region, {doubles({2}, {1, 2})}, &host).live[0].scalar.i == 3);
  CHECK(host.log == "host1;host2;");
  const RunExit left = run_region(region, {doubles({2}, {1, -2})}, &host);
  CHECK(left.id == 3);
  CHECK(left.origin == 9);
  CHECK(left.live[0].scalar.f == -1);
  CHECK(left.live[1].tensor.sizes() == Sizes{4});
  length = 0;
  try {
    run_region(region, {doubles({1}, {1})}, &host);
    FAIL("no error");
  } catch (const RunError& error) {
    CHECK(error.origin == 9);
    CHECK(error.error.kind() == ErrorKind::ZeroDivisionError);
  }
}

TEST_CASE("write_back writes through strides and old values stay old") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 2);
  const ValueId flipped = b.op(Op::permute, list({x}), {}, axes({1, 0}));
  const ValueId doubled = b.op(Op::add, list({x, x}), {}, {});
  b.write_back(x, doubled);
  const ValueId after = b.op(Op::neg, list({flipped}), {}, {});
  const ValueId again = b.op(Op::add, list({doubled, doubled}), {}, {});
  b.write_back(x, again);
  b.exit(0, list({after, x}));
  const Tensor storage = doubles({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor view = view_permute(storage, {1, 0});
  const RunExit exit = run_region(region, {view});
  CHECK(list_of<double>(storage) == std::vector<double>{4, 8, 12, 16, 20, 24});
  CHECK(storage.storage()->version == 2);
  CHECK(list_of<double>(exit.live[0].tensor) == std::vector<double>{-1, -2, -3, -4, -5, -6});
  CHECK(list_of<double>(exit.live[1].tensor) == std::vector<double>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("an input gets back what it held at first") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 1);
  b.write_back(x, b.op(Op::neg, list({x}), {}, {}));
  b.write_back(x, x);
  b.exit(0, {});
  const Tensor given = doubles({2}, {1, 2});
  run_region(region, {given});
  CHECK(list_of<double>(given) == std::vector<double>{1, 2});
}

TEST_CASE("a store writes the memory of the version before where nobody looks at that any more") {
  const auto run = [](const char* text, const std::vector<Tensor>& inputs) {
    return run_region(
        parse_region(std::string("region r(%0: f64[%1, %2], %3: f64[%4]) {\n assume %2 == %4\n %5 = const int 0\n"
                                 " %6 = const int 1\n") +
                     text + "}\n"),
        inputs);
  };
  const Tensor row = doubles({3}, {7, 8, 9});
  const Tensor whole = doubles({4, 3}, std::vector<double>(12, 1.0));
  const Tensor x = view_slice(whole, 0, 1, 2, 1);  // memory that does not begin with it
  // Twice into an input that the region writes anyway: no memory of its own, and none beside its rows is touched.
  const RunExit twice =
      run(" %7 = store %0, %3, %5, %4, %6 : f64[%1, %2]\n %8 = store %7, %3, %2, %4, %6 : f64[%1, %2]\n"
          " write_back %0, %8\n exit #0(%8)\n",
          {x, row});
  CHECK(twice.live[0].tensor.storage() == whole.storage());
  CHECK(list_of<double>(whole) == std::vector<double>{1, 1, 1, 7, 8, 9, 7, 8, 9, 1, 1, 1});
  CHECK(whole.storage()->version == 1);
  // The old version is read behind the store; what stands in front of the write may raise: a copy is made.
  for (const char* between : {" %9 = neg %0 : f64[%1, %2]\n", " %9 = scalar floor_div %6, %1 : int\n"}) {
    const Tensor old = doubles({2, 3}, {1, 2, 3, 4, 5, 6});
    const RunExit late = run((std::string(" %7 = store %0, %3, %5, %4, %6 : f64[%1, %2]\n") + between +
                              " write_back %0, %7\n exit #0(%7, %9)\n")
                                 .c_str(),
                             {old, row});
    CHECK(late.live[0].tensor.storage() != old.storage());
    CHECK(list_of<double>(old) == std::vector<double>{7, 8, 9, 4, 5, 6});
    if (late.live[1].tensor.defined())
      CHECK(list_of<double>(late.live[1].tensor) == std::vector<double>{-1, -2, -3, -4, -5, -6});
  }
  // Memory that the region made itself: in place once its other readers are through, and not while a view of it waits.
  const RunExit own =
      run(" %7 = exp %0 : f64[%1, %2]\n %8 = store %7, %3, %5, %4, %6 : f64[%1, %2]\n %9 = permute %8 axes=[1, 0] : "
          "f64[%2, %1]\n"
          " %10 = store %8, %3, %2, %4, %6 : f64[%1, %2]\n exit #0(%10, %9)\n",
          {doubles({2, 3}, {0, 0, 0, 0, 0, 0}), row});
  CHECK(list_of<double>(own.live[0].tensor) == std::vector<double>{7, 8, 9, 7, 8, 9});
  CHECK(list_of<double>(own.live[1].tensor) == std::vector<double>{7, 1, 8, 1, 9, 1});
  CHECK(own.live[0].tensor.storage() != own.live[1].tensor.storage());
}

TEST_CASE("branches and loops") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 1);
  const ValueId sum = b.read(b.op(Op::sum, list({x}), {}, axes({0})), ValueKind::Float);
  const ValueId positive = b.scalar(ScalarOp::lt, list({b.constant(0.0), sum}));
  const auto picked = b.branch(
      positive, [&] { return list({b.op(Op::neg, list({x}), {}, {}), b.constant(int64_t{3})}); },
      [&] {
        const ValueId both = b.op(Op::concat, list({x, x}), {}, axes({0}));
        return list({both, b.constant(int64_t{0})});
      });
  CHECK(b.size(picked[0], 0) != b.size(x, 0));  // it depends on the branch
  const auto carried = b.loop(picked[1], list({picked[0], b.constant(int64_t{0})}),
                              [&](ValueId iteration, std::span<const ValueId> now) {
                                const ValueId next = b.op(Op::add, list({now[0], now[0]}), {}, {});
                                const ValueId count = b.scalar(ScalarOp::add, list({now[1], iteration}));
                                return list({next, count});
                              });
  b.exit(0, list({carried[0], carried[1]}));
  verify(region);
  const std::string text = print(region);
  CHECK(print(parse_region(text)) == text);
  Recorder host;
  const RunExit yes = run_region(region, {doubles({2}, {1, 2})}, &host);
  CHECK(list_of<double>(yes.live[0].tensor) == std::vector<double>{-8, -16});
  CHECK(yes.live[1].scalar.i == 3);
  CHECK(host.polls > 0);
  const RunExit no = run_region(region, {doubles({1}, {-1})});
  CHECK(list_of<double>(no.live[0].tensor) == std::vector<double>{-1, -1});
  CHECK(no.live[1].scalar.i == 0);
}

TEST_CASE("a loop can leave the region") {
  Region region;
  RegionBuilder b(region);
  const ValueId n = region.add_input(ValueKind::Int);
  b.loop(n, {}, [&](ValueId iteration, std::span<const ValueId>) {
    const ValueId two = b.constant(int64_t{2});
    b.guard(b.scalar(ScalarOp::ne, list({iteration, two})), 4, list({iteration}));
    return list({});
  });
  b.exit(0, {});
  const auto executable = make_region_executor(std::move(region));
  RunContext context;
  for (int64_t trips : {0, 2, 3, 100}) {
    RunInput input;
    input.scalar = Scalar::of_int(trips);
    CHECK(executable->run({&input, 1}, context).id == (trips > 2 ? 4u : 0u));
  }
}

TEST_CASE("random numbers advance in program order") {
  Region region;
  RegionBuilder b(region);
  const ValueId n = region.add_input(ValueKind::Int);
  const auto first = b.rng_advance(n);
  const auto second = b.rng_advance(b.constant(int64_t{1}));
  const ValueId draw = b.op(Op::rng_bits, {}, list({second.first, second.second, n}), to_dtype(DType::F64));
  b.exit(0, list({first.second, second.second, draw}));
  const auto executable = make_region_executor(std::move(region));
  RngState rng{42, 10};
  RunContext context{nullptr, &rng};
  RunInput input;
  input.scalar = Scalar::of_int(5);
  const RunExit exit = executable->run({&input, 1}, context);
  CHECK(exit.live[0].scalar.i == 10);
  CHECK(exit.live[1].scalar.i == 15);
  CHECK(exit.live[2].tensor.sizes() == Sizes{5});
  CHECK(rng.offset == 16);
}

TEST_CASE("tensors die at their last use") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 1);
  const ValueId y = b.op(Op::neg, list({x}), {}, {});
  b.host(1, list({y}), {});
  const ValueId z = b.op(Op::neg, list({y}), {}, {});
  b.host(2, list({z}), {});
  b.exit(0, list({z}));
  Recorder host;
  Ref<Storage> seen;
  host.run = [&](uint32_t id, auto arguments, auto) {
    if (id == 1) seen = arguments[0].tensor.storage();
    if (id == 2) CHECK(seen->use_count() == 1);
  };
  run_region(region, {doubles({3}, {1, 2, 3})}, &host);
}

TEST_CASE("read converts one element and refuses more") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 1);
  b.exit(0, list({b.read(x, ValueKind::Float), b.read(x, ValueKind::Int), b.read(x, ValueKind::Bool)}));
  const RunExit exit = run_region(region, {floats({1}, {2.5f})});
  CHECK(exit.live[0].scalar.f == 2.5);
  CHECK(exit.live[1].scalar.i == 2);
  CHECK(exit.live[2].scalar.i == 1);
  CHECK_THROWS_AS(run_region(region, {floats({2}, {1, 2})}), RunError);
}
