"""Reductions over windows and by programs: every attribute, given and left out, and the derivatives of max pooling."""
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import windowed_reductions as windowed

from case_file import ALL, COMPLEXES, DTYPES, FLOATS, NUMBERS, Body, Close
from elementwise_cases import of
from transforms import primitive
from values import floats, integers, ordinary

# Shapes and attributes.
WINDOWS = [
    ((2, 5), {'window_dimensions': (1, 3)}),
    ((4, 6), {'window_dimensions': (2, 3), 'window_strides': (2, 3)}),
    ((5, 4), {'window_dimensions': (3, 2), 'window_strides': (2, 1), 'padding': (1, 1, 0, 1)}),
    ((5,), {'window_dimensions': (3,), 'padding': (2, 1), 'base_dilation': (2,)}),
    ((7,), {'window_dimensions': (2,), 'window_dilation': (3,), 'padding': (0, 2)}),
    ((4, 3), {'window_dimensions': (3, 2), 'padding': (3, 2, 1, 1), 'base_dilation': (3, 1), 'window_dilation': (2, 1),
              'window_strides': (2, 1)}),
    ((6,), {'window_dimensions': (2,), 'window_strides': (3,), 'padding': (-1, -1)}),
    ((3,), {'window_dimensions': (8,), 'padding': (6, 7), 'window_strides': (2,)}),
    ((3,), {'window_dimensions': (5,)}),
    ((2, 6, 6, 3), {'window_dimensions': (1, 2, 2, 1), 'window_strides': (1, 2, 2, 1)}),
    ((2, 5, 5, 2), {'window_dimensions': (1, 3, 3, 1), 'padding': (0, 0, 1, 1, 1, 1, 0, 0)}),
]
CONV = Close(4, 4.0)


def lists(attrs):
    """The attributes as JAX takes them: those left out too, padding in pairs."""
    n = len(attrs['window_dimensions'])
    padding = attrs.get('padding', (0,) * (2 * n))
    ones = (1,) * n
    return (attrs['window_dimensions'], attrs.get('window_strides', ones), list(zip(padding[::2], padding[1::2])),
            attrs.get('base_dilation', ones), attrs.get('window_dilation', ones))


def scatters(attrs):
    """Whether JAX has select_and_scatter_add, the reverse mode of an extremum, for these windows."""
    return 'window_dilation' not in attrs and min(attrs.get('padding', (0,))) >= 0


def has_empty_window(shape, attrs):
    """Then the extremum is infinite."""
    counts = windowed._reduce_window_sum(jnp.ones(shape), *lists(attrs))
    return bool((counts == 0).any())


def pooling(file):
    functions = {'reduce_window_sum': windowed._reduce_window_sum, 'reduce_window_max': windowed._reduce_window_max,
                 'reduce_window_min': windowed._reduce_window_min}
    for name, f in functions.items():
        exact = {} if name != 'reduce_window_sum' else {'tolerance': CONV}
        for shape, attrs in WINDOWS if name != 'reduce_window_min' else WINDOWS[1:4]:
            reverse = 'rR' if name == 'reduce_window_sum' or scatters(attrs) else ''
            primitive(file, name, attrs, lambda x, f=f, a=attrs: f(x, *lists(a)), of(floats('f32', shape)),
                      label=str(shape), modes='nfvFJ' + reverse, derivative=CONV, **exact)
        attrs = {'window_dimensions': (2, 2), 'padding': (0, 0, 0, 1)}
        for dtype in (NUMBERS + COMPLEXES if name == 'reduce_window_sum' else ALL):
            primitive(file, name, attrs, lambda x, f=f, a=attrs: f(x, *lists(a)), of(ordinary(dtype, (3, 4))),
                      modes='nfr', derivative=CONV, **exact)
    special = np.array([np.nan, 1, -np.inf, -np.inf, 2, np.inf, np.nan, -0.0, 0.0], np.float32)
    for name in ('reduce_window_max', 'reduce_window_min'):
        attrs = {'window_dimensions': (2,), 'padding': (0, 1)}
        primitive(file, name, attrs, lambda x, f=functions[name], a=attrs: f(x, *lists(a)), of(lambda r: special),
                  label='special', modes='n')
    primitive(file, 'reduce_window_sum', {'window_dimensions': ()},
              lambda x: windowed._reduce_window_sum(x, (), (), [], (), ()), of(floats('f32', ())), modes='nfr')


def choices(file):
    """Ties go to the first; elements that repeat show it. XLA runs through some padded windows of several dimensions in
    another order than that of the elements, so these have no ties."""
    for select, prim in (('ge', lax.ge_p), ('le', lax.le_p)):
        for shape, attrs in WINDOWS if select == 'ge' else WINDOWS[1:3]:
            gather = lambda t, x, p=prim, a=attrs: windowed._select_and_gather_add(t, x, p, *lists(a))
            named = {'select_prim': select, **attrs}
            ties = 'padding' not in attrs or sum(n > 1 for n in attrs['window_dimensions']) < 2
            operand = (lambda r, s=shape: r.integers(0, 4, s).astype(np.float32)) if ties else floats('f32', shape)
            reverse = 'rR' if scatters(attrs) else ''
            options = {'active': [True, False], 'derivative': CONV}
            primitive(file, 'select_and_gather_add', named, gather, of(floats('f32', shape), operand),
                      label=str(shape), modes='nfvF' + reverse, **options)
            if 'base_dilation' in attrs or not scatters(attrs):
                continue
            window, strides, padding, _, _ = lists(attrs)
            source = windowed._reduce_window_sum(jnp.ones(shape), *lists(attrs)).shape
            scatter = lambda s, x, p=prim, w=window, st=strides, pad=padding: windowed._select_and_scatter_add(
                s, x, p, w, st, pad)
            primitive(file, 'select_and_scatter_add', named, scatter, of(floats('f32', source), operand),
                      label=str(shape), modes='nfrvFR', tolerance=CONV, **options)
        for dtype in FLOATS:
            attrs = {'select_prim': select, 'window_dimensions': (2,), 'window_strides': (2,)}
            rest = ((2,), (2,), [(0, 0)])
            primitive(file, 'select_and_gather_add', attrs,
                      lambda t, x, p=prim: windowed._select_and_gather_add(t, x, p, *rest, (1,), (1,)),
                      of(floats(dtype, (6,)), floats(dtype, (6,))), modes='n')
            primitive(file, 'select_and_scatter_add', attrs,
                      lambda s, x, p=prim: windowed._select_and_scatter_add(s, x, p, *rest),
                      of(floats(dtype, (3,)), floats(dtype, (6,))), modes='n')


