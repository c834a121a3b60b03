#!/usr/bin/env python3
"""Fits the polynomials of math_coefficients.h, and prints that header.

Every polynomial is the minimax approximation under a weight that turns its error into a relative error of the final
function value, found by Remez exchange on a fine Chebyshev grid in 80-digit arithmetic (mpmath). On intervals that start
at zero the lowest coefficients are rounded one at a time and the ones that are left are fitted again, so that the others
take up the error of rounding; on intervals around zero the fixed coefficient would break the alternation, and is not needed.

    python3 backends/llvm/math/fit_polynomials.py > backends/llvm/math/math_coefficients.h
"""
import mpmath as mp

mp.mp.dps = 80


def chebyshev_grid(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)][::-1]


def remez(xs, values, weights, count):
    """Coefficients (lowest first) of the polynomial with `count` terms least in max |weight * (value - p)| on the grid, and that max."""
    n = len(xs)
    picks = [min(n - 1, int((1 - mp.cos(mp.pi * i / count)) / 2 * (n - 1) + mp.mpf("0.5"))) for i in range(count + 1)]
    for i in range(1, count + 1):
        picks[i] = max(picks[i], picks[i - 1] + 1)
    best = None
    for _ in range(30):
        rows = mp.matrix(count + 1, count + 1)
        rhs = mp.matrix(count + 1, 1)
        for row, k in enumerate(picks):
            power = mp.mpf(1)
            for col in range(count):
                rows[row, col] = power
                power *= xs[k]
            rows[row, count] = (-1) ** row / weights[k]
            rhs[row] = values[k]
        solution = mp.lu_solve(rows, rhs)
        coefficients = [solution[i] for i in range(count)]
        errors = [(values[i] - mp.polyval(coefficients[::-1], xs[i])) * weights[i] for i in range(n)]
        peak = max(abs(e) for e in errors)
        best = (coefficients, peak)
        # One extremum for each run of equal sign; then drop the weakest ends until count + 1 are left.
        extrema = []
        for i, e in enumerate(errors):
            if extrema and (errors[extrema[-1]] >= 0) == (e >= 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < count + 1 or extrema == picks or peak < abs(solution[count]) * mp.mpf("1.001"):
            break
        picks = extrema
    return best


def round_to(x, bits):
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def fit(name, function, weight, low, high, count, bits):
    grid = chebyshev_grid(mp.mpf(low), mp.mpf(high), 30 * count + 100)
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    coefficients, ideal = remez(grid, values, weights, count)
    rest_values, rest_weights, rounded = list(values), list(weights), []
    steps = 0 if low < 0 else 2 if bits == 53 else count - 2
    for left in range(count - 1, count - 1 - steps, -1):
        c = round_to(coefficients[0], bits)
        rounded.append(c)
        rest_values = [(v - c) / x for v, x in zip(rest_values, grid)]
        rest_weights = [w * x for w, x in zip(rest_weights, grid)]
        coefficients, _ = remez(grid, rest_values, rest_weights, left)
    rounded += [round_to(c, bits) for c in coefficients]
    peak = max(abs((v - mp.polyval(rounded[::-1], x)) * w) for x, v, w in zip(grid, values, weights))
    print(f"// Error 2^{mp.nstr(mp.log(peak, 2), 4)} (2^{mp.nstr(mp.log(ideal, 2), 4)} before the coefficients were rounded).")
    print(f"inline constexpr double {name}[] = {{")
    for c in rounded:
        print(f"    {float(c).hex()},")
    print("};")


def fit_pieces(name, step_name, function, step, pieces, end, count):
    """Prints a polynomial in x - n step for each n, as a table of all intervals for each coefficient; function(0) = 0."""
    table, worst = [], mp.mpf(0)
    for n in range(pieces):
        center = n * step
        low = mp.mpf(0) if n == 0 else -step / 2
        grid = chebyshev_grid(low * EDGE, (end - center if n == pieces - 1 else step / 2) * EDGE, 400)
        values = [function(center + t) for t in grid]
        if n > 0:
            coefficients = [round_to(c, 24) for c in remez(grid, values, [1 / v for v in values], count)[0]]
        else:
            coefficients, rest, weights = [mp.mpf(0)], [v / t for v, t in zip(values, grid)], [t / v for v, t in zip(values, grid)]
            for left in range(count - 1, 0, -1):
                coefficients.append(round_to(remez(grid, rest, weights, left)[0][0], 24))
                rest = [(v - coefficients[-1]) / t for v, t in zip(rest, grid)]
                weights = [w * t for w, t in zip(weights, grid)]
        table.append(coefficients)
        worst = max([worst] + [abs(mp.polyval(coefficients[::-1], t) / v - 1) for t, v in zip(grid, values)])
    print(f"inline constexpr double {step_name} = {float(step).hex()};")
    print(f"// Error 2^{mp.nstr(mp.log(worst, 2), 4)}.")
    print(f"inline constexpr double {name}[][{pieces}] = {{")
    for i in range(count):
        print("    {" + ", ".join(float(c[i]).hex() for c in table) + "},")
    print("};")


def signed(f):
    """f at a point that is moved off zero, where the quotients below are 0/0."""
    return lambda x: f(x if abs(x) > mp.mpf("1e-12") else mp.mpf("1e-12"))


EXP = signed(lambda r: (mp.exp(r) - 1 - r) / r**2)
EXP_W = signed(lambda r: abs(r**2 / mp.expm1(r)))
LOG = signed(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3)
LOG_W = signed(lambda f: abs(f**3 / mp.log1p(f)))


def root(f):
    """f(z) given as a function of t = sqrt(z), z moved off zero."""
    return lambda z: f(mp.sqrt(z if z > mp.mpf("1e-24") else mp.mpf("1e-24")))


ATANH = root(lambda s: (2 * mp.atanh(s) / s - 2) / s**2)
ATANH_W = root(lambda s: s**3 / (2 * mp.atanh(s)))
SIN = root(lambda t: (mp.sin(t) - t) / t**3)
SIN_W = root(lambda t: t**3 / mp.sin(t))
COS = root(lambda t: (mp.cos(t) - 1 + t * t / 2) / t**4)
COS_W = root(lambda t: t**4 / mp.cos(t))
ATAN = root(lambda t: (mp.atan(t) - t) / t**3)
ATAN_W = root(lambda t: t**3 / mp.atan(t))
ASIN = root(lambda t: (mp.asin(t) - t) / t**3)
ASIN_W = root(lambda t: t**3 / mp.asin(t))
LOG_ERFC = signed(lambda x: (mp.log(mp.erfc(x)) / x + 2 / mp.sqrt(mp.pi)) / x)
LOG_ERFC_W = signed(lambda x: x**2 * mp.erfc(x) / mp.erf(x))
LN2 = mp.log(2)
EXP2 = lambda r: mp.mpf(2) ** r
EXP2_W = lambda r: mp.mpf(2) ** -r
HALF_LN2 = LN2 / 2 * mp.mpf("1.0001")
SQRT_HALF = mp.sqrt(mp.mpf("0.5")) - 1
SQRT_TWO = mp.sqrt(2) - 1
S_MAX2 = (SQRT_TWO / (2 + SQRT_TWO)) ** 2 * mp.mpf("1.0001")
EDGE = mp.mpf("1.0001")
HALF_PI2 = (mp.pi / 2) ** 2 * mp.mpf("1.0001")
QUARTER_PI2 = (mp.pi / 4) ** 2 * mp.mpf("1.0001")

FITS = [
    ("kExpF32", EXP, EXP_W, -HALF_LN2, HALF_LN2, 5, 24),
    ("kExpF64", EXP, EXP_W, -HALF_LN2, HALF_LN2, 11, 53),
    ("kLogF32", LOG, LOG_W, SQRT_HALF, SQRT_TWO, 8, 24),
    ("kAtanhF64", ATANH, ATANH_W, 0, S_MAX2, 7, 53),
    ("kAtanhPowF32", ATANH, ATANH_W, 0, S_MAX2, 5, 53),
    ("kExp2PowF32", EXP2, EXP2_W, -mp.mpf("0.5"), mp.mpf("0.5"), 8, 53),
    ("kSinF32", SIN, SIN_W, 0, HALF_PI2, 4, 24),
    ("kSinF64", SIN, SIN_W, 0, HALF_PI2, 9, 53),
    ("kSinQuarterF32", SIN, SIN_W, 0, QUARTER_PI2, 3, 24),
    ("kSinQuarterF64", SIN, SIN_W, 0, QUARTER_PI2, 6, 53),
    ("kCosQuarterF32", COS, COS_W, 0, QUARTER_PI2, 3, 24),
    ("kCosQuarterF64", COS, COS_W, 0, QUARTER_PI2, 6, 53),
    ("kAtanF32", ATAN, ATAN_W, 0, 1, 9, 24),
    ("kAtanF64", ATAN, ATAN_W, 0, 1, 20, 53),
    ("kAsinF32", ASIN, ASIN_W, 0, mp.mpf("0.25"), 5, 24),
    ("kAsinF64", ASIN, ASIN_W, 0, mp.mpf("0.25"), 12, 53),
    ("kLogErfcF32", LOG_ERFC, LOG_ERFC_W, 0, mp.mpf("3.95"), 8, 24),
    ("kLogErfcF64", LOG_ERFC, LOG_ERFC_W, 0, mp.mpf("5.95"), 22, 53),
]


def main():
    print("// The polynomials of vector_math, lowest coefficient first. Written by fit_polynomials.py; the forms stand beside their")
    print("// uses.")
    print("// clang-format off")
    print("#ifndef HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_")
    print("#define HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_\n")
    print("namespace hilo::codegen {\n")
    for row in FITS:
        fit(*row)
        print(flush=True)
    fit_pieces("kErfF32", "kErfStep", mp.erf, mp.mpf(17) / 32, 8, mp.mpf("3.96"), 7)
    print()
    print("}  // namespace hilo::codegen\n")
    print("#endif  // HILO_BACKENDS_LLVM_MATH_MATH_COEFFICIENTS_H_")


if __name__ == "__main__":
    main()
