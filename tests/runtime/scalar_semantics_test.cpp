// The edge behaviour that ops.def and kernels/scalar_ops.h promise, row by row. Expectations of floor
// division, remainder and casts are PyTorch's unless ops.def says otherwise.
#include "catch2/catch.hpp"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One binary result on doubles; signs of zeros show as 1/x.
double binary(Op op, double x, double y, DType dtype = DType::F64) {
  return values(run(op, {tensor(dtype, {}, {x}), tensor(dtype, {}, {y})}))[0];
}
double unary(Op op, double x, DType dtype = DType::F64) { return values(run(op, {tensor(dtype, {}, {x})}))[0]; }
bool is_minus_zero(double x) { return x == 0 && std::signbit(x); }
bool is_plus_zero(double x) { return x == 0 && !std::signbit(x); }
int64_t integer(Op op, int64_t x, int64_t y, DType dtype) {
  return int_values(run(op, {cast(i64_tensor({}, {x}), dtype), cast(i64_tensor({}, {y}), dtype)}))[0];
}
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();

}  // namespace

TEST_CASE("integers wrap in their own width") {
  CHECK(integer(Op::add, kMax64, 1, DType::I64) == kMin64);
  CHECK(integer(Op::sub, kMin32, 1, DType::I32) == 2147483647);
  CHECK(integer(Op::mul, 200, 2, DType::U8) == 144);
  CHECK(integer(Op::sub, 3, 5, DType::U8) == 254);
  CHECK(integer(Op::quot, kMin64, -1, DType::I64) == kMin64);
  CHECK(integer(Op::rem, kMin64, -1, DType::I64) == 0);
  CHECK(integer(Op::floor_div, kMin32, -1, DType::I32) == kMin32);
  CHECK(integer(Op::remainder, kMin32, -1, DType::I32) == 0);
  CHECK(integer(Op::pow, 3, 40, DType::I64) == static_cast<int64_t>(12157665459056928801ull));
  CHECK(integer(Op::pow, 0, 0, DType::I32) == 1);
  Tensor smallest = i64_tensor({}, {kMin64});
  CHECK(int_values(run(Op::abs, {smallest}))[0] == kMin64);
  CHECK(int_values(run(Op::neg, {smallest}))[0] == kMin64);
}

TEST_CASE("division of integers: truncated and floored") {
  CHECK(integer(Op::quot, -7, 2, DType::I32) == -3);
  CHECK(integer(Op::rem, -7, 2, DType::I32) == -1);
  CHECK(integer(Op::floor_div, -7, 2, DType::I32) == -4);
  CHECK(integer(Op::remainder, -7, 2, DType::I32) == 1);
  CHECK(integer(Op::floor_div, 7, -2, DType::I64) == -4);
  CHECK(integer(Op::remainder, 7, -2, DType::I64) == -1);
  CHECK(integer(Op::remainder, 6, -2, DType::I64) == 0);
}

TEST_CASE("division of floats is Python's") {
  CHECK(binary(Op::floor_div, 1.0, 0.1) == 9);
  CHECK(binary(Op::remainder, 1.0, 0.1) == 0.09999999999999995);
  CHECK(binary(Op::floor_div, -7, 2) == -4);
  CHECK(binary(Op::remainder, -7, 2) == 1);
  CHECK(binary(Op::remainder, 7, -2) == -1);
  CHECK(binary(Op::rem, -7, 2) == -1);
  CHECK(binary(Op::quot, -7, 2) == -3);
  CHECK(binary(Op::floor_div, 1, 0) == kInf);
  CHECK(binary(Op::floor_div, -1, 0) == -kInf);
  CHECK(std::isnan(binary(Op::floor_div, 0, 0)));
  CHECK(std::isnan(binary(Op::remainder, 5, 0)));
  CHECK(binary(Op::remainder, 5, kInf) == 5);
  CHECK(binary(Op::remainder, -5, kInf) == kInf);
  CHECK(std::isnan(binary(Op::rem, kInf, 2)));
  CHECK(is_minus_zero(binary(Op::remainder, -4, 2)));
  CHECK(is_minus_zero(binary(Op::floor_div, -0.0, 3)));
  CHECK(binary(Op::floor_div, 5, -kInf) == -1);
}

