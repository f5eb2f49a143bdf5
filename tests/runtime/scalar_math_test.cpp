// The scalar math functions against libm in wider precision: an error bound a function, the special
// values of C99, and the same bits from every instruction set's loops.
#include "runtime/kernels/scalar_math.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/kernels/kernel_table.h"

using namespace tsc;

namespace {

using Real = long double;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The distance in units of the last place of the exact value; a wrong class (nan, inf, sign of
// zero) counts as very far.
template <class T>
double ulps(T got, Real exact) {
  using Limits = std::numeric_limits<T>;
  const double kFar = 1e30;
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : kFar;
  if (std::isnan(got)) return kFar;
  if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : kFar;
  if (got == rounded && std::isinf(got)) return 0;
  int exponent;
  std::frexp(std::isinf(exact) ? static_cast<Real>(Limits::max()) : exact, &exponent);
  exponent = std::max(exponent, Limits::min_exponent);
  const Real unit = std::ldexp(Real(1), exponent - Limits::digits);
  const Real overflowed = std::copysign(std::ldexp(Real(1), Limits::max_exponent), Real(got));
  return static_cast<double>(std::fabs((std::isinf(got) ? overflowed : Real(got)) - exact) / unit);
}

Real exact_sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

// By Newton's method on erfc, from a double's inverse.
Real exact_erfinv(Real x) {
  const Real a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * kInf : Real(kNan);
  ScalarMachine<double> m;
  Real y = std::fabs(Real(scalar_math::erfinv(m, static_cast<double>(x))));
  for (int i = 0; i < 3; ++i) {
    const Real excess = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    y -= excess * std::sqrt(std::acos(Real(-1))) / 2 * std::exp(y * y);
  }
  return std::copysign(y, x);
}

struct UnaryRow {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  Real (*exact)(Real);
  double bound_f32, bound_f64;
};

#define ROW(name, exact, bound_f32, bound_f64)                        \
  UnaryRow {                                                          \
    #name,                                                            \
        [](float x) {                                                 \
          ScalarMachine<float> m;                                     \
          return scalar_math::name(m, x);                             \
        },                                                            \
        [](double x) {                                                \
          ScalarMachine<double> m;                                    \
          return scalar_math::name(m, x);                             \
        },                                                            \
        [](Real x) -> Real { return exact(x); }, bound_f32, bound_f64 \
  }

const UnaryRow kRows[] = {
    ROW(exp, std::exp, 1, 1),         ROW(exp2, std::exp2, 1, 1),
    ROW(expm1, std::expm1, 1.5, 1.5), ROW(log, std::log, 1, 1),
    ROW(log2, std::log2, 1, 1),       ROW(log1p, std::log1p, 1.6, 1.5),
    ROW(sin, std::sin, 1, 1),         ROW(cos, std::cos, 1, 1),
    ROW(tan, std::tan, 1.2, 1.2),     ROW(asin, std::asin, 1, 1),
    ROW(acos, std::acos, 1, 1),       ROW(atan, std::atan, 2, 2),
    ROW(tanh, std::tanh, 2, 2),       ROW(sigmoid, exact_sigmoid, 2.5, 2.5),
    ROW(erf, std::erf, 1.2, 1),       ROW(erfinv, exact_erfinv, 2, 2),
};

template <class T, class Check>
void for_interesting(Check check) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {0,
                      1,
                      T(0.5),
                      2,
                      3,
                      10,
                      100,
                      T(0.34657359),
                      T(0.69314718),
                      T(0.6),
                      T(0.92),
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::max(),
                      Limits::epsilon(),
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      T(1.57079632679489661923),
                      T(3.14159265358979323846),
                      T(0.78539816339744830962),
                      T(8192),
                      T(33554432)};
  for (T x : values)
    for (T near : {x, std::nextafter(x, T(0)), std::nextafter(x, Limits::infinity())}) {
      check(near);
      check(-near);
    }
}

uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("scalar math: f32 within its bound over all of the floats", "[math]") {
  for (const UnaryRow& row : kRows) {
    double worst = 0;
    float where = 0;
    auto check = [&](float x) {
      const double error = ulps(row.f32(x), row.exact(x));
      if (error > worst) worst = error, where = x;
    };
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 21001) {
      const uint32_t word = static_cast<uint32_t>(bits);
      float x;
      std::memcpy(&x, &word, sizeof x);
      check(x);
    }
    for_interesting<float>(check);
    INFO(row.name << "(" << where << ") is off by " << worst);
    CHECK(worst <= row.bound_f32);
  }
}

TEST_CASE("scalar math: f64 within its bound", "[math]") {
  for (const UnaryRow& row : kRows) {
    double worst = 0, where = 0;
    auto check = [&](double x) {
      const double error = ulps(row.f64(x), row.exact(x));
      if (error > worst) worst = error, where = x;
    };
    std::mt19937_64 random(11);
    for (int i = 0; i < 60000; ++i) {
      const uint64_t word = random();
      double x;
      std::memcpy(&x, &word, sizeof x);
      check(x);
      const double unit = std::ldexp(static_cast<double>(static_cast<int64_t>(word)), -63);
      check(unit);
      check(unit * 8);
      check(unit * 750);
    }
    for_interesting<double>(check);
    // The double closest to a multiple of pi/2.
    check(std::ldexp(6381956970095103.0, 797));
    INFO(row.name << "(" << where << ") is off by " << worst);
    CHECK(worst <= row.bound_f64);
  }
}

