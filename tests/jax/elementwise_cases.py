"""Elementwise primitives: one line of a table each."""
import jax
import numpy as np
from jax import lax
from jax._src.lax import lax as internal

from case_file import DTYPES, EXACT, FLOATS, INTS, NUMBERS, SIGNED, ALL, MOVABLE, Close, DType
from transforms import primitive
from values import booleans, floats, integers, ordinary, pairs, specials, whole_range

# name: function, low, high of ordinary values, ulps
UNARY = {
    'abs': (lax.abs, -2, 2, 0), 'neg': (lax.neg, -2, 2, 0), 'sign': (lax.sign, -2, 2, 0),
    'floor': (lax.floor, -5, 5, 0), 'ceil': (lax.ceil, -5, 5, 0), 'is_finite': (lax.is_finite, -5, 5, 0),
    'exp': (lax.exp, -3, 3, 4), 'exp2': (lax.exp2, -3, 3, 4), 'expm1': (lax.expm1, -3, 3, 6),
    'log': (lax.log, 0.1, 5, 4), 'log1p': (lax.log1p, -0.7, 5, 6), 'logistic': (lax.logistic, -5, 5, 6),
    'sqrt': (lax.sqrt, 0.1, 5, 1), 'rsqrt': (lax.rsqrt, 0.1, 5, 4), 'cbrt': (lax.cbrt, 0.1, 5, 4),
    'square': (lax.square, -3, 3, 0),
    'sin': (lax.sin, -6, 6, 4), 'cos': (lax.cos, -6, 6, 4), 'tan': (lax.tan, -1.2, 1.2, 8),
    'asin': (lax.asin, -0.9, 0.9, 8), 'acos': (lax.acos, -0.9, 0.9, 8), 'atan': (lax.atan, -5, 5, 6),
    'sinh': (lax.sinh, -3, 3, 8), 'cosh': (lax.cosh, -3, 3, 8), 'tanh': (lax.tanh, -3, 3, 8),
    'asinh': (lax.asinh, -5, 5, 8), 'acosh': (lax.acosh, 1.2, 5, 8), 'atanh': (lax.atanh, -0.9, 0.9, 64),
    'erf': (lax.erf, -3, 3, 8), 'erfc': (lax.erfc, -3, 3, 32), 'erf_inv': (lax.erf_inv, -0.9, 0.9, 16),
    'lgamma': (lax.lgamma, 0.2, 8, 64), 'digamma': (lax.digamma, 0.2, 8, 64),
}
# XLA's own results for these are inaccurate with cancellation or huge arguments.
SPECIAL_VALUES = ('abs', 'neg', 'sign', 'floor', 'ceil', 'is_finite', 'exp', 'expm1', 'log', 'log1p', 'logistic',
                  'sqrt', 'rsqrt', 'square', 'sin', 'cos', 'atan', 'tanh', 'erf', 'cbrt')
BINARY = {
    'add': (lax.add, 0), 'sub': (lax.sub, 0), 'mul': (lax.mul, 0), 'div': (lax.div, 0), 'rem': (lax.rem, 0),
    'max': (lax.max, 0), 'min': (lax.min, 0), 'pow': (lax.pow, 16), 'atan2': (lax.atan2, 8),
    'nextafter': (lax.nextafter, 0),
}
COMPARE = {
    'eq': lax.eq, 'ne': lax.ne, 'lt': lax.lt, 'le': lax.le, 'gt': lax.gt, 'ge': lax.ge,
    'eq_to': internal.eq_to_p.bind, 'lt_to': internal.lt_to_p.bind, 'le_to': internal.le_to_p.bind,
}
BITS = {'and': lax.bitwise_and, 'or': lax.bitwise_or, 'xor': lax.bitwise_xor}
SHIFTS = {'shift_left': lax.shift_left, 'shift_right_logical': lax.shift_right_logical,
          'shift_right_arithmetic': lax.shift_right_arithmetic}


def of(*makers):
    return lambda rng: [m(rng) for m in makers]


def fixed(*arrays):
    return lambda rng: list(arrays)


def unary(file):
    for prim, (fn, low, high, ulps) in UNARY.items():
        tolerance = Close(ulps, 1.0 if ulps else 0.0)
        one = dict(tolerance=tolerance, derivative=Close(64, 1.0))
        first, second = 'nfr', 'FH'
        for dtype in FLOATS:
            primitive(file, prim, {}, fn, of(floats(dtype, (3, 5), low, high)), modes=first, **one)
            if prim in SPECIAL_VALUES:
                primitive(file, prim, {}, fn, fixed(specials(dtype)), modes='n', **one)
        primitive(file, prim, {}, fn, of(floats('f32', (2, 3), low, high)), modes='v' + second, **one)
        for shape in ((), (0,), (2, 1, 3, 2)):
            primitive(file, prim, {}, fn, of(floats('f32', shape, low, high)), modes=first, **one)
        if prim in ('abs', 'neg', 'sign', 'square'):
            for dtype in SIGNED if prim == 'abs' else INTS:
                primitive(file, prim, {}, fn, of(whole_range(dtype, (7,))), modes='nv')


