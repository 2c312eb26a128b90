"""Neural primitives: attention as jax.nn computes it, normalisations and softmax by their formulas in jax.numpy."""
import jax
import jax.numpy as jnp
import numpy as np
from jax._src.cudnn import scaled_matmul_stablehlo

from case_file import DTYPES, Close, DType, equation
from elementwise_cases import of
from random_cases import keys
from transforms import add_cases, primitive
from values import booleans, floats, ordinary

NEAR = Close(16, 2.0)
NORMS = (((5,), (0,)), ((3, 4), (1,)), ((2, 3, 4), (0, 2)), ((2, 0), (0,)), ((3, 4), ()))


def layer_norm(axes, epsilon):
    def f(x, scale, bias):
        wide = x.astype(jnp.promote_types(x.dtype, np.float32))
        spread = lambda p: jnp.expand_dims(p.astype(wide.dtype), [a for a in range(x.ndim) if a not in axes])
        mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
        y = (wide - mean) * jax.lax.rsqrt(variance + epsilon)
        return (y * spread(scale) + spread(bias)).astype(x.dtype)
    return f


def rms_norm(axes, epsilon):
    def f(x, scale):
        wide = x.astype(jnp.promote_types(x.dtype, np.float32))
        spread = jnp.expand_dims(scale.astype(wide.dtype), [a for a in range(x.ndim) if a not in axes])
        return (wide * jax.lax.rsqrt((wide * wide).mean(axes, keepdims=True) + epsilon) * spread).astype(x.dtype)
    return f


def norms(file):
    for name, fn, n in (('layer_norm', layer_norm, 2), ('rms_norm', rms_norm, 1)):
        for shape, axes in NORMS:
            attrs = {'axes': axes, 'epsilon': 0.01}
            part = tuple(shape[a] for a in axes)
            for dtype in ('f16', 'bf16', 'f32', 'f64') if shape == (3, 4) else ('f32',):
                make = of(floats(dtype, shape), *[floats(dtype, part)] * n)
                primitive(file, name, attrs, fn(axes, 0.01), make, label=f'({axes})',
                          modes='nfrv' if dtype == 'f32' else 'n', tolerance=NEAR, derivative=Close(128, 8.0))


def softmaxes(file):
    for shape, axes in NORMS:
        for scale in (1.0, 0.5):
            fn = lambda x, m=None, a=axes, s=scale: jax.nn.softmax(x * jnp.asarray(s, x.dtype), a, where=m)
            for masked in (False, True) if axes and 0 not in shape else (False,):
                make = of(floats('f32', shape), *[booleans(shape)] * masked)
                primitive(file, 'softmax', {'axes': axes, 'scale': scale}, fn, make, label=f'({axes},{scale},{masked})',
                          modes='nfrv', tolerance=NEAR, derivative=Close(64, 4.0))
    for dtype in ('f16', 'bf16', 'f64'):
        primitive(file, 'softmax', {'axes': (1,)}, lambda x: jax.nn.softmax(x, 1), of(ordinary(dtype, (3, 9))),
                  modes='n', tolerance=Close(4, 4.0))


