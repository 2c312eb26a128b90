"""Complex numbers: their own primitives, and other primitives on them."""
import itertools

import numpy as np
from jax import lax

from case_file import COMPLEXES, DTYPES, Close, DType
from transforms import primitive
from values import booleans, complexes, floats, integers

PARTS = {'c64': 'f32', 'c128': 'f64'}
UNARY = {'neg': lax.neg, 'real': lax.real, 'imag': lax.imag, 'conj': lax.conj, 'abs': lax.abs, 'exp': lax.exp,
         'square': lax.square, 'copy': lax.copy_p.bind}
FUNCTIONS = {'exp2': lax.exp2, 'expm1': lax.expm1, 'log': lax.log, 'log1p': lax.log1p, 'logistic': lax.logistic,
             'sqrt': lax.sqrt, 'rsqrt': lax.rsqrt, 'sin': lax.sin, 'cos': lax.cos, 'tan': lax.tan, 'sinh': lax.sinh,
             'cosh': lax.cosh, 'tanh': lax.tanh, 'asin': lax.asin, 'acos': lax.acos, 'atan': lax.atan,
             'asinh': lax.asinh, 'acosh': lax.acosh, 'atanh': lax.atanh}
BINARY = {'add': lax.add, 'sub': lax.sub, 'mul': lax.mul, 'div': lax.div}
LOOSE = dict(tolerance=Close(8, 2.0), derivative=Close(64, 8.0))


def of(*makers):
    return lambda rng: [make(rng) for make in makers]


def fixed(*arrays):
    return lambda rng: list(arrays)


def edges(dtype):
    """Numbers with parts that are zero, large or infinite."""
    numbers = [0.0, -0.0, 1.0, -1.5, 1e30, -1e30, 1e-30, np.inf, -np.inf, np.nan]
    return np.array([complex(a, b) for a, b in itertools.product(numbers, numbers)]).astype(DTYPES[dtype])


def elementwise(file):
    for dtype in COMPLEXES:
        for prim, fn in UNARY.items():
            primitive(file, prim, {}, fn, of(complexes(dtype, (3, 5))), modes='nfrvFRH', **LOOSE)
            for shape in ((), (0, 2), (2, 1, 3)):
                primitive(file, prim, {}, fn, of(complexes(dtype, shape)), modes='nfr', **LOOSE)
        for prim, fn in BINARY.items():
            low = 0.3 if prim == 'div' else -2
            make = of(complexes(dtype, (3, 5)), complexes(dtype, (3, 5), low))
            primitive(file, prim, {}, fn, make, modes='nfrvFRH', **LOOSE)
        for prim in ('neg', 'real', 'imag', 'conj', 'abs'):
            primitive(file, prim, {}, UNARY[prim], fixed(edges(dtype)), modes='n', label='(edges)', tolerance=Close(4))
        finite = [z for z in edges(dtype) if np.isfinite(z) and (z == 0 or abs(z) < 1e9)]
        primitive(file, 'exp', {}, lax.exp, fixed(np.array(finite)), modes='n', label='(edges)', **LOOSE)
        large = np.array([88.9 + 1.57j, 89 - 3.1j, 100 + 0j, -200 + 1j, 0 + 1e4j]).astype(DTYPES[dtype])
        primitive(file, 'exp', {}, lax.exp, fixed(large), modes='n', label='(large)', tolerance=Close(64))
        part = PARTS[dtype]
        primitive(file, 'complex', {}, lax.complex, of(floats(part, (3, 5)), floats(part, (3, 5))), modes='nfrvFRH')
        for prim, fn in (('eq', lax.eq), ('ne', lax.ne)):
            coarse = lambda r: np.round(complexes(dtype, (40,))(r)).astype(DTYPES[dtype])
            primitive(file, prim, {}, fn, of(coarse, coarse), modes='nv')
            with_nan = edges(dtype)
            primitive(file, prim, {}, fn, fixed(with_nan, with_nan[::-1].copy()), modes='n', label='(edges)')
        for y in (-3, -1, 0, 1, 2, 5):
            primitive(file, 'integer_pow', {'y': y}, lambda x, y=y: lax.integer_pow(x, y),
                      of(complexes(dtype, (4,), 0.5, 1.5)), label=f'({y})', modes='nfrv',
                      tolerance=Close(16, 4.0), derivative=Close(256, 32.0))


