// Passes: expected text in -> out, and equal results before and after.
#include "jit/autodiff/gradient.h"
#include "jit/passes/cse.h"
#include "jit/passes/dce.h"
#include "jit/passes/pipeline.h"
#include "jit/passes/simplify.h"
#include "jit/passes/sizes.h"
#include "jit/passes/transposed_products.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

void expect(const std::function<bool(Region&)>& pass, const std::string& before, const std::string& after) {
  Region region = parse_region(before);
  verify(region);
  pass(region);
  verify(region);
  CHECK(print(region) == print(parse_region(after)));
}

void optimise(Region& region) { run_pipeline(region, {}); }

std::string wrap(const std::string& body) {
  return "region r(%0: f32[%1], %2: f32[%3, %4], %5: i64[%6]) {\n" + body + "}\n";
}

}  // namespace

TEST_CASE("dce drops what nobody uses and keeps what may raise") {
  expect(eliminate_dead_code,
         wrap("%10 = neg %0 : f32[%1]\n%11 = exp %10 : f32[%1]\n%12 = exp %0 : f32[%1]\n"
              "%13 = scalar mul %1, %1 : int\n%14 = quot %5, %5 : i64[%6]\n"
              "%15 = quot %0, %0 : f32[%1]\n%16 = take %0, %5 axes=[0] : f32[%6]\n"
              "%17 = argmax %2 axes=[1] : i64[%3]\n%18 = take %0, %17 axes=[0] : f32[%3]\n"
              "%20 = take %2, %17 axes=[1] : f32[%3, %3]\n"
              "%19 = scalar floor_div %1, %3 : int\nexit #0(%12)\n"),
         wrap("%12 = exp %0 : f32[%1]\n%14 = quot %5, %5 : i64[%6]\n"
              "%16 = take %0, %5 axes=[0] : f32[%6]\n%17 = argmax %2 axes=[1] : i64[%3]\n"
              "%18 = take %0, %17 axes=[0] : f32[%3]\n"
              "%19 = scalar floor_div %1, %3 : int\nexit #0(%12)\n"));
}

TEST_CASE("dce keeps sizes that live tensors need, and nonzero for its count") {
  const std::string body = wrap(
      "%10 = scalar mul %3, %4 : int\n%11 = reshape %2, %10 : f32[%10]\n"
      "%20 = const int 1\n%12 = nonzero %5 : i64[%13, %20]\nexit #0(%11, %13)\n");
  expect(eliminate_dead_code, body, body);
}

TEST_CASE("cse merges equal pure instructions, not effects, not memory that is seen twice") {
  expect(merge_common_subexpressions,
         wrap("%10 = exp %0 : f32[%1]\n%11 = exp %0 : f32[%1]\n%12 = add %10, %11 : f32[%1]\n"
              "%13 = const int 1\n%14 = const int 1\n%15 = scalar add %1, %13 : int\n"
              "%16 = scalar add %1, %14 : int\nexit #0(%12, %15, %16)\n"),
         wrap("%10 = exp %0 : f32[%1]\n%12 = add %10, %10 : f32[%1]\n%13 = const int 1\n"
              "%15 = scalar add %1, %13 : int\nexit #0(%12, %15, %15)\n"));
  const std::string seen = wrap(
      "%10 = exp %0 : f32[%1]\n%11 = exp %0 : f32[%1]\n"
      "%12 = reshape %11, %1 : f32[%1]\nexit #0(%10, %12)\n");
  expect(merge_common_subexpressions, seen, seen);
  const std::string effects = wrap(
      "%10 = host #1(%0) : int\n%11 = host #1(%0) : int\n"
      "%12, %13 = rng_advance %1\n%14, %15 = rng_advance %1\n"
      "exit #0(%10, %11, %13, %15)\n");
  expect(merge_common_subexpressions, effects, effects);
  expect(merge_common_subexpressions,
         wrap("%10 = sum %2 axes=[0] : f32[%4]\n%11 = sum %2 axes=[1] : f32[%3]\n"
              "%12 = sum %2 axes=[0] : f32[%4]\n%13 = mul %10, %12 : f32[%4]\nexit #0(%11, %13)\n"),
         wrap("%10 = sum %2 axes=[0] : f32[%4]\n%11 = sum %2 axes=[1] : f32[%3]\n"
              "%13 = mul %10, %10 : f32[%4]\nexit #0(%11, %13)\n"));
}

