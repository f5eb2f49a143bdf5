// Gradients of elementwise primitives, PyTorch's formulas and edge behaviour: the fewest and cheapest
// ops, with the forward result where that saves arithmetic.
#include "jit/autodiff/rules_support.h"

namespace tsc::jit {
namespace {

constexpr double kLn2 = 0.693147180559945309417232121458;
constexpr double kTwoBySqrtPi = 1.128379167095512573896158903122;
constexpr double kHalfSqrtPi = 0.886226925452758013649083741671;

ValueId squared(Emit& e, ValueId x) { return e.mul(x, x); }

// 1 / sqrt(1 - x^2), the slope of the arc sine.
ValueId arc_slope(Emit& e, ValueId x) { return e.op(Op::rsqrt, {e.sub(e.like(x, 1.0), squared(e, x))}); }

}  // namespace

void grad_zero(GradientCall& c) {
  for (size_t i = 0; i < c.operands.size(); ++i)
    if (c.wanted[i]) c.out[i] = Emit(c.b).zeros(c.operands[i]);
}

void grad_neg(GradientCall& c) { c.out[0] = Emit(c.b).neg(c.g()); }

void grad_abs(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.op(Op::sign, {c.x()}));
}

void grad_sqrt(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.div(c.g(), e.add(c.r(), c.r()));
}

void grad_rsqrt(GradientCall& c) {
  Emit e(c.b);
  const ValueId cube = e.mul(squared(e, c.r()), c.r());
  c.out[0] = e.mul(e.mul(c.g(), e.like(c.g(), -0.5)), cube);
}

void grad_reciprocal(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(e.neg(c.g()), squared(e, c.r()));
}

void grad_exp(GradientCall& c) { c.out[0] = Emit(c.b).mul(c.g(), c.r()); }

void grad_exp2(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(e.mul(c.g(), c.r()), e.like(c.g(), kLn2));
}

void grad_expm1(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.add(c.r(), e.like(c.r(), 1.0)));
}

void grad_log(GradientCall& c) { c.out[0] = Emit(c.b).div(c.g(), c.x()); }

void grad_log2(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.div(c.g(), e.mul(c.x(), e.like(c.x(), kLn2)));
}

void grad_log1p(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.div(c.g(), e.add(c.x(), e.like(c.x(), 1.0)));
}

void grad_sin(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.op(Op::cos, {c.x()}));
}

void grad_cos(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.neg(e.op(Op::sin, {c.x()})));
}

void grad_tan(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.add(squared(e, c.r()), e.like(c.r(), 1.0)));
}

void grad_asin(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), arc_slope(e, c.x()));
}

void grad_acos(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.neg(arc_slope(e, c.x())));
}

void grad_atan(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.div(c.g(), e.add(squared(e, c.x()), e.like(c.x(), 1.0)));
}

void grad_tanh(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(c.g(), e.sub(e.like(c.r(), 1.0), squared(e, c.r())));
}

void grad_sigmoid(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = e.mul(e.mul(c.g(), e.sub(e.like(c.r(), 1.0), c.r())), c.r());
}

void grad_erf(GradientCall& c) {
  Emit e(c.b);
  const ValueId bell = e.op(Op::exp, {e.neg(squared(e, c.x()))});
  c.out[0] = e.mul(e.mul(bell, e.like(bell, kTwoBySqrtPi)), c.g());
}

void grad_erfinv(GradientCall& c) {
  Emit e(c.b);
  const ValueId slope = e.op(Op::exp, {squared(e, e.op(Op::erfinv, {c.x()}))});
  c.out[0] = e.mul(e.mul(slope, e.like(slope, kHalfSqrtPi)), c.g());
}

void grad_add(GradientCall& c) {
  c.out[0] = c.g();
  c.out[1] = c.g();
}

void grad_sub(GradientCall& c) {
  c.out[0] = c.g();
  if (c.wanted[1]) c.out[1] = Emit(c.b).neg(c.g());
}

void grad_conj(GradientCall& c) { c.out[0] = Emit(c.b).conj(c.g()); }

