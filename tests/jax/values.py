"""Random and special element values by dtype."""
import numpy as np

from case_file import COMPLEXES, DTYPES, EPS, FLOATS, UNSIGNED


def floats(dtype, shape, low=-2.0, high=2.0):
    """Makes uniform values strictly inside (low, high)."""
    return lambda rng: rng.uniform(low, high, shape).astype(DTYPES[dtype])


def complexes(dtype, shape, low=-2.0, high=2.0):
    """Makes complex values with parts inside (low, high)."""
    return lambda rng: (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(DTYPES[dtype])


def integers(dtype, shape, low=None, high=None):
    low = (0 if dtype in UNSIGNED else -9) if low is None else low
    return lambda rng: rng.integers(low, 10 if high is None else high, shape).astype(DTYPES[dtype])


def booleans(shape):
    return lambda rng: rng.integers(0, 2, shape).astype(np.bool_)


def whole_range(dtype, shape):
    info = np.iinfo(DTYPES[dtype])

    def make(rng):
        x = rng.integers(info.min, info.max, shape, dtype=DTYPES[dtype], endpoint=True)
        edges = np.array([info.min, info.max, 0, 1, info.max // 2], DTYPES[dtype])
        flat = x.reshape(-1)
        flat[:min(flat.size, edges.size)] = edges[:min(flat.size, edges.size)]
        return x
    return make


def ordinary(dtype, shape):
    """Ordinary values for any dtype."""
    if dtype == 'bool':
        return booleans(shape)
    if dtype in COMPLEXES:
        return complexes(dtype, shape)
    return floats(dtype, shape) if dtype in FLOATS else integers(dtype, shape)


def specials(dtype):
    """NaN, infinities, zeros of both signs and large numbers (no subnormals: XLA may flush them)."""
    big = 3e4 if dtype == 'f16' else 1e30
    numbers = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, big, -big, 1 / big, 100.0, -100.0, EPS[dtype]]
    return np.array(numbers).astype(DTYPES[dtype])


def pairs(values):
    """All pairs of the elements of a vector, as two vectors."""
    return np.repeat(values, len(values)), np.tile(values, len(values))
