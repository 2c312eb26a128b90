"""Compares what the C++ functions gave with what JAX gives for the same expressions: compare.py FILE [P/N].

With P/N only part P of N, which is every Nth expression: JAX takes most of the time.

JAX runs with 32-bit defaults and 64-bit dtypes where an input has one, as the binding does. All expressions of a file
are compiled in groups, because compiling each alone takes most of the time; those that JAX cannot trace run alone.
Expressions with `scipy.`, or that begin with `np.`, `[np.` or `[-np.`, run alone too: SciPy is the reference where JAX computes with f32 constants in f64. What comes
after `#=` is the reference where JAX overflows.
"""
import os
import sys

os.environ['XLA_FLAGS'] = ('--xla_backend_optimization_level=0 --xla_allow_excess_precision=false '
                           '--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_fast_math=false')
os.environ['JAX_PLATFORMS'] = 'cpu'
os.environ['OPENBLAS_NUM_THREADS'] = '1'

import warnings  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.flatten_util  # noqa: E402
import jax.scipy  # noqa: E402
import numpy as np  # noqa: E402
import scipy.special  # noqa: E402

jax.config.update('jax_explicit_x64_dtypes', 'allow')
warnings.simplefilter('ignore')

DTYPES = {'bool': np.bool_, 'i8': np.int8, 'i16': np.int16, 'i32': np.int32, 'i64': np.int64, 'u8': np.uint8,
          'u16': np.uint16, 'u32': np.uint32, 'u64': np.uint64, 'f16': np.float16, 'bf16': jnp.bfloat16,
          'f32': np.float32, 'f64': np.float64, 'c64': np.complex64, 'c128': np.complex128}
GROUP = 40


def read(path):
    """(inputs by name, [(tolerance, expression, results)])."""
    inputs, cases = {}, []
    with open(path, 'rb') as file:
        while line := file.readline():
            kind, size, rest = line.decode().rstrip('\n').split(' ', 2)
            if kind == 'case':
                cases.append((float(size), rest, []))
                continue
            type_text, name = rest.split(' ', 1)
            dtype, dims = type_text.rstrip(']').split('[')
            shape = [int(d) for d in dims.split(',') if d]
            x = np.frombuffer(file.read(int(size)), DTYPES[dtype]).reshape(shape)
            file.readline()
            if kind == 'input':
                inputs[name] = jnp.asarray(x, x.dtype)
            else:
                cases[-1][2].append(x)
    return inputs, cases


def evaluate(expression, inputs):
    names = {'jnp': jnp, 'jax': jax, 'lax': jax.lax, 'np': np, 'jsp': jax.scipy, 'scipy': scipy}
    return jax.tree.leaves(eval(expression.split('#=')[-1].strip(), names | inputs))


def references(cases, inputs):
    """The results of JAX, or SciPy, of each case."""
    out = {c[1]: alone(c[1], inputs) for c in cases if 'scipy.' in c[1] or c[1].startswith(('np.', '[np.', '[-np.'))}
    traced = [c[1] for c in cases if c[1] not in out]
    for i in range(0, len(traced), GROUP):
        group = traced[i:i + GROUP]
        try:
            results = jax.jit(lambda given: [evaluate(e, given) for e in group])(inputs)
        except Exception:
            results = [alone(e, inputs) for e in group]
        out.update(zip(group, results))
    return [out[c[1]] for c in cases]


def alone(expression, inputs):
    try:
        return evaluate(expression, inputs)
    except Exception as error:
        return error


def eps(dtype):
    return float(jnp.finfo(dtype).eps) if jnp.issubdtype(dtype, jnp.inexact) else 0.0


def difference(got, want, tolerance):
    """What differs, empty if nothing does."""
    want = np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f'{got.dtype}{list(got.shape)}, JAX gives {want.dtype}{list(want.shape)}'
    if not jnp.issubdtype(got.dtype, jnp.inexact):
        return '' if np.array_equal(got, want) else f'{got.tolist()}, JAX gives {want.tolist()}'
    wide = np.complex128 if np.iscomplexobj(got) else np.float64
    a, b = got.astype(wide), want.astype(wide)
    allowed = tolerance * eps(got.dtype) * np.maximum(1, np.abs(np.where(np.isfinite(b), b, 1)))
    with np.errstate(all='ignore'):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed)
    return '' if np.all(same) else f'{got.tolist()}, JAX gives {want.tolist()}'


def main():
    inputs, cases = read(sys.argv[1])
    part, parts = map(int, (sys.argv[2] if len(sys.argv) > 2 else '0/1').split('/'))
    cases = cases[part % parts::parts]
    failed = 0
    for (tolerance, expression, got), want in zip(cases, references(cases, inputs)):
        if isinstance(want, Exception):
            text = f'JAX fails: {want}'
        elif len(got) != len(want):
            text = f'{len(got)} results, JAX gives {len(want)}'
        else:
            text = '; '.join(filter(None, (difference(g, w, tolerance) for g, w in zip(got, want))))
        if text:
            failed += 1
            print(f'{expression}: {text}')
    print(f'{len(cases)} cases, {failed} failed')
    return failed > 0 or not cases


if __name__ == '__main__':
    sys.exit(main())