void grad_mul(GradientCall& c) {
  Emit e(c.b);
  if (c.wanted[0]) c.out[0] = e.mul(c.g(), e.conj(c.y()));
  if (c.wanted[1]) c.out[1] = e.mul(c.g(), e.conj(c.x()));
}

void grad_div(GradientCall& c) {
  Emit e(c.b);
  if (c.wanted[0]) c.out[0] = e.div(c.g(), e.conj(c.y()));
  if (c.wanted[1]) c.out[1] = e.mul(e.neg(c.g()), e.conj(e.div(e.div(c.x(), c.y()), c.y())));
}

// x - y * trunc(x / y)
void grad_rem(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = c.g();
  if (c.wanted[1]) c.out[1] = e.mul(e.neg(c.g()), e.op(Op::quot, {c.x(), c.y()}));
}

void grad_remainder(GradientCall& c) {
  Emit e(c.b);
  c.out[0] = c.g();
  if (c.wanted[1]) c.out[1] = e.mul(e.neg(c.g()), e.op(Op::floor_div, {c.x(), c.y()}));
}

// Exact zeros where the exponent is 0 (x^0 is constant) and, for the exponent, where 0^y stays 0.
void grad_pow(GradientCall& c) {
  Emit e(c.b);
  const ValueId x = c.x(), y = c.y();
  if (c.wanted[0]) {
    const ValueId lower = e.op(Op::pow, {x, e.sub(y, e.like(y, 1.0))});
    c.out[0] = e.select(e.is_zero(y), e.zeros(x), e.mul(c.g(), e.mul(y, lower)));
  }
  if (c.wanted[1]) {
    const ValueId flat = e.op(Op::bitwise_and, {e.is_zero(x), e.op(Op::le, {e.zeros(y), y})});
    const ValueId slope = e.mul(c.r(), e.op(Op::log, {x}));
    c.out[1] = e.mul(c.g(), e.select(flat, e.zeros(x), slope));
  }
}

namespace {

// The winner's gradient; equal operands share it.
void extremum(GradientCall& c, bool largest) {
  Emit e(c.b);
  const ValueId half = e.mul(c.g(), e.like(c.g(), 0.5));
  const ValueId tie = e.select(e.op(Op::eq, {c.x(), c.y()}), half, c.g());
  for (int i = 0; i < 2; ++i) {
    if (!c.wanted[i]) continue;
    const ValueId mine = c.operands[i], other = c.operands[1 - i];
    const ValueId loses = largest ? e.op(Op::lt, {mine, other}) : e.op(Op::lt, {other, mine});
    c.out[i] = e.select(loses, e.zeros(mine), tie);
  }
}

}  // namespace

void grad_maximum(GradientCall& c) { extremum(c, true); }
void grad_minimum(GradientCall& c) { extremum(c, false); }

// At the origin, which has no angle, the gradient is 0.
void grad_atan2(GradientCall& c) {
  Emit e(c.b);
  const ValueId radius = e.add(squared(e, c.x()), squared(e, c.y()));
  const ValueId inverse = e.select(e.is_zero(radius), e.zeros(radius), e.op(Op::reciprocal, {radius}));
  if (c.wanted[0]) c.out[0] = e.mul(e.mul(c.g(), c.y()), inverse);
  if (c.wanted[1]) c.out[1] = e.mul(e.mul(c.g(), e.neg(c.x())), inverse);
}

// The side that was not chosen gets an exact zero, never nan * 0.
void grad_select(GradientCall& c) {
  Emit e(c.b);
  if (c.wanted[1]) c.out[1] = e.select(c.x(), c.g(), e.zeros(c.g()));
  if (c.wanted[2]) c.out[2] = e.select(c.x(), e.zeros(c.g()), c.g());
}

void grad_fma(GradientCall& c) {
  Emit e(c.b);
  if (c.wanted[0]) c.out[0] = e.mul(c.g(), c.y());
  if (c.wanted[1]) c.out[1] = e.mul(c.g(), c.x());
  c.out[2] = c.g();
}

// Of a real number that became complex the real part counts.
void grad_cast(GradientCall& c) {
  if (is_differentiable(c.b.dtype(c.g()))) c.out[0] = Emit(c.b).cast(c.g(), c.b.dtype(c.x()));
}

}  // namespace tsc::jit