def functions(file):
    for dtype in COMPLEXES:
        one = dict(tolerance=Close(32, 4.0), derivative=Close(256, 16.0))
        for prim, fn in FUNCTIONS.items():
            low, high = (-1.2, 1.2) if prim in ('tan', 'tanh') else (-2.0, 2.0)
            primitive(file, prim, {}, fn, of(complexes(dtype, (3, 5), low, high)), modes='nfrvFR', **one)
            axes = np.array([complex(a, b) for a, b in itertools.product((0.0, 0.5, -2.0, 30.0, -30.0), (0.0, 1.0, -3.0))])
            if prim in ('rsqrt', 'log'):
                axes = axes[axes != 0]
            primitive(file, prim, {}, fn, fixed(axes.astype(DTYPES[dtype])), modes='n', label='(axes)',
                      tolerance=Close(64, 4.0))
        primitive(file, 'atan2', {}, lax.atan2, of(complexes(dtype, (3, 5)), complexes(dtype, (3, 5), 2.5, 4)),
                  modes='nfrvFR', **one)
        powers = of(complexes(dtype, (3, 5), 0.3, 2), complexes(dtype, (3, 5)))
        primitive(file, 'pow', {}, lax.pow, powers, modes='nfrvFR', tolerance=Close(64, 4.0), derivative=Close(256, 64.0))
        primitive(file, 'pow', {}, lax.pow, of(complexes(dtype, (6,), 0.3, 2), integers('i32', (6,), 0, 6)), modes='nfrv',
                  tolerance=Close(64, 4.0), derivative=Close(512, 64.0))
        zeros = fixed(np.zeros(4, DTYPES[dtype]), np.array([0, 1, 2 + 1j, 0.5 - 3j], DTYPES[dtype]))
        primitive(file, 'pow', {}, lax.pow, zeros, modes='n', label='(zero)')


def inverses(file):
    """On both sides of the branch cuts and on them, next to the ends of cuts, and at the ends of the range."""
    numbers = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 1e-12, 1e30, -1e30]
    all_of = np.array([complex(a, b) for a, b in itertools.product(numbers, numbers)])
    near = np.array([1 + d * u for d in (1e-3, 1e-6, 1e-12) for u in (1, -1, 1j, -1j, 0.6 + 0.8j)])
    for dtype in COMPLEXES:
        for prim in ('asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh'):
            for label, z in (('(plane)', all_of), ('(near)', near), ('(near i)', near * 1j)):
                primitive(file, prim, {}, FUNCTIONS[prim], fixed(z.astype(DTYPES[dtype])), modes='n', label=label,
                          tolerance=Close(64, 4.0))


def ordered(file):
    """By real, then imaginary parts; with parts that are equal, and with NaN where XLA combines in a fixed order."""
    for dtype in COMPLEXES:
        # Without -0: it is not defined which of equal numbers a scan chooses.
        coarse = lambda shape: lambda r: (np.round(complexes(dtype, shape)(r) * 1.2) + 0).astype(DTYPES[dtype])
        everything = edges(dtype)
        for prim, fn in (('max', lax.max), ('min', lax.min)):
            primitive(file, prim, {}, fn, of(complexes(dtype, (3, 5)), complexes(dtype, (3, 5))), modes='nfrvFRH')
            primitive(file, prim, {}, fn, of(coarse((40,)), coarse((40,))), modes='nfrv', label='(equal)')
            x, y = np.repeat(everything, len(everything)), np.tile(everything, len(everything))
            primitive(file, prim, {}, fn, fixed(x, y), modes='n', label='(edges)')
        primitive(file, 'sign', {}, lax.sign, of(complexes(dtype, (3, 5))), modes='nfrv', tolerance=Close(4))
        finite = np.array([z for z in everything if np.isfinite(z)])
        primitive(file, 'sign', {}, lax.sign, fixed(finite), modes='n', label='(edges)', tolerance=Close(4))
        for prim, fn in (('reduce_max', lax.reduce_max), ('reduce_min', lax.reduce_min)):
            for axes in ((0,), (1,), (2, 0), ()):
                primitive(file, prim, {'axes': axes}, lambda x, f=fn, a=axes: f(x, a), of(coarse((3, 4, 2))),
                          label=f'({axes})', modes='nfrvFR', derivative=Close(8, 2.0))
            primitive(file, prim, {'axes': (0,)}, lambda x, f=fn: f(x, (0,)), fixed(everything.reshape(25, 4)),
                      label='(edges)', modes='n')
            primitive(file, prim, {'axes': (0,)}, lambda x, f=fn: f(x, (0,)), fixed(np.zeros((0, 3), DTYPES[dtype])),
                      label='(empty)', modes='n')
        for prim, fn in (('cummax', lax.cummax), ('cummin', lax.cummin)):
            for reverse in (False, True):
                primitive(file, prim, {'axis': 1, 'reverse': reverse}, lambda x, f=fn, r=reverse: f(x, 1, r),
                          of(coarse((2, 9))), label=f'({reverse})', modes='nfrv', derivative=Close(8, 2.0))
        for reverse in (False, True):
            primitive(file, 'cumlogsumexp', {'axis': 1, 'reverse': reverse},
                      lambda x, r=reverse: lax.cumlogsumexp(x, 1, r), of(complexes(dtype, (2, 6))),
                      label=f'({reverse})', modes='nfrv', tolerance=Close(64, 8.0), derivative=Close(512, 64.0))
        limits = of(coarse((7,)), coarse((7,)), coarse((7,)))
        primitive(file, 'clamp', {}, lax.clamp, limits, modes='nv')
        primitive(file, 'clamp', {}, lax.clamp, fixed(DTYPES[dtype].type(-1 + 1j), everything, DTYPES[dtype].type(1)),
                  modes='n', label='(edges)')
        for n in (9, 60, 150):
            by_one = lambda *xs: lax.sort(xs, dimension=0, is_stable=True, num_keys=1)
            primitive(file, 'sort', {'dimension': 0, 'is_stable': True, 'num_keys': 1}, by_one,
                      of(coarse((n,)), floats('f32', (n,))), label=f'({n})', modes='nfrv' if n == 9 else 'n')
            by_two = lambda *xs: lax.sort(xs, dimension=0, is_stable=True, num_keys=2)
            primitive(file, 'sort', {'dimension': 0, 'is_stable': True, 'num_keys': 2}, by_two,
                      of(integers('i32', (n,), 0, 4), coarse((n,))), label=f'({n}, 2)', modes='n')
        alone = lambda x: lax.sort((x,), dimension=0, is_stable=True, num_keys=1)
        primitive(file, 'sort', {'dimension': 0, 'is_stable': True, 'num_keys': 1}, alone, fixed(everything),
                  label='(edges)', modes='n')
        window = {'window_dimensions': (3, 2), 'window_strides': (2, 1), 'padding': (1, 1, 0, 1)}
        for prim, op, first in (('reduce_window_max', lax.max, -np.inf), ('reduce_window_min', lax.min, np.inf)):
            fn = lambda x, o=op, i=first: lax.reduce_window(x, DTYPES[dtype].type(i), o, (3, 2), (2, 1),
                                                            ((1, 1), (0, 1)))
            primitive(file, prim, window, fn, of(coarse((5, 4))), modes='nv')


