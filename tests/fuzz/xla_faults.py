"""Functions of rows whose results in XLA are wrong, or depend on how it compiles, by other means of JAX.

name -> f(attributes, *operands), as in jax_rows.py.
"""
import jax
import jax._src.lax.linalg as linalg
import jax.numpy as jnp
import numpy as np
from jax import lax

import convolution_cases
from case_file import DTYPES


def pow_(a, x, y):
    """XLA would make pow(exp(x), y) exp(x y), which is NaN for an infinite x and y = 0."""
    return lax.pow(lax.optimization_barrier(x), y)


def sqrt(a, x):
    """XLA would make sqrt(x x) |x|, another number where x x is too small or too large."""
    return lax.sqrt(lax.optimization_barrier(x))


def select_n(a, which, *xs):
    """A number out of range is clamped, in the derivative too."""
    return lax.select_n(which if which.dtype == bool else lax.clamp(np.int32(0), which, np.int32(len(xs) - 1)), *xs)


def atan(a, x):
    """That of a complex NaN has a real part of pi / 2."""
    return jnp.where(x != x, x + jnp.asarray(np.nan, x.dtype), lax.atan(x)) if jnp.iscomplexobj(x) else lax.atan(x)


def atan2(a, x, y):
    """That of two subnormal numbers is NaN."""
    return lax.atan2(*(x if jnp.iscomplexobj(x) else without_subnormals(x) for x in (x, y)))


def atanh(a, x):
    """In f64 XLA's difference of two log1p has errors of up to 80 units."""
    return lax.log1p(2 * x / (1 - x)) / 2 if x.dtype == np.float64 else lax.atanh(x)


def in_f64(f):
    """In f32 digamma, also as the derivative of lgamma, has errors of up to 11 units of 1."""
    return lambda a, x: f(x.astype(np.float64)).astype(x.dtype) if x.dtype == np.float32 else f(x)


def without_subnormals(x):
    return jnp.where(abs(x) < jnp.finfo(x.dtype).tiny, x * jnp.asarray(0, x.dtype), x)


def triangular_solve(a, x, b):
    """Floats of 8 and 16 bits overflow on the way."""
    solved = linalg.triangular_solve(*(v.astype(np.float32) if v.dtype.itemsize <= 2 else v for v in (x, b)), **a)
    return lax.convert_element_type(solved, b.dtype)


def cumulative_extremum(f):
    """Those of complex numbers return from NaN to a number or not, by where it stands."""
    def of(a, x):
        axis, reverse = a['axis'], a.get('reverse', False)
        if not jnp.iscomplexobj(x):
            return f(x, axis, reverse)
        places = lax.broadcasted_iota(np.int32, x.shape, axis)
        none, nearest = (-1, lax.cummax) if reverse else (x.shape[axis], lax.cummin)
        first = nearest(jnp.where(x != x, places, np.int32(none)), axis, reverse)
        nan = jnp.take_along_axis(x, jnp.clip(first, 0, x.shape[axis] - 1), axis) if x.size else x
        return jnp.where(first == none, f(x, axis, reverse), nan)
    return of


def extremum(f):
    """The product of a mask as numbers and a quotient by 0, which is NaN where no element equals a NaN, becomes a choice."""
    def of(a, x):
        axes = tuple(a['axes'])
        if not jnp.issubdtype(x.dtype, np.inexact):
            return f(x, axes)

        @jax.custom_jvp
        def reduced(x):
            return f(x, axes)

        @reduced.defjvp
        def _(primals, tangents):
            (x,), (t,) = primals, tangents
            y = reduced(x)
            chosen = lax.optimization_barrier((x == jnp.expand_dims(y, axes)).astype(x.dtype))
            return y, jnp.sum(t * chosen, axes) / jnp.sum(chosen, axes)
        return reduced(x)
    return of


def arg_extremum(f):
    """Places that the dtype cannot hold are compared as what is left of them."""
    def of(a, x):
        return lax.convert_element_type(f(x, a['axes'][0], np.int64), DTYPES[a['index_dtype']])
    return of


