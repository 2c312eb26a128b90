"""The function of JAX for each primitive: name -> f(attributes, *operands), giving a result or a list of them.

Primitives of the same name and meaning in jax.lax take one word; the tables of tests/jax have many of them. Attributes
are those of a program's text; what is left out has the value that plugins/lax/PRIMITIVES.md states.
"""
import re

import jax
import jax._src.lax.linalg as linalg
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import lax as internal
from jax._src.lax import windowed_reductions as windowed
from jax._src.random.core import random_gamma_p
from jax.experimental import io_callback
from jax.extend.core.primitives import threefry2x32_p

import elementwise_cases
import nn_cases
import windows_cases
import xla_faults
from case_file import DTYPES
from indexing_cases import MODES, SCATTERS, approx_top_k
from reduction_cases import REDUCE
from special_cases import INCOMPLETE_GAMMA


def plain(f):
    return lambda a, *xs: f(*xs)


def tuples(attrs):
    return {k: tuple(v) if isinstance(v, list) else v for k, v in attrs.items()}


# ---- the same functions of one and two arrays ----
ROWS = {name: plain(f) for name, (f, *_) in (elementwise_cases.UNARY | elementwise_cases.BINARY).items()}
ROWS |= {name: plain(f) for table in (elementwise_cases.COMPARE, elementwise_cases.BITS, elementwise_cases.SHIFTS,
                                      INCOMPLETE_GAMMA) for name, f in table.items()}
ROWS |= {name: plain(getattr(lax, name)) for name in (
    'clz', 'complex', 'conj', 'imag', 'real', 'population_count', 'clamp', 'stop_gradient', 'bessel_i0e', 'bessel_i1e',
    'polygamma', 'zeta')}
ROWS |= {name: plain(lambda *xs: list(xs) if len(xs) > 1 else xs[0]) for name in ('copy', 'name')}
ROWS |= {
    'not': plain(lax.bitwise_not), 'mulhi': plain(internal.mulhi_p.bind), 'check': plain(lambda ok, x: x),
    'optimization_barrier': plain(lambda *xs: list(lax.optimization_barrier(xs))),
    'regularized_incomplete_beta': plain(lax.betainc), 'threefry2x32': plain(lambda *xs: list(threefry2x32_p.bind(*xs))),
    'convert_element_type': lambda a, x: convert(x, DTYPES[a['new_dtype']]),
    'bitcast_convert_type': lambda a, x: lax.bitcast_convert_type(x, DTYPES[a['new_dtype']]),
    'fma': plain(lambda x, y, z: x * y + z),
    'round': lambda a, x: lax.round(x, lax.RoundingMethod(a['rounding_method'])),
    'integer_pow': lambda a, x: lax.integer_pow(x, a['y']),
    'reduce_precision': lambda a, x: lax.reduce_precision(x, a['exponent_bits'], a['mantissa_bits']),
}


def convert(x, dtype):
    if jnp.iscomplexobj(x) and dtype.kind not in 'cb':
        x = lax.real(x)
    return lax.convert_element_type(x, dtype)


# ---- layout ----
def slice_(a, x):
    return lax.slice(x, a['start_indices'], a['limit_indices'], a.get('strides') or None)


def platform_index(a):
    groups = [g.split(',') for g in a['platforms'].split(';')]
    return np.int32(next(i for i, names in enumerate(groups) if {'cpu', '*'} & set(names)))


