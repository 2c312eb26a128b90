"""Where the functions of point_rows.py are not compared with JAX, and why.

A gap names results of a row (`y`, slope `g0`, tangent `dy`, second derivative `dg0`, ...) and the points, by a function of
the operands, each with one row per point.
"""
import typing

import numpy as np

from point_rows import HUGE

SLOPES = 'dy g0 g1 g2 dg0 dg1 dg2'
SECOND = 'dg0 dg1 dg2'
ALL = 'y ' + SLOPES


class Gap(typing.NamedTuple):
    results: str
    where: typing.Callable
    reason: str


def any_of(x, holds):
    """Whether it holds for an element of each row."""
    return holds(x).reshape(len(x), -1).any(axis=1)


def has_nan(x):
    return any_of(x, np.isnan)


def not_finite(*operands):
    return sum(any_of(x, lambda v: ~np.isfinite(v)) for x in operands) > 0


def extreme(*operands):
    """Infinite, NaN, or so far out that a square is beyond the range."""
    far = lambda v: ~np.isfinite(v) | (np.abs(v) > 1e140) | ((np.abs(v) < 1e-140) & (v != 0))  # noqa: E731
    return sum(any_of(x, far) for x in operands) > 0


def is_definite(m):
    return np.array([np.isfinite(x).all() and np.linalg.eigvalsh((x + x.T) / 2)[0] > 1e-9 for x in m])


def is_singular(m):
    return np.array([not np.isfinite(x).all() or np.linalg.matrix_rank(x) < len(x) for x in m])


OF_XLA = 'XLA makes a selection of a product with 0: outside of jit JAX has NaN as well'
CANCELS = 'a difference of nearly equal numbers, of which JAX has no digits'
NAN = 'there is no slope at NaN'

