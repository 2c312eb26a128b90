"""Fits the rational functions of bindings/cpp/host/scipy/special_fits.h, and writes that file: needs mpmath (pip install mpmath).

Each is p(x) / q(x) with q(0) between 1 and 2 and the least greatest error relative to the function on an interval (Remez exchange,
50 digits), rounded to f64. A run prints the errors before and after the rounding. The intervals are those of the
functions that use the fits (error_functions.cc, integral_functions.cc, scipy_special.cc), a little wider. The degrees
are those of the least errors of the functions among a few that were tried. A run also prints the polynomial of log in
f32 (plugins/codegen/math/math_exponential.cc).
"""
import pathlib
import shutil
import struct
import subprocess
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 50
TARGET = pathlib.Path(__file__).resolve().parents[1] / 'bindings/cpp/host/scipy/special_fits.h'
HEAD = '''// Coefficients of rational functions, the highest power first: <name>Top over <name>Bottom.
//
// Written by cmake/fit_special_functions.py, which fits them. Comments give the function of x, the interval, and the
// greatest error relative to it.
#ifndef RICCI_BINDINGS_CPP_HOST_SPECIAL_FITS_H_
#define RICCI_BINDINGS_CPP_HOST_SPECIAL_FITS_H_

namespace ricci { inline namespace v0 { namespace fits {

'''
TAIL = '''
}}}  // namespace ricci::v0::fits
#endif
'''