ROWS |= {
    'broadcast_in_dim': lambda a, x: lax.broadcast_in_dim(x, a['shape'], a['broadcast_dimensions']),
    'reshape': lambda a, x: lax.reshape(x, a['new_sizes']),
    'transpose': lambda a, x: lax.transpose(x, a['permutation']),
    'rev': lambda a, x: lax.rev(x, a['dimensions']),
    'squeeze': lambda a, x: lax.squeeze(x, a['dimensions']),
    'expand_dims': lambda a, x: lax.expand_dims(x, a['dimensions']),
    'slice': slice_,
    'pad': lambda a, x, v: lax.pad(x, v, list(zip(a['low'], a['high'], a['interior']))),
    'tile': lambda a, x: internal.tile_p.bind(x, reps=tuple(a['reps'])),
    'concatenate': lambda a, *xs: lax.concatenate(xs, a['dimension']),
    'stack': lambda a, *xs: internal.stack_p.bind(*xs, axis=a['axis']),
    'split': lambda a, x: list(lax.split(x, a['sizes'], a['axis'])),
    'unstack': lambda a, x: list(internal.unstack_p.bind(x, axis=a['axis'])),
    'iota': lambda a: lax.broadcasted_iota(DTYPES[a['dtype']], a['shape'], a['dimension']),
    'platform_index': platform_index,
}


# ---- positions ----
def numbers_of(a, first, second, third, batch, indices_batch):
    return [tuple(a.get(name, ())) for name in (first, second, third, batch, indices_batch)]


def gather(a, x, i):
    numbers = lax.GatherDimensionNumbers(*numbers_of(a, 'offset_dims', 'collapsed_slice_dims', 'start_index_map',
                                                     'operand_batching_dims', 'start_indices_batching_dims'))
    return lax.gather(x, i, numbers, a['slice_sizes'], mode=MODES[a['mode']], fill_value=a.get('fill_value'),
                      unique_indices=a.get('unique_indices', False), indices_are_sorted=a.get('indices_are_sorted', False))


def scatter(f):
    def of(a, x, i, *u):
        numbers = lax.ScatterDimensionNumbers(*numbers_of(
            a, 'update_window_dims', 'inserted_window_dims', 'scatter_dims_to_operand_dims', 'operand_batching_dims',
            'scatter_indices_batching_dims'))
        rest = u or (lambda v: a['computation'](v)[0],)
        options = {} if u else {'update_shape': tuple(a['update_shape'])}
        return f(x, i, *rest, numbers, mode=MODES[a['mode']], unique_indices=a.get('unique_indices', False),
                 indices_are_sorted=a.get('indices_are_sorted', False), **options)
    return of


ROWS |= {name: scatter(f) for name, f in SCATTERS.items()}
ROWS |= {
    'gather': gather,
    'scatter_apply': scatter(lax.scatter_apply),
    'top_k': lambda a, x: list(lax.top_k(x, a['k'], axis=a['axis'])),
    'approx_top_k': lambda a, x: list(approx_top_k(**a)(x)),
}


# ---- reductions and products ----
def cumulative(f):
    return lambda a, x: f(x, a['axis'], a['reverse'])


def dot_numbers(a):
    part = lambda name: tuple(a.get(name, ()))
    return (part('lhs_contract'), part('rhs_contract')), (part('lhs_batch'), part('rhs_batch'))


def precision(a):
    return None if a.get('precision', 'default') == 'default' else a['precision']


def dtype_of(a, name='preferred_element_type'):
    return DTYPES[a[name]] if name in a else None


def dot_general(a, x, y):
    """JAX has no integer sum narrower than the operands, and no real one of complex numbers."""
    dtype = dtype_of(a)
    if dtype is not None and dtype.kind != 'c' and jnp.iscomplexobj(x):
        raise NotImplementedError('a real sum of complex products')
    narrower = dtype is not None and dtype.kind in 'iu' and dtype.itemsize < x.dtype.itemsize
    z = lax.dot_general(x, y, dot_numbers(a), precision(a), None if narrower else dtype)
    return lax.convert_element_type(z, dtype) if narrower else z


def ragged_dot_general(a, x, y, sizes):
    numbers = lax.RaggedDotDimensionNumbers(dot_numbers(a), a['lhs_ragged'], a.get('rhs_group', []))
    return lax.ragged_dot_general(x, y, sizes, numbers, preferred_element_type=dtype_of(a), precision=precision(a))


def pooled(f):
    return lambda a, x: f(x, *windows_cases.lists(a))