def convolution(a, x, y):
    """The zeros of dilation and padding are multiplied, with infinities too, and in f64 those between groups of features;
    XLA does so or not. So operands are padded, and each group is a convolution."""
    a, n = {k: tuple(v) if isinstance(v, list) else v for k, v in a.items()}, x.ndim - 2
    low_high, dilation = a.pop('padding', (0,) * (2 * n)), a.pop('lhs_dilation', (1,) * n)
    features, batches = a.pop('feature_group_count', 1), a.pop('batch_group_count', 1)
    lhs, rhs, out = (a.get(k, range(x.ndim)) for k in ('lhs_spec', 'rhs_spec', 'out_spec'))
    widths = [(0, 0, 0)] * x.ndim
    for i, d in enumerate(lhs[2:]):
        widths[d] = (low_high[2 * i], low_high[2 * i + 1], dilation[i] - 1)
    one = convolution_cases.function(x.ndim, a, DTYPES.get(a.get('preferred_element_type')))
    xs = jnp.split(lax.pad(x, x.dtype.type(0), widths), features * batches, lhs[0] if batches > 1 else lhs[1])
    return lax.concatenate([one(*group) for group in zip(xs, jnp.split(y, len(xs), rhs[0]))], out[1])


def order_of(x):
    """Integers in the order of floats: zeros are equal, and NaNs, which come last."""
    if not jnp.issubdtype(x.dtype, np.floating) or x.dtype.itemsize == 1:
        return x
    integer = np.dtype(f'i{x.dtype.itemsize}')
    bits, largest = lax.bitcast_convert_type(x, integer), np.iinfo(integer).max
    magnitude = bits & largest
    number = jnp.where(bits < 0, -magnitude, magnitude)
    return jnp.where(magnitude > lax.bitcast_convert_type(jnp.asarray(np.inf, x.dtype), integer), largest, number)


def sort(a, *xs):
    """Subnormal keys are equal to zeros."""
    n = a['num_keys']
    keys = [] if any(map(jnp.iscomplexobj, xs[:n])) else list(map(order_of, xs[:n]))
    out = lax.sort([*keys, *xs], dimension=a['dimension'], is_stable=a.get('is_stable', True), num_keys=n)
    return list(out[len(keys):])


def dynamic_slice(a, x, *start):
    return lax.dynamic_slice(x, wide(start), a['slice_sizes'], allow_negative_indices=False)


def dynamic_update_slice(a, x, update, *start):
    return lax.dynamic_update_slice(x, update, wide(start), allow_negative_indices=False)


def wide(start):
    """In small integers the greatest start overflows, and the slice is outside of the array; large unsigned ones count as
    negative."""
    def of(s):
        if s.dtype.kind == 'u' and s.dtype.itemsize >= 4:
            s = lax.min(s, np.array(2**31 - 1, s.dtype))
        return s if s.dtype.kind == 'i' and s.dtype.itemsize >= 4 else s.astype(np.int32)
    return [of(s) for s in start]


def symmetric_product(a, x, c):
    """That of a matrix without columns is what was in memory."""
    if x.shape[-1] == 0:
        raise NotImplementedError('no columns')
    return linalg.symmetric_product(x, c, alpha=a.get('alpha', 1.0), beta=a.get('beta', 0.0))


ROWS = {
    'pow': pow_, 'sqrt': sqrt, 'select_n': select_n, 'atan': atan, 'atan2': atan2, 'atanh': atanh,
    'lgamma': in_f64(lax.lgamma), 'digamma': in_f64(lax.digamma),
    'sort': sort, 'dynamic_slice': dynamic_slice, 'dynamic_update_slice': dynamic_update_slice,
    'triangular_solve': triangular_solve, 'symmetric_product': symmetric_product, 'conv_general_dilated': convolution,
    'cummax': cumulative_extremum(lax.cummax), 'cummin': cumulative_extremum(lax.cummin),
    'reduce_max': extremum(lax.reduce_max), 'reduce_min': extremum(lax.reduce_min),
    'argmax': arg_extremum(lax.argmax), 'argmin': arg_extremum(lax.argmin),
}