# ---- the functions ----
def dawson(x):
    return mpmath.sqrt(mp.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


def dawson_near(x2):
    x = mpmath.sqrt(x2)
    return dawson(x) / x


def dawson_far(t):
    """(2 x dawsn(x) - 1) x^2 at t = 1 / x^2."""
    x = 1 / mpmath.sqrt(t)
    with mp.workdps(mp.dps + 30):
        return (2 * x * dawson(x) - 1) * x * x


def fresnel_near_s(t):
    x = mpmath.root(t, 4)
    return mpmath.fresnels(x) / x**3


def fresnel_near_c(t):
    x = mpmath.root(t, 4)
    return mpmath.fresnelc(x) / x


def fresnel_auxiliary(u):
    """pi x times f and g of Abramowitz and Stegun, 7.3.5, at u = 1 / (pi x^2)^2."""
    t = mpmath.sqrt(u)
    x = 1 / mpmath.sqrt(mp.pi * t)
    s, c = mpf(1) / 2 - mpmath.fresnels(x), mpf(1) / 2 - mpmath.fresnelc(x)
    sine, cosine = mpmath.sin(1 / (2 * t)), mpmath.cos(1 / (2 * t))
    return mp.pi * x * (s * cosine - c * sine), mp.pi * x * (c * cosine + s * sine), t


def fresnel_f(u):
    with mp.workdps(mp.dps + 30):
        return (1 - fresnel_auxiliary(u)[0]) / u


def fresnel_g(u):
    with mp.workdps(mp.dps + 30):
        _, g, t = fresnel_auxiliary(u)
        return g / t


def si_near(t):
    x = mpmath.sqrt(t)
    return mpmath.si(x) / x


def ci_near(t):
    x = mpmath.sqrt(t)
    with mp.workdps(mp.dps + 30):
        return (mpmath.ci(x) - mp.euler - mpmath.log(x)) / t


def sici_auxiliary(z):
    """f x and g x^2 of Abramowitz and Stegun, 5.2.6, at z = 1 / x^2."""
    with mp.workdps(mp.dps + 30):
        x = 1 / mpmath.sqrt(z)
        s, c = mp.pi / 2 - mpmath.si(x), mpmath.ci(x)
        return (s * mpmath.cos(x) + c * mpmath.sin(x)) * x, (s * mpmath.sin(x) - c * mpmath.cos(x)) / z


def ndtri_middle(y2):
    """ndtri(1/2 + y) = sqrt(2 pi) (y + y^3 r(y^2))."""
    y = mpmath.sqrt(y2)
    with mp.workdps(mp.dps + 30):
        return (mpmath.erfinv(2 * y) / mpmath.sqrt(mp.pi) / y - 1) / y2


def ndtri_tail(v):
    """-ndtri(exp(-z^2 / 2)) = z - log(z) / z - r(1 / z) / z at v = 1 / z."""
    with mp.workdps(mp.dps + 20):
        z = 1 / v
        log_p = -z * z / 2
        x = z - mpmath.log(z) / z - mpf(1) / (2 * z)
        for _ in range(100):  # Newton's method for the logarithm of the tail
            tail = mpmath.erfc(x / mpmath.sqrt(2)) / 2
            step = (mpmath.log(tail) - log_p) * tail * mpmath.sqrt(2 * mp.pi) * mpmath.exp(x * x / 2)
            x += step
            if abs(step) < mpf(10) ** (-mp.dps + 10):
                break
        return (z - x) * z - mpmath.log(z)


def log_tail(x):
    """p of log(1 + x) = x - x^2 / 2 + x^3 p(x)."""
    return (mpmath.log(1 + x) - x + x * x / 2) / x**3


TINY = mpf(2) ** -80
# name, function, what it is, interval, degrees
FITS = [
    ('DawsonNear', dawson_near, 'dawsn(y) / y at x = y^2', 0, mpf('3.26') ** 2, 8, 12),
    ('DawsonMiddle', dawson_far, '(2 y dawsn(y) - 1) y^2 at x = 1 / y^2', mpf('6.26') ** -2, mpf('3.24') ** -2, 10, 10),
    ('DawsonFar', dawson_far, '(2 y dawsn(y) - 1) y^2 at x = 1 / y^2', 0, mpf('6.24') ** -2, 5, 5),
    ('FresnelNearS', fresnel_near_s, 'fresnel(y).s / y^3 at x = y^4', 0, mpf('1.61') ** 4, 5, 6),
    ('FresnelNearC', fresnel_near_c, 'fresnel(y).c / y at x = y^4', 0, mpf('1.61') ** 4, 4, 7),
    ('FresnelF', fresnel_f, '(1 - f) / x with f(y) of 7.3.5 times pi y at x = 1 / (pi y^2)^2', 0, (mp.pi * mpf('1.59') ** 2) ** -2, 9, 10),
    ('FresnelG', fresnel_g, 'g / sqrt(x) with g(y) of 7.3.5 times pi y at x = 1 / (pi y^2)^2', 0, (mp.pi * mpf('1.59') ** 2) ** -2, 10, 11),
    ('SiNear', si_near, 'sici(y).si / y at x = y^2', 0, mpf('4.01') ** 2, 5, 5),
    ('CiNear', ci_near, '(sici(y).ci - log(y) - gamma) / y^2 at x = y^2', 0, mpf('4.01') ** 2, 5, 5),
    ('SiCiMiddleF', lambda z: sici_auxiliary(z)[0], 'f(y) y of 5.2.6 at x = 1 / y^2', mpf('8.01') ** -2, mpf('3.99') ** -2, 6, 7),
    ('SiCiMiddleG', lambda z: sici_auxiliary(z)[1], 'g(y) y^2 of 5.2.7 at x = 1 / y^2', mpf('8.01') ** -2, mpf('3.99') ** -2, 6, 8),
    ('SiCiFarF', lambda z: sici_auxiliary(z)[0], 'f(y) y of 5.2.6 at x = 1 / y^2', 0, mpf('7.99') ** -2, 7, 7),
    ('SiCiFarG', lambda z: sici_auxiliary(z)[1], 'g(y) y^2 of 5.2.7 at x = 1 / y^2', 0, mpf('7.99') ** -2, 7, 9),
    ('NdtriMiddle', ndtri_middle, '(ndtri(1/2 + y) / sqrt(2 pi) - y) / y^3 at x = y^2', 0, mpf('0.365') ** 2, 4, 8),
    ('NdtriNear', ndtri_tail, '(z + ndtri(exp(-z^2 / 2))) z - log(z) at x = 1 / z', 1 / mpf('8.05'), 1 / mpf('1.99'), 9, 9),
    ('NdtriFar', ndtri_tail, '(z + ndtri(exp(-z^2 / 2))) z - log(z) at x = 1 / z', 1 / mpf(40), 1 / mpf('7.95'), 8, 8),
]


# ---- the exchange ----
def polynomial(c, x):
    out = mpf(0)
    for a in reversed(c):
        out = out * x + a
    return out


def ratio(fit, x):
    return polynomial(fit[0], x) / polynomial(fit[1], x)


def chebyshev(low, high, count):
    return [(low + high - (high - low) * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count))) / 2 for i in range(count)]


def levelled(points, values, n, m, bottom):
    """p and q whose error is +-e relative to the function at n + m + 2 points; `bottom` is q of the step before.

    The unknowns are coefficients of powers of x over the greatest point, so that they are of like sizes.
    """
    scale = max(points)
    size = n + m + 2
    a, b = mpmath.matrix(size, size), mpmath.matrix(size, 1)
    for i, (x, f) in enumerate(zip(points, values)):
        for k in range(n + 1):
            a[i, k] = (x / scale) ** k / f
        for k in range(1, m + 1):
            a[i, n + k] = -((x / scale) ** k)
        a[i, size - 1] = polynomial(bottom, x) * (-1) ** i
        b[i] = 1
    c = list(mpmath.lu_solve(a, b))
    unscaled = [v / scale**k for k, v in enumerate(c[: n + 1])], [v / scale**k for k, v in enumerate(c[n + 1 : -1], 1)]
    return unscaled[0], [mpf(1)] + unscaled[1]


def error(fit, x, f):
    return ratio(fit, x) / f - 1


