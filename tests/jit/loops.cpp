// Loops: the executor runs their blocks, the compiler gives each body a plan of its own. Both give the same bits.
#include "jit/compile.h"
#include "jit/passes/outline.h"
#include "jit/plan/execution_plan.h"
#include "jit/runner/kernel_cache.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

// A recurrence with a weight that is turned in every turn, a number that only the call knows, a size that is a constant
// and a row of the input by the turn's number; what each turn gives is stacked.
const char* const kRecurrence = R"(
region r(%0: f32[%1, %2, %3], %4: f32[%5, %6], %7: float, %8: f32[%9, %10]) {
  assume %3 == %5
  assume %3 == %6
  assume %3 == %10
  assume %2 == %9
  %11 = const int 1
  %12 = const int 0
  %13, %14, %15 = loop %1, %8, %12 : f32[%2, %3], int, f32[%1, %2, %3] { (%20: int, %21: f32[%2, %3], %22: int)
    %23 = slice %0, %20, %11, %11 axes=[0] : f32[%11, %2, %3]
    %24 = reshape %23, %2, %3 : f32[%2, %3]
    %25 = permute %4 axes=[1, 0] : f32[%3, %3]
    %26 = reshape %21, %11, %2, %3 : f32[%11, %2, %3]
    %27 = reshape %25, %11, %3, %3 : f32[%11, %3, %3]
    %28 = dot %26, %27 : f32[%11, %2, %3]
    %29 = reshape %28, %2, %3 : f32[%2, %3]
    %30 = full %7, %2, %3 : f32[%2, %3]
    %31 = mul %29, %30 : f32[%2, %3]
    %32 = add %31, %24 : f32[%2, %3]
    %33 = tanh %32 : f32[%2, %3]
    %34 = scalar add %22, %20 : int
    yield %33, %34, %33
  }
  exit #3(%13, %14, %15)
})";

// Loops in a loop, and a buffer of which each turn writes a row.
const char* const kNested = R"(
region n(%0: f64[%1, %2], %3: f64[%4], %5: int) {
  assume %2 == %4
  %6 = const int 1
  %7 = loop %1, %0 : f64[%1, %2] { (%10: int, %11: f64[%1, %2])
    %12 = scalar add %10, %6 : int
    %13 = loop %5, %3 : f64[%2] { (%20: int, %21: f64[%2])
      %22 = full %23, %2 : f64[%2]
      %24 = add %21, %22 : f64[%2]
      yield %24
    }
    %14 = scalar mul %10, %2 : int
    %15 = store %11, %13, %14, %2, %6 : f64[%1, %2]
    yield %15
  }
  exit #0(%7)
})";

RunExit run(Executable& executable, const std::vector<RunInput>& inputs) {
  RunContext context;
  return executable.run(inputs, context);
}

RunInput number(double value) { return {nullptr, Scalar::of_float(value), nullptr}; }
RunInput number(int64_t value) { return {nullptr, Scalar::of_int(value), nullptr}; }

}  // namespace

TEST_CASE("a loop's body is compiled as a region of its own") {
  const Region region = parse_region(kRecurrence);
  verify(region);
  CHECK(print(parse_region(print(region))) == print(region));
  Region outlined = region.clone();
  const auto loops = outline_blocks(outlined);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].carried == 2);
  verify(outlined);
  verify(loops[0].body);
  CHECK(print(parse_region(print(outlined))) == print(outlined));
  // The turned weight and the constant tensor do not change: they are made in front of the loop.
  CHECK(print(loops[0].body).find("permute") == std::string::npos);
  CHECK(print(outlined).find("permute") != std::string::npos);
  std::mt19937_64 rng(3);
  const auto random = [&](const Sizes& sizes) {
    const Tensor x = random_doubles(sizes, -1, 1, rng);
    return run_op(Op::cast, {&x, 1}, {}, to_dtype(DType::F32)).first;
  };
  Report report;
  const auto compiled = compile(region.clone(), options_of(make_kernel_cache()), report);
  for (const int64_t turns : {int64_t{1}, int64_t{2}, int64_t{7}})
    for (const int64_t width : {int64_t{1}, int64_t{5}}) {
      const Tensor x = random({turns, 3, width}), w = random({width, width}), h = random({3, width});
      const std::vector<RunInput> inputs = {{&x, {}, nullptr}, {&w, {}, nullptr}, number(0.75), {&h, {}, nullptr}};
      const RunExit expected = run(*make_region_executor(region.clone()), inputs);
      CHECK(expected.live[1].scalar.i == turns * (turns - 1) / 2);
      CHECK(expected.live[2].tensor.sizes() == Sizes{turns, 3, width});
      for (int again = 0; again < 2; ++again) same_exits(expected, run(*compiled, inputs));
      same_exits(expected, run(*compiled->another(), inputs));
    }
}

