#!/usr/bin/env python3
"""Derives runtime/kernels/scalar_math_coefficients.h.

Needs mpmath; run it only to change the polynomials, and clang-format what it prints. Each row fits
sum c[i] * x**i to F on [a, b], minimising the largest |error * W|, by the Remez exchange.
Coefficients are rounded to the target format one at a time, lowest order first; after each, the
higher ones are corrected by weighted least squares, so that they repair the rounding of the lower.
"""
import sys

import mpmath as mp

mp.mp.prec = 220


def solve(points, fitted, weight, degrees):
    n = len(degrees)
    matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
    for row, x in enumerate(points):
        w = weight(x)
        for column, degree in enumerate(degrees):
            matrix[row, column] = w * x**degree
        matrix[row, n] = (-1) ** row
        right[row] = w * fitted(x)
    return list(mp.lu_solve(matrix, right))


def remez(fitted, weight, low, high, degrees):
    n = len(degrees) + 1
    middle, radius = (low + high) / 2, (high - low) / 2
    node = lambda t: middle - radius * mp.cos(t * mp.pi)
    points = [node(mp.mpf(i) / (n - 1)) for i in range(n)]
    grid = [node(mp.mpf(i) / (16 * n)) for i in range(16 * n + 1)]
    values = [(x, fitted(x), weight(x)) for x in grid]
    table = {x: (f, w) for x, f, w in values}
    worst = None
    for _ in range(12):
        known_f = lambda x: table[x][0] if x in table else fitted(x)
        known_w = lambda x: table[x][1] if x in table else weight(x)
        answer = solve(points, known_f, known_w, degrees)
        approximation = lambda x: sum(c * x**d for c, d in zip(answer, degrees))
        error = [(w * (approximation(x) - f), x) for x, f, w in values]
        peaks = []  # one extremum for each run of equal sign
        for e in error:
            if peaks and (peaks[-1][0] >= 0) == (e[0] >= 0):
                if abs(e[0]) > abs(peaks[-1][0]):
                    peaks[-1] = e
            else:
                peaks.append(e)
        while len(peaks) > n:
            peaks.pop(0 if abs(peaks[0][0]) < abs(peaks[-1][0]) else -1)
        worst = max(abs(e) for e, _ in error)
        if len(peaks) < n or worst <= 1.02 * min(abs(e) for e, _ in peaks):
            break
        points = [x for _, x in peaks]
    return answer[:-1], worst


def round_to(value, bits):
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def repair(coefficients, step, change, nodes):
    """Adds to the coefficients above `step` what best replaces change * x**step on the nodes."""
    above = range(step + 1, len(coefficients))
    if not above:
        return
    n = len(above)
    matrix, right = mp.matrix(n, n), mp.matrix(n, 1)
    for i, p in enumerate(above):
        right[i] = mp.fsum(w * w * change * x ** (step + p) for x, w in nodes)
        for j, q in enumerate(above):
            matrix[i, j] = mp.fsum(w * w * x ** (p + q) for x, w in nodes)
    for p, extra in zip(above, mp.lu_solve(matrix, right)):
        coefficients[p] += extra


def fit(name, bits, low, high, degree, fitted, weight):
    low, high = mp.mpf(low), mp.mpf(high)
    done, ideal = remez(fitted, weight, low, high, list(range(degree + 1)))
    count = 4 * (degree + 2)
    angles = [(i + mp.mpf(1) / 2) * mp.pi / count for i in range(count)]
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(angle) for angle in angles]
    nodes = [(x, weight(x)) for x in nodes]
    for step in range(degree + 1):
        rounded = round_to(done[step], bits)
        change, done[step] = done[step] - rounded, rounded
        repair(done, step, change, nodes)
    grid = [low + (high - low) * i / 400 for i in range(401)]
    approximation = lambda x: sum(c * x**d for d, c in enumerate(done))
    worst = max(abs(weight(x) * (approximation(x) - fitted(x))) for x in grid)
    show = lambda e: "2^%.1f" % mp.log(e, 2)
    print("// weighted error %s (before rounding %s)" % (show(worst), show(ideal)))
    kind = "float" if bits == 24 else "double"
    print("inline constexpr %s %s[] = {" % (kind, name))
    for c in done:
        print("    %s%s," % (float(c).hex(), "f" if bits == 24 else ""))
    print("};")
    sys.stdout.flush()


tiny = mp.mpf(2) ** -60


def at(f):
    """F by its formula; at a removable singularity by its value nearby."""
    return lambda x: f(x if abs(x) > tiny else tiny)


def floor_weight(f, least):
    return lambda x: max(abs(f(x)), mp.mpf(least))


root = mp.sqrt
ln2 = mp.log(2)
exp_tail = at(lambda r: (mp.expm1(r) - r) / r**2)
exp2_tail = at(lambda f: mp.expm1(f * ln2) / f)
log_tail = at(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3)
atanh_tail = at(lambda z: (2 * mp.atanh(root(z)) / root(z) - 2) / z)
pow_tail = at(lambda z: (mp.atanh(root(z)) / root(z) - 1 - z / 3) / z**2)
log2_ratio = at(lambda f: mp.log1p(f) / f / ln2)
sin_tail = at(lambda z: (mp.sin(root(z)) / root(z) - 1) / z)
cos_tail = at(lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2)
asin_tail = at(lambda z: (mp.asin(root(z)) / root(z) - 1) / z)
atan_tail = at(lambda z: (mp.atan(root(z)) / root(z) - 1) / z)
erf_tail = at(lambda z: mp.erf(root(z)) / root(z) - 1)
erf_log = lambda x: mp.log(mp.erfc(x))


