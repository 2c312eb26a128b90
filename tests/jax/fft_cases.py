"""Discrete Fourier transforms of every kind, of lengths with small, large and no factors."""
import numpy as np
from jax import lax, numpy as jnp

from case_file import DTYPES, Close
from elementwise_cases import of
from transforms import primitive
from values import complexes, floats

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18, 20, 24, 32, 34, 45, 64, 67, 100, 101, 128, 134, 243]
LONG = [1000, 1009, 1024, 4099, 10000, 16384, 32768, 33280, 40000, 256 * 243]
KINDS = {'FFT': ('c64', 'c128'), 'IFFT': ('c64', 'c128'), 'RFFT': ('f32', 'f64'), 'IRFFT': ('c64', 'c128')}


def one(file, kind, dtype, batch, lengths, modes):
    last = lengths[-1] // 2 + 1 if kind == 'IRFFT' else lengths[-1]
    shape = (*batch, *lengths[:-1], last)
    draw = floats if dtype.startswith('f') else complexes
    fn = lambda x: lax.fft_p.bind(x, fft_type=lax.FftType[kind], fft_lengths=lengths)
    # The error of each element is one of the largest.
    size = float(np.prod(lengths))
    scale = 1 if kind.startswith('I') else size**0.5
    primitive(file, 'fft', {'fft_type': kind, 'fft_lengths': lengths}, fn, of(draw(dtype, shape)),
              label=f'({kind},{lengths})', modes=modes, tolerance=Close(8, 8.0 * scale), derivative=Close(8, 8.0 * max(size, 1)))


def before_others(file, kind, dtype, lengths, trailing, modes):
    """Dimensions before the last ones, as numpy.fft's axes."""
    last = lengths[-1] // 2 + 1 if kind == 'IRFFT' else lengths[-1]
    shape = (2, *lengths[:-1], last, *trailing)
    draw = floats if dtype.startswith('f') else complexes
    axes = tuple(range(1, 1 + len(lengths)))
    to = tuple(range(-len(lengths), 0))
    def fn(x):
        y = lax.fft_p.bind(jnp.moveaxis(x, axes, to), fft_type=lax.FftType[kind], fft_lengths=lengths)
        return jnp.moveaxis(y, to, axes)
    size = float(np.prod(lengths))
    attributes = {'fft_type': kind, 'fft_lengths': lengths, 'trailing': len(trailing)}
    primitive(file, 'fft', attributes, fn, of(draw(dtype, shape)), label=f'({kind},{lengths},{trailing})', modes=modes,
              tolerance=Close(8, 8.0 * (1 if kind.startswith('I') else size**0.5)), derivative=Close(8, 8.0 * max(size, 1)))


def cases(file):
    for kind, dtypes in KINDS.items():
        before_others(file, kind, dtypes[0], (6,), (3,), 'nfrvFRJ')
        before_others(file, kind, dtypes[1], (18,), (2, 3), 'nfrv')
        before_others(file, kind, dtypes[1], (3, 4), (2,), 'nfrv')
        for n in (17, 48, 67, 100, 256, 1024):
            before_others(file, kind, dtypes[n % 2], (n,), (5,), 'n')
    for kind, dtypes in KINDS.items():
        for n in LENGTHS:
            for dtype in dtypes:
                one(file, kind, dtype, (2,) if n % 2 else (), (n,), 'nfrv' if n < 19 else 'n')
        for n in LONG:
            one(file, kind, dtypes[n % 2], (), (n,), 'n')
        for lengths in ((3, 4), (5, 18), (2, 3, 7), (17, 1), (1, 1, 2), (64, 48)):
            one(file, kind, dtypes[0], (2,), lengths, 'nfrvFRJ' if np.prod(lengths) < 50 else 'n')
        for dtype in dtypes:
            one(file, kind, dtype, (0, 3), (6,), 'n')
