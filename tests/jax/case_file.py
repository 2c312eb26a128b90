"""Case files: programs as text, the transforms to apply, inputs, and JAX's results with their tolerances.

A file is a sequence of cases. Lines of words state sizes and raw bytes follow them, so that a reader needs no library:

    case <name>
    program <bytes>            text follows
    jvp <0|1>...               any number of transforms, applied in this order
    vjp <0|1>...
    vmap <size> in <axis>... out <axis>...
    input <type> <bytes>       raw elements follow
    result <type> <bytes> <rtol> <atol>     bits of integers and of floats with `0 0` must agree
    sample <type> <bytes> <rtol> <atol> <n>     the same of n of the numbers; their places as i64 come first
    checksum <type> <hex>     CRC-32 of the numbers, the bits of NaN all ones
    end

Results that are checked in (references.py) are not computed again. JAX computes many cases in one jitted function, because compiling each alone would take most of the time. Excess
precision is off, so that narrow floats round after every operation as they do in single operations.
"""
import collections
import typing
import zlib

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


class Replay(typing.NamedTuple):
    """A program that must give some of the results of a case: their numbers are `results`. Of the results in `kept` only
    the elements at these places are compared."""
    name: str
    program: str
    transforms: list
    inputs: list
    results: typing.Sequence
    kept: dict


class Case(typing.NamedTuple):
    """`compute(*inputs)` returns the flat results of the transformed program, or what all `replays` share; `program` is
    then only the name of it."""
    name: str
    program: str
    transforms: list
    inputs: list
    compute: typing.Callable
    tolerance: Close
    replays: typing.Sequence = ()


class Result(typing.NamedTuple):
    """What a run must give. `numbers` are the bytes of all elements (two for a complex one), or of those at `places`;
    none if there is a `checksum`."""
    type: str
    numbers: bytes
    rtol: float
    atol: float
    places: np.ndarray | None = None
    checksum: int | None = None


def result_of(x, tolerance):
    return Result(type_text(x), raw(x), *tolerance.of(x))


def at_places(result, places):
    """A result with the numbers at `places` only; all if None."""
    if places is None:
        return result
    numbers = np.frombuffer(result.numbers, DTYPES[result.type.split('[')[0]])
    return result._replace(numbers=numbers[places].tobytes(), places=places)


class CaseFile:
    """Writes cases with JAX's results: those that `references` has, or those that JAX computes."""

    def __init__(self, path, references=None):
        self.file = open(path, 'wb')
        self.references = references
        self.waiting = []
        self.count = 0
        self.names, self.streams = collections.Counter(), collections.Counter()

    def numbers(self, name):
        """A generator of random numbers for the case `name`: another case does not change what it gives."""
        self.streams[name] += 1
        return np.random.default_rng(zlib.crc32(f'{name}#{self.streams[name]}'.encode()))

    def add(self, name, program, transforms, inputs, compute, tolerance, replays=()):
        self.names[name] += 1
        unique = name if self.names[name] == 1 else f'{name}#{self.names[name]}'
        case = Case(unique, program, transforms, inputs, compute, tolerance, replays)
        stored = self.references and self.references.results(case)
        if stored is not None:
            self.write(case, stored)
            return
        self.waiting.append(case)
        if len(self.waiting) == GROUP:
            self.flush()

    def flush(self):
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        run = jax.jit(lambda all_inputs: [c.compute(*x) for c, x in zip(waiting, all_inputs)])
        for case, outs in zip(waiting, run([c.inputs for c in waiting])):
            results = [result_of(x, case.tolerance) for x in outs]
            if self.references:
                self.references.computed(case, results)
            self.write(case, results)

    def write(self, case, results):
        for replay in case.replays:
            self.write_one(replay, [at_places(results[i], replay.kept.get(i)) for i in replay.results])
        if not case.replays:
            self.write_one(case, results)

    def write_one(self, case, results):
        """`case` is a Case or a Replay."""
        text = case.program.encode()
        put = self.file.write
        put(f'case {case.name}\nprogram {len(text)}\n'.encode() + text)
        for t in case.transforms:
            put((t + '\n').encode())
        for x in case.inputs:
            data = raw(x)
            put(f'input {type_text(x)} {len(data)}\n'.encode() + data + b'\n')
        for r in results:
            put(self.lines_of(r))
        put(b'end\n')
        self.count += 1

    @staticmethod
    def lines_of(r):
        if r.checksum is not None:
            return f'checksum {r.type} {r.checksum:08x}\n'.encode()
        line = f'{r.type} {len(r.numbers)} {r.rtol:.9g} {r.atol:.9g}'
        if r.places is None:
            return f'result {line}\n'.encode() + r.numbers + b'\n'
        return f'sample {line} {len(r.places)}\n'.encode() + r.places.astype(np.int64).tobytes() + r.numbers + b'\n'

    def close(self):
        self.flush()
        self.file.close()
