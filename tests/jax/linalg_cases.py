"""Factorisations of matrices and linear solves."""
import itertools

import jax._src.lax.linalg as linalg
import numpy as np
from jax import lax

from case_file import COMPLEXES, DTYPES, Close
from transforms import primitive


def positive(dtype, shape):
    """Symmetric or Hermitian matrices with eigenvalues away from 0."""
    def make(rng):
        a = rng.uniform(-1, 1, shape)
        if dtype in COMPLEXES:
            a = a + 1j * rng.uniform(-1, 1, shape)
        return [(np.matmul(a, np.conj(np.swapaxes(a, -1, -2))) + np.eye(shape[-1])).astype(DTYPES[dtype])]
    return make


def with_imaginary(rng, dtype, x):
    """`x` as numbers of `dtype`, with small imaginary parts if it has them."""
    return (x + 0.5j * rng.uniform(-1, 1, x.shape) if dtype in COMPLEXES else x).astype(DTYPES[dtype])


def triangular(dtype, a_shape, b_shape):
    """A matrix with a diagonal away from 0, and a second matrix."""
    def make(rng):
        a = rng.uniform(-0.5, 0.5, a_shape) + np.eye(a_shape[-1]) * rng.choice([-2.0, 2.0], a_shape[-1])
        return [with_imaginary(rng, dtype, a), with_imaginary(rng, dtype, rng.standard_normal(b_shape))]
    return make


def cholesky(file):
    fn = lambda x: lax.linalg.cholesky(x, symmetrize_input=False)
    for shape in ((1, 1), (3, 3), (6, 6), (8, 8), (9, 9), (30, 30), (70, 70), (2, 130, 130), (2, 3, 3), (2, 2, 12, 12), (0, 0), (0, 3, 3)):
        for dtype in ('f32', 'f64', 'c64', 'c128'):
            small = 0 not in shape and shape[-1] < 12
            modes = {'f64': 'nfrvFRJ', 'c64': 'nv'}.get(dtype, 'nfrv')
            primitive(file, 'cholesky', {}, fn, positive(dtype, shape), label=f'({shape})',
                      modes=modes if small else 'n', tolerance=Close(40, 4.0),
                      derivative=Close(400, 10.0))
    for bad in ([[1, 0], [0, -1]], [[4, 2, 1], [2, 1, 3], [1, 3, 5]], [[np.nan, 0], [0, 1]], [[1, 9], [9, np.inf]],
                np.zeros((10, 10)), [[1, 9], [1j, 3]], [[1 + 2j, 9], [1j, 3 - 1j]], [[1, 0], [2j, 3]],
                4 * np.eye(10) + 1j * np.ones((10, 10)), 4 * np.eye(10) + np.tri(10) * 3j):
        x = np.array(bad, np.complex128 if np.iscomplexobj(bad) else np.float64)
        primitive(file, 'cholesky', {}, fn, lambda r, x=x: [x], label='(triangle)', modes='n', tolerance=Close(4))


def triangular_solve(file):
    for left, lower, transpose, unit in itertools.product((False, True), repeat=4):
        attrs = {'left_side': left, 'lower': lower, 'transpose_a': transpose, 'unit_diagonal': unit}
        fn = lambda a, b, attrs=attrs: lax.linalg.triangular_solve(a, b, **attrs)
        for n, m in ((3, 2), (2, 4), (11, 1), (1, 1)):
            b = (n, m) if left else (m, n)
            primitive(file, 'triangular_solve', attrs, fn, triangular('f64', (n, n), b),
                      label=f'({n},{m})', modes='nfrvFRJ' if n < 4 else 'nfr', tolerance=Close(100, 4.0),
                      derivative=Close(1000, 20.0))
        b = (2, 5, 3) if left else (2, 3, 5)
        primitive(file, 'triangular_solve', attrs, fn, triangular('f32', (2, 5, 5), b), label='(batch)',
                  modes='nfrv', tolerance=Close(100, 4.0), derivative=Close(1000, 20.0))
        for dtype, conjugate in (('c128', False), ('c128', True), ('c64', True)):
            complex_attrs = attrs | {'conjugate_a': conjugate}
            fn = lambda a, b, attrs=complex_attrs: lax.linalg.triangular_solve(a, b, **attrs)
            primitive(file, 'triangular_solve', complex_attrs, fn,
                      triangular(dtype, (3, 3), (3, 2) if left else (2, 3)), label='(complex)',
                      modes='nfr' if dtype == 'c128' else 'n', tolerance=Close(100, 4.0),
                      derivative=Close(1000, 20.0))
            primitive(file, 'triangular_solve', complex_attrs, fn,
                      triangular(dtype, (11, 11), (11, 2) if left else (2, 11)), label='(complex)', modes='n',
                      tolerance=Close(400, 4.0))
    none = {'left_side': True, 'lower': False, 'transpose_a': False, 'unit_diagonal': False}
    for a, b in (((0, 0), (0, 3)), ((3, 3), (3, 0)), ((0, 2, 2), (0, 2, 1))):
        primitive(file, 'triangular_solve', none, lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True),
                  triangular('f32', a, b), label='(empty)', modes='n')
    singular = np.array([[0.0, 1], [0, 2]])
    primitive(file, 'triangular_solve', none, lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True),
              lambda r: [singular, np.ones((2, 1))], label='(singular)', modes='n')