TEST_CASE("cse keeps the first of the guards of one condition") {
  const std::string conditions = "%10 = const int 7\n%11 = scalar eq %1, %10 : bool\n";
  expect(merge_common_subexpressions,
         wrap(conditions + "guard %11 else exit #0()\n%12 = const int 7\n%13 = scalar eq %1, %12 : bool\n"
                           "%14 = scalar lt %3, %10 : bool\nguard %14 else exit #0()\n"
                           "guard %13 else exit #1(%0)\nguard %14 else exit #0()\nexit #2(%0)\n"),
         wrap(conditions + "guard %11 else exit #0()\n%14 = scalar lt %3, %10 : bool\n"
                           "guard %14 else exit #0()\nexit #2(%0)\n"));
}

TEST_CASE("cse keeps values of sibling blocks apart") {
  const std::string text =
      "region r(%0: f32[%1], %2: bool) {\n"
      "%3 = if %2 : f32[%4] {\n%5 = exp %0 : f32[%1]\n%6 = neg %5 : f32[%1]\nyield %6\n} else {\n"
      "%7 = exp %0 : f32[%1]\n%8 = abs %7 : f32[%1]\nyield %8\n}\nexit #0(%3)\n}\n";
  expect(merge_common_subexpressions, text, text);
}

TEST_CASE("sizes that are equal at the entry get one name, known ones become constants") {
  expect(unify_sizes,
         "region r(%0: f32[%1, %2], %3: f32[%4, %5], %6: int) {\n"
         "  %7 = add %0, %3 : f32[%1, %2]\n  assume %1 == %4\n  assume %2 == %5\n"
         "  %8 = const int 1\n  assume %2 == %8\n  %9 = neg %3 : f32[%4, %5]\n"
         "  %10 = scalar mul %4, %6 : int\n  assume %10 == %1\n  exit #0(%7, %9, %10, %5)\n}\n",
         "region r(%0: f32[%1, %2], %3: f32[%1, %2], %6: int) {\n"
         "  %8 = const int 1\n  assume %2 == %8\n  %7 = add %0, %3 : f32[%1, %8]\n"
         "  %9 = neg %3 : f32[%1, %8]\n  %10 = scalar mul %1, %6 : int\n"
         "  exit #0(%7, %9, %1, %8)\n}\n");
  // What a guard says holds only behind it.
  const std::string guarded =
      "region r(%0: f32[%1], %2: f32[%3]) {\n  %4 = neg %2 : f32[%3]\n"
      "  %5 = scalar eq %1, %3 : bool\n  guard %5 else exit #1(%4)\n"
      "  %6 = add %0, %2 : f32[%1]\n  exit #0(%6)\n}\n";
  expect(unify_sizes, guarded, guarded);
}

TEST_CASE("inputs that share a size must have it") {
  const Region region =
      parse_region("region r(%0: f64[%1], %2: f64[%1]) {\n  %3 = add %0, %2 : f64[%1]\n  exit #0(%3)\n}\n");
  CHECK_NOTHROW(run_region(region, {doubles({1}, {1}), doubles({1}, {2})}));
  CHECK_THROWS_AS(run_region(region, {doubles({1}, {1}), doubles({2}, {2, 3})}), InternalFault);
}

TEST_CASE("simplify removes what changes no bit") {
  expect(simplify,
         wrap("%10 = const float 1\n%11 = full %10, %1 : f32[%1]\n%12 = mul %0, %11 : f32[%1]\n"
              "%13 = neg %12 : f32[%1]\n%14 = neg %13 : f32[%1]\n%15 = cast %14 : f32[%1]\n"
              "%16 = exp %15 : f32[%1]\nexit #0(%16)\n"),
         wrap("%10 = const float 1\n%11 = full %10, %1 : f32[%1]\n%13 = neg %0 : f32[%1]\n"
              "%16 = exp %0 : f32[%1]\nexit #0(%16)\n"));
  expect(simplify,
         wrap("%10 = permute %2 axes=[1, 0] : f32[%4, %3]\n"
              "%11 = permute %10 axes=[1, 0] : f32[%3, %4]\n%12 = exp %11 : f32[%3, %4]\n"
              "%13 = scalar mul %3, %4 : int\n%14 = reshape %12, %13 : f32[%13]\n"
              "%15 = reshape %14, %4, %3 : f32[%4, %3]\n%16 = neg %15 : f32[%4, %3]\n"
              "exit #0(%16)\n"),
         wrap("%10 = permute %2 axes=[1, 0] : f32[%4, %3]\n%12 = exp %2 : f32[%3, %4]\n"
              "%13 = scalar mul %3, %4 : int\n%14 = reshape %12, %13 : f32[%13]\n"
              "%15 = reshape %12, %4, %3 : f32[%4, %3]\n%16 = neg %15 : f32[%4, %3]\n"
              "exit #0(%16)\n"));
  expect(simplify,
         wrap("%10 = const int 2\n%11 = const int 3\n%12 = scalar mul %10, %11 : int\n"
              "%13 = scalar eq %12, %12 : bool\nguard %13 else exit #1()\nexit #0(%12)\n"),
         wrap("%10 = const int 2\n%11 = const int 3\n%12 = const int 6\n%13 = const bool true\n"
              "exit #0(%12)\n"));
  expect(simplify,
         wrap("%10 = const int 0\n%11 = const int 1\n"
              "%12 = slice %0, %10, %1, %11 axes=[0] : f32[%1]\n%13 = copy %12 : f32[%1]\n"
              "%14 = detach %13 : f32[%1]\n%15 = exp %14 : f32[%1]\nexit #0(%15)\n"),
         wrap("%10 = const int 0\n%11 = const int 1\n%15 = exp %0 : f32[%1]\nexit #0(%15)\n"));
}