# ---- by a program: the text of its equations, JAX's function, operands with their initial values ----
def body(dtypes, lines, results):
    names = ['%a', '%i', '%b', '%j'] if len(dtypes) == 2 else ['%a', '%b']
    params = ', '.join(f'{name}: {dtype}[]' for name, dtype in zip(names, list(dtypes) * 2))
    return Body(f"program({params}) {{\n{lines}  return {', '.join(results)}\n}}")


def union(dtype):
    text = f'  %s: {dtype}[] = add(%a, %b)\n  %p: {dtype}[] = mul(%a, %b)\n  %y: {dtype}[] = sub(%s, %p)\n'
    return body([dtype], text, ['%y']), lambda a, b: a + b - a * b


def one(dtype, name, f):
    return body([dtype], f'  %y: {dtype}[] = {name}(%a, %b)\n', ['%y']), f


def best(dtype):
    text = (f'  %g: bool[] = ge(%a, %b)\n  %y: {dtype}[] = select_n(%g, %b, %a)\n'
            '  %k: i32[] = select_n(%g, %j, %i)\n')

    def f(x, y):
        first = x[0] >= y[0]
        return lax.select(first, x[0], y[0]), lax.select(first, x[1], y[1])
    return body([dtype, 'i32'], text, ['%y', '%k']), f


def reduced(f, dims):
    return lambda *xs: lax.reduce(xs[:len(xs) // 2], xs[len(xs) // 2:], pairwise(f, len(xs) // 2), dims)


def reduced_windows(f, attrs):
    return lambda *xs: lax.reduce_window(xs[:len(xs) // 2], xs[len(xs) // 2:], pairwise(f, len(xs) // 2), *lists(attrs))


def pairwise(f, n):
    """Of tuples, as JAX passes them: new at each call, so that JAX does not put a reduction of its own in its place."""
    return (lambda x, y: (f(x[0], y[0]),)) if n == 1 else (lambda x, y: f(x, y))


def by_program(file):
    zero, minus = np.float32(0), np.float32(-np.inf)
    monoids = [(*union('f32'), zero), (*one('f32', 'mul', lax.mul), np.float32(1)),
               (*one('f32', 'max', lax.max), minus), (*one('f32', 'add', lax.add), zero)]
    options = {'active': [True, False], 'tolerance': Close(16, 8.0), 'derivative': Close(64, 16.0)}
    for n, (text, f, init) in enumerate(monoids):
        make = lambda shape, init=init: of(floats('f32', shape), lambda r: init)
        shapes = (((2, 3, 4), (1,)), ((5, 2, 3), (0, 2)), ((7,), (0,)), ((2, 3), ()), ((2, 0), (1,)))
        for shape, dims in shapes if n == 0 else shapes[1:3]:
            axes = [([0, None], [0]), ([len(shape), None], [0])]
            primitive(file, 'reduce', {'computation': text, 'dimensions': dims}, reduced(f, dims), make(shape),
                      label=f'{n}{dims}', modes='nv' if 0 in shape else 'nfrv', axes=axes, **options)
        for shape, attrs in WINDOWS[:8] if n < 2 else WINDOWS[2:4]:
            axes = [([0, None], [0]), ([len(shape), None], [0])]
            modes = 'nv' if has_empty_window(shape, attrs) else 'nfv'
            primitive(file, 'reduce_window', {'computation': text, **attrs}, reduced_windows(f, attrs),
                      make(shape), label=f'{n}{shape}', modes=modes, axes=axes, **options)
    for dtype in FLOATS + ('i32', 'u8', 'c64'):
        text, f = union(dtype)
        make = of(ordinary(dtype, (3, 4)), lambda r, d=dtype: np.zeros((), DTYPES[d]))
        primitive(file, 'reduce', {'computation': text, 'dimensions': (1,)}, reduced(f, (1,)), make,
                  modes='nfr' if dtype not in ('i32', 'u8') else 'n', **options)
    text, f = best('f32')
    make = of(floats('f32', (4, 5)), integers('i32', (4, 5)), lambda r: minus, lambda r: np.int32(-1))
    axes = [([0, 1, None, None], [0, 0]), ([2, None, None, None], [0, 0])]
    primitive(file, 'reduce', {'computation': text, 'dimensions': (0,)}, reduced(f, (0,)), make, modes='nv',
              axes=axes)
    attrs = {'window_dimensions': (2, 3), 'padding': (0, 1, 0, 0)}
    primitive(file, 'reduce_window', {'computation': text, **attrs}, reduced_windows(f, attrs), make, modes='nv',
              axes=axes)


def cases(file):
    pooling(file)
    choices(file)
    by_program(file)
