"""The rows of ricci/float_format.h equal the types of ml_dtypes, bit for bit: all patterns are decoded, and all
numbers, all midpoints between neighbours and the doubles next to both are encoded.

usage: float_formats.py CODEC
"""
import subprocess
import sys

import ml_dtypes
import numpy as np

FORMATS = {
    'f16': np.float16, 'bf16': ml_dtypes.bfloat16, 'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e5m2': ml_dtypes.float8_e5m2,
    'f8e8m0fnu': ml_dtypes.float8_e8m0fnu, 'f4e2m1fn': ml_dtypes.float4_e2m1fn,
}
WIDTHS = {'f16': 16, 'bf16': 16, 'f4e2m1fn': 4}  # others: 8
SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 1e-300, -1e-300, 1e300, -1e300,
            np.finfo(np.float64).max, np.finfo(np.float64).min]


def run(codec, direction, name, words, result):
    out = subprocess.run([codec, direction, name], input=words.tobytes(), check=True, capture_output=True).stdout
    return np.frombuffer(out, result)


def patterns(name):
    width = WIDTHS.get(name, 8)
    return np.arange(1 << width).astype(np.uint16 if width == 16 else np.uint8)


def numbers(name):
    """All finite numbers of a format, as doubles."""
    values = patterns(name).view(FORMATS[name]).astype(np.float64)
    return values[np.isfinite(values)]


def doubles(name):
    """The numbers to encode: also below the smallest, and from the largest up to ones that are certainly too large."""
    values = numbers(name)
    largest, smallest = values.max(), values[values > 0].min()
    step = largest - np.sort(values)[-2]
    more = [largest + step, 2 * largest, 3 * largest, 4 * largest, smallest / 2, smallest / 4, smallest * 3 / 4]
    marks = np.unique(np.concatenate([values, more, np.negative(more), [0.0]]))
    marks = np.concatenate([marks, (marks[1:] + marks[:-1]) / 2])
    return np.concatenate([marks, np.nextafter(marks, np.inf), np.nextafter(marks, -np.inf), SPECIALS])


def single(x):
    """x rounded to f32 towards zero, with the last bit set if that lost any bits. ml_dtypes rounds arrays of doubles to
    f32 first; starting from this number its result is as if rounded once."""
    near = x.astype(np.float32)
    below = np.where(np.abs(near) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    odd = (below.view(np.uint32) | 1).view(np.float32)
    return np.where(near.astype(np.float64) != x, odd, near)


def decoded(codec, name):
    bits = patterns(name)
    want = bits.view(FORMATS[name]).astype(np.float64)
    got = run(codec, 'decode', name, bits.astype(np.uint64), np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    wrong = ~same | (np.signbit(got) != np.signbit(want))
    return wrong, bits, got, want


def encoded(codec, name):
    x = doubles(name)
    want = single(x).astype(FORMATS[name]).view(patterns(name).dtype).astype(np.uint64)
    got = run(codec, 'encode', name, x, np.uint64)
    return got != want, x, got, want


def main(codec):
    failed = False
    for name in FORMATS:
        for compare in decoded, encoded:
            with np.errstate(all='ignore'):
                wrong, source, got, want = compare(codec, name)
            print(f'{name}: {len(source)} {compare.__name__}, {wrong.sum()} wrong')
            for i in np.flatnonzero(wrong)[:5]:
                print(f'  {source[i]!r} is {got[i]!r}, not {want[i]!r}')
            failed |= bool(wrong.any())
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
