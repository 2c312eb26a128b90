"""Reductions, arg-reductions, cumulative operations and products."""
import numpy as np
from jax import lax

from case_file import ALL, DTYPES, FLOATS, INTS, NUMBERS, Close, DType
from elementwise_cases import of
from transforms import primitive
from values import booleans, floats, integers, ordinary

SHAPES = (((5,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((3, 4), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,)),
          ((2, 3, 4, 2), (1, 3)), ((3, 4), ()), ((), ()), ((0, 3), (0,)), ((3, 0), (0,)), ((2, 1), (1,)), ((67,), (0,)))
REDUCE = {'reduce_sum': lax.reduce_sum, 'reduce_prod': lax.reduce_prod, 'reduce_max': lax.reduce_max,
          'reduce_min': lax.reduce_min, 'reduce_and': lax.reduce_and, 'reduce_or': lax.reduce_or,
          'reduce_xor': lax.reduce_xor}


def bound(reduce, axes):
    return lambda x: reduce(x, axes)


def reductions(file):
    for prim, p in REDUCE.items():
        logical = prim in ('reduce_and', 'reduce_or', 'reduce_xor')
        for shape, axes in SHAPES:
            if logical:
                primitive(file, prim, {'axes': axes}, bound(p, axes=axes), of(booleans(shape)), label=f'({axes})',
                          modes='nv')
                continue
            if prim != 'reduce_sum' and 0 in shape and prim != 'reduce_prod':
                primitive(file, prim, {'axes': axes}, bound(p, axes=axes), of(floats('f32', shape)),
                          label=f'({axes})', modes='n')
                continue
            primitive(file, prim, {'axes': axes}, bound(p, axes=axes), of(floats('f32', shape, 0.5, 1.5)),
                      label=f'({axes})', modes='nfrvFR' if len(shape) < 4 else 'nfr',
                      tolerance=Close(8 if prim in ('reduce_sum', 'reduce_prod') else 0, 4.0))
        for dtype in (('bool',) + INTS if logical else NUMBERS):
            primitive(file, prim, {'axes': (1,)}, bound(p, axes=(1,)), of(ordinary(dtype, (4, 9))), modes='n',
                      tolerance=Close(4, 4.0))
        if prim in ('reduce_max', 'reduce_min'):
            for dtype in FLOATS:
                x = np.array([[1, np.nan, 3], [np.inf, 2, 1], [-np.inf, -np.inf, -np.inf]], DTYPES[dtype])
                primitive(file, prim, {'axes': (1,)}, bound(p, axes=(1,)), lambda r, x=x: [x], modes='n')
            ties = np.array([[1, 1, 0], [2, 2, 2]], np.float32)
            primitive(file, prim, {'axes': (1,)}, bound(p, axes=(1,)), lambda r: [ties], label='(ties)', modes='fr')


def arg_reductions(file):
    for prim, fn in (('argmax', lax.argmax), ('argmin', lax.argmin)):
        for dtype in ALL:
            for shape, axis in (((6,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1)):
                for index in ('i32', 'i64', 'u8') if dtype == 'f32' else ('i32',):
                    primitive(file, prim, {'axes': [axis], 'index_dtype': DType(index)},
                              lambda x, a=axis, i=index, f=fn: f(x, a, DTYPES[i]), of(ordinary(dtype, shape)),
                              label=f'({axis},{index})', modes='nv' if dtype == 'f32' else 'n')
        x = np.array([[1, np.nan, 3, np.nan], [2, 2, 1, 1], [np.inf, -np.inf, np.inf, 0]], np.float32)
        primitive(file, prim, {'axes': [1], 'index_dtype': DType('i32')}, lambda x, f=fn: f(x, 1, np.int32),
                  lambda r: [x], modes='n')


def cumulative(file):
    for prim, fn in (('cumsum', lax.cumsum), ('cumprod', lax.cumprod), ('cummax', lax.cummax), ('cummin', lax.cummin),
                     ('cumlogsumexp', lax.cumlogsumexp)):
        for shape, axis in (((6,), 0), ((1,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 5, 3), 1), ((0, 2), 0)):
            for reverse in (False, True):
                modes = 'n' if 0 in shape else 'nfrv'
                primitive(file, prim, {'axis': axis, 'reverse': reverse},
                          lambda x, f=fn, a=axis, r=reverse: f(x, a, r), of(floats('f32', shape, 0.5, 1.5)),
                          label=f'({axis},{reverse})', modes=modes, tolerance=Close(16, 4.0))
        dtypes = FLOATS if prim == 'cumlogsumexp' else NUMBERS
        for dtype in dtypes:
            primitive(file, prim, {'axis': 0, 'reverse': False}, lambda x, f=fn: f(x, 0), of(ordinary(dtype, (5,))),
                      modes='n', tolerance=Close(8, 4.0))
        # Equal elements: the shares of each. Infinities: of cumlogsumexp JAX has slopes only beside one of -inf, and
        # products of them depend on the order that XLA chooses.
        corners = {'ties': [1, 1, 1, 2, 2, 2, 2], 'zeros': [0, 0, -1, 0, 1, 0, 0], 'one': [1]}
        if prim != 'cumprod':
            corners |= {'low': [-np.inf, 1, 1, -np.inf, 2, 0, -np.inf], 'nan': [1, 1, np.nan, 2, -np.inf, 3, 3]}
        if prim in ('cummax', 'cummin'):
            corners |= {'infinite': [1, np.inf, 1, np.inf, -np.inf, -np.inf, 2]}
        for label, x in corners.items():
            for reverse in (False, True):
                primitive(file, prim, {'axis': 0, 'reverse': reverse}, lambda x, f=fn, r=reverse: f(x, 0, r),
                          lambda r, x=x: [np.array(x, np.float64)], label=f'({label},{reverse})', modes='nfrRH',
                          tolerance=Close(16, 4.0))


# lhs, rhs, lhs contract, rhs contract, lhs batch, rhs batch
PRODUCTS = [
    ((), (), (), (), (), ()), ((4,), (4,), (0,), (0,), (), ()), ((3,), (4,), (), (), (), ()),
    ((3, 4), (4,), (1,), (0,), (), ()), ((4,), (4, 3), (0,), (0,), (), ()), ((3, 4), (4, 5), (1,), (0,), (), ()),
    ((4, 3), (4, 5), (0,), (0,), (), ()), ((3, 4), (5, 4), (1,), (1,), (), ()), ((4, 3), (5, 4), (0,), (1,), (), ()),
    ((2, 3, 4), (2, 4, 5), (2,), (1,), (0,), (0,)), ((3, 2, 4), (4, 5, 2), (2,), (0,), (1,), (2,)),
    ((2, 3, 4), (4, 3, 5), (1, 2), (1, 0), (), ()), ((2, 3), (2, 3), (), (), (0, 1), (0, 1)),
    ((2, 3), (3, 2), (), (), (0, 1), (1, 0)), ((2, 3, 4), (2, 3, 5), (), (), (0,), (0,)),
    ((2, 2, 3, 4), (2, 4, 2, 5), (3,), (1,), (0, 1), (0, 2)), ((0, 3), (3, 2), (1,), (0,), (), ()),
    ((3, 0), (0, 2), (1,), (0,), (), ()), ((17, 33), (33, 19), (1,), (0,), (), ()),
]


def products(file):
    for lhs, rhs, lc, rc, lb, rb in PRODUCTS:
        attrs = {'lhs_contract': lc, 'rhs_contract': rc, 'lhs_batch': lb, 'rhs_batch': rb}
        numbers = ((lc, rc), (lb, rb))
        fn = lambda a, b, n=numbers: lax.dot_general(a, b, n)
        make = of(floats('f32', lhs), floats('f32', rhs))
        primitive(file, 'dot_general', attrs, fn, make, label=f'({lc},{rc},{lb},{rb})', modes='nfrvFR',
                  tolerance=Close(16, 16.0))
    matrix = ((1,), (0,)), ((), ())
    for dtype in NUMBERS:
        make = of(ordinary(dtype, (3, 4)), ordinary(dtype, (4, 2)))
        primitive(file, 'dot_general', {'lhs_contract': (1,), 'rhs_contract': (0,)},
                  lambda a, b: lax.dot_general(a, b, matrix), make, modes='nfr', tolerance=Close(4, 4.0))
    for operand, preferred in (('bf16', 'f32'), ('f16', 'f32'), ('i8', 'i32'), ('f32', 'f64'), ('u8', 'i32'), ('i16', 'i64')):
        make = of(ordinary(operand, (3, 4)), ordinary(operand, (4, 2)))
        fn = lambda a, b, p=preferred: lax.dot_general(a, b, matrix, preferred_element_type=DTYPES[p])
        attrs = {'lhs_contract': (1,), 'rhs_contract': (0,), 'preferred_element_type': DType(preferred)}
        primitive(file, 'dot_general', attrs, fn, make, label=f'({preferred})', modes='nfrv',
                  tolerance=Close(8, 8.0), derivative=Close(8, 8.0))

    algorithms = ('F16_F16_F16', 'F32_F32_F32', 'F64_F64_F64', 'BF16_BF16_F32', 'BF16_BF16_F32_X3', 'BF16_BF16_F32_X6')
    for precision in ('default', 'high', 'highest', *algorithms):
        for dtype in ('f32', 'f16') if precision in algorithms else ('f32',):
            narrow = precision.startswith('F16')
            make = of(floats(dtype, (3, 4)), floats(dtype, (4, 2)))
            attrs = {'lhs_contract': (1,), 'rhs_contract': (0,), 'precision': precision}
            tolerance = Close(4 * 2.0**13 if narrow and dtype == 'f32' else 8, 8.0)
            primitive(file, 'dot_general', attrs, lambda a, b, p=precision: lax.dot_general(a, b, matrix, p), make,
                      label=f'({precision})', modes='nfrv', tolerance=tolerance, derivative=tolerance)


# Shapes of lhs, rhs and group_sizes; dimension numbers as in PRODUCTS, the ragged one of lhs, that of the groups of rhs.
RAGGED = [
    ((7, 3), (3, 3, 4), (3,), (1,), (1,), (), (), 0, (0,)),
    ((2, 7, 3), (2, 3, 3, 4), (2, 3), (2,), (1,), (0,), (0,), 1, (2,)),
    ((2, 7, 3), (3, 2, 4), (2,), (2,), (0,), (), (), 1, (1,)),
    ((3, 7), (7, 2), (3,), (1,), (0,), (), (), 1, ()),
    ((2, 7, 3), (7, 3, 2), (3, 2), (2, 1), (1, 0), (), (), 1, ()),
    ((2, 4, 7), (2, 7, 2), (2, 3), (2,), (1,), (0,), (0,), 2, ()),
    ((4, 2, 3), (4, 3, 2), (2,), (2,), (1,), (0,), (0,), 0, ()),
]


def ragged_products(file):
    for lhs, rhs, sizes, lc, rc, lb, rb, ragged, group in RAGGED:
        attrs = {'lhs_contract': lc, 'rhs_contract': rc, 'lhs_batch': lb, 'rhs_batch': rb, 'lhs_ragged': (ragged,),
                 'rhs_group': group}
        numbers = lax.RaggedDotDimensionNumbers(((lc, rc), (lb, rb)), [ragged], list(group))
        fn = lambda a, b, s, n=numbers: lax.ragged_dot_general(a, b, s, n)
        for dtype in ('f32', 'bf16', 'c64', 'i32'):
            make = of(ordinary(dtype, lhs), ordinary(dtype, rhs), integers('i32', sizes, 0, 4))
            # JAX has a reverse mode only if the ragged dimension is free. It batches all operands or none, and fails if
            # there are dimensions before the ragged one.
            first = len(sizes) == 1 and (ragged == 0 or lc == (ragged,))
            modes = 'nf' + 'r' * len(group) + 'v' * first if dtype == 'f32' else 'n'
            primitive(file, 'ragged_dot_general', attrs, fn, make, label=f'{lhs}{rhs}', modes=modes,
                      tolerance=Close(16, 16.0), axes=[([0, 0, 0], [0])])


def cases(file):
    for part in (reductions, arg_reductions, cumulative, products, ragged_products):
        part(file)