def extremes(fit, grid):
    """The points of the grid where the error has its greatest size between two changes of its sign."""
    out, last = [], None
    for x, f in grid:
        e = error(fit, x, f)
        if last is not None and (e > 0) == (last > 0):
            if abs(e) > abs(out[-1][2]):
                out[-1] = (x, f, e)
        else:
            out.append((x, f, e))
        last = e
    return out


def remez(grid, low, high, n, m):
    """The fit; `grid` is dense, and its points are the candidates of the exchange."""
    start = chebyshev(low, high, n + m + 2)
    points = [min(grid, key=lambda g: abs(g[0] - x)) for x in start]
    fit = ([mpf(1)], [mpf(1)])
    for _ in range(12):
        for _ in range(4):
            fit = levelled([p[0] for p in points], [p[1] for p in points], n, m, fit[1])
        found = extremes(fit, grid)
        while len(found) > n + m + 2:  # the ends with the smaller errors go
            found.pop(0 if abs(found[0][2]) < abs(found[-1][2]) else -1)
        sizes = [abs(e) for _, _, e in found]
        if len(found) < n + m + 2 or max(sizes) < mpf('1.02') * min(sizes):
            break
        points = [(x, f) for x, f, _ in found]
    return fit


def refitted(bottom, fixed, grid, n):
    """The coefficients of p after those that are fixed, by least squares."""
    k0, rows = len(fixed), grid[::3]
    scale = max(x for x, _ in rows)
    size = n + 1 - k0
    a, b = mpmath.matrix(size, size), mpmath.matrix(size, 1)
    for x, f in rows:
        weight = 1 / (f * polynomial(bottom, x))
        powers = [(x / scale) ** k * weight for k in range(k0, n + 1)]
        rest = 1 - polynomial(fixed, x) * weight
        for i in range(size):
            b[i] += powers[i] * rest
            for j in range(i, size):
                a[i, j] += powers[i] * powers[j]
    for i in range(size):
        for j in range(i):
            a[i, j] = a[j, i]
    return [c / scale**k for k, c in enumerate(mpmath.lu_solve(a, b), k0)]


def rounded(fit, grid, number='d', near_zero=False):
    """Coefficients in f64, or f32 with `f`: each of p makes up for the roundings of q and of those of p before it."""
    def nearest(c):
        return mpf(struct.unpack(number, struct.pack(number, float(c)))[0])

    lost = lambda s: abs(nearest(fit[0][0] * s) / (fit[0][0] * s) - 1)
    scale = mpf(1)
    if near_zero and lost(scale) > TINY**0.7:  # q(0) is the multiple of 1/64 with which p(0) is closest to a number
        scale = min((mpf(k) / 64 for k in range(64, 128)), key=lost)
    bottom, top = [nearest(c * scale) for c in fit[1]], []
    for _ in fit[0]:
        top.append(nearest(refitted(bottom, top, grid, len(fit[0]) - 1)[0]))
    return top, bottom


def greatest(fit, grid):
    return max(abs(error(fit, x, f)) for x, f in grid)


def text(name, c):
    body = ', '.join(float(a).__repr__() for a in reversed(c))
    return f'inline constexpr double k{name}[] = {{{body}}};\n'


def fitted(name, f, low, high, n, m, number='d'):
    """The rounded fit and its error."""
    grid = [(x, f(x)) for x in chebyshev(low, high, 24 * (n + m + 2))]
    fit = remez(grid, low, high, n, m)
    out = rounded(fit, grid, number, near_zero=0 < low <= TINY)
    before, after = greatest(fit, grid), greatest(out, grid)
    least = min(polynomial(out[1], x) for x, _ in grid)
    print(f'{name}: {mpmath.nstr(before, 3)}, rounded {mpmath.nstr(after, 3)}; least q {mpmath.nstr(least, 3)}', flush=True)
    return out, after


def write_special_fits():
    out = HEAD
    for name, f, what, low, high, n, m in FITS:
        fit, after = fitted(name, f, mpf(low) + (TINY if low == 0 else 0), mpf(high), n, m)
        out += f'// {what}, {mpmath.nstr(mpf(low), 4)} <= x <= {mpmath.nstr(mpf(high), 4)}: {mpmath.nstr(after, 2)}\n'
        out += text(name + 'Top', fit[0]) + text(name + 'Bottom', fit[1])
    TARGET.write_text(out + TAIL)
    tool = shutil.which('clang-format-14')
    if tool is None:
        sys.exit('clang-format-14 is missing: sh cmake/install_dependencies.sh')
    subprocess.run([tool, '-i', TARGET], check=True)


def main():
    write_special_fits()
    roots = mpmath.sqrt(mpf(1) / 2) - 1, mpmath.sqrt(2) - 1
    fit, _ = fitted('log in f32', log_tail, *roots, 8, 0, 'f')
    print('p of LogOfParts:', ', '.join(float(c).hex() for c in reversed(fit[0])))


if __name__ == '__main__':
    main()
