// The text form and the verifier.
#include "catch2/catch.hpp"
#include "jit/region/builder.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

const char* const kStep = R"(region step(%0: f32[%1, %2], %3: f32[%4, %5], %6: float) {
  assume %2 == %4
  %7 = const int 1
  %8 = const float 0.5
  %9 = reshape %0, %7, %1, %2 : f32[%7, %1, %2]
  %10 = reshape %3, %7, %4, %5 : f32[%7, %4, %5]
  %11 = dot %9, %10 : f32[%7, %1, %5] @4
  %12 = sum %11 axes=[2] : f32[%7, %1]
  %13 = scalar add %1, %7 : int
  %14 = scalar lt %1, %13 : bool
  guard %14 else exit #3(%1) @12
  %15, %16 = sort %12 axes=[1] mode=1 : f32[%7, %1], i64[%7, %1]
  %17 = host #2(%15) : f32[%18, %19]
  %20 = nonzero %17 : i64[%21, %22]
  %23, %24 = rng_advance %1
  %25 = rng_bits %23, %24, %1 : f32[%1]
  %26 = read %25 : float
  %27, %28 = if %14 : f32[%29], float {
    %30 = neg %25 : f32[%1]
    yield %30, %26
  } else {
    exit #5(%0)
  }
  %31 = loop %1, %25 : f32[%1] { (%32: int, %33: f32[%1])
    %34 = add %33, %25 : f32[%1]
    yield %34
  }
  write_back %0, %0
  exit #0(%31, %28)
}
)";

std::string fault_of(const std::string& text) {
  try {
    verify(parse_region(text));
  } catch (const InternalFault& fault) {
    return fault.what();
  }
  return "none";
}

void expect_fault(const std::string& body, const std::string& reason) {
  const std::string text = "region r(%0: f32[%1], %2: bool, %3: f32[%4], %5: i64[%6]) {\n" + body + "}\n";
  INFO(text);
  CHECK_THAT(fault_of(text), Catch::Contains(reason));
}

}  // namespace

TEST_CASE("the text form of a region is a fixed point") {
  std::string step = kStep;
  // nonzero's second size is the constant rank.
  const size_t at = step.find("  %20 = nonzero");
  step.insert(at, "  %100 = const int 2\n");
  step.replace(step.find("i64[%21, %22]"), 13, "i64[%21, %100]");
  const Region region = parse_region(step);
  verify(region);
  const std::string text = print(region);
  CHECK(print(parse_region(text)) == text);
  CHECK(print(region.clone()) == text);
  const Region again = parse_region(text);
  verify(again);
}

TEST_CASE("constants keep their bits through the text") {
  const char* const text =
      "region c() {\n"
      "  %0 = const float nan\n  %1 = const float -nan\n  %2 = const float inf\n"
      "  %3 = const float -0\n  %4 = const float 0.1\n  %5 = const float -1e-320\n"
      "  %6 = const int -9223372036854775808\n  %7 = const bool true\n"
      "  exit #0(%0, %3)\n}\n";
  CHECK(print(parse_region(text)) == text);
}

TEST_CASE("bad region text names line and reason") {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_region(text);
    } catch (const Error& error) {
      return error.message();
    }
    return "none";
  };
  CHECK_THAT(message("region a() {\n  %0 = neg %1 : f32[]\n}"),
             Catch::Contains("line 2") && Catch::Contains("not defined: %1"));
  CHECK_THAT(message("region a() {\n  frobnicate %1\n}"), Catch::Contains("frobnicate"));
  CHECK_THAT(message("region a(%0: f33[]) {}"), Catch::Contains("no such type"));
  CHECK_THAT(message("region a(%0: f32[], %0: int) {}"), Catch::Contains("defined twice"));
  CHECK_THAT(message("region a() { exit #99999999999() }"), Catch::Contains("out of range"));
  CHECK_THAT(message("region a() { %0 = const int 1x }"), Catch::Contains("bad integer"));
  CHECK_THAT(message(""), Catch::Contains("expected 'region'"));
  CHECK_THAT(message("region a() { exit #0() } x"), Catch::Contains("after the region"));
  CHECK_THAT(message("region a() { %0, %1 = const int 1 }"), Catch::Contains("one type per"));
}

TEST_CASE("the verifier names each kind of broken rule") {
  expect_fault("exit #0(%0)\n", "none");
  expect_fault("", "no terminator");
  expect_fault("exit #0()\nexit #0()\n", "before the end");
  expect_fault("%7 = neg %0 : f64[%1]\nexit #0()\n", "dtype is not what the op gives");
  expect_fault("%7 = neg %0 : f32[%1, %1]\nexit #0()\n", "rank is not what the op gives");
  expect_fault("%7 = neg %0 : f32[%4]\nexit #0()\n", "sizes are not what the op gives");
  expect_fault("%7 = neg %0 : f32[%8]\nexit #0()\n", "before its definition");
  expect_fault("%7 = add %0, %3 : f32[%1]\nexit #0()\n", "different sizes");
  expect_fault("assume %1 == %4\n%7 = add %0, %3 : f32[%1]\nexit #0()\n", "none");
  expect_fault(
      "%7 = scalar eq %1, %4 : bool\nguard %7 else exit #1()\n"
      "%8 = add %0, %3 : f32[%1]\nexit #0()\n",
      "none");
  expect_fault("%7 = add %0, %5 : f32[%1]\nexit #0()\n", "add");
  expect_fault("%7 = add %0, %1 : f32[%1]\nexit #0()\n", "wrong kind");
  expect_fault("%7 = scalar add %1, %2 : int\nexit #0()\n", "operand kinds");
  expect_fault("%7 = scalar lt %1, %1 : int\nexit #0()\n", "result's kind");
  expect_fault("guard %1 else exit #0()\nexit #0()\n", "a guard takes a Bool");
  expect_fault("yield %1\n", "nested block only");
  expect_fault("%7 = neg %0 : f32[%1]\nwrite_back %7, %0\nexit #0()\n", "to an input tensor");
  expect_fault("write_back %0, %3\nexit #0()\n", "keeps the sizes");
  expect_fault("write_back %0, %5\nexit #0()\n", "keeps dtype and rank");
  expect_fault("%7 = read %1 : int\nexit #0()\n", "read takes a tensor");
  expect_fault("%7 = if %2 : int {\nyield %1\n} else {\nyield %0\n}\nexit #0()\n", "another type than the result");
  expect_fault("if %2 {\n%7 = neg %0 : f32[%1]\nyield\n} else {\nyield\n}\nexit #0(%1)\n", "none");
  expect_fault("%7 = loop %1, %0 : f32[%1] { (%8: int)\nyield %0\n}\nexit #0()\n", "disagree");
  expect_fault("%7 = loop %1, %0 : f32[%1] { (%8: int, %9: i64[%1])\nyield %0\n}\nexit #0()\n", "changes its type");
}

TEST_CASE("a value of a nested block is not visible outside") {
  Region region;
  RegionBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F32, 1);
  const ValueId flag = region.add_input(ValueKind::Bool);
  ValueId inner = kNoValue;
  b.branch(
      flag,
      [&] {
        inner = b.op(Op::neg, std::vector{x}, {}, {});
        return std::vector<ValueId>{};
      },
      [] { return std::vector<ValueId>{}; });
  CHECK_THROWS_AS(b.exit(0, std::vector{inner}), InternalFault);
}
