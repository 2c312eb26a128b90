"""Functions, and the points where their derivatives are hard: zeros of both signs, ties, poles, borders of the domain,
infinities, NaN, the ends of the range.

A row holds what JAX computes. `m` is a namespace with the modules `np` and `nn`: those of JAX, and those of the Python
binding where the row says that it has the function. The C++ binding has all of them, in point_functions.h by name.
"""
import dataclasses
import itertools
import typing

import jax
import numpy as np
from jax.scipy import special

INF, NAN = np.inf, np.nan
HUGE, SMALL = 1e300, 1e-300
SCALARS = (0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 0.75, 6, -6, 2.5, -2.5, 30, -30, 1e-8, -1e-8, SMALL, -SMALL,
           1e5, -1e5, HUGE, -HUGE, INF, -INF, NAN)
FEW = (0.0, -0.0, 1, -1, 0.5, 2, -2.5, 30, SMALL, HUGE, INF, -INF, NAN)
VECTORS = ([0, 0, 0, 0], [-0.0, 0, 0, -0.0], [1, 1, 1, 1], [-1, 2, 2, -1], [3, -3, 3, -3], [0, 0, 1, 2], [4, 3, 2, 1],
           [INF, 1, 2, 3], [INF, 1, INF, 0], [-INF, 1, 2, 2], [-INF] * 4, [INF] * 4, [INF, -INF, 1, 2], [NAN, 1, 2, 3],
           [1, NAN, 2, NAN], [NAN] * 4, [NAN, INF, -INF, 1], [HUGE, 1, HUGE, 0], [SMALL, 0, 0, SMALL], [-800, 1, 800, 1])
MATRICES = ([[0, 0], [0, 0]], [[1, 0], [0, 1]], [[1, 1], [1, 1]], [[2, 1], [1, 2]], [[1, 0], [0, 0]], [[1, 0], [0, -1]],
            [[1, 2], [2, 1]], [[0, 1], [0, 0]], [[INF, 0], [0, 1]], [[NAN, 0], [0, 1]], [[1e150, 0], [0, 1e150]],
            [[1e-150, 0], [0, 1e-150]])


@dataclasses.dataclass
class Row:
    """`points` has one tuple of operands each. `python`: whether the Python binding has it. `ulps` and `scale` are
    those of Close. `active`: the operands with derivatives, by default all. What is not compared is in point_gaps.py."""
    name: str
    fn: typing.Callable
    points: list
    python: bool = False
    ulps: float = 128
    scale: float = 4
    active: tuple = ()


def numpy(m):
    return m.np


def nn(m):
    return m.nn


def unary(names, points=SCALARS, of=None, **options):
    """Rows of functions of one number; `of(m)` is the module of JAX and ours that has them."""
    python = of in (numpy, nn)
    module = of or (lambda m: special)
    return [Row(n, lambda m, x, n=n: getattr(module(m), n)(x), [(p,) for p in points], python=python, **options)
            for n in names.split()]


def pairs(names, of=None, values=FEW, **options):
    python = of in (numpy, nn)
    module = of or (lambda m: special)
    points = list(itertools.product(values, values))
    return [Row(n, lambda m, x, y, n=n: getattr(module(m), n)(x, y), points, python=python, **options)
            for n in names.split()]


def one(name, fn, points=SCALARS, **options):
    return Row(name, fn, [p if isinstance(p, tuple) else (p,) for p in points], **options)


def elementwise():
    rows = unary('abs sign floor square reciprocal exp exp2 expm1 log log1p log2 log10 sqrt cbrt sin cos tan arcsin '
                 'arccos arctan sinh cosh tanh arcsinh arccosh arctanh sinc nan_to_num', of=numpy)
    rows += unary('rsqrt erf erfc erf_inv lgamma digamma', of=lambda m: jax.lax)
    rows += unary('relu relu6 sigmoid silu softplus hard_tanh hard_sigmoid hard_silu sparse_plus sparse_sigmoid '
                  'log_sigmoid soft_sign mish elu celu selu leaky_relu gelu squareplus log1mexp', of=nn)
    rows += unary('gamma factorial', ulps=4096) + unary('loggamma logit i0 i0e i1 i1e spence dawsn erfcx entr ndtr ndtri log_ndtr')
    for n in (0, 1, 2, 3, -1, -2):
        rows.append(one(f'power_{n}', lambda m, x, n=n: x ** n, python=True))
    for n in (0.5, 1.0, 2.0, 2.5):
        rows.append(one(f'power_{n}', lambda m, x, n=n: m.np.power(x, n), python=True))
    rows += [one('power_of_0', lambda m, x: m.np.power(0.0, x), python=True),
             one('power_of_2', lambda m, x: m.np.power(2.0, x), python=True),
             one('clip_-1_1', lambda m, x: m.np.clip(x, -1.0, 1.0), python=True),
             one('where_sqrt', lambda m, x: m.np.where(x > 0, m.np.sqrt(m.np.where(x > 0, x, 1.0)), 0.0), python=True),
             one('multigammaln', lambda m, x: special.multigammaln(x, 3)),
             one('sici_si', lambda m, x: special.sici(x)[0]), one('sici_ci', lambda m, x: special.sici(x)[1]),
             one('fresnel_s', lambda m, x: special.fresnel(x)[0])]
    return rows