GAPS = {
    'relu': [Gap(SLOPES, np.isnan, NAN)],
    'relu6': [Gap(SLOPES, np.isnan, NAN)],
    'hard_sigmoid': [Gap(SLOPES, np.isnan, NAN)],
    'hard_silu': [Gap(SLOPES, np.isnan, NAN)],
    'median': [Gap(SLOPES, has_nan, NAN)],
    'sinc': [Gap(SLOPES, lambda x: (np.abs(x) < 1e-7) & (x != 0), CANCELS)],
    'sici_si': [Gap(SECOND, lambda x: (np.abs(x) < 1e-7) & (x != 0), CANCELS)],
    'i0': [Gap(SECOND, lambda x: np.abs(x) < 1e-7, CANCELS)],
    'i1': [Gap(SECOND, lambda x: np.abs(x) < 1e-7, CANCELS)],
    'i1e': [Gap(SECOND, lambda x: np.abs(x) < 1e-7, CANCELS)],
    'erfcx': [Gap(SECOND, lambda x: x >= 30, CANCELS)],
    'log_ndtr': [Gap(SLOPES, lambda x: x <= -30, CANCELS)],
    'log1mexp': [Gap(SLOPES, lambda x: x <= 0, 'it is for positive numbers; ours is NaN below 0'),
                 Gap(SECOND, lambda x: x > 700, 'JAX has NaN, the limit is 0')],
    'ndtri': [Gap(SLOPES, lambda x: ~((x > 0) & (x < 1)), 'outside of the domain')],
    'spence': [Gap(ALL, lambda x: x == np.inf, 'JAX has NaN, the limit is -inf'),
               Gap(SLOPES, lambda x: x < 10, "JAX's are those of the parts it is made of: 0 at 1 and NaN at 2"),
               Gap(SLOPES, lambda x: x > 1e200, "JAX's are those of the parts it is made of")],
    'hypot': [Gap(SLOPES, extreme, 'JAX squares: NaN where one is infinite, and wrong numbers far out'),
              Gap(SECOND, lambda x, y: np.abs(x) == np.abs(y), "JAX's are those of max and min, which are none of hypot")],
    'logaddexp': [Gap(SLOPES, extreme, 'JAX has exp(x - inf + inf), no limits')],
    'logaddexp2': [Gap(SLOPES, extreme, 'JAX has exp(x - inf + inf), no limits')],
    'cumlogsumexp': [Gap(SLOPES, lambda x: any_of(x, lambda v: v >= HUGE) | np.isneginf(x).all(axis=1),
                         'JAX has exp(x - inf + inf), no limits')],
    'copysign': [Gap(SLOPES, lambda x, y: (x == 0) | np.isnan(x),
                     'the corner of |x|: JAX has the sign of y at -0, we have that of both')],
    'zeta': [Gap(ALL, lambda x, q: x == np.inf, 'no sum')],
    'gammainc': [Gap(ALL, lambda a, x: a == 0, 'JAX has NaN, the limit is 1')],
    'betaln': [Gap(SECOND, lambda a, b: a == b, "JAX's are those of max and min"),
               Gap(ALL, lambda a, b: np.maximum(a, b) >= 8,
                   "JAX's series has coefficients of f32"),
               Gap(SLOPES, lambda a, b: (np.minimum(a, b) <= 0) | extreme(a, b), 'poles, where JAX has NaN')],
    'beta': [Gap(SECOND, lambda a, b: a == b, "JAX's are those of max and min"),
             Gap(ALL, lambda a, b: np.maximum(a, b) >= 8, 'as betaln'),
             Gap(ALL, lambda a, b: (np.minimum(a, b) <= 0) | extreme(a, b), 'poles, where JAX has NaN')],
    'poch': [Gap(ALL, lambda z, m: extreme(z, m) | (np.abs(z) >= 30) | (np.abs(m) >= 30),
                 'JAX divides gamma functions, which are soon infinite'),
             Gap(SLOPES, lambda z, m: (z <= 0) | (z <= -m), 'poles')],
    'entr': [Gap(SLOPES, lambda x: x < 0, 'outside of the domain')],
    'boxcox': [Gap(SLOPES, lambda x, power: (x < 0) | np.isinf(x), 'outside of the domain')],
    'boxcox1p': [Gap(SLOPES, lambda x, power: (x < -1) | np.isinf(x), 'outside of the domain')],
    'polygamma': [Gap(ALL, lambda n, x: x == -2.5, CANCELS)],
    'rel_entr': [Gap(ALL, lambda p, q: p == np.inf, 'JAX has inf - inf, the limit is infinite'),
                 Gap(SLOPES, lambda p, q: ~((p > 0) & (q > 0)) | extreme(p, q), 'none outside of the domain')],
    'kl_div': [Gap(SLOPES, extreme, 'far out only its parts have slopes')],
    'cumprod': [Gap(ALL, extreme, 'what is beyond the range depends on the order of the products')],
    'standardize': [Gap(ALL, extreme, 'JAX subtracts squares, which are beyond the range')],
    'interp': [Gap(ALL, lambda x, *_: np.isnan(x), 'NaN is in no interval')],
    'cholesky': [Gap(SLOPES, lambda m: ~is_definite(m), 'all is NaN, above the diagonal too')],
    'inv': [Gap(ALL, lambda m: is_singular(m) | extreme(m), 'LAPACK and we find different rows first')],
    'slogdet': [Gap(SLOPES, lambda m: is_singular(m) | extreme(m), 'no inverse')],
    'matrix_norm_nuc': [Gap(SLOPES, is_singular, 'the signs of singular vectors of 0 are free')],
    'matrix_norm_-2': [Gap(SLOPES, is_singular, 'the signs of singular vectors of 0 are free')],
    'matrix_norm_2': [Gap(SLOPES, not_finite, OF_XLA)],
    **{name: [Gap(SLOPES, has_nan, OF_XLA)]
       for name in ('max', 'min', 'ptp', 'norm_inf', 'norm_-inf', 'matrix_norm_1', 'matrix_norm_-1', 'matrix_norm_inf',
                    'matrix_norm_-inf')},
}