def scattered_windows(a, source, x):
    window, strides, padding, *dilations = windows_cases.lists(a)
    if any(n != 1 for d in dilations for n in d):
        raise NotImplementedError('dilation')
    return windowed._select_and_scatter_add(source, x, SELECT[a['select_prim']], window, strides, padding)


def body_of(a):
    """The program of a reduction as a function of two numbers, or of two tuples of them."""
    f = a['computation']
    return lambda x, y: tuple(f(*x, *y))


def reduced(a, *xs):
    n = len(xs) // 2
    return list(lax.reduce(xs[:n], xs[n:], body_of(a), a['dimensions']))


def reduced_windows(a, *xs):
    n = len(xs) // 2
    return list(lax.reduce_window(xs[:n], xs[n:], body_of(a), *windows_cases.lists(a)))


SELECT = {'ge': lax.ge_p, 'le': lax.le_p}
ROWS |= {name: lambda a, x, f=f: f(x, a['axes']) for name, f in REDUCE.items()}
ROWS |= {name: cumulative(getattr(lax, name)) for name in ('cumsum', 'cumprod', 'cumlogsumexp')}
ROWS |= {f'reduce_window_{name}': pooled(getattr(windowed, f'_reduce_window_{name}')) for name in ('sum', 'max', 'min')}
ROWS |= {
    'dot_general': dot_general,
    'ragged_dot_general': ragged_dot_general,
    'select_and_gather_add': lambda a, t, x: windowed._select_and_gather_add(
        t, x, SELECT[a['select_prim']], *windows_cases.lists(a)),
    'select_and_scatter_add': scattered_windows,
    'reduce': reduced, 'reduce_window': reduced_windows,
}


# ---- linear algebra, Fourier transforms ----
def fft(a, x):
    n, last = len(a['fft_lengths']), a.get('trailing', 0)
    axes, to = tuple(range(x.ndim - last - n, x.ndim - last)), tuple(range(-n, 0))
    y = lax.fft_p.bind(jnp.moveaxis(x, axes, to), fft_type=lax.FftType[a['fft_type']], fft_lengths=tuple(a['fft_lengths']))
    return jnp.moveaxis(y, to, axes)


def cholesky(x):
    """All of the triangle NaN for a matrix with a NaN; LAPACK's depends on how it cuts the matrix into blocks."""
    finite = jnp.all(jnp.isfinite(jnp.tril(x)), (-2, -1), keepdims=True)
    return jnp.tril(jnp.where(finite, linalg.cholesky(x, symmetrize_input=False), jnp.asarray(np.nan, x.dtype)))


def lu_of_nan(x):
    """By the definition of LAPACK: a NaN is a pivot only where it is the first one."""
    m, n = x.shape[-2:]
    rows, pivots, order = jnp.arange(m), [], jnp.broadcast_to(jnp.arange(m), x.shape[:-1])
    for k in range(min(m, n)):
        size = jnp.abs(jnp.real(x[..., k])) + jnp.abs(jnp.imag(x[..., k]))
        largest = jnp.argmax(jnp.where((rows >= k) & (size == size), size, -1), -1)
        pivot = jnp.where(jnp.isnan(size[..., k]), k, largest)[..., None]
        exchanged = jnp.where(rows == k, pivot, jnp.where(rows == pivot, k, rows))
        x, order = (jnp.take_along_axis(v, i, axis) for v, i, axis in
                    ((x, exchanged[..., None], -2), (order, exchanged, -1)))
        by, is_below = x[..., k:k + 1, k:k + 1], (rows > k)[:, None]
        column = jnp.where(is_below & (by != 0), x[..., k:k + 1] / by, x[..., k:k + 1])
        x = x.at[..., k:k + 1].set(column)
        x = x - jnp.where(is_below & (jnp.arange(n) > k), column * x[..., k:k + 1, :], 0)
        pivots.append(pivot)
    pivots = jnp.concatenate(pivots, -1) if pivots else jnp.zeros((*x.shape[:-2], 0))
    return x, pivots.astype(np.int32), order.astype(np.int32)


