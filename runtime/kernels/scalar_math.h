#pragma once
// The scalar math functions of Tenscript, written once: `scalar_math::exp(m, x)` and so on,
// templates over a Machine (scalar_math_machine.h documents it). Reference kernels, vector code and
// tails are instances of the same text, which is what makes their bits equal. Knows only machines.
// Error bounds, in units in the last place, measured by tests/runtime/scalar_math_test.cpp: see
// TSC_SCALAR_MATH_UNARY's rows.
//
// Use from a kernel:     ScalarMachine<float> m;  float y = scalar_math::tanh(m, x);
// Use by op:             std::optional<F> r = scalar_math::apply(m, Op::tanh, x)  (empty: not one
// of ours) Use from an emitter:   the same calls with its own machine.
#include <optional>

#include "runtime/kernels/scalar_math_erf.h"
#include "runtime/kernels/scalar_math_exp.h"
#include "runtime/kernels/scalar_math_inverse.h"
#include "runtime/kernels/scalar_math_log.h"
#include "runtime/kernels/scalar_math_pow.h"
#include "runtime/kernels/scalar_math_trig.h"
#include "runtime/ops/op.h"

// X(name): rows of ops.def that are scalar math functions of the same name.
#define TSC_SCALAR_MATH_UNARY(X) \
  X(rsqrt)                       \
  X(reciprocal)                  \
  X(exp)                         \
  X(exp2)                        \
  X(expm1)                       \
  X(log)                         \
  X(log2)                        \
  X(log1p)                       \
  X(sin)                         \
  X(cos)                         \
  X(tan)                         \
  X(asin)                        \
  X(acos)                        \
  X(atan)                        \
  X(tanh)                        \
  X(sigmoid)                     \
  X(erf)                         \
  X(erfinv)
#define TSC_SCALAR_MATH_BINARY(X) \
  X(pow)                          \
  X(atan2)

namespace tsc::scalar_math {

template <class M>
TSC_MATH FloatOf<M> reciprocal(M& m, FloatOf<M> x) {
  return m.div(m.constant(1.0), x);
}

template <class M>
TSC_MATH FloatOf<M> rsqrt(M& m, FloatOf<M> x) {
  return m.div(m.constant(1.0), m.sqrt(x));
}

template <class M>
TSC_MATH std::optional<FloatOf<M>> apply(M& m, Op op, FloatOf<M> x) {
  switch (op) {
#define TSC_CASE(name) \
  case Op::name: return name(m, x);
    TSC_SCALAR_MATH_UNARY(TSC_CASE)
#undef TSC_CASE
    default: return std::nullopt;
  }
}

template <class M>
TSC_MATH std::optional<FloatOf<M>> apply(M& m, Op op, FloatOf<M> x, FloatOf<M> y) {
  switch (op) {
#define TSC_CASE(name) \
  case Op::name: return name(m, x, y);
    TSC_SCALAR_MATH_BINARY(TSC_CASE)
#undef TSC_CASE
    default: return std::nullopt;
  }
}

}  // namespace tsc::scalar_math