def quotients(file):
    """Every kind of part over every other, except where JAX's result depends on its algorithm (inner overflow)."""
    numbers = [0.0, 1.0, -2.0, np.inf, -np.inf]
    all_of = np.array([complex(a, b) for a, b in itertools.product(numbers, numbers)])
    for dtype in COMPLEXES:
        x, y = (v.astype(DTYPES[dtype]) for v in (np.repeat(all_of, len(all_of)), np.tile(all_of, len(all_of))))
        primitive(file, 'div', {}, lax.div, fixed(x, y), modes='n', label='(edges)', tolerance=Close(4))
        big = np.array([1e30 + 1e30j, 1e-30 + 2e-30j, 3e37 - 1e30j]).astype(DTYPES[dtype])
        primitive(file, 'div', {}, lax.div, fixed(big, big[::1] * DTYPES[dtype].type(2)), modes='n', label='(large)',
                  tolerance=Close(16, 1.0))


def conversions(file):
    for dtype, to in itertools.product(('c64', 'c128', 'f32', 'f16', 'bf16', 'f64', 'i32', 'u8', 'bool'), COMPLEXES):
        make = {'i32': integers('i32', (7,)), 'u8': integers('u8', (7,)), 'bool': booleans((7,))}.get(dtype)
        make = make or (complexes(dtype, (7,)) if dtype in COMPLEXES else floats(dtype, (7,)))
        fn = lambda x, to=to: lax.convert_element_type(x, DTYPES[to])
        primitive(file, 'convert_element_type', {'new_dtype': DType(to)}, fn, of(make), modes='nfrv')
    for dtype, to in itertools.product(COMPLEXES, ('f32', 'f64', 'f16', 'i32')):
        fn = lambda x, to=to: lax.convert_element_type(lax.real(x), DTYPES[to])
        primitive(file, 'convert_element_type', {'new_dtype': DType(to)}, fn, of(complexes(dtype, (7,))), modes='nfrv')


def reductions(file):
    for dtype in COMPLEXES:
        for axes in ((0,), (1,), (0, 1), (2, 0), ()):
            primitive(file, 'reduce_sum', {'axes': axes}, lambda x, a=axes: lax.reduce_sum(x, a),
                      of(complexes(dtype, (3, 4, 2))), label=f'({axes})', modes='nfrvFR', **LOOSE)
        for axes in ((0,), (1, 0)):
            primitive(file, 'reduce_prod', {'axes': axes}, lambda x, a=axes: lax.reduce_prod(x, a),
                      of(complexes(dtype, (3, 2))), label=f'({axes})', modes='nfrv', tolerance=Close(32, 8.0),
                      derivative=Close(256, 64.0))
        for prim, fn in (('cumsum', lax.cumsum), ('cumprod', lax.cumprod)):
            for reverse in (False, True):
                primitive(file, prim, {'axis': 1, 'reverse': reverse}, lambda x, f=fn, r=reverse: f(x, 1, r),
                          of(complexes(dtype, (2, 6))), label=f'({reverse})', modes='nfrv', tolerance=Close(32, 8.0),
                          derivative=Close(256, 64.0))
        dims = {'lhs_contract': [1], 'rhs_contract': [0], 'lhs_batch': [], 'rhs_batch': []}
        for n, k, m in ((2, 3, 4), (9, 20, 7)):
            primitive(file, 'dot_general', dims, lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))),
                      of(complexes(dtype, (n, k)), complexes(dtype, (k, m))), modes='nfrvFR' if n == 2 else 'nfr',
                      tolerance=Close(16, 16.0), derivative=Close(64, 64.0))


def cases(file):
    for part in (elementwise, functions, inverses, ordered, quotients, conversions, reductions):
        part(file)
