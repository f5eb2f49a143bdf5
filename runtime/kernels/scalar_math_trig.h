#pragma once
// sin, cos, tan. x = q * pi/2 + r with |r| <= pi/4. Up to a limit q fits a float and pi/2 in three
// parts is enough; beyond it (rare) x * 2/pi is summed exactly, piece by piece of 2/pi, dropping
// multiples of 4.
#include "runtime/kernels/scalar_math_common.h"

namespace tsc::scalar_math {

template <class M>
struct Angle {
  FloatOf<M> quadrant;   // integral; only its value mod 4 matters
  FloatOf<M> high, low;  // r
};

template <class M>
inline constexpr double kQuickAngleLimit = M::kDouble ? 0x1p25 : 0x1p13;

template <class M>
TSC_MATH Angle<M> quick_angle(M& m, FloatOf<M> x) {
  auto magic = m.constant(FormatOf<M>::kRoundMagic);
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  auto q = m.sub(m.fma(x, m.constant(kTwoOverPi), magic), magic);
  auto minus_q = m.neg(q);
  auto first = m.fma(minus_q, part(m, kHalfPiSplit, 0), x);  // exact: both are multiples of its ulp
  auto product = two_product(m, minus_q, part(m, kHalfPiSplit, 1));
  auto sum = two_sum(m, first, product.high);
  auto low = m.fma(minus_q, part(m, kHalfPiSplit, 2), m.add(sum.low, product.low));
  auto angle = fast_two_sum(m, sum.high, low);
  return {q, angle.high, angle.low};
}

// The nearest integer of t mod 4, and t minus the nearest integer: exact for any finite t.
template <class W>
struct Fraction {
  FloatOf<W> turns, rest;
};
template <class W>
TSC_MATH Fraction<W> split_fraction(W& w, FloatOf<W> t) {
  auto fours = w.trunc(w.mul(t, w.constant(0.25)));
  auto below_four = w.fma(fours, w.constant(-4.0), t);  // between -4 and 4
  auto turns = round_small(w, below_four);
  return {turns, w.sub(below_four, turns)};
}

// f32: each product of x (24 bits) with a piece of 2/pi (28 bits) is exact in f64, and the sum of
// the fractions stays exact down to 2^-53; |r| of a float is never below 2^-33.
template <class M>
TSC_MATH std::array<FloatOf<M>, 3> slow_angle_f32(M& m, FloatOf<M> x) {
  auto w = m.wide();
  using W = decltype(w);
  auto wide_x = m.widen(x);
  auto quadrant = w.constant(0.0), sum = w.constant(0.0);
  for (double piece : coefficients::kTwoOverPi28) {
    auto term = split_fraction<W>(w, w.mul(wide_x, w.constant(piece)));
    auto raw = w.add(sum, term.rest);
    auto carry = round_small(w, raw);
    sum = w.sub(raw, carry);
    quadrant = w.add(quadrant, w.add(term.turns, carry));
  }
  auto r = w.mul(sum, part(w, kHalfPiSplit, 0));
  auto high = m.narrow(r);
  return {m.narrow(quadrant), high, m.narrow(w.sub(r, m.widen(high)))};
}

// The five pieces of 2/pi that matter for x: those before them give multiples of 4. The first one's
// number is found from the exponent and shifted into place bit by bit, without an indexed table.
template <class M>
TSC_MATH std::array<FloatOf<M>, 5> choose_pieces(M& m, FloatOf<M> x) {
  auto biased = m.shift_right_logical(m.as_int(m.abs(x)), FormatOf<M>::kMantissaBits);
  auto exponent = m.sub(small_to_float(m, biased), m.constant(FormatOf<M>::kBias));
  auto raw = m.floor(m.mul(m.sub(exponent, m.constant(53.5)), m.constant(1.0 / 53.0)));
  auto first = at_least(m, raw, 0.0);
  auto bits = m.as_int(m.add(first, m.constant(FormatOf<M>::kRoundMagic)));
  constexpr int kPieces = std::size(coefficients::kTwoOverPi53);
  auto zero = m.constant(0.0);
  std::array<FloatOf<M>, kPieces + 1> window;
  window.fill(zero);
  for (int i = 0; i < kPieces; ++i) window[i] = m.constant(coefficients::kTwoOverPi53[i]);
  int last = kPieces;  // windows beyond are zero
  for (int step : {16, 8, 4, 2, 1}) {
    auto stay = m.int_eq(m.int_and(bits, m.integer(step)), m.integer(0));
    const int kept = 5 + step - 1;
    for (int i = 0; i < kept; ++i) {
      auto moved = i + step <= last ? window[i + step] : zero;
      window[i] = m.select(stay, i <= last ? window[i] : zero, moved);
    }
    last = kept - 1;
  }
  return {window[0], window[1], window[2], window[3], window[4]};
}

// f64: the exact products' two halves, summed in three parts.
template <class M>
TSC_MATH std::array<FloatOf<M>, 3> slow_angle_f64(M& m, FloatOf<M> x) {
  auto pieces = choose_pieces(m, x);
  auto scaled = m.mul(x, m.constant(0x1p-600));
  auto zero = m.constant(0.0);
  auto quadrant = zero, high = zero, middle = zero, low = zero;
  auto accumulate = [&](FloatOf<M> t) {
    auto term = split_fraction<M>(m, t);
    quadrant = m.add(quadrant, term.turns);
    auto first = two_sum(m, high, term.rest);
    auto second = two_sum(m, middle, first.low);
    high = first.high;
    middle = second.high;
    low = m.add(low, second.low);
  };
  for (auto& piece : pieces) {
    auto product = two_product(m, scaled, piece);
    accumulate(product.high);
    accumulate(product.low);
  }
  auto carry = round_small(m, high);
  auto rest = two_sum(m, m.sub(high, carry), middle);
  auto fraction = fast_two_sum(m, rest.high, m.add(rest.low, low));
  auto r = multiply_pair<M>(m, {fraction.high, fraction.low}, {part(m, kHalfPiSplit, 0), part(m, kHalfPiSplit, 1)});
  return {m.add(quadrant, carry), r.high, r.low};
}

template <class M>
TSC_MATH Angle<M> reduce_angle(M& m, FloatOf<M> x) {
  auto quick = quick_angle(m, x);
  auto is_large = m.lt(m.constant(kQuickAngleLimit<M>), m.abs(x));
  auto slow = [&] {
    if constexpr (M::kDouble) return slow_angle_f64(m, x);
    else return slow_angle_f32(m, x);
  };
  auto [quadrant, high, low] = m.rare(is_large, slow, quick.quadrant, quick.high, quick.low);
  return {quadrant, high, low};
}

// Of the reduced angle; high + low is the value, not yet rounded.
template <class M>
struct SineCosine {
  Pair<M> sine, cosine;
};
template <class M>
TSC_MATH SineCosine<M> sine_and_cosine(M& m, const Angle<M>& angle) {
  auto r = angle.high;
  auto square = m.mul(r, r);
  auto sine_tail = polynomial(m, square, coefficients::kSinTailF32, coefficients::kSinTailF64);
  auto sine_low = m.fma(m.mul(square, r), sine_tail, angle.low);
  auto cosine_tail = polynomial(m, square, coefficients::kCosTailF32, coefficients::kCosTailF64);
  auto one = m.constant(1.0);
  auto half = m.mul(square, m.constant(0.5));
  auto high = m.sub(one, half);
  auto lost = m.sub(m.sub(one, high), half);
  auto cosine_low = m.fma(m.mul(square, square), cosine_tail, m.fma(m.neg(r), angle.low, lost));
  return {{r, sine_low}, {high, cosine_low}};
}

// The lowest bit, shifted to the sign: a comparison that compilers keep as one, in vectors too.
template <class M>
TSC_MATH typename M::Mask is_even(M& m, typename M::I i) {
  return m.int_lt(m.integer(-1), m.shift_left(i, M::kDouble ? 63 : 31));
}

// sin(x + turns * pi/2), for x of any size.
template <class M>
TSC_MATH FloatOf<M> sin_shifted(M& m, FloatOf<M> x, int turns) {
  auto angle = reduce_angle(m, x);
  auto [sine, cosine] = sine_and_cosine(m, angle);
  auto quadrant = m.as_int(m.add(angle.quadrant, m.constant(FormatOf<M>::kRoundMagic + turns)));
  auto value = m.select(is_even(m, quadrant), m.add(sine.high, sine.low), m.add(cosine.high, cosine.low));
  auto sign = m.shift_left(m.int_and(quadrant, m.integer(2)), M::kDouble ? 62 : 30);
  return m.as_float(m.int_xor(m.as_int(value), sign));
}

// x itself where sin and tan of it round to x: keeps -0 and denormals.
template <class M>
TSC_MATH FloatOf<M> or_tiny(M& m, FloatOf<M> x, FloatOf<M> result) {
  auto is_tiny = m.lt(m.abs(x), m.constant(M::kDouble ? 0x1p-27 : 0x1p-13));
  return m.select(is_tiny, x, result);
}

template <class M>
TSC_MATH FloatOf<M> sin(M& m, FloatOf<M> x) {
  return or_tiny(m, x, sin_shifted(m, x, 0));
}

template <class M>
TSC_MATH FloatOf<M> cos(M& m, FloatOf<M> x) {
  return sin_shifted(m, x, 1);
}

template <class M>
TSC_MATH FloatOf<M> tan(M& m, FloatOf<M> x) {
  auto angle = reduce_angle(m, x);
  auto raw = sine_and_cosine(m, angle);
  auto sine = fast_two_sum(m, raw.sine.high, raw.sine.low);
  auto cosine = fast_two_sum(m, raw.cosine.high, raw.cosine.low);
  auto quadrant = m.as_int(m.add(angle.quadrant, m.constant(FormatOf<M>::kRoundMagic)));
  auto even = is_even(m, quadrant);
  auto choose = [&](FloatOf<M> yes, FloatOf<M> no) { return m.select(even, yes, no); };
  auto top = choose(sine.high, m.neg(cosine.high)), top_low = choose(sine.low, m.neg(cosine.low));
  auto bottom = choose(cosine.high, sine.high), bottom_low = choose(cosine.low, sine.low);
  // The quotient of the high parts, corrected by its remainder and the low parts.
  auto quotient = m.div(top, bottom);
  auto minus = m.neg(quotient);
  auto remainder = m.add(m.fma(minus, bottom, top), m.fma(minus, bottom_low, top_low));
  return or_tiny(m, x, m.add(quotient, m.div(remainder, bottom)));
}

}  // namespace tsc::scalar_math
