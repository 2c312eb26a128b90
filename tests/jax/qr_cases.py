"""QR factorisations, and what they are made of: Householder reflectors."""
import itertools

import jax._src.lax.linalg as linalg
import numpy as np

from case_file import COMPLEXES, DTYPES, Close
from transforms import primitive

DTYPES_HERE = ('f32', 'f64', 'c64', 'c128')
MAPPED = ((3, 3), (4, 2), (2, 4))  # shapes with all transforms
SHAPES = ((1, 1), (3, 3), (4, 2), (2, 4), (1, 3), (3, 1), (8, 8), (9, 8), (8, 9), (2, 3, 3), (2, 2, 10, 4), (30, 20),
          (2, 20, 33), (0, 3), (3, 0), (0, 0), (0, 3, 3))


def numbers(rng, dtype, shape):
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if dtype in COMPLEXES else x).astype(DTYPES[dtype])


def spread(dtype, shape):
    """Matrices whose columns have clearly different norms, the larger ones last."""
    def make(rng):
        m, n = shape[-2:]
        scale = 3.0 ** np.arange(n) / 3.0 ** (n / 2) if n < 12 else 1 + 0.2 * np.arange(n)
        x = numbers(rng, dtype, shape) * 0.3
        for j in range(n):
            x[..., (j + m // 2) % m if m else 0:, j][..., :1] += 1.0
        return [(x * scale).astype(DTYPES[dtype])]
    return make


def reflectors(dtype, shape, count):
    """What geqrf gives for a matrix of `shape`: its result and the first `count` numbers. In f64, since a LAPACK rounds
    otherwise on another processor, and these are inputs."""
    def make(rng):
        a, taus = linalg.geqrf(numbers(rng, dtype, shape).astype(np.complex128 if dtype in COMPLEXES else np.float64))
        return [np.asarray(a).astype(DTYPES[dtype]), np.asarray(taus)[..., :count].astype(DTYPES[dtype])]
    return make


def shapes_and_dtypes():
    """All pairs for wide numbers, fewer for the others."""
    return [(shape, dtype) for shape, dtype in itertools.product(SHAPES, DTYPES_HERE)
            if dtype in ('f64', 'c128') or shape in ((3, 3), (9, 8), (2, 2, 10, 4))]


def geqrf(file):
    for shape, dtype in shapes_and_dtypes():
        primitive(file, 'geqrf', {}, lambda x: linalg.geqrf(x), spread(dtype, shape), label=f'({shape})',
                  modes='nv' if shape in MAPPED else 'n', tolerance=Close(200, 4.0))
    nan, inf = np.nan, np.inf
    for special in ([[1, 2], [nan, 3]], [[nan, 2], [0, 3]], [[1, 2], [3, nan]], [[inf, 1], [0, 3]], [[1, 2], [inf, 3]],
                    [[-0.0, 1], [0, 2]], np.zeros((2, 3)), [[1e-200, 1], [1, 1]], [[1, 1], [1e-200, 1]],
                    [[1e300, 1e300], [1e300, 1]], np.eye(10)[::-1], np.full((9, 10), nan)):
        x = np.array(special, np.float64)
        primitive(file, 'geqrf', {}, lambda x: linalg.geqrf(x), lambda r, x=x: [x], label='(special)', modes='n',
                  tolerance=Close(64, 4.0))


def geqp3(file):
    for shape, dtype in shapes_and_dtypes():
        if 0 in shape:
            continue  # JAX ends with a division by zero
        free = lambda r, shape=shape, dtype=dtype: spread(dtype, shape)(r) + [np.zeros(shape[:-2] + shape[-1:], np.int32)]
        fixed = lambda r, shape=shape, dtype=dtype: spread(dtype, shape)(r) + [
            r.integers(0, 2, shape[:-2] + shape[-1:]).astype(np.int32)]
        for make, label in ((free, 'free'), (fixed, 'fixed')):
            primitive(file, 'geqp3', {}, lambda x, p: linalg.geqp3(x, p), make, label=f'({label})',
                      modes='nv' if shape == (3, 3) else 'n', tolerance=Close(200, 4.0))
    for special in (np.zeros((2, 3)), [[1, 0], [0, 1]], [[1, 2], [3, np.nan]], np.eye(9)):
        x = np.array(special, np.float64)
        primitive(file, 'geqp3', {}, lambda x, p: linalg.geqp3(x, p),
                  lambda r, x=x: [x, np.zeros(x.shape[1], np.int32)], label='(special)', modes='n',
                  tolerance=Close(64, 4.0))


def householder_product(file):
    for (shape, count), dtype in itertools.product(
            (((3, 3), 3), ((4, 2), 1), ((8, 8), 8), ((9, 8), 8), ((2, 5, 3), 3), ((2, 12, 9), 4), ((30, 20), 20),
             ((4, 3), 0), ((3, 0), 0), ((0, 0), 0)), DTYPES_HERE):
        primitive(file, 'householder_product', {}, lambda a, t: linalg.householder_product(a, t),
                  reflectors(dtype, shape, count), label=f'({count})', modes='nv' if shape in MAPPED else 'n',
                  tolerance=Close(100, 4.0))


def ormqr(file):
    for left, transpose, dtype, (shape, count, lines) in itertools.product(
            (False, True), (False, True), ('f32', 'c128'),
            (((3, 3), 3, 2), ((4, 2), 1, 4), ((2, 5, 3), 3, 1), ((12, 9), 4, 3), ((3, 2), 2, 0))):
        attrs = {'left': left, 'transpose': transpose}
        c_shape = shape[:-2] + ((shape[-2], lines) if left else (lines, shape[-2]))
        make = lambda r, shape=shape, dtype=dtype, count=count, c=c_shape: (
            reflectors(dtype, shape, count)(r) + [numbers(r, dtype, c)])
        primitive(file, 'ormqr', attrs, lambda a, t, c, attrs=attrs: linalg.ormqr(a, t, c, **attrs), make,
                  label=f'({left},{transpose},{count})', modes='nv' if shape in MAPPED else 'n',
                  tolerance=Close(100, 4.0))


def qr(file):
    for (shape, dtype), pivoting, full in itertools.product(shapes_and_dtypes(), (False, True), (False, True)):
        attrs = {'pivoting': pivoting, 'full_matrices': full}
        fn = lambda x, attrs=attrs: linalg.qr(x, **attrs)
        m, n = shape[-2:]
        small = 0 not in shape and n < 12
        # With pivots JAX 0.10.2 permutes the columns of a tangent wrongly if it has a batch, and not at all those of a
        # wide x from the m-th on.
        right = not pivoting or (m >= n and len(shape) == 2)
        modes = 'n' + ('fr' if right and small else '')
        modes += ('v' + ('FR' if right else '') + ('' if pivoting else 'J')) if shape in MAPPED else ''
        primitive(file, 'qr', attrs, fn, spread(dtype, shape), label=f'({pivoting},{full})', modes=modes,
                  tolerance=Close(200, 4.0), derivative=Close(4000, 10.0))
    for special in (np.zeros((3, 3)), [[1, 2], [np.nan, 3]], np.full((9, 10), np.nan)):
        x = np.array(special, np.float64)
        attrs = {'pivoting': False, 'full_matrices': True}
        primitive(file, 'qr', attrs, lambda x: linalg.qr(x), lambda r, x=x: [x], label='(special)', modes='n',
                  tolerance=Close(64, 4.0))


def cases(file):
    for part in (geqrf, geqp3, householder_product, ormqr, qr):
        part(file)