def unary_with_attributes(file):
    for method in (0, 1):
        fn = lambda x, m=method: lax.round(x, lax.RoundingMethod(m))
        for dtype in FLOATS:
            halves = np.arange(-3.5, 4, 0.5).astype(DTYPES[dtype])
            primitive(file, 'round', {'rounding_method': method}, fn, fixed(halves), modes='nfv')
            primitive(file, 'round', {'rounding_method': method}, fn, fixed(specials(dtype)), modes='n')
    for y in (-3, -2, -1, 0, 1, 2, 3, 4, 7):
        for dtype in FLOATS + (('i32', 'u8') if y >= 0 else ()):
            make = floats(dtype, (4,), 0.5, 1.5) if dtype in FLOATS else integers(dtype, (4,))
            primitive(file, 'integer_pow', {'y': y}, lambda x, y=y: lax.integer_pow(x, y), of(make), label=f'({y})',
                      modes='nfrv', tolerance=Close(8))
    for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (11, 52), (2, 0)):
        for dtype in FLOATS:
            fn = lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m)
            attrs = {'exponent_bits': exponent, 'mantissa_bits': mantissa}
            label = f'({exponent},{mantissa})'
            primitive(file, 'reduce_precision', attrs, fn, of(floats(dtype, (33,), -9, 9)), label=label, modes='nfrv')
            primitive(file, 'reduce_precision', attrs, fn, fixed(specials(dtype)), label=label, modes='n')
    for dtype in ALL:
        primitive(file, 'copy', {}, lambda x: lax.copy_p.bind(x), of(ordinary(dtype, (2, 3))), modes='nfrv')
        primitive(file, 'stop_gradient', {}, lax.stop_gradient, of(ordinary(dtype, (2, 3))), modes='nv')


def binary(file):
    for prim, (fn, ulps) in BINARY.items():
        low, high = (0.3, 3.0) if prim in ('pow', 'div', 'rem') else (-2.0, 2.0)
        one = dict(tolerance=Close(ulps, 1.0 if ulps else 0.0), derivative=Close(32, 4.0))
        modes = 'n' if prim == 'nextafter' else 'nfr'
        for dtype in FLOATS:
            if prim == 'nextafter' and dtype in ('f16', 'bf16'):
                continue
            make = of(floats(dtype, (3, 5), low, high), floats(dtype, (3, 5), low, high))
            primitive(file, prim, {}, fn, make, modes=modes, **one)
            special = specials(dtype)
            if prim in ('max', 'min'):  # it is not defined which zero is larger
                special = special[~np.signbit(special) | (special != 0)]
            if prim == 'rem':
                special = special[~(np.abs(special.astype(np.float64)) >= 1000)]
            if prim == 'nextafter':
                special = special[special != 0]
            primitive(file, prim, {}, fn, fixed(*pairs(special)), modes='n', **one)
        if prim == 'div':  # XLA multiplies by the reciprocal if the divisor is broadcast
            one['tolerance'] = Close(1)
        make = of(floats('f32', (2, 3), low, high), floats('f32', (2, 3), low, high))
        primitive(file, prim, {}, fn, make, modes='v' if prim == 'nextafter' else 'vFRH', **one)
        for shape in ((), (0, 2), (2, 1, 3, 2)):
            make = of(floats('f32', shape, low, high), floats('f32', shape, low, high))
            primitive(file, prim, {}, fn, make, modes=modes, **one)
    for prim in ('add', 'sub', 'mul', 'div', 'rem', 'max', 'min'):
        for dtype in INTS:
            values = np.unique(np.array([np.iinfo(DTYPES[dtype]).min, np.iinfo(DTYPES[dtype]).max, 0, 1, 2, 3, 7, 100]
                                        + ([-1, -3, -8] if dtype in SIGNED else []), DTYPES[dtype]))
            primitive(file, prim, {}, BINARY[prim][0], fixed(*pairs(values)), modes='n')
    for dtype in ('f32', 'f64'):
        for exponent in ('i32', 'u8'):
            make = of(floats(dtype, (6,), 0.3, 2), integers(exponent, (6,), 0, 6))
            primitive(file, 'pow', {}, lax.pow, make, tolerance=Close(16))