TEST_CASE("scalar math: pow and atan2 within their bounds, special values included", "[math]") {
  ScalarMachine<float> m;
  ScalarMachine<double> d;
  double pow32 = 0, pow64 = 0, atan32 = 0, atan64 = 0;
  auto check = [&](double x, double y) {
    const float fx = static_cast<float>(x), fy = static_cast<float>(y);
    pow32 = std::max(pow32, ulps(scalar_math::pow(m, fx, fy), std::pow(Real(fx), Real(fy))));
    pow64 = std::max(pow64, ulps(scalar_math::pow(d, x, y), std::pow(Real(x), Real(y))));
    atan32 = std::max(atan32, ulps(scalar_math::atan2(m, fx, fy), std::atan2(Real(fx), Real(fy))));
    atan64 = std::max(atan64, ulps(scalar_math::atan2(d, x, y), std::atan2(Real(x), Real(y))));
  };
  std::mt19937_64 random(5);
  auto unit = [&] { return std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63); };
  for (int i = 0; i < 100000; ++i) {
    check(std::exp2(20 * unit()), 60 * unit());
    check(std::exp2(unit()), 1000 * unit());
    check(20 * unit(), std::round(20 * unit()));
  }
  const double special[] = {0.0,  1,     2,   3,     0.5,    kInf,     kNan,
                            1e30, 5e-39, 1.5, 0.999, 1e-300, 16777217, 9007199254740993.0};
  for (double x : special)
    for (double y : special)
      for (double sx : {1, -1})
        for (double sy : {1, -1}) check(sx * x, sy * y);
  CHECK(pow32 <= 1.5);
  CHECK(pow64 <= 1.5);
  CHECK(atan32 <= 2);
  CHECK(atan64 <= 2);
}

TEST_CASE("scalar math: exact results", "[math]") {
  ScalarMachine<float> m;
  ScalarMachine<double> d;
  CHECK(scalar_math::pow(m, kNan, 0.0f) == 1.0f);
  CHECK(scalar_math::pow(m, 1.0f, kNan) == 1.0f);
  CHECK(scalar_math::pow(m, -1.0f, kInf) == 1.0f);
  CHECK(std::isnan(scalar_math::pow(m, -2.0f, 0.5f)));
  CHECK(bits_of(scalar_math::pow(d, -0.0, 3.0)) == bits_of(-0.0));
  CHECK(scalar_math::pow(d, -0.0, -3.0) == -kInf);
  for (int k = -149; k < 128; ++k) {
    CHECK(scalar_math::exp2(m, static_cast<float>(k)) == std::ldexp(1.0f, k));
    CHECK(scalar_math::log2(m, std::ldexp(1.0f, k)) == static_cast<float>(k));
    CHECK(scalar_math::pow(m, 2.0f, static_cast<float>(k)) == std::ldexp(1.0f, k));
  }
  for (double x = -9; x <= 9; ++x)
    for (double y = 0; y <= 8; ++y) {
      CHECK(scalar_math::pow(d, x, y) == std::pow(x, y));
      CHECK(scalar_math::pow(m, float(x), float(y)) == static_cast<float>(std::pow(x, y)));
    }
  CHECK(scalar_math::log(m, 0.0f) == -kInf);
  CHECK(std::isnan(scalar_math::log(m, -1.0f)));
  CHECK(scalar_math::exp(m, -kInf) == 0.0f);
  CHECK(scalar_math::exp(m, 0.0f) == 1.0f);
  CHECK(scalar_math::cos(m, 0.0f) == 1.0f);
  CHECK(scalar_math::tanh(m, 30.0f) == 1.0f);
  CHECK(scalar_math::erf(d, -40.0) == -1.0);
  CHECK(scalar_math::erfinv(m, -1.0f) == -kInf);
}

TEST_CASE("scalar math: every instruction set gives the same bits", "[math]") {
  std::vector<Isa> isas;
  if (best_isa() != Isa::Baseline) isas.push_back(Isa::Avx2);
  if (best_isa() == Isa::Avx512) isas.push_back(Isa::Avx512);
  constexpr int kCount = 20011;
  std::mt19937_64 random(9);
  auto check = [&]<class T>(T, Op op, DType dtype) {
    std::vector<T> x(kCount), y(kCount), expected(kCount), got(kCount);
    for (int i = 0; i < kCount; ++i) {
      const uint64_t word = random();
      std::memcpy(&x[i], &word, sizeof(T));
      if (i % 2) x[i] = static_cast<T>(std::ldexp(static_cast<double>(int64_t(word)), -60 + i % 7));
      y[i] = static_cast<T>(std::ldexp(static_cast<double>(int64_t(random())), -59));
    }
    auto run = [&](Isa isa, std::vector<T>& out) {
      kernel_table(isa).element[static_cast<int>(op)][static_cast<int>(dtype)](out.data(), x.data(), y.data(), nullptr,
                                                                               kCount);
    };
    run(Isa::Baseline, expected);
    for (Isa isa : isas) {
      run(isa, got);
      int wrong = 0;
      for (int i = 0; i < kCount; ++i)
        wrong += std::memcmp(&got[i], &expected[i], sizeof(T)) != 0 && !(std::isnan(got[i]) && std::isnan(expected[i]));
      INFO(op_name(op) << " " << dtype_name(dtype) << " isa " << static_cast<int>(isa));
      CHECK(wrong == 0);
    }
  };
#define CHECK_OP(name)               \
  check(0.0f, Op::name, DType::F32); \
  check(0.0, Op::name, DType::F64);
  TSC_SCALAR_MATH_UNARY(CHECK_OP)
  TSC_SCALAR_MATH_BINARY(CHECK_OP)
}