TEST_CASE("rem is the exact fmod, near and far") {
  std::vector<double> xs, ys;
  uint64_t state = 1;
  auto next = [&] { return state = state * 6364136223846793005ull + 1442695040888963407ull; };
  for (int i = 0; i < 200000; ++i) {
    auto random = [&](int spread) {
      double sign = next() >> 63 ? -1.0 : 1.0;
      double mantissa = 1 + static_cast<double>(next() >> 12) * 0x1p-52;
      return sign * std::ldexp(mantissa, static_cast<int>(next() >> 40) % spread - spread / 2);
    };
    int spread = i % 3 == 0 ? 4 : i % 3 == 1 ? 120 : 250;
    xs.push_back(random(spread));
    ys.push_back(i % 7 == 0 ? xs.back() / static_cast<double>(1 + (next() >> 50)) : random(spread));
  }
  Sizes sizes{static_cast<int64_t>(xs.size())};
  for (DType dtype : {DType::F32, DType::F64}) {
    Tensor x = tensor(dtype, sizes, xs), y = tensor(dtype, sizes, ys), r = run(Op::rem, {x, y});
    bool equal = true;
    for (int64_t i = 0; i < sizes[0]; ++i)
      equal &= dtype == DType::F32
                   ? r.data_as<float>()[i] == std::fmod(x.data_as<float>()[i], y.data_as<float>()[i])
                   : r.data_as<double>()[i] == std::fmod(x.data_as<double>()[i], y.data_as<double>()[i]);
    CHECK(equal);
  }
}

TEST_CASE("maximum and minimum: nan wins, zeros are ordered") {
  for (DType dtype : {DType::BF16, DType::F32, DType::F64}) {
    CHECK(std::isnan(binary(Op::maximum, kNan, 1, dtype)));
    CHECK(std::isnan(binary(Op::maximum, 1, kNan, dtype)));
    CHECK(std::isnan(binary(Op::minimum, kInf, kNan, dtype)));
    CHECK(is_plus_zero(binary(Op::maximum, -0.0, 0.0, dtype)));
    CHECK(is_plus_zero(binary(Op::maximum, 0.0, -0.0, dtype)));
    CHECK(is_minus_zero(binary(Op::minimum, 0.0, -0.0, dtype)));
    CHECK(is_minus_zero(binary(Op::maximum, -0.0, -0.0, dtype)));
    CHECK(binary(Op::maximum, -kInf, -3, dtype) == -3);
    CHECK(binary(Op::minimum, -2, -3, dtype) == -3);
  }
}

TEST_CASE("shifts beyond the width") {
  CHECK(integer(Op::shift_left, 1, 31, DType::I32) == kMin32);
  CHECK(integer(Op::shift_left, 1, 32, DType::I32) == 0);
  CHECK(integer(Op::shift_left, 1, -1, DType::I32) == 0);
  CHECK(integer(Op::shift_right, -8, 1, DType::I64) == -4);
  CHECK(integer(Op::shift_right, -8, 64, DType::I64) == -1);
  CHECK(integer(Op::shift_right, 8, 64, DType::I64) == 0);
  CHECK(integer(Op::shift_right, -8, -1, DType::I64) == -1);
  CHECK(integer(Op::shift_right, 255, 7, DType::U8) == 1);
  CHECK(integer(Op::shift_right, 255, 8, DType::U8) == 0);
  CHECK(integer(Op::shift_left, 255, 4, DType::U8) == 240);
}

TEST_CASE("signs, rounding and comparisons") {
  CHECK(unary(Op::sign, -0.0) == 0);
  CHECK(!is_minus_zero(unary(Op::sign, -0.0)));
  CHECK(unary(Op::sign, kNan) == 0);
  CHECK(unary(Op::sign, -kInf) == -1);
  CHECK(unary(Op::round, 0.5) == 0);
  CHECK(unary(Op::round, 1.5) == 2);
  CHECK(unary(Op::round, -2.5) == -2);
  CHECK(is_minus_zero(unary(Op::round, -0.4)));
  CHECK(is_minus_zero(unary(Op::ceil, -0.4)));
  CHECK(is_minus_zero(unary(Op::trunc, -0.4)));
  CHECK(is_minus_zero(unary(Op::neg, 0.0)));
  CHECK(is_minus_zero(unary(Op::sqrt, -0.0)));
  CHECK(std::isnan(unary(Op::sqrt, -1)));
  CHECK(unary(Op::rsqrt, 0.0) == kInf);
  CHECK(unary(Op::rsqrt, -0.0) == -kInf);
  CHECK(unary(Op::log, 0.0) == -kInf);
  CHECK(unary(Op::logical_not, kNan) == 0);
  CHECK(binary(Op::eq, kNan, kNan) == 0);
  CHECK(binary(Op::ne, kNan, kNan) == 1);
  CHECK(binary(Op::le, kNan, 1) == 0);
  CHECK(binary(Op::eq, 0.0, -0.0) == 1);
}

