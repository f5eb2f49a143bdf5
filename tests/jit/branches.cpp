// Branches: the executor runs the block that is taken, the compiler gives each block a plan of its own. Both give the
// same bits.
#include "jit/autodiff/gradient.h"
#include "jit/compile.h"
#include "jit/passes/outline.h"
#include "jit/plan/execution_plan.h"
#include "jit/runner/kernel_cache.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

// A number and a tensor of either of two sizes, a branch in a branch, a tensor from outside that is handed on, an
// outside value that one block alone uses, a loop in a block, and random numbers that are drawn in one of them.
const char* const kBranches = R"(
region b(%0: f32[%1], %2: bool, %3: bool, %4: f32[%5], %6: float) {
  assume %1 == %5
  %7 = const int 2
  %8 = const int 1
  %10, %11 = if %2 : f32[%12], int {
    %20 = full %6, %1 : f32[%1]
    %21 = mul %0, %20 : f32[%1]
    %22 = tanh %21 : f32[%1]
    %23 = if %3 : f32[%1] {
      %24 = add %22, %4 : f32[%1]
      yield %24
    } else {
      yield %0
    }
    yield %23, %8
  } else {
    %30 = concat %0, %0 axes=[0] : f32[%31]
    %32 = loop %7, %30 : f32[%31] { (%33: int, %34: f32[%31])
      %35 = add %34, %34 : f32[%31]
      yield %35
    }
    %36, %37 = rng_advance %31
    yield %32, %7
  }
  %40 = neg %10 : f32[%12]
  exit #1(%10, %11, %40)
})";

std::string kept_plan(const Region& region) {
  const CompileOptions options = options_of(make_kernel_cache());
  Report report;
  compile(region.clone(), options, report);
  const auto entries = options.cache->plans().entries();
  REQUIRE(entries.size() == 1);
  return entries[0].plan;
}

Region branches() {
  std::string text = kBranches;
  text.replace(text.find("f32[%31]"), 8, "f32[%38]");
  text.insert(text.find("%30 ="), "%38 = scalar add %1, %1 : int\n    ");
  for (size_t at = 0; (at = text.find("%31", at)) != text.npos;) text.replace(at, 3, "%38");
  return parse_region(text);
}

}  // namespace

TEST_CASE("the blocks of a branch are compiled as regions of their own") {
  const Region region = branches();
  verify(region);
  CHECK(print(parse_region(print(region))) == print(region));
  Region outlined = region.clone();
  const auto blocks = outline_blocks(outlined);
  REQUIRE(blocks.size() == 2);
  verify(outlined);
  for (const OutlinedBlock& block : blocks) verify(block.body);
  CHECK(print(parse_region(print(outlined))) == print(outlined));
  Report report;
  const auto compiled = compile(region.clone(), options_of(make_kernel_cache()), report);
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{100}})
    for (const bool first : {true, false})
      for (const bool second : {true, false}) {
        std::mt19937_64 rng(9);
        const auto random = [&] {
          const Tensor x = random_doubles({size}, -1, 1, rng);
          return run_op(Op::cast, {&x, 1}, {}, to_dtype(DType::F32)).first;
        };
        const Tensor x = random(), y = random();
        const std::vector<RunInput> inputs = {{&x, {}, nullptr},
                                              {nullptr, Scalar::of_bool(first), nullptr},
                                              {nullptr, Scalar::of_bool(second), nullptr},
                                              {&y, {}, nullptr},
                                              {nullptr, Scalar::of_float(0.5), nullptr}};
        const auto run = [&](Executable& executable) {
          RngState numbers{1, 10};
          RunContext context;
          context.rng = &numbers;
          const RunExit exit = executable.run(inputs, context);
          CHECK(numbers.offset == (first ? 10u : 10u + 2 * static_cast<uint64_t>(size)));
          return exit;
        };
        const RunExit expected = run(*make_region_executor(region.clone()));
        CHECK(expected.live[0].tensor.size(0) == (first ? size : 2 * size));
        CHECK(expected.live[1].scalar.i == (first ? 1 : 2));
        for (int again = 0; again < 2; ++again) same_exits(expected, run(*compiled));
        same_exits(expected, run(*compiled->another()));
      }
}

TEST_CASE("the plan of a branch is the same after it was stored, and what does not fit it is refused") {
  const std::string bytes = kept_plan(branches());
  ExecutionPlan plan, other;
  REQUIRE(read_plan(bytes, &plan) == "");
  CHECK(write_plan(plan) == bytes);
  REQUIRE(plan.blocks.size() == 2);
  std::swap(plan.blocks[0].region,
            plan.blocks[1].region);  // the same types: another program, but one that breaks no rule
  plan.blocks[0].blocks.swap(plan.blocks[1].blocks);
  plan.blocks[0].kernels.swap(plan.blocks[1].kernels);
  CHECK(read_plan(write_plan(plan), &other) == "");
  plan.blocks.pop_back();
  CHECK(read_plan(write_plan(plan), &other) != "");
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ (1 << at % 8));
    ExecutionPlan read;
    read_plan(broken, &read);
  }
}