# B, T, S, N, K, H; attributes of the primitive; options of jax.nn; shape of the bias; shape of the mask
ATTENTION = [
    ((2, 3, 4, 2, 2, 3), {}, {}, None, None),
    ((1, 5, 5, 4, 2, 3), {'is_causal': True, 'block_size': 2}, {'is_causal': True}, None, None),
    ((2, 7, 5, 3, 1, 2), {'is_causal': True, 'scale': 0.3, 'block_size': 3}, {'is_causal': True, 'scale': 0.3}, None, None),
    ((2, 3, 4, 2, 2, 3), {'block_size': 2}, {}, (2, 2, 3, 4), None),
    ((2, 5, 4, 2, 1, 3), {'block_size': 2}, {}, (1, 2, 1, 4), (2, 1, 5, 4)),
    ((1, 6, 6, 2, 2, 3), {'local_window_size': (2, 1), 'block_size': 4}, {'local_window_size': (2, 1)}, None, None),
    ((1, 6, 6, 2, 2, 3), {'local_window_size': (1, 3), 'is_causal': True}, {'local_window_size': (1, 3), 'is_causal': True},
     (1, 1, 6, 1), (1, 2, 1, 6)),
    ((1, 70, 70, 1, 1, 4), {'is_causal': True}, {'is_causal': True}, None, None),
    # Windows that leave out keys: of each block, of groups of blocks, after the last query, of no block.
    ((1, 9, 9, 2, 1, 3), {'local_window_size': (1, 0), 'block_size': 2}, {'local_window_size': (1, 0)}, (1, 2, 9, 9), None),
    ((1, 9, 9, 2, 2, 3), {'local_window_size': (4, 1), 'block_size': 2}, {'local_window_size': (4, 1)}, (1, 1, 1, 9), None),
    ((2, 4, 12, 2, 2, 3), {'local_window_size': (1, 2), 'block_size': 3}, {'local_window_size': (1, 2)}, (2, 1, 4, 1), None),
    ((1, 9, 4, 2, 2, 3), {'local_window_size': (1, 0), 'block_size': 2}, {'local_window_size': (1, 0)}, None, None),
    ((1, 9, 7, 1, 1, 3), {'local_window_size': (2, 3), 'is_causal': True, 'block_size': 2},
     {'local_window_size': (2, 3), 'is_causal': True}, None, None),
]


def attention_of(options, bias):
    def f(q, k, v, *extras):
        named = dict(zip(['bias', 'mask'] if bias else ['mask'], extras))
        return list(jax.nn.dot_product_attention(q, k, v, **named, **options, return_residual=True))
    return f


def attention(file):
    """JAX gives the logarithms of the sums no derivative, rounds them to the dtype of the keys, and has no f16 on CPU."""
    rng = file.numbers('attention')
    prim = 'dot_product_attention'
    for i, ((b, t, s, n, k, h), attrs, options, bias, mask) in enumerate(ATTENTION):
        for dtype in ('f32',) if i else ('f32', 'f64', 'bf16'):
            make = of(floats(dtype, (b, t, n, h)), floats(dtype, (b, s, k, h)), floats(dtype, (b, s, k, h)),
                      *[floats(dtype, bias)] * (bias is not None), *[booleans(mask)] * (mask is not None))
            both = attention_of(options, bias)
            only = lambda *a, f=both: f(*a)[:1]
            args = make(rng)
            sums = jax.ShapeDtypeStruct((b, t, n), DTYPES['f64' if dtype == 'f64' else 'f32'])
            program = equation(prim, attrs, args, [args[0], sums]).replace('return %r0, %r1', 'return %r0')
            # jax.nn takes the softmax of f64 in f32.
            tolerance = Close(2.0**33, 1.0) if dtype == 'f64' else Close(32, 4.0) if dtype == 'f32' else Close(4, 2.0)
            add_cases(file, f'{prim}/{i}/{dtype}', program, only, make, modes='n' if dtype != 'f32' else 'nfrvFR' if i == 1 else 'nfr',
                      tolerance=tolerance, derivative=Close(256, 8.0))
            if dtype == 'f32':
                primitive(file, prim, attrs, both, make, label=f'({i})', modes='n', tolerance=tolerance)


# B, T, S, N, K, H; number of keys; attributes; whether causal; shape of the bias
DROPOUT = [
    ((2, 5, 4, 2, 2, 3), 1, {'dropout_rate': 0.5, 'block_size': 2}, False, (2, 1, 5, 4)),
    ((4, 6, 6, 4, 2, 3), 2, {'dropout_rate': 0.1, 'block_size': 4, 'is_causal': True}, True, None),
    ((2, 3, 7, 3, 1, 2), 2, {'dropout_rate': 0.0}, False, None),
]