def apart(dtype, shape):
    """Matrices whose pivots are clearly larger than the other elements, in rows that must be swapped."""
    def make(rng):
        m, n = shape[-2:]
        a = rng.uniform(-0.5, 0.5, shape)
        for i in range(min(m, n)):
            a[..., (i + m // 2) % m, i] += 3.0 * rng.choice([-1.0, 1.0])
        return [with_imaginary(rng, dtype, a)]
    return make


def lu(file):
    fn = lambda x: lax.linalg.lu(x)
    for shape in ((1, 1), (3, 3), (6, 6), (8, 8), (9, 9), (30, 30), (2, 70, 70), (2, 3, 3), (2, 2, 12, 12), (4, 2),
                  (2, 4), (1, 5), (5, 1), (8, 9), (9, 8), (2, 20, 13), (2, 13, 20), (0, 0), (0, 3), (3, 0), (12, 0),
                  (0, 3, 3), (2, 0, 3)):
        for dtype in ('f32', 'f64', 'c128'):
            small = 0 not in shape and shape[-1] < 12
            modes = {'f32': 'nfrv', 'f64': 'nfrvFRJ', 'c128': 'nfr'}[dtype]
            primitive(file, 'lu', {}, fn, apart(dtype, shape), label=f'({shape})', modes=modes if small else 'n',
                      tolerance=Close(100, 4.0), derivative=Close(1000, 10.0))
    # A column below a NaN pivot is left out: OpenBLAS does not divide it, which is not a rule to follow.
    nan, inf = np.nan, np.inf
    for special in ([[1, 2], [nan, 3]], [[1, 2, 3], [4, 1, 5], [nan, 2, 1]], [[0, 1], [0, 2]], [[1, 1], [-1, 2]],
                    [[0, 1, 2], [0, 3, 4], [0, 5, 6]], [[inf, 1], [2, 3]], [[1, 2], [inf, 3]], [[2, 1], [2, 1]],
                    np.zeros((9, 10)), np.ones((9, 9)), -np.eye(10)[::-1]):
        x = np.array(special, np.float64)
        primitive(file, 'lu', {}, fn, lambda r, x=x: [x], label='(special)', modes='n', tolerance=Close(16, 4.0))


def lu_pivots_to_permutation(file):
    for shape, size in (((3,), 3), ((2, 3), 5), ((9,), 9), ((0,), 2), ((0,), 0), ((0, 2), 2)):
        attrs = {'permutation_size': size}
        fn = lambda p, attrs=attrs: lax.linalg.lu_pivots_to_permutation(p, **attrs)
        for low, high in ((0, size), (-size, 2 * size)):
            make = lambda r, low=low, high=high, shape=shape: [r.integers(low, max(high, 1), shape).astype(np.int32)]
            primitive(file, 'lu_pivots_to_permutation', attrs, fn, make, label=f'({low}..{high})', modes='nv')


def diagonals(dtype, shape, columns, middle=4.0, others=0.0):
    """Three diagonals, `middle` added to the middle one and `others` to the others, and a matrix."""
    def make(rng):
        draw = lambda add: with_imaginary(rng, dtype, rng.uniform(-1, 1, shape) + add)
        return [draw(others), draw(middle), draw(others), with_imaginary(rng, dtype, rng.standard_normal(shape + (columns,)))]
    return make


def tridiagonal_solve(file):
    for perturb in (False, True):
        attrs = {'perturb_singular': perturb}
        fn = lambda dl, d, du, b, attrs=attrs: linalg.tridiagonal_solve(dl, d, du, b, **attrs)
        put = lambda make, label, modes, attrs=attrs, fn=fn: primitive(
            file, 'tridiagonal_solve', attrs, fn, make, label=f'({label},{perturb})', modes=modes,
            tolerance=Close(200, 4.0), derivative=Close(1000, 20.0))
        for shape, columns in (((1,), 2), ((2,), 1), ((5,), 3), ((8,), 2), ((9,), 2), ((40,), 3), ((2, 3), 1),
                               ((2, 12), 2)):
            for dtype in ('f32', 'f64', 'c128'):
                modes = 'n' if dtype == 'f32' else 'nfrvFRJ' if shape == (5,) else 'nfr'
                put(diagonals(dtype, shape, columns), 'diagonal', modes)
                put(diagonals(dtype, shape, columns, middle=0.0, others=4.0), 'swaps', 'n')
        for shape, columns in (((0,), 2), ((3,), 0), ((0, 3), 1)):
            put(diagonals('f32', shape, columns), 'empty', 'n')
        special = ([1, 1, 1], [1, 1, 1], [1, 1, 1]), ([0, 0, 0], [1, 0, 2], [0, 0, 0]), ([0, 1, 1], [0, 0, 0], [1, 1, 0]), (
            [0], [0], [0]), ([0, 1], [1, 1], [1, 0]), ([0, 1e-300], [1e-300, 1e-305], [0, 0])
        for n in (0, 7):  # rows of a unit matrix above it
            for dl, d, du in special:
                lists = [np.array([one] * n + x, np.float64) for x, one in ((dl, 0), (d, 1), (du, 0))]
                put(lambda r, lists=lists: lists + [np.arange(1.0, 2 * len(lists[0]) + 1).reshape(-1, 2)], 'special', 'n')


def cholesky_update(file):
    def make(dtype, n):
        return lambda r: [(np.triu(r.uniform(-1, 1, (n, n))) + 2 * np.eye(n)).astype(DTYPES[dtype]),
                          r.standard_normal(n).astype(DTYPES[dtype])]
    fn = lambda r, w: linalg.cholesky_update(r, w)
    for n, dtype in itertools.product((0, 1, 3, 8, 9, 13), ('f32', 'f64')):
        primitive(file, 'cholesky_update', {}, fn, make(dtype, n), label=f'({n})', modes='n',
                  tolerance=Close(100, 4.0))
    for r, w in ((np.eye(3), np.zeros(3)), (np.zeros((3, 3)), np.ones(3)), (np.eye(2), [np.nan, 1.0]),
                 (np.eye(2) * 1e300, [1e300, 0.0])):
        primitive(file, 'cholesky_update', {}, fn, lambda g, r=r, w=w: [r, np.array(w, np.float64)],
                  label='(special)', modes='n', tolerance=Close(16, 4.0))


def symmetric_product(file):
    for (a, c), dtype in itertools.product((((3, 4), (3, 3)), ((2, 5, 2), (2, 5, 5)), ((12, 9), (12, 12)), ((3, 0), (3, 3)),
                                            ((0, 2), (0, 0))), ('f32', 'f64')):
        for attrs in ({'alpha': 1.0, 'beta': 0.0}, {'alpha': -0.75, 'beta': 2.5}):
            make = lambda r, a=a, c=c, dtype=dtype: [r.uniform(-1, 1, s).astype(DTYPES[dtype]) for s in (a, c)]
            primitive(file, 'symmetric_product', attrs,
                      lambda x, y, attrs=attrs: linalg.symmetric_product(x, y, **attrs), make,
                      modes='nv' if len(a) == 2 and 0 not in a else 'n', tolerance=Close(16, 4.0))


def cases(file):
    for part in (cholesky, triangular_solve, lu, lu_pivots_to_permutation, tridiagonal_solve, cholesky_update,
                 symmetric_product):
        part(file)