def of_pairs():
    """Without exp1, expi and expn, whose derivatives of derivatives JAX does not compile; the loops of its incomplete
    gamma functions do not end far outside."""
    return pairs('multiply divide remainder fmod maximum minimum fmax fmin power float_power arctan2 hypot logaddexp '
                 'logaddexp2 copysign heaviside', of=numpy) + pairs(
                     'xlogy xlog1py rel_entr kl_div beta betaln boxcox boxcox1p poch', ulps=4096) + pairs('gammainc gammaincc', values=(0.0, 1, 0.5, 2, -2.5, 30, NAN), active=(False, True), ulps=4096) + [
        Row('polygamma', lambda m, n, x: special.polygamma(n.astype(int), x), list(itertools.product((0, 1, 2, 5, 170), SCALARS)),
            active=(False, True), ulps=4096),
        Row('zeta', lambda m, x, q: special.zeta(x, q), list(itertools.product((1, 2, 1.5, 30, INF, NAN, 0), FEW)),
            active=(False, False)),
    ]


def of_more():
    limits = [(x, low, high) for x in (-1, 0, 1, 2, INF, NAN) for low, high in ((-1, 1), (0, 0), (1, 2), (-INF, INF),
                                                                                (NAN, 1), (1, -1))]
    shares = [(a, b, x) for a, b in ((1, 1), (0.5, 2), (2, 0.5), (0, 1), (INF, 1), (1, INF), (NAN, 1), (30, 30))
              for x in (0, 1, 0.5, SMALL, -1, 2, NAN)]
    return [Row('clip', lambda m, x, low, high: m.np.clip(x, low, high), limits, python=True),
            Row('betainc', lambda m, a, b, x: special.betainc(a, b, x), shares, active=(False, False, True), ulps=4096)]


def of_vectors():
    v = [(np.array(x, np.float64),) for x in VECTORS]
    norm = lambda ord: lambda m, x: m.np.linalg.norm(x, ord)  # noqa: E731
    orders = {'0': 0, '1': 1, '2': 2, '3': 3, '0.5': 0.5, '-1': -1, 'inf': INF, '-inf': -INF}
    rows = [Row(f'norm_{n}', norm(o), v, python=True) for n, o in orders.items()]
    rows += [Row('norm', norm(None), v, python=True)]
    for name in 'mean var std sum prod max min ptp nanmax nanmin nansum nanmean nanstd sort median nanmedian cumsum cumprod'.split():
        rows.append(Row(name, lambda m, x, n=name: getattr(m.np, n)(x), v, python=True))
    for name in 'logsumexp logmeanexp softmax log_softmax standardize'.split():
        rows.append(Row(name, lambda m, x, n=name: getattr(m.nn, n)(x), v, python=True))
    for name in 'cummax cummin cumlogsumexp'.split():
        rows.append(Row(name, lambda m, x, n=name: getattr(jax.lax, n)(x, 0), v))
    segments = np.array([0, 1, 1, 0])
    rows += [
        Row('std_1', lambda m, x: m.np.std(x, ddof=1), v, python=True),
        Row('quantile', lambda m, x: m.np.quantile(x, 0.3), v, python=True),
        Row('top_k', lambda m, x: jax.lax.top_k(x, 2)[0], v),
        Row('argmax_gather', lambda m, x: m.np.take(x, m.np.argmax(x)), v, python=True),
        Row('argmin_gather', lambda m, x: m.np.take(x, m.np.argmin(x)), v, python=True),
        Row('logsumexp_weights', lambda m, x: special.logsumexp(x, b=m.np.abs(x)), v),
        Row('segment_max', lambda m, x: jax.ops.segment_max(x, segments, 2), v),
        Row('interp', lambda m, x, p, f: m.np.interp(x, p, f),
            [(x, np.array(p, float), np.array([1., 3, 2])) for x in (0, 1, 2, -1, 5, INF, NAN)
             for p in ((0, 1, 2), (0, 0, 2), (1, 1, 1))], python=True),
    ]
    return rows


def of_matrices():
    matrices = [(np.array(x, np.float64),) for x in MATRICES]
    names = {'': 'fro', '_nuc': 'nuc', '_1': 1, '_-1': -1, '_2': 2, '_-2': -2, '_inf': INF, '_-inf': -INF}
    rows = [Row(f'matrix_norm{n}', lambda m, x, o=o: m.np.linalg.norm(x, o, (0, 1)), matrices, python=True)
            for n, o in names.items()]
    for name in 'cholesky det inv'.split():
        rows.append(Row(name, lambda m, x, n=name: getattr(m.np.linalg, n)(x), matrices, python=True))
    return rows + [Row('slogdet', lambda m, x: m.np.linalg.slogdet(x)[1], matrices, python=True)]


def all_rows():
    return elementwise() + of_pairs() + of_more() + of_vectors() + of_matrices()
