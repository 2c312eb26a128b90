"""Case files: programs as text, the transforms to apply, inputs, and JAX's results with their tolerances.

A file is a sequence of cases. Lines of words state sizes and raw bytes follow them, so that a reader needs no library:

    case <name>
    program <bytes>            text follows
    jvp <0|1>...               any number of transforms, applied in this order
    vjp <0|1>...
    vmap <size> in <axis>... out <axis>...
    input <type> <bytes>       raw elements follow
    result <type> <bytes> <rtol> <atol>     bits of integers and of floats with `0 0` must agree
    end

JAX computes many cases in one jitted function, because compiling each alone would take most of the time. Excess
precision is off, so that narrow floats round after every operation as they do in single operations.
"""
import jax
import jax.numpy as jnp
import numpy as np

NAMES = {
    'bool': 'bool', 'int8': 'i8', 'int16': 'i16', 'int32': 'i32', 'int64': 'i64',
    'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32', 'uint64': 'u64',
    'float16': 'f16', 'bfloat16': 'bf16', 'float32': 'f32', 'float64': 'f64', 'complex64': 'c64', 'complex128': 'c128',
    'float8_e4m3fn': 'f8e4m3fn', 'float8_e5m2': 'f8e5m2', 'float8_e8m0fnu': 'f8e8m0fnu', 'float4_e2m1fn': 'f4e2m1fn',
}
DTYPES = {short: jnp.dtype(long) for long, short in NAMES.items()}
FLOATS = ('f16', 'bf16', 'f32', 'f64')
TINY = ('f8e4m3fn', 'f8e5m2', 'f8e8m0fnu', 'f4e2m1fn')  # in cases of their own
COMPLEXES = ('c64', 'c128')
SIGNED = ('i8', 'i16', 'i32', 'i64')
UNSIGNED = ('u8', 'u16', 'u32', 'u64')
INTS = SIGNED + UNSIGNED
NUMBERS = INTS + FLOATS
ALL = ('bool',) + NUMBERS
MOVABLE = ALL + COMPLEXES
EPS = {'f16': 2.0**-10, 'bf16': 2.0**-7, 'f32': 2.0**-23, 'f64': 2.0**-52, 'c64': 2.0**-23, 'c128': 2.0**-52,
       'f8e4m3fn': 2.0**-3, 'f8e5m2': 2.0**-2, 'f8e8m0fnu': 1.0, 'f4e2m1fn': 2.0**-1}
GROUP = 64  # cases per jitted function


def is_key(x):
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def short(x):
    return 'key' if is_key(x) else NAMES[jnp.dtype(x.dtype).name]


def type_text(x):
    return f"{short(x)}[{','.join(map(str, x.shape))}]"


def is_inexact(x):
    return not is_key(x) and jnp.issubdtype(x.dtype, jnp.inexact)


class DType(str):
    """An attribute value that prints as a dtype."""


class Body(str):
    """An attribute value that is program text."""


def attr_text(v):
    if isinstance(v, bool):
        return 'true' if v else 'false'
    if isinstance(v, (DType, Body)):
        return str(v)
    if isinstance(v, str):
        return f'"{v}"'
    if isinstance(v, float):
        return repr(v)
    if isinstance(v, (list, tuple)):
        return '[' + ','.join(attr_text(e) for e in v) + ']'
    return str(int(v))


def equation(prim, attrs, args, outs):
    """A program of one equation."""
    params = ', '.join(f'%{i}: {type_text(a)}' for i, a in enumerate(args))
    results = ', '.join(f'%r{i}: {type_text(o)}' for i, o in enumerate(outs))
    operands = ', '.join(f'%{i}' for i in range(len(args)))
    names = ', '.join(f'%r{i}' for i in range(len(outs)))
    words = ''.join(f' {k}={attr_text(v)}' for k, v in attrs.items())
    return f'program({params}) {{\n  {results} = {prim}({operands}){words}\n  return {names}\n}}\n'


def raw(x):
    if is_key(x):
        x = jax.random.key_data(x)
    return np.ascontiguousarray(np.asarray(x)).tobytes()


class Close:
    """Relative and absolute tolerance in units of the last place of each result's dtype (of the parts if complex)."""

    def __init__(self, ulps, scale=0.0):
        self.ulps, self.scale = ulps, scale

    def of(self, x):
        if not is_inexact(x):
            return 0.0, 0.0
        eps = EPS[short(x)]
        return self.ulps * eps, self.ulps * eps * self.scale


EXACT = Close(0)


class CaseFile:
    """Collects cases and writes them with JAX's results."""

    def __init__(self, path):
        self.file = open(path, 'wb')
        self.waiting = []
        self.count = 0
        self.names = set()

    def add(self, name, program, transforms, inputs, compute, tolerance):
        """`compute(*inputs)` returns the flat results of the transformed program."""
        unique, n = name, 1
        while unique in self.names:
            n += 1
            unique = f'{name}#{n}'
        self.names.add(unique)
        self.waiting.append((unique, program, transforms, inputs, compute, tolerance))
        if len(self.waiting) == GROUP:
            self.flush()

    def flush(self):
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        computes = [w[4] for w in waiting]
        run = jax.jit(lambda all_inputs: [f(*x) for f, x in zip(computes, all_inputs)])
        for (name, program, transforms, inputs, _, tolerance), outs in zip(waiting, run([w[3] for w in waiting])):
            self.write(name, program, transforms, inputs, outs, tolerance)

    def write(self, name, program, transforms, inputs, outs, tolerance):
        text = program.encode()
        put = self.file.write
        put(f'case {name}\nprogram {len(text)}\n'.encode() + text)
        for t in transforms:
            put((t + '\n').encode())
        for x in inputs:
            data = raw(x)
            put(f'input {type_text(x)} {len(data)}\n'.encode() + data + b'\n')
        for x in outs:
            data = raw(x)
            rtol, atol = tolerance.of(x)
            put(f'result {type_text(x)} {len(data)} {rtol:.9g} {atol:.9g}\n'.encode() + data + b'\n')
        put(b'end\n')
        self.count += 1

    def close(self):
        self.flush()
        self.file.close()