def lu(x):
    """LAPACK's choice of pivots depends on its vectors where a matrix has a NaN."""
    has_nan = jnp.any(jnp.isnan(x), (-2, -1))
    return [jnp.where(jnp.expand_dims(has_nan, range(has_nan.ndim, y.ndim)), of_nan, y)
            for of_nan, y in zip(lu_of_nan(x), linalg.lu(x))]


ROWS |= {
    'fft': fft,
    'cholesky': plain(cholesky),
    'lu': plain(lu),
    'lu_pivots_to_permutation': lambda a, p: linalg.lu_pivots_to_permutation(p, **a),
    'geqrf': plain(lambda x: list(linalg.geqrf(x))), 'geqp3': plain(lambda x, p: list(linalg.geqp3(x, p))),
    'householder_product': plain(linalg.householder_product),
    'ormqr': lambda a, x, t, c: linalg.ormqr(x, t, c, **a),
    'qr': lambda a, x: list(linalg.qr(x, pivoting=a.get('pivoting', False), full_matrices=a.get('full_matrices', True))),
    'tridiagonal_solve': lambda a, *xs: linalg.tridiagonal_solve(*xs, **a),
    'cholesky_update': plain(jnp.vectorize(linalg.cholesky_update, signature='(n,n),(n)->(n,n)')),
}


# ---- random numbers ----
def for_each_key(f):
    """`f` of one key, for keys of any shape."""
    def g(a, keys, *rest):
        h = lambda k, *r: f(a, k, *r)
        for _ in range(keys.ndim):
            h = jax.vmap(h)
        return h(keys, *rest)
    return g


ROWS |= {
    'random_seed': lambda a, seed: for_each_key(lambda _, s: jax.random.key(s))(a, seed),
    'random_wrap': plain(jax.random.wrap_key_data), 'random_unwrap': plain(jax.random.key_data),
    'random_split': for_each_key(lambda a, k: jax.random.split(k, tuple(a['shape']))),
    'random_bits': for_each_key(lambda a, k: jax.random.bits(k, tuple(a['shape']), DTYPES[f'u{a["bit_width"]}'])),
    'random_fold_in': for_each_key(lambda a, k, n: jax.random.fold_in(k, n)),
    'random_gamma': lambda a, k, x: random_gamma_p.bind(k, x, log_space=a.get('log_space', False)),
}


# ---- neural networks ----
def softmax(a, x, mask=None):
    if x.dtype.itemsize == 1:  # through f32
        return softmax(a, x.astype(np.float32), mask).astype(x.dtype)
    return jax.nn.softmax(x * jnp.asarray(a.get('scale', 1.0), x.dtype), tuple(a['axes']), where=mask)