def erfcx_of(t):
    """exp(x*x) * erfc(x) where t = (x - 2) / (x + 2)."""
    x = 2 * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x)


def inverse_erf_ratio(w):
    """erfinv(x) / x where w = -log(1 - x*x), by Newton's method on erfc."""
    w = max(w, mp.mpf(2) ** -90)
    x = root(-mp.expm1(-w))
    complement = mp.exp(-w) / (1 + x)  # 1 - x without cancellation
    y = x if w < 1 else root(w)
    for _ in range(60):
        change = (mp.erfc(y) - complement) * root(mp.pi) / 2 * mp.exp(y * y)
        y += change
        if abs(change) < mp.mpf(10) ** -45:
            break
    return y / x


one = lambda x: mp.mpf(1)
third = mp.mpf(1) / 3
erfinv_shifted = lambda middle: lambda s: inverse_erf_ratio((s + middle) ** 2)
erfcx_weight = lambda t: mp.exp(-((2 * (1 + t) / (1 - t)) ** 2)) + mp.mpf("1e-7")
F, D = 24, 53
ROWS = {
    "kExpTailF32": (F, -ln2 / 2, ln2 / 2, 4, exp_tail, floor_weight(lambda r: r * r, "1e-3")),
    "kExp2TailF32": (F, -0.5, 0.5, 5, exp2_tail, floor_weight(lambda f: f, "1e-2")),
    "kLogTailF32": (F, -third, third, 7, log_tail, floor_weight(lambda f: f * f, "1e-3")),
    "kSinTailF32": (F, 0, mp.pi**2 / 16, 2, sin_tail, floor_weight(lambda z: z, "1e-3")),
    "kCosTailF32": (F, 0, mp.pi**2 / 16, 2, cos_tail, floor_weight(lambda z: z * z, "1e-3")),
    "kAsinTailF32": (F, 0, 0.25, 4, asin_tail, floor_weight(lambda z: z, "1e-3")),
    "kAtanTailF32": (F, 0, 0.25, 5, atan_tail, floor_weight(lambda z: z, "1e-3")),
    "kErfTailF32": (F, 0, mp.mpf("0.8464"), 6, erf_tail, one),
    "kErfLogF32": (F, "0.91", "4.0", 6, erf_log, floor_weight(mp.erfc, "1e-8")),
    "kErfinvCentralF32": (F, 0, 5, 9, inverse_erf_ratio, one),
    "kErfinvTailF32": (F, root(5) - 3, mp.mpf("1.1"), 10, erfinv_shifted(3), one),
    "kPowLog2": (D, -third, third, 13, log2_ratio, one),
    "kPowTail": (D, 0, mp.mpf("0.0295"), 7, pow_tail, floor_weight(lambda z: z * z, "1e-6")),
    "kExpTailF64": (D, -ln2 / 2, ln2 / 2, 9, exp_tail, floor_weight(lambda r: r * r, "1e-3")),
    "kExp2TailF64": (D, -0.5, 0.5, 11, exp2_tail, floor_weight(lambda f: f, "1e-2")),
    "kLogTailF64": (D, 0, mp.mpf("0.0295"), 6, atanh_tail, floor_weight(lambda z: z, "1e-4")),
    "kSinTailF64": (D, 0, mp.pi**2 / 16, 6, sin_tail, floor_weight(lambda z: z, "1e-3")),
    "kCosTailF64": (D, 0, mp.pi**2 / 16, 5, cos_tail, floor_weight(lambda z: z * z, "1e-3")),
    "kAsinTailF64": (D, 0, 0.25, 12, asin_tail, floor_weight(lambda z: z, "1e-3")),
    "kAtanTailF64": (D, 0, 0.25, 14, atan_tail, floor_weight(lambda z: z, "1e-3")),
    "kErfTailF64": (D, 0, mp.mpf("0.7225"), 11, erf_tail, one),
    "kErfcxF64": (D, -0.41, 0.51, 14, erfcx_of, erfcx_weight),
    "kErfinvCentralF64": (D, 0, 6.25, 25, inverse_erf_ratio, one),
    "kErfinvMiddleF64": (D, -0.75, 0.75, 20, erfinv_shifted(3.25), one),
    "kErfinvTailF64": (D, -1.02, 1.02, 18, erfinv_shifted(5), one),
}


def two_over_pi(name, bits, count, scale):
    """Consecutive pieces of 2/pi, `bits` bits each, times 2^scale."""
    mp.mp.prec = bits * count + 100
    rest = 2 / mp.pi
    print("// 2/pi in pieces of %d bits, times 2^%d" % (bits, scale))
    print("inline constexpr double %s[] = {" % name)
    for i in range(1, count + 1):
        piece = mp.ldexp(mp.floor(mp.ldexp(rest, bits * i)), -bits * i)
        rest -= piece
        print("    %s," % float(mp.ldexp(piece, scale)).hex())
    print("};")
    mp.mp.prec = 220


def main():
    chosen = sys.argv[1:] or ROWS
    print("#pragma once")
    print("// Polynomial coefficients of the scalar math functions, lowest order first.")
    print("// Written by tests/support/minimax.py, which says what each approximates: do not edit.")
    print("namespace tsc::scalar_math::coefficients {")
    for name in chosen:
        fit(name, *ROWS[name])
    two_over_pi("kTwoOverPi28", 28, 7, 0)
    two_over_pi("kTwoOverPi53", 53, 23, 600)
    print("}  // namespace tsc::scalar_math::coefficients")


if __name__ == "__main__":
    main()
