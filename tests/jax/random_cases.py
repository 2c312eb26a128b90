"""The chain of random keys: the same bits as JAX's default generator (threefry, partitionable)."""
import jax
import numpy as np
from jax import lax
from jax._src.random.core import random_gamma_p
from jax.extend.core.primitives import threefry2x32_p

from case_file import DTYPES, FLOATS, Close, DType
from elementwise_cases import of
from transforms import primitive
from values import floats, whole_range


def keys(shape):
    return lambda rng: jax.random.wrap_key_data(rng.integers(0, 2**32, shape + (2,), dtype=np.uint32))


def gamma(file):
    """Samples agree up to rounding; a rounding that accepts another sample would show."""
    for log_space in (False, True):
        fn = lambda k, a, s=log_space: random_gamma_p.bind(k, a, log_space=s)
        attrs = {'log_space': log_space} if log_space else {}
        for dtype in FLOATS:
            # An error of the normal number x, from erf_inv (16 units in elementwise_cases.py), counts up to sixteen times
            # where 1 + c x is small.
            ulps = 256 if dtype == 'f64' else 16
            one = dict(tolerance=Close(ulps, 1.0 if log_space else 0.0), derivative=Close(1024 if dtype == 'f64' else 512, 1.0))
            for low, high in ((0.05, 1.5), (1, 30)):
                make = of(keys(()), floats(dtype, (64,), low, high))
                wide = dtype in ('f32', 'f64')
                primitive(file, 'random_gamma', attrs, fn, make, label=f'({dtype},{high},{log_space})',
                          modes='nfr' if wide else 'n', **one)
        for dtype in ('f8e4m3fn', 'f8e5m2') if not log_space else ():
            primitive(file, 'random_gamma', {}, fn, of(keys(()), floats(dtype, (64,), 0.3, 6)), label=f'({dtype})', modes='n',
                      tolerance=Close(1))
        make = of(keys((2,)), floats('f32', (2, 3, 2), 0.5, 3))
        primitive(file, 'random_gamma', attrs, fn, make, label=f'(keys,{log_space})', modes='n', tolerance=Close(16, 1.0))
        make = of(keys(()), floats('f32', (5,), 0.5, 3))
        primitive(file, 'random_gamma', attrs, fn, make, label=f'({log_space})', modes='v', tolerance=Close(16, 1.0),
                  axes=[([0, 0], [0]), ([0, 1], [1])])


def bit_generator(file):
    """vmap is left out: in JAX it takes the bits of all keys from the first one."""
    counters = np.array([7, 0, 2**32 - 2, 2**32 - 1], np.uint32)
    for algorithm in lax.RandomAlgorithm:
        for shape in ((), (1,), (5,), (3, 5), (3, 4), (2, 3, 4), (5, 3, 7), (0,), (1, 1)):
            for width in (8, 16, 32, 64):
                attrs = {'shape': shape, 'dtype': DType(f'u{width}')}
                if algorithm:
                    attrs['algorithm'] = int(algorithm)
                fn = lambda k, s=shape, d=DTYPES[f'u{width}'], a=algorithm: lax.rng_bit_generator(k, s, d, a)
                make = of(whole_range('u32', (4,))) if len(shape) != 2 else lambda r: [counters]
                if width == 64 and len(shape) == 1:
                    make = of(whole_range('u64', (2,)))
                primitive(file, 'rng_bit_generator', attrs, fn, make, label=f'({shape},{width},{algorithm})', modes='n')


def cases(file):
    gamma(file)
    bit_generator(file)
    for shape in ((), (5,), (2, 3), (0,)):
        make = of(*[whole_range('u32', shape)] * 4)
        primitive(file, 'threefry2x32', {}, threefry2x32_p.bind, make, modes='nv', axes=[([0] * 4, [0] * 2)])
    for dtype in ('i32', 'i64', 'u32', 'u64', 'u8'):
        for seed in (0, 1, 42, np.iinfo(DTYPES[dtype]).max, np.iinfo(DTYPES[dtype]).min):
            make = lambda r, s=seed, d=dtype: [np.array(s, DTYPES[d])]
            primitive(file, 'random_seed', {}, jax.random.key, make, label=f'({seed})', modes='n')
        primitive(file, 'random_seed', {}, jax.random.key, of(whole_range(dtype, ())), modes='v')
    for shape in ((), (3,), (2, 3)):
        primitive(file, 'random_wrap', {}, jax.random.wrap_key_data, of(whole_range('u32', shape + (2,))), modes='nv')
        primitive(file, 'random_unwrap', {}, jax.random.key_data, of(keys(shape)), modes='nv')
    for shape in ((), (1,), (7,), (3, 5), (0,), (2, 3, 4), (100,)):
        for width in (8, 16, 32, 64):
            dtype = DTYPES[f'u{width}']
            primitive(file, 'random_bits', {'shape': shape, 'bit_width': width},
                      lambda k, s=shape, d=dtype: jax.random.bits(k, s, d), of(keys(())), label=f'({shape},{width})',
                      modes='nv')
    for shape in ((1,), (2,), (5,), (2, 3)):
        primitive(file, 'random_split', {'shape': shape}, lambda k, s=shape: jax.random.split(k, s), of(keys(())),
                  label=f'({shape})', modes='nv')
    for data in (0, 1, 7, 2**32 - 1):
        primitive(file, 'random_fold_in', {}, jax.random.fold_in, of(keys(()), lambda r, d=data: np.array(d, np.uint32)),
                  label=f'({data})', modes='n')
    primitive(file, 'random_fold_in', {}, jax.random.fold_in, of(keys(()), whole_range('u32', ())), modes='v')
