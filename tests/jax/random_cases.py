"""The chain of random keys: the same bits as JAX's default generator (threefry, partitionable)."""
import jax
import numpy as np
from jax.extend.core.primitives import threefry2x32_p

from case_file import DTYPES
from elementwise_cases import of
from transforms import primitive
from values import integers, whole_range



def keys(shape):
    return lambda rng: jax.random.wrap_key_data(rng.integers(0, 2**32, shape + (2,), dtype=np.uint32))


def cases(file, rng):
    for shape in ((), (5,), (2, 3), (0,)):
        make = of(*[whole_range('u32', shape)] * 4)
        primitive(file, rng, 'threefry2x32', {}, threefry2x32_p.bind, make, modes='nv', axes=[([0] * 4, [0] * 2)])
    for dtype in ('i32', 'i64', 'u32', 'u64', 'u8'):
        for seed in (0, 1, 42, np.iinfo(DTYPES[dtype]).max, np.iinfo(DTYPES[dtype]).min):
            make = lambda r, s=seed, d=dtype: [np.array(s, DTYPES[d])]
            primitive(file, rng, 'random_seed', {}, jax.random.key, make, label=f'({seed})', modes='n')
        primitive(file, rng, 'random_seed', {}, jax.random.key, of(whole_range(dtype, ())), modes='v')
    for shape in ((), (3,), (2, 3)):
        primitive(file, rng, 'random_wrap', {}, jax.random.wrap_key_data, of(whole_range('u32', shape + (2,))), modes='nv')
        primitive(file, rng, 'random_unwrap', {}, jax.random.key_data, of(keys(shape)), modes='nv')
    for shape in ((), (1,), (7,), (3, 5), (0,), (2, 3, 4), (100,)):
        for width in (8, 16, 32, 64):
            dtype = DTYPES[f'u{width}']
            primitive(file, rng, 'random_bits', {'shape': shape, 'bit_width': width},
                      lambda k, s=shape, d=dtype: jax.random.bits(k, s, d), of(keys(())), label=f'({shape},{width})',
                      modes='nv')
    for shape in ((1,), (2,), (5,), (2, 3)):
        primitive(file, rng, 'random_split', {'shape': shape}, lambda k, s=shape: jax.random.split(k, s), of(keys(())),
                  label=f'({shape})', modes='nv')
    for data in (0, 1, 7, 2**32 - 1):
        primitive(file, rng, 'random_fold_in', {}, jax.random.fold_in, of(keys(()), lambda r, d=data: np.array(d, np.uint32)),
                  label=f'({data})', modes='n')
    primitive(file, rng, 'random_fold_in', {}, jax.random.fold_in, of(keys(()), whole_range('u32', ())), modes='v')