def attention_with_dropout(c, rate, causal):
    """The formula of jax.nn, whose own dropout needs cuDNN; what stays is drawn by jax.random.bernoulli."""
    def f(q, k, v, *rest):
        *bias, keys = rest
        groups = q.shape[2] // k.shape[2]
        k, v = (jnp.repeat(x, groups, 2) for x in (k, v))
        scores = jnp.einsum('btnh,bsnh->bnts', q, k) / np.float32(np.sqrt(q.shape[3]))
        scores = scores + bias[0] if bias else scores
        scores = jnp.where(jnp.tri(*scores.shape[2:], dtype=bool) | (not causal), scores, -np.inf)
        part = (scores.shape[0] // c,) + scores.shape[1:]
        stays = [jax.random.bernoulli(keys[i], np.float32(1 - rate), part) for i in range(c)]
        p = jnp.where(jnp.concatenate(stays), jax.nn.softmax(scores, -1) / np.float32(1 - rate), np.float32(0))
        return [jnp.einsum('bnts,bsnh->btnh', p, v)]
    return f


def dropout(file):
    rng = file.numbers('dropout')
    for i, ((b, t, s, n, k, h), c, attrs, causal, bias) in enumerate(DROPOUT):
        make = of(floats('f32', (b, t, n, h)), floats('f32', (b, s, k, h)), floats('f32', (b, s, k, h)),
                  *[floats('f32', bias)] * (bias is not None), keys((c,)))
        args = make(rng)
        sums = jax.ShapeDtypeStruct((b, t, n), np.float32)
        program = equation('dot_product_attention', attrs, args, [args[0], sums]).replace('return %r0, %r1', 'return %r0')
        add_cases(file, f'dot_product_attention/dropout{i}', program, attention_with_dropout(c, attrs['dropout_rate'], causal),
                  make, modes='nfrvFR' if i == 1 else 'nfrv', tolerance=Close(32, 4.0), derivative=Close(256, 8.0))


# dtypes of lhs, rhs and scales; B, M, N, K; number of blocks; dtype of the result
SCALED = [
    (('f32', 'f32', 'f32'), (2, 3, 4, 6), 2, 'f32'),
    (('f32', 'f32', 'f32'), (1, 2, 0, 4), 4, 'f32'),
    (('f8e4m3fn', 'f8e5m2', 'f8e8m0fnu'), (2, 5, 3, 64), 2, 'f32'),
    (('f8e5m2', 'f8e4m3fn', 'f8e8m0fnu'), (1, 3, 3, 96), 3, 'bf16'),
    (('f4e2m1fn', 'f4e2m1fn', 'f8e4m3fn'), (2, 3, 5, 48), 3, 'f32'),
    (('f16', 'f64', 'f32'), (1, 3, 2, 8), 2, 'f64'),
]


def scaled_products(file):
    """The formula in the documentation of jax.nn.scaled_matmul, which has no CPU implementation."""
    for (lhs, rhs, scale), (b, m, n, k), blocks, out in SCALED:
        wide = np.float64 if out == 'f64' else np.float32
        scaled = lambda x, s, w=wide, r=k // blocks: x.astype(w) * jnp.repeat(s.astype(w), r, -1)
        fn = lambda x, y, s, t, f=scaled, d=DTYPES[out]: jnp.einsum('bmk,bnk->bmn', f(x, s), f(y, t)).astype(d)
        make = of(floats(lhs, (b, m, k)), floats(rhs, (b, n, k)), floats(scale, (b, m, blocks), 0.25, 2.0),
                  floats(scale, (b, n, blocks), 0.25, 2.0))
        primitive(file, 'scaled_matmul', {} if out == 'f32' else {'preferred_element_type': DType(out)}, fn, make,
                  modes='nfrvFR' if lhs == 'f32' else 'nv', tolerance=Close(16, 4.0) if out != 'bf16' else Close(1, 1.0))


# Mode, shapes of the operands, dimension numbers, dtypes of operands and result.
QUANTIZED = [
    ('mxfp8', (3, 32), (2, 32), (((1,), (1,)), ((), ())), 'f32', 'f32', 'nv'),
    ('mxfp8', (2, 32, 64), (2, 32, 64), (((2,), (2,)), ((0,), (0,))), 'f32', 'f32', 'nvrR'),
    ('mxfp8', (64, 2, 8, 4), (2, 32, 64), (((0,), (2,)), ((1,), (0,))), 'bf16', 'bf16', 'nr'),
    ('mxfp8', (4, 16, 3), (5, 4, 16), (((0, 1), (1, 2)), ((), ())), 'f16', 'f32', 'n'),
    ('mxfp8', (3, 32), (2, 32), (((1,), (1,)), ((), ())), 'f64', 'bf16', 'n'),
    ('nvfp4', (3, 48), (48, 5), (((1,), (0,)), ((), ())), 'f32', 'f32', 'nvr'),
    ('nvfp4', (4, 8, 2, 3), (4, 2, 5, 8), (((0, 1), (0, 3)), ((2,), (1,))), 'f32', 'f32', 'nr'),
    ('nvfp4', (2, 16), (3, 16), (((1,), (1,)), ((), ())), 'bf16', 'f16', 'n'),
]


def quantized_products(file):
    """jax.nn.scaled_dot_general on the formula of scaled_matmul, which has no CPU implementation."""
    def product(x, y, s, t, preferred_element_type=np.float32):
        scaled = lambda a, b: a.astype(np.float32) * jnp.repeat(b.astype(np.float32), a.shape[-1] // b.shape[-1], -1)
        return jnp.einsum('bmk,bnk->bmn', scaled(x, s), scaled(y, t)).astype(preferred_element_type)

    scaled_matmul_stablehlo.scaled_matmul_wrapper = product
    for mode, lhs, rhs, dims, dtype, out, modes in QUANTIZED:
        scales = [None] if mode == 'mxfp8' else [np.float32(0.125), np.float32(3)]
        configs = [jax.nn.get_scaled_dot_general_config(mode, None if s is None else s.reshape(1)) for s in (scales * 3)[:3]]
        fn = lambda x, y, *_, d=dims, o=DTYPES[out], c=configs: jax.nn.scaled_dot_general(x, y, d, o, c)
        (lc, rc), (lb, rb) = dims
        attrs = {'lhs_contract': lc, 'rhs_contract': rc, 'lhs_batch': lb, 'rhs_batch': rb, 'mode': mode,
                 'preferred_element_type': DType(out)}
        # Elements of very different sizes, so terms of up to 2^18 that cancel; and blocks of zeros, but in f64, which XLA
        # makes of their scale, 2^-127, through a subnormal number that it takes for zero.
        share = 0.1 if dtype != 'f64' else 0.0
        sized = lambda shape: lambda r: (floats('f64', shape)(r) * 2.0 ** r.integers(-9, 9, shape) * (r.random(shape[:1] + (1,) * (
            len(shape) - 1)) >= share)).astype(DTYPES[dtype])
        make = of(sized(lhs), sized(rhs), *[lambda r, s=s: s for s in scales if s is not None])
        axes = [([0, 0, None, None][:len(scales) * 2], [0]), ([1, None, None, None][:len(scales) * 2], [1])]
        primitive(file, 'scaled_dot_general', attrs, fn, make, label=f'({mode})', modes=modes,
                  active=[True, True, False, False][:len(scales) * 2], axes=axes,
                  tolerance=Close(16, 2.0**14) if out == 'f32' else Close(1, 1.0), derivative=Close(16, 2.0**14))


def greatest_magnitudes(file):
    for shape, axes in (((5,), (0,)), ((3, 4), (1,)), ((2, 3, 4), (0, 2)), ((3, 4), ())):
        primitive(file, 'amax', {'axes': axes}, lambda x, a=axes: jnp.abs(x).max(a), of(floats('f32', shape)),
                  label=f'({axes})', modes='nfrv')
    for dtype in ('f16', 'bf16', 'f64', 'f8e4m3fn', 'f8e5m2', 'f4e2m1fn'):
        primitive(file, 'amax', {'axes': (0,)}, lambda x: jax.lax.reduce_max(abs(x), (0,)), of(floats(dtype, (5, 3))), modes='n')


def cases(file):
    for part in (norms, softmaxes, attention, dropout, scaled_products, quantized_products, greatest_magnitudes):
        part(file)