def scaled_matmul(a, x, y, s, t):
    out = dtype_of(a) or np.dtype(np.float32)
    wide = np.float64 if out == np.float64 else np.float32
    scaled = lambda v, u: v.astype(wide) * jnp.repeat(u.astype(wide), v.shape[-1] // u.shape[-1], -1)
    return jnp.einsum('bmk,bnk->bmn', scaled(x, s), scaled(y, t)).astype(out)


ROWS |= {
    'layer_norm': lambda a, *xs: nn_cases.layer_norm(tuple(a['axes']), a['epsilon'])(*xs),
    'rms_norm': lambda a, *xs: nn_cases.rms_norm(tuple(a['axes']), a['epsilon'])(*xs),
    'softmax': softmax, 'scaled_matmul': scaled_matmul,
    'amax': lambda a, x: lax.reduce_max(lax.abs(x), a['axes']),
}


# ---- functions of the host ----
def mix(types):
    """What host_calls.cc computes: result r is made from the sum of r and (k + 1) times operand k."""
    def f(*xs):
        out = []
        for r, t in enumerate(types):
            total = np.float64(r)
            with np.errstate(all='ignore'):
                for k, x in enumerate(xs):
                    total = total + (k + 1) * np.asarray(x).astype(np.float64)
                out.append(of_sum(total, t.dtype))
        return out
    return f


def of_sum(total, dtype):
    finite = np.where(np.isfinite(total), total, 0)
    if dtype.kind == 'f':
        return np.where(np.isfinite(total), total / (1 + np.abs(total)), np.nan).astype(dtype)
    return total > 1 if dtype == bool else np.fmod(np.abs(finite), 100).astype(np.int64).astype(dtype)


def types_of(text):
    """`f32[3], i32[]`"""
    return [jax.ShapeDtypeStruct([int(n) for n in dims.split(',') if n], DTYPES[dtype])
            for dtype, dims in re.findall(r'(\w+)\[([\d,]*)\]', text)]


def pure_callback(a, *xs):
    types = types_of(a['results'])
    return jax.pure_callback(mix(types), types, *xs, vmap_method=a.get('vmap_method'))


def io_callback_(a, *xs):
    types = types_of(a['results'])
    return io_callback(mix(types), types, *xs, ordered=a.get('ordered', False))


ROWS |= {
    'pure_callback': pure_callback, 'io_callback': io_callback_,
    **dict.fromkeys(('debug_callback', 'debug_print'), lambda a, *xs: []),  # only results are compared
}

ROWS |= xla_faults.ROWS

# Why JAX cannot be asked: programs with these are not compared.
LEFT_OUT = {
    **dict.fromkeys(('eig', 'eigh', 'svd', 'schur'), 'vectors are determined up to a factor'),
    **dict.fromkeys(('hessenberg', 'tridiagonal'), 'reflectors of eigenvalue problems may have other signs'),
    **dict.fromkeys(('reduce', 'reduce_window'), 'XLA applies an initial value any number of times; those drawn are not identities'),
    'rng_bit_generator': "a batch takes the bits of all keys from the first one in JAX",
    'scaled_dot_general': 'jax.nn has none on CPU',
    **dict.fromkeys(('igamma_grad_a', 'random_gamma_grad', 'regularized_incomplete_beta'),
                    "JAX's has few digits: those of ours agree with 40 digits where the two differ"),
    'igammac': 'errors of more than 100 units of 1 in JAX where both operands are small',
    'approx_top_k': 'XLA orders equal elements in no particular way',
    'dot_product_attention': 'jax.nn has no f16 on CPU, and takes the softmax of f64 in f32',
}
# The same of the derivatives that JAX has.
DERIVATIVES_LEFT_OUT = {
    **dict.fromkeys(('scatter-min', 'scatter-max'), 'NaN in JAX where an index is clipped'),
    'cholesky': 'JAX cuts off the other triangle of the tangent, where ours is NaN for a matrix with a NaN',
}
# Rows for which JAX needs a number that the dtype does not have, and takes NaN (or position 0): a zero in f8e8m0fnu, to add
# to or to cut off a triangle, a negative number on the way, and the infinities with which a maximum begins. (And XLA widens
# its NaN to infinity.)
IMPOSSIBLE = {
    'f8e8m0fnu': {'reduce_sum', 'cumsum', 'scatter-add', 'scatter-sub', 'reduce_window_sum', 'select_and_scatter_add',
                  'dot_general', 'ragged_dot_general', 'conv_general_dilated', 'cumlogsumexp', 'reduce_max', 'reduce_min',
                  'amax', 'cummax', 'cummin', 'argmax', 'argmin', 'reduce_window_max', 'reduce_window_min', 'softmax',
                  'cholesky_update', 'triangular_solve', 'scaled_matmul', 'symmetric_product', 'acos',
                  'acosh', 'asin', 'asinh', 'atan', 'atanh', 'bessel_i0e', 'bessel_i1e', 'cosh', 'digamma', 'erf', 'erfc',
                  'erf_inv', 'igamma', 'igammac', 'lgamma', 'logistic', 'nextafter', 'polygamma', 'sinh', 'zeta'},
    'f8e4m3fn': {'softmax', 'cumlogsumexp'}, 'f4e2m1fn': {'softmax', 'cumlogsumexp'},
}