TEST_CASE("bools: or, and, not") {
  auto result = [](Op op) {
    Tensor x = tensor(DType::Bool, {4}, {0, 0, 1, 1}), y = tensor(DType::Bool, {4}, {0, 1, 0, 1});
    return values(run(op, {x, y}));
  };
  using List = std::vector<double>;
  CHECK(result(Op::add) == List{0, 1, 1, 1});
  CHECK(result(Op::mul) == List{0, 0, 0, 1});
  CHECK(result(Op::maximum) == List{0, 1, 1, 1});
  CHECK(result(Op::minimum) == List{0, 0, 0, 1});
  CHECK(result(Op::bitwise_xor) == List{0, 1, 1, 0});
  CHECK(result(Op::lt) == List{0, 1, 0, 0});
  CHECK(unary(Op::bitwise_not, 1, DType::Bool) == 0);
  CHECK(unary(Op::bitwise_not, 0, DType::Bool) == 1);
}

TEST_CASE("casts: truncate, wrap, round to even, and to integers as x86 does") {
  auto cast_one = [](double x, DType from, DType to) { return int_values(cast(tensor(from, {}, {x}), to))[0]; };
  for (DType from : {DType::F32, DType::F64}) {
    CHECK(cast_one(-1.9, from, DType::I32) == -1);
    CHECK(cast_one(kNan, from, DType::I64) == kMin64);
    CHECK(cast_one(kInf, from, DType::I32) == -2147483648);
    CHECK(cast_one(-kInf, from, DType::I64) == kMin64);
    CHECK(cast_one(1e30, from, DType::I64) == kMin64);
    CHECK(cast_one(300, from, DType::U8) == 44);
    CHECK(cast_one(-5, from, DType::U8) == 251);
    CHECK(cast_one(-129, from, DType::I8) == 127);
    CHECK(cast_one(70000, from, DType::I16) == 4464);
    CHECK(cast_one(3e9, from, DType::I16) == 0);
    CHECK(cast_one(kNan, from, DType::Bool) == 1);
    CHECK(cast_one(-0.0, from, DType::Bool) == 0);
    CHECK(cast_one(2147483648.0, from, DType::I32) == -2147483648);
  }
  CHECK(cast_one(4294967295.0, DType::F64, DType::U8) == 255);
  CHECK(cast_one(4294967295.0, DType::F64, DType::I8) == 0);
  CHECK(int_values(cast(i64_tensor({}, {300}), DType::U8))[0] == 44);
  CHECK(int_values(cast(i64_tensor({}, {-1}), DType::U8))[0] == 255);
  CHECK(int_values(cast(i64_tensor({}, {int64_t{1} << 32}), DType::I32))[0] == 0);
  CHECK(values(cast(i64_tensor({}, {16777217}), DType::F32))[0] == 16777216);
  CHECK(values(cast(tensor(DType::F32, {2}, {1.00390625, 1.01171875}), DType::BF16)) ==
        std::vector<double>{1.0, 1.015625});
  CHECK(values(cast(tensor(DType::F32, {}, {3.4e38}), DType::BF16))[0] == kInf);
}

TEST_CASE("fma rounds once; bitcast keeps the bits") {
  Tensor x = tensor(DType::F32, {1}, {1 + 0x1p-12}), z = tensor(DType::F32, {1}, {-1});
  CHECK(values(run(Op::fma, {x, x, z}))[0] == 0x1p-11 + 0x1p-24);
  CHECK(int_values(run(Op::bitcast, {tensor(DType::F32, {}, {1})}, {}, with_dtype(DType::I32)))[0] == 0x3F800000);
}
