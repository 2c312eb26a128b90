"""Convolutions: every attribute, given and left out, in several layouts."""
from jax import lax

from case_file import DTYPES, NUMBERS, Close, DType
from elementwise_cases import of
from transforms import primitive
from values import floats, ordinary

# Shapes of lhs [n, c, ...] and rhs [o, i, ...], and attributes. Layouts permute the dimensions afterwards.
WINDOWS = [
    ((2, 3, 5), (4, 3, 2), {}),
    ((1, 2, 6, 5), (3, 2, 3, 2), {'window_strides': (2, 1), 'padding': (1, 2, 0, 1)}),
    ((2, 1, 5, 4), (2, 1, 2, 3), {'lhs_dilation': (2, 3), 'rhs_dilation': (3, 1), 'padding': (1, 0, 2, 2)}),
    ((1, 2, 7), (2, 2, 3), {'padding': (-1, -2)}),
    ((1, 2, 3), (2, 2, 5), {}),
    ((1, 2, 3), (2, 2, 5), {'padding': (4, 4), 'window_strides': (3,)}),
    ((2, 4, 5), (6, 2, 3), {'feature_group_count': 2, 'padding': (1, 1)}),
    ((2, 6, 4, 3), (6, 1, 2, 2), {'feature_group_count': 6}),
    ((4, 2, 5), (6, 2, 3), {'batch_group_count': 2, 'window_strides': (2,)}),
    ((6, 2, 4), (3, 2, 2), {'batch_group_count': 3, 'padding': (0, 1)}),
    ((1, 2, 3, 4, 3), (2, 2, 2, 1, 2), {'padding': (1, 0, 0, 0, 0, 1)}),
    ((3, 2), (4, 2), {}),
    ((0, 2, 4), (3, 2, 2), {}),
    ((2, 0, 4), (3, 0, 2), {}),
    ((2, 2, 4), (0, 2, 2), {}),
    ((2, 2, 0), (3, 2, 2), {'padding': (2, 1)}),
]
LAYOUTS = {4: [((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2)), ((2, 1, 3, 0), (1, 0, 3, 2), (3, 1, 0, 2))],
           3: [((0, 2, 1), (2, 1, 0), (0, 2, 1)), ((1, 2, 0), (0, 2, 1), (2, 0, 1))]}


def permuted(shape, spec):
    """The shape whose dimension spec[i] is shape[i]."""
    out = [0] * len(spec)
    for size, d in zip(shape, spec):
        out[d] = size
    return tuple(out)


def function(rank, attrs, preferred=None):
    n = rank - 2
    a = {'window_strides': (1,) * n, 'padding': (0,) * (2 * n), **attrs}
    padding = list(zip(a['padding'][::2], a['padding'][1::2]))
    numbers = lax.ConvDimensionNumbers(*(a.get(s, tuple(range(rank))) for s in ('lhs_spec', 'rhs_spec', 'out_spec')))
    return lambda x, w: lax.conv_general_dilated(
        x, w, a['window_strides'], padding, a.get('lhs_dilation'), a.get('rhs_dilation'), numbers,
        a.get('feature_group_count', 1), a.get('batch_group_count', 1), preferred_element_type=preferred)


def one(file, lhs, rhs, attrs, dtype, modes, label=''):
    make = of(floats(dtype, lhs), floats(dtype, rhs))
    primitive(file, 'conv_general_dilated', attrs, function(len(lhs), attrs), make, label=label or f'({lhs},{rhs})',
              modes=modes, tolerance=Close(16, 16.0), derivative=Close(32, 32.0))


def cases(file):
    for lhs, rhs, attrs in WINDOWS:
        one(file, lhs, rhs, attrs, 'f32', 'nfrv' if 0 in lhs + rhs else 'nfrvFRJ')
    for lhs, rhs, attrs in WINDOWS:
        for specs in LAYOUTS.get(len(lhs), []) if 0 not in lhs + rhs else []:
            named = dict(zip(('lhs_spec', 'rhs_spec', 'out_spec'), specs))
            one(file, permuted(lhs, specs[0]), permuted(rhs, specs[1]), {**attrs, **named}, 'f32', 'nfrv',
                f'({lhs},{rhs},{specs})')
    # As large as libraries take them.
    nhwc = {'lhs_spec': (0, 3, 1, 2), 'rhs_spec': (3, 2, 0, 1), 'out_spec': (0, 3, 1, 2)}
    for attrs in ({'padding': (1, 1, 1, 1)}, {'window_strides': (2, 2), 'padding': (1, 0, 0, 1)},
                  {'rhs_dilation': (2, 2)}, {'lhs_dilation': (2, 2), 'padding': (1, 2, 1, 2)}):
        one(file, (2, 14, 13, 16), (3, 3, 16, 24), {**attrs, **nhwc}, 'f32', 'nfr')
        one(file, (2, 16, 14, 13), (24, 16, 3, 3), attrs, 'f32', 'nfr')
        one(file, (2, 14, 13, 16), (3, 3, 8, 24), {**attrs, **nhwc, 'feature_group_count': 2}, 'f64', 'nfr')
    for dtype in NUMBERS:
        make = of(ordinary(dtype, (1, 2, 4)), ordinary(dtype, (2, 2, 2)))
        primitive(file, 'conv_general_dilated', {'padding': (1, 0)}, function(3, {'padding': (1, 0)}), make,
                  modes='nfr', tolerance=Close(8, 8.0), derivative=Close(8, 8.0))
    for operand, preferred in (('bf16', 'f32'), ('f16', 'f32'), ('i8', 'i32'), ('f32', 'f64')):
        make = of(ordinary(operand, (1, 2, 4)), ordinary(operand, (2, 2, 2)))
        attrs = {'preferred_element_type': DType(preferred)}
        primitive(file, 'conv_general_dilated', attrs, function(3, {}, DTYPES[preferred]), make,
                  label=f'({preferred})', modes='nfrv' if preferred != 'i32' else 'n', tolerance=Close(8, 8.0),
                  derivative=Close(8, 8.0))