TEST_CASE("simplify keeps the sign of zero and memory that is seen") {
  const std::string zero = wrap(
      "%10 = const float 0\n%11 = full %10, %1 : f32[%1]\n%12 = add %0, %11 : f32[%1]\n"
      "%13 = exp %12 : f32[%1]\nexit #0(%13)\n");
  expect(simplify, zero, zero);
  const std::string clone = wrap("%10 = copy %0 : f32[%1]\nexit #0(%10)\n");
  expect(simplify, clone, clone);
  // x * 1 that is returned is a tensor of its own, not x.
  expect(simplify,
         wrap("%10 = const float 1\n%11 = full %10, %1 : f32[%1]\n%12 = mul %0, %11 : f32[%1]\n"
              "exit #0(%12)\n"),
         wrap("%10 = const float 1\n%11 = full %10, %1 : f32[%1]\n%12 = copy %0 : f32[%1]\n"
              "exit #0(%12)\n"));
}

TEST_CASE("the pipeline keeps every value of a training step") {
  std::mt19937_64 rng(21);
  for (int64_t rows : {0, 1, 4}) {
    Region region;
    TrustingBuilder b(region);
    const ValueId x = region.add_tensor_input(DType::F64, 3);
    const ValueId w = region.add_tensor_input(DType::F64, 3);
    const auto op = [&](Op op, std::vector<ValueId> in, std::vector<ValueId> scalars = {},
                        OpAttributes attributes = {}) { return b.op(op, in, scalars, attributes); };
    const ValueId y = op(Op::dot, {x, w});
    const ValueId zero = b.fill(b.constant(0.0), std::vector{b.size(y, 0), b.size(y, 1), b.size(y, 2)}, DType::F64);
    const ValueId relu = op(Op::select, {op(Op::lt, {zero, y}), y, zero});
    const ValueId sums = op(Op::sum, {op(Op::exp, {relu})}, {}, axes({2}));
    const ValueId logs = op(Op::log, {sums});
    const ValueId loss = op(Op::sum, {op(Op::mul, {logs, logs})}, {}, axes({0, 1}));
    const GradientSeed seeds[] = {{loss, b.fill(b.constant(1.0), {}, DType::F64)}};
    const ValueId wrt[] = {w};
    const auto gradients = append_backward(b, seeds, wrt);
    const ValueId step = op(Op::sub, {w, gradients[0]});
    b.write_back(w, step);
    b.exit(0, std::vector{loss, gradients[0]});
    const std::vector<Tensor> inputs = {random_doubles({1, rows, 3}, -1, 1, rng),
                                        random_doubles({1, 3, 5}, -1, 1, rng)};
    const std::vector<Tensor> copies = {fresh(inputs[0]), fresh(inputs[1])};
    const RunExit before = run_region(region, inputs);
    std::vector<std::string> stages;
    Report report;
    PipelineOptions options;
    options.report = &report;
    options.on_stage = [&](std::string_view pass, const Region& now) {
      stages.emplace_back(pass);
      const std::vector<Tensor> again = {fresh(copies[0]), fresh(copies[1])};
      const RunExit after = run_region(now, again);
      INFO("after " << pass);
      CHECK(same_bits(before.live[0].tensor, after.live[0].tensor));
      CHECK(same_bits(before.live[1].tensor, after.live[1].tensor));
      CHECK(same_bits(inputs[1], again[1]));
    };
    const size_t size = region.body.instructions.size();
    run_pipeline(region, options);
    CHECK(region.body.instructions.size() < size);
    CHECK(stages.front() == "region");
    CHECK(stages.size() == region_passes().size() + 1);
    CHECK(report.total(EventKind::CompileTime) == static_cast<int64_t>(region_passes().size()));
  }
}

