"""Floats of 8 and 4 bits: conversions of all values, arithmetic, and the primitives that move elements.

Left out is what XLA computes otherwise than ml_dtypes does (f4 of NaN, integers of the greatest f4), its flushing of
small numbers of f8e8m0fnu to zero, thus NaN, its nextafter, which takes the top bit for a sign, reductions of f8e8m0fnu, which
start with a zero there, and functions of which XLA rounds each step to f4 or f8e8m0fnu.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from case_file import ALL, DTYPES, EXACT, FLOATS, INTS, TINY, Close, DType
from elementwise_cases import BINARY, COMPARE, UNARY, fixed, of
from transforms import primitive
from values import floats, pairs, whole_range

# Functions that XLA computes in one step.
ONE_STEP = ('exp', 'sqrt')
SIGNED_TINY = tuple(d for d in TINY if d != 'f8e8m0fnu')
MATRIX = ((1,), (0,)), ((), ())


def every(dtype):
    """All values of a dtype."""
    return np.arange(16 if dtype == 'f4e2m1fn' else 256, dtype=np.uint8).view(DTYPES[dtype])


def some(dtype, shape):
    """Values of moderate size."""
    return floats(dtype, shape, 0.25 if dtype == 'f8e8m0fnu' else -2.0, 2.0)


def edges(source, dtype):
    """Numbers of `source` around all values of `dtype` and halfway between them."""
    x = every(dtype).astype(np.float64)
    x = x[np.isfinite(x)]
    x = x[np.lexsort((~np.signbit(x), x))]  # -0 before 0: what np.sort does with them depends on the processor
    with np.errstate(all='ignore'):
        x = np.concatenate([x, (x[1:] + x[:-1]) / 2, 2 * x[[0, -1]], 1.4 * x[[0, -1]]]).astype(np.float32)
        x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(-np.inf)),
                            np.float32([np.inf, -np.inf] + [np.nan] * (dtype != 'f4e2m1fn'))]).astype(DTYPES[source])
    return x[np.abs(x.astype(np.float64)) >= 2.0**-126] if dtype == 'f8e8m0fnu' else x


def conversions(file):
    rng = file.numbers('conversions')
    for dtype in TINY:
        for target in ALL + TINY:
            values = every(dtype)
            if dtype == 'f4e2m1fn' and target in INTS:
                values = values[(values != 6) & (values != -6)]
            if target == 'f4e2m1fn':
                values = values[~np.isnan(values.astype(np.float32))]
            fn = lambda x, t=target: lax.convert_element_type(x, DTYPES[t])
            primitive(file, 'convert_element_type', {'new_dtype': DType(target)}, fn, fixed(values),
                      label=f'({target})', modes='n')
        fn = lambda x, t=dtype: lax.convert_element_type(x, DTYPES[t])
        attrs = {'new_dtype': DType(dtype)}
        for source in FLOATS:
            primitive(file, 'convert_element_type', attrs, fn, fixed(edges(source, dtype)), label=f'({dtype})',
                      modes='n')
        for source in INTS:
            primitive(file, 'convert_element_type', attrs, fn, of(whole_range(source, (70,))), label=f'({dtype})',
                      modes='n')
        primitive(file, 'convert_element_type', attrs, fn, of(floats('f32', (3, 2), 0.5, 2)), label=f'({dtype})',
                  modes='frv', derivative=EXACT)
    for dtype in TINY[:3]:
        for source, target, x in ((dtype, 'u8', every(dtype)), ('i8', dtype, np.arange(-128, 128).astype(np.int8)),
                                  (dtype, 'i32', every(dtype).reshape(64, 4)),
                                  ('u16', dtype, rng.integers(0, 1 << 16, 9).astype(np.uint16))):
            fn = lambda v, t=target: lax.bitcast_convert_type(v, DTYPES[t])
            primitive(file, 'bitcast_convert_type', {'new_dtype': DType(target)}, fn, fixed(x), label=f'({target})',
                      modes='n')


def arithmetic(file):
    rng = file.numbers('arithmetic')
    for dtype in TINY:
        values = every(dtype)
        if dtype == 'f8e8m0fnu':
            values = values[64:190]  # whose products and quotients are in the range
        both = pairs(values if len(values) == 16 else rng.choice(values, 40))
        for prim, (fn, _, _, ulps) in UNARY.items():
            if prim == 'erfc':  # XLA has none
                continue
            if ulps and dtype in TINY[2:] and prim not in ONE_STEP:
                continue
            x = values if ulps == 0 or prim in ONE_STEP else some(dtype, (9,))(rng)
            primitive(file, prim, {}, fn, fixed(x), modes='n', tolerance=Close(1 if ulps else 0))
        for prim in ('add', 'sub', 'mul', 'div', 'max', 'min'):
            kept = (both[0] != 0) | (both[1] != 0) | (dtype != 'f4e2m1fn') if prim == 'div' else slice(None)
            primitive(file, prim, {}, BINARY[prim][0], fixed(both[0][kept], both[1][kept]), modes='n')
        for prim in COMPARE:
            primitive(file, prim, {}, COMPARE[prim], fixed(*both), modes='n')
        if dtype != 'f8e8m0fnu':
            primitive(file, 'nextafter', {}, lax.nextafter, fixed(*pairs(every(dtype))), modes='n')
        for exponent, mantissa in ((4, 1), (3, 2), (2, 0), (5, 1), (8, 7), (11, 30)):
            fn = lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m)
            primitive(file, 'reduce_precision', {'exponent_bits': exponent, 'mantissa_bits': mantissa}, fn,
                      fixed(every(dtype)), label=f'({exponent},{mantissa})', modes='nv')
        primitive(file, 'select_n', {}, lax.select_n, fixed(rng.integers(0, 2, len(both[0])).astype(np.bool_), *both),
                  modes='n')
        primitive(file, 'clamp', {}, lax.clamp, of(*[some(dtype, (5,))] * 3), modes='n')
        for method in (0, 1):
            fn = lambda x, m=method: lax.round(x, lax.RoundingMethod(m))
            primitive(file, 'round', {'rounding_method': method}, fn, fixed(values), modes='n')
    for dtype in SIGNED_TINY:
        for prim in ('add', 'sub', 'mul'):
            primitive(file, prim, {}, BINARY[prim][0], of(some(dtype, (3,)), some(dtype, (3,))), modes='frv',
                      derivative=EXACT)


def movement(file):
    rows = jnp.array([[2], [0], [7]], np.int32)
    for dtype in TINY:
        x, one = of(some(dtype, (3, 4))), of(some(dtype, (3, 4)), some(dtype, ()))
        case = lambda prim, attrs, fn, make, modes='nv', **more: primitive(file, prim, attrs, fn, make, modes=modes, **more)
        case('reshape', {'new_sizes': (2, 6)}, lambda v: lax.reshape(v, (2, 6)), x)
        case('transpose', {'permutation': (1, 0)}, lambda v: lax.transpose(v, (1, 0)), x)
        case('rev', {'dimensions': (1,)}, lambda v: lax.rev(v, (1,)), x)
        case('broadcast_in_dim', {'shape': (2, 3, 4), 'broadcast_dimensions': (1, 2)},
             lambda v: lax.broadcast_in_dim(v, (2, 3, 4), (1, 2)), x)
        case('slice', {'start_indices': (1, 0), 'limit_indices': (3, 4), 'strides': (1, 2)},
             lambda v: lax.slice(v, (1, 0), (3, 4), (1, 2)), x)
        case('pad', {'low': (1, 0), 'high': (0, -1), 'interior': (0, 1)},
             lambda v, p: lax.pad(v, p, ((1, 0, 0), (0, -1, 1))), one)
        case('concatenate', {'dimension': 1}, lambda a, b: lax.concatenate([a, b], 1),
             of(some(dtype, (3, 4)), some(dtype, (3, 2))))
        case('gather', {'offset_dims': (1,), 'collapsed_slice_dims': (0,), 'start_index_map': (0,), 'slice_sizes': (1, 4),
                        'mode': 'clip'},
             lambda v, i: lax.gather(v, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode='clip'),
             lambda g: [some(dtype, (3, 4))(g), rows], 'n')
        case('scatter', {'update_window_dims': (1,), 'inserted_window_dims': (0,), 'scatter_dims_to_operand_dims': (0,),
                         'mode': 'fill'},
             lambda v, i, u: lax.scatter(v, i, u, lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode='fill'),
             lambda g: [some(dtype, (3, 4))(g), rows, some(dtype, (3, 4))(g)], 'n')
        case('dynamic_slice', {'slice_sizes': (2, 3)}, lambda v, i, j: lax.dynamic_slice(v, (i, j), (2, 3)),
             lambda g: [some(dtype, (3, 4))(g), np.int32(1), np.int32(5)], 'n')
        case('sort', {'dimension': 1, 'is_stable': True, 'num_keys': 1}, lambda v: lax.sort(v, dimension=1),
             of(some(dtype, (3, 7))), 'n')


def reductions(file):
    for dtype in SIGNED_TINY:
        x = of(some(dtype, (5, 3)))
        for prim, fn in (('reduce_sum', lax.reduce_sum), ('reduce_prod', lax.reduce_prod), ('reduce_max', lax.reduce_max),
                         ('reduce_min', lax.reduce_min)):
            exact = prim in ('reduce_max', 'reduce_min')
            primitive(file, prim, {'axes': (0,)}, lambda v, f=fn: f(v, (0,)), x, modes='n',
                      tolerance=EXACT if exact else Close(2, 2.0))
        for prim, fn in (('cummax', lax.cummax), ('cummin', lax.cummin)):
            primitive(file, prim, {'axis': 0, 'reverse': False}, lambda v, f=fn: f(v, 0), x, modes='n')
        if dtype == 'f8e5m2':  # JAX begins with -inf, which of these types only this one has; it rounds every sum of two
            primitive(file, 'cumlogsumexp', {'axis': 0, 'reverse': True}, lambda v: lax.cumlogsumexp(v, 0, True),
                      of(some(dtype, (2, 3))), modes='nfrv', tolerance=Close(1, 1.0), derivative=Close(2, 1.0))
        primitive(file, 'symmetric_product', {}, lax.linalg.symmetric_product,
                  of(some(dtype, (3, 2)), some(dtype, (3, 3))), modes='nv', tolerance=Close(1))
        primitive(file, 'argmax', {'axes': (0,), 'index_dtype': DType('i32')}, lambda v: lax.argmax(v, 0, np.int32), x,
                  modes='n')
    for dtype in TINY[:2]:
        for preferred in ('f32', 'bf16', 'f16', dtype):
            fn = lambda a, b, p=preferred: lax.dot_general(a, b, MATRIX, preferred_element_type=DTYPES[p])
            attrs = {'lhs_contract': (1,), 'rhs_contract': (0,), 'preferred_element_type': DType(preferred)}
            primitive(file, 'dot_general', attrs, fn, of(some(dtype, (5, 7)), some(dtype, (7, 3))),
                      label=f'({preferred})', modes='nv', tolerance=Close(2, 2.0))


def cases(file):
    for part in (conversions, arithmetic, movement, reductions):
        part(file)