TEST_CASE("loops in loops; a carried buffer is written where it lies") {
  std::string text = kNested;
  text.replace(text.find("%22 = full %23"), 14, "%23 = const float 1.0\n      %22 = full %23");
  const Region region = parse_region(text);
  verify(region);
  Report report;
  const auto compiled = compile(region.clone(), options_of(make_kernel_cache()), report);
  const Tensor x = doubles({3, 2}, {1, 2, 3, 4, 5, 6}), y = doubles({2}, {10, 20});
  const std::vector<RunInput> inputs = {{&x, {}, nullptr}, {&y, {}, nullptr}, number(int64_t{4})};
  const RunExit expected = run(*make_region_executor(region.clone()), inputs);
  CHECK(list_of<double>(expected.live[0].tensor) == std::vector<double>{14, 24, 14, 24, 14, 24});
  same_exits(expected, run(*compiled, inputs));
  CHECK(list_of<double>(x) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the plan of a loop is the same after it was stored, and what does not fit its loop is refused") {
  for (const char* text : {kRecurrence}) {
    const CompileOptions options = options_of(make_kernel_cache());
    Report report;
    compile(parse_region(text), options, report);
    const auto entries = options.cache->plans().entries();
    REQUIRE(entries.size() == 1);
    const std::string bytes = entries[0].plan;
    ExecutionPlan plan;
    REQUIRE(read_plan(bytes, &plan) == "");
    REQUIRE(plan.blocks.size() == 1);
    CHECK(write_plan(plan) == bytes);
    ExecutionPlan other;
    plan.blocks[0].carried = 1;
    CHECK(read_plan(write_plan(plan), &other) != "");
    plan.blocks[0].carried = 9;
    CHECK(read_plan(write_plan(plan), &other) != "");
    plan.blocks.clear();
    CHECK(read_plan(write_plan(plan), &other) != "");
    // Any byte may be wrong: never a crash.
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ (1 << at % 8));
      ExecutionPlan read;
      read_plan(broken, &read);
    }
  }
}

// What is assumed of numbers outside holds inside: here that two sizes of the body are one.
TEST_CASE("a loop's body knows what is assumed outside") {
  const Region region = parse_region(R"(
region a(%0: f32[%1], %2: int, %3: f32[%4]) {
  %5 = const int 1
  %6 = const float 0.0
  %7 = scalar add %2, %5 : int
  assume %7 == %4
  %8 = loop %2, %3 : f32[%4] { (%20: int, %21: f32[%4])
    %22 = full %6, %7 : f32[%7]
    %23 = add %21, %22 : f32[%4]
    yield %23
  }
  exit #0(%8)
})");
  Report report;
  const auto compiled = compile(region.clone(), options_of(make_kernel_cache()), report);
  const Tensor x = floats({2}, {1, 2}), h = floats({4}, {1, 2, 3, 4});
  const RunExit exit = run(*compiled, {{&x, {}, nullptr}, number(int64_t{3}), {&h, {}, nullptr}});
  CHECK(list_of<float>(exit.live[0].tensor) == std::vector<float>{1, 2, 3, 4});
}