TEST_CASE("a product that is only read transposed is made the other way round") {
  // %2 is tokens x features; %0 is given as tokens x outputs.
  const auto region = [](const std::string& body) {
    return "region r(%0: f32[%1, %2], %3: f32[%1, %4]) {\n%9 = const int 1\n" + body + "}\n";
  };
  const std::string operands =
      "%10 = reshape %3, %9, %1, %4 : f32[%9, %1, %4]\n%11 = reshape %0, %9, %1, %2 : f32[%9, %1, %2]\n";
  const std::string left = "%12 = permute %10 axes=[0, 2, 1] : f32[%9, %4, %1]\n";
  const std::string product = "%13 = dot %12, %11 : f32[%9, %4, %2]\n";
  const std::string flat = "%14 = reshape %13, %4, %2 : f32[%4, %2]\n";
  const std::string turned = "%15 = permute %14 axes=[1, 0] : f32[%2, %4]\n";
  expect(turn_transposed_products, region(operands + left + product + flat + turned + "exit #0(%15)\n"),
         region(operands + "%12 = permute %11 axes=[0, 2, 1] : f32[%9, %2, %1]\n"
                           "%13 = dot %12, %10 : f32[%9, %2, %4]\n"
                           "%15 = reshape %13, %2, %4 : f32[%2, %4]\nexit #0(%15)\n"));
  // Another reader of the product, of its reshape; a left operand that lies as it is read.
  for (const char* others : {"exit #0(%15, %13)\n", "exit #0(%15, %14)\n"}) {
    const std::string kept = region(operands + left + product + flat + turned + others);
    expect(turn_transposed_products, kept, kept);
  }
  const std::string plain =
      "region r(%0: f32[%1, %2], %3: f32[%2, %4]) {\n%9 = const int 1\n"
      "%10 = reshape %0, %9, %1, %2 : f32[%9, %1, %2]\n"
      "%11 = reshape %3, %9, %2, %4 : f32[%9, %2, %4]\n"
      "%12 = dot %10, %11 : f32[%9, %1, %4]\n"
      "%13 = reshape %12, %1, %4 : f32[%1, %4]\n"
      "%14 = permute %13 axes=[1, 0] : f32[%4, %1]\nexit #0(%14)\n}\n";
  expect(turn_transposed_products, plain, plain);
  // A reshape that mixes rows with columns.
  const std::string mixed = region(operands + left + product +
                                   "%14 = reshape %13, %2, %4 : f32[%2, %4]\n"
                                   "%15 = permute %14 axes=[1, 0] : f32[%4, %2]\nexit #0(%15)\n");
  expect(turn_transposed_products, mixed, mixed);
}

TEST_CASE("passes can be switched off by name") {
  CHECK(parse_pass_names(" cse , dce,,fuse") == std::set<std::string, std::less<>>{"cse", "dce", "fuse"});
  CHECK(parse_pass_names("").empty());
  const std::string text = wrap(
      "%10 = exp %0 : f32[%1]\n%11 = exp %0 : f32[%1]\n"
      "%12 = add %10, %11 : f32[%1]\nexit #0(%12)\n");
  Region kept = parse_region(text), merged = parse_region(text);
  PipelineOptions options;
  options.disabled = parse_pass_names("cse");
  run_pipeline(kept, options);
  optimise(merged);
  CHECK(kept.body.instructions.size() == 4);
  CHECK(merged.body.instructions.size() == 3);
}

TEST_CASE("the report adds up equal events and stays bounded") {
  Report report;
  int seen = 0;
  report.add_sink([&](const Event&) { ++seen; });
  report.limit = 2;
  for (int i = 0; i < 5; ++i) {
    Event event;
    event.kind = EventKind::HostStatement;
    event.region = "f";
    event.id = "B014";
    event.place = "train.tsc:22";
    event.reason = "writes \"a\"\n";
    event.ms = 0.5;
    report.add(event);
    event.id = "B" + std::to_string(i);
    report.add(event);
  }
  CHECK(seen == 10);
  CHECK(report.events().size() == 2);
  CHECK(report.events()[0].count == 5);
  CHECK(report.total(EventKind::HostStatement) == 10);
  CHECK(report.total_ms(EventKind::HostStatement) == 5.0);
  CHECK(report.dropped() == 4);
  CHECK_THAT(report.json(), Catch::Contains("\"host_statement\": 10") &&
                                Catch::Contains("\"reason\": \"writes \\\"a\\\"\\u000a\"") &&
                                Catch::Contains("\"count\": 5"));
  CHECK_THAT(describe(report.events()[0]),
             Catch::Contains("B014 host statement  train.tsc:22") && Catch::Contains("5 times"));
}