TEST_CASE("a number that may raise stays in the branch that computes it") {
  Region region;
  RegionBuilder b(region);
  const ValueId flag = region.add_input(ValueKind::Bool), n = region.add_input(ValueKind::Int),
                by = region.add_input(ValueKind::Int);
  const auto made = b.branch(
      flag,
      [&] {
        const ValueId sum = b.scalar(ScalarOp::add, std::vector{n, by});
        return std::vector{b.scalar(ScalarOp::floor_div, std::vector{sum, by})};
      },
      [&] { return std::vector{b.constant(int64_t{-1})}; });
  b.exit(0, made);
  verify(region);
  const std::vector<Instruction>& code = region.body.instructions;
  CHECK(std::count_if(code.begin(), code.end(), [](const Instruction& one) { return one.code == Code::Scalar; }) == 1);
  const auto run = [&](bool first, int64_t divisor) {
    const std::vector<RunInput> inputs = {{nullptr, Scalar::of_bool(first), nullptr},
                                          {nullptr, Scalar::of_int(7), nullptr},
                                          {nullptr, Scalar::of_int(divisor), nullptr}};
    RunContext context;
    return make_region_executor(region.clone())->run(inputs, context).live[0].scalar.i;
  };
  CHECK(run(true, 2) == 4);
  CHECK(run(false, 0) == -1);
  CHECK_THROWS(run(true, 0));
}

namespace {

const char* const kLoss = R"(
region g(%0: f64[%1], %2: f64[%3], %4: bool) {
  %9 = const int 1
  assume %1 == %3
  %5 = mul %0, %2 : f64[%1]
  %6 = if %4 : f64[%1] {
    %10 = exp %5 : f64[%1]
    %11 = mul %10, %2 : f64[%1]
    yield %11
  } else {
    %20 = tanh %5 : f64[%1]
    %21 = sin %2 : f64[%1]
    %22 = mul %20, %21 : f64[%1]
    yield %22
  }
  %7 = mul %6, %0 : f64[%1]
  %8 = sum %7 axes=[0] : f64[]
  exit #0(%8)
})";

double loss_of(const Region& region, const Tensor& x, const Tensor& w, bool first) {
  const std::vector<RunInput> inputs = {
      {&x, {}, nullptr}, {&w, {}, nullptr}, {nullptr, Scalar::of_bool(first), nullptr}};
  RunContext context;
  return list_of<double>(make_region_executor(region.clone())->run(inputs, context).live[0].tensor)[0];
}

}  // namespace

TEST_CASE("gradients of a branch are those of the way that is taken") {
  const Region forward = parse_region(kLoss);
  Region region = forward.clone();
  region.body.instructions.pop_back();
  const ValueId x = region.body.parameters[0], w = region.body.parameters[1];
  const ValueId loss = region.body.instructions.back().results[0];
  RegionBuilder builder(region);
  OpAttributes attributes;
  attributes.dtype = DType::F64;
  const std::vector<ValueId> scalars = {builder.constant(1.0)};
  const ValueId seed = builder.op(Op::full, {}, scalars, attributes);
  const GradientSeed seeds[] = {{loss, seed}};
  const ValueId wrt[] = {x, w};
  const std::vector<ValueId> gradients = append_backward(builder, seeds, wrt);
  builder.exit(0, gradients);
  verify(region);
  const auto branches = std::count_if(region.body.instructions.begin(), region.body.instructions.end(),
                                      [](const Instruction& one) { return one.code == Code::If; });
  CHECK(branches == 2);
  const Tensor at = doubles({3}, {0.3, -0.7, 1.1}), by = doubles({3}, {0.5, 0.9, -0.4});
  Report report;
  const auto compiled = compile(region.clone(), options_of(make_kernel_cache()), report);
  for (const bool first : {true, false}) {
    const std::vector<RunInput> inputs = {
        {&at, {}, nullptr}, {&by, {}, nullptr}, {nullptr, Scalar::of_bool(first), nullptr}};
    RunContext context;
    const RunExit exact = compiled->run(inputs, context);
    same_exits(make_region_executor(region.clone())->run(inputs, context), exact);
    for (int input : {0, 1})
      for (size_t k = 0; k < 3; ++k) {
        constexpr double kStep = 1e-6;
        double sides[2];
        for (int side : {0, 1}) {
          std::vector<double> moved = list_of<double>(input ? by : at);
          moved[k] += side ? kStep : -kStep;
          const Tensor other = doubles({3}, moved);
          sides[side] = loss_of(forward, input ? at : other, input ? other : by, first);
        }
        CHECK(list_of<double>(exact.live[static_cast<size_t>(input)].tensor)[k] ==
              Approx((sides[1] - sides[0]) / (2 * kStep)).epsilon(1e-5));
      }
  }
}
