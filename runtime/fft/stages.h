#pragma once
// The inner loops of the transform, once for each instruction set (vector/stages.cpp): one transform, or kSide of them
// side by side, with the same operations in the same order, so the same bits. Numbers side by side: element k of
// transform l has its real part at x[(2 * k) * side + l] and its imaginary part at x[(2 * k + 1) * side + l]. Knows
// memory alone; lengths, factors and roots are the plan's (fft.h).
#include <complex>
#include <cstdint>

#include "runtime/device/device.h"

namespace tsc::fft {

using Complex = std::complex<double>;

inline constexpr int kSide = 8;
// A larger prime factor costs more than the convolution.
inline constexpr int64_t kLargestFactor = 31;

// How `factor` transforms of `inner` numbers each become one: root k of the stage is roots[k * stride], exp(-2 pi i k
// stride / length), conjugate in inverse transforms.
struct Stage {
  const Complex* roots;
  int64_t length, factor, inner, stride;
  bool inverse;
};

struct Stages {
  using Join = void (*)(double* x, const Stage& stage);
  // x[k] = x[k] * factors[k] * scale for k < n.
  using Multiply = void (*)(double* x, const Complex* factors, int64_t n, double scale);
  // Numbers 0, stride, 2 * stride, ... of each of kSide places, n of each, put side by side; and back, without strides.
  using Take = void (*)(const Complex* const* in, int64_t n, int64_t stride, double* x);
  using Give = void (*)(const double* x, int64_t n, Complex* const* out);
  // The same of numbers of other kinds, of float or double, with or without imaginary parts, whose real parts are taken
  // and given: [double][complex]. What is given is multiplied by a factor first.
  using TakeLines = void (*)(const void* const* in, int64_t n, int64_t stride, double* x);
  using GiveLines = void (*)(const double* x, int64_t n, int64_t stride, double factor, void* const* out);
  // A real line of 2 n numbers was transformed as n complex ones, its even numbers the real parts: the first n + 1
  // results of the line. roots[k] is exp(-pi i k / n).
  using Unpack = void (*)(double* out, const double* x, const Complex* roots, int64_t n, bool inverse);
  Unpack unpack, unpack_side;
  TakeLines take_lines[2][2];
  GiveLines give_lines[2][2];
  Join join, join_side;
  Multiply multiply, multiply_side;
  Take take_side;
  Give give_side;
};

const Stages& stages(Isa isa);

}  // namespace tsc::fft