def logic(file):
    rng = file.numbers('logic')
    for prim, fn in COMPARE.items():
        dtypes = FLOATS if prim.endswith('_to') else ALL
        for dtype in dtypes:
            if dtype == 'bool':
                a, b = pairs(np.array([False, True]))
            elif dtype in FLOATS:
                a, b = pairs(specials(dtype))
            else:
                a, b = pairs(whole_range(dtype, (6,))(rng))
            primitive(file, prim, {}, fn, fixed(a, b), modes='n')
        primitive(file, prim, {}, fn, of(floats('f32', (2, 3)), floats('f32', (2, 3))), modes='v')
    for prim, fn in BITS.items():
        for dtype in ('bool',) + INTS:
            make = booleans((2, 5)) if dtype == 'bool' else whole_range(dtype, (2, 5))
            primitive(file, prim, {}, fn, of(make, make), modes='nv' if dtype in ('bool', 'i32') else 'n')
    for dtype in ('bool',) + INTS:
        make = booleans((5,)) if dtype == 'bool' else whole_range(dtype, (9,))
        primitive(file, 'not', {}, lax.bitwise_not, of(make), modes='nv')
        if dtype == 'bool':
            continue
        primitive(file, 'population_count', {}, lax.population_count, of(make), modes='nv')
        primitive(file, 'clz', {}, lax.clz, of(make), modes='nv')
        shifts = np.array([0, 1, 3, 7, 8, 15, 31, 32, 63, 64, 100, 127, -1][:13 if dtype in SIGNED else 12])
        a, b = np.repeat(make(rng), len(shifts)), np.tile(shifts, 9).astype(DTYPES[dtype])
        for prim, fn in SHIFTS.items():
            primitive(file, prim, {}, fn, fixed(a, b), modes='nv')
        if dtype in ('i32', 'u32', 'i64', 'u64'):
            primitive(file, 'mulhi', {}, internal.mulhi_p.bind, of(make, make), modes='nv')


def choice(file):
    for dtype in MOVABLE:
        make = of(booleans((3, 2)), ordinary(dtype, (3, 2)), ordinary(dtype, (3, 2)))
        primitive(file, 'select_n', {}, lax.select_n, make, modes='nfrv')
        scalar = of(booleans(()), ordinary(dtype, (3, 2)), ordinary(dtype, (3, 2)))
        primitive(file, 'select_n', {}, lax.select_n, scalar, modes='n' if dtype != 'f32' else 'nfrv')
    make = of(integers('i32', (3, 2), 0, 3), *[floats('f32', (3, 2))] * 3)
    primitive(file, 'select_n', {}, lax.select_n, make, modes='nfrvFR')
    for dtype in NUMBERS:
        number = floats if dtype in FLOATS else integers
        limits = (number(dtype, (), 0, 3), number(dtype, (), 4, 7))
        full = (number(dtype, (2, 3), 0, 3), number(dtype, (2, 3), 4, 7))
        for low, high in (limits, full):
            clamp = of(low, number(dtype, (2, 3), 0, 9), high)
            # JAX cannot differentiate with respect to scalar limits.
            active = [(low, high) == full, True, (low, high) == full] if dtype == 'f32' else None
            primitive(file, 'clamp', {}, lax.clamp, clamp, modes='nfrv' if dtype == 'f32' else 'n', active=active)
        if dtype in FLOATS:
            x = specials(dtype)
            make = fixed(np.array(-1, x.dtype), x, np.array(1, x.dtype))
            primitive(file, 'clamp', {}, lax.clamp, make, modes='n')


def conversions(file):
    for source in ALL:
        for target in ALL:
            fn = lambda x, t=target: lax.convert_element_type(x, DTYPES[t])
            attrs = {'new_dtype': DType(target)}
            if source in FLOATS and target in INTS:
                make = floats(source, (9,), 0 if target.startswith('u') else -100, 100)
            elif source in FLOATS or source == 'bool':
                make = ordinary(source, (9,))
            else:
                make = whole_range(source, (9,))
            both = source in FLOATS and target in FLOATS
            primitive(file, 'convert_element_type', attrs, fn, of(make), label=f'({target})',
                      modes='nfrv' if both else 'n', derivative=EXACT)
            if source in FLOATS and (target in FLOATS or target == 'bool'):
                primitive(file, 'convert_element_type', attrs, fn, fixed(specials(source)), label=f'({target})',
                          modes='n')
    for source, target in (('f32', 'i32'), ('i32', 'f32'), ('u64', 'f64'), ('f64', 'i64'), ('f16', 'u16'), ('bf16', 'i16'),
                           ('i8', 'u8'), ('f32', 'u8'), ('f64', 'u32'), ('u32', 'u16'), ('u64', 'i8')):
        make = ordinary(source, (3, 2))
        fn = lambda x, t=target: lax.bitcast_convert_type(x, DTYPES[t])
        primitive(file, 'bitcast_convert_type', {'new_dtype': DType(target)}, fn, of(make), label=f'({target})',
                  modes='nv')
    for source, target, n in (('u8', 'f32', 4), ('u32', 'f64', 2), ('u16', 'u64', 4), ('i8', 'i16', 2)):
        make = whole_range(source, (3, n)) if source != 'u8' else integers('u8', (3, n), 1, 60)
        fn = lambda x, t=target: lax.bitcast_convert_type(x, DTYPES[t])
        primitive(file, 'bitcast_convert_type', {'new_dtype': DType(target)}, fn, of(make), label=f'({target})',
                  modes='nv', axes=[([0], [0]), ([1], [1])])


def cases(file):
    for part in (unary, unary_with_attributes, binary, logic, choice, conversions):
        part(file)
