"""Element types of results: the lattice of jax.numpy, for the numbers of the C ABI.

Numbers of Python are weak: they take the type of what they meet. With nothing to meet they are i32, f32 and c64. Other
values keep the type they have; f64 is not turned into f32, as JAX does it with jax_enable_x64.
"""
import numpy as np

from ..abi import _abi
from ..abi.builder import DType
from ..abi.dtypes import BY_NAME, numpy_of, type_text
from ..abi.library import Error

BOOL, I32, I64, U64, F32, F64, C64, C128 = (
    _abi.RICCI_BOOL, _abi.RICCI_I32, _abi.RICCI_I64, _abi.RICCI_U64, _abi.RICCI_F32, _abi.RICCI_F64, _abi.RICCI_C64,
    _abi.RICCI_C128)
SIGNED, UNSIGNED = range(_abi.RICCI_I8, _abi.RICCI_I64 + 1), range(_abi.RICCI_U8, _abi.RICCI_U64 + 1)
INTEGERS = range(_abi.RICCI_I8, _abi.RICCI_U64 + 1)
REAL_FLOATS = (_abi.RICCI_F16, _abi.RICCI_BF16, F32, F64)
COMPLEX = (C64, C128)
INEXACT = (*REAL_FLOATS, *COMPLEX)
_SIZE = {n: numpy_of(n).itemsize for n in (*range(BOOL, _abi.RICCI_F16 + 1), F32, F64, C64, C128)} | {_abi.RICCI_BF16: 2}
_DEFAULTS = (BOOL, I32, F32, C64)  # of the kinds of a number


def kind_of(dtype):
    """0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    return 0 if dtype == BOOL else 1 if dtype in INTEGERS else 3 if dtype in COMPLEX else 2


def complex_of(dtype):
    return dtype if dtype in COMPLEX else C128 if dtype == F64 else C64


def real_of(dtype):
    return {C64: F32, C128: F64}.get(dtype, dtype)


def _integers(a, b):
    if (a in UNSIGNED) == (b in UNSIGNED):
        return a if _SIZE[a] >= _SIZE[b] else b
    u, s = (a, b) if a in UNSIGNED else (b, a)
    if _SIZE[s] > _SIZE[u]:
        return s
    return F32 if _SIZE[u] == 8 else SIGNED[_SIZE[u].bit_length()]


def promoted(a, b):
    """The type of a result of values of the types `a` and `b`."""
    if a == b or b == BOOL:
        return a
    if a == BOOL:
        return b
    if a in INTEGERS and b in INTEGERS:
        return _integers(a, b)
    if a in INTEGERS or b in INTEGERS:
        return b if a in INTEGERS else a
    if a not in _SIZE or b not in _SIZE:
        raise Error(f"{type_text((a, ()))} and {type_text((b, ()))} have no common type; convert one with astype")
    if a in COMPLEX or b in COMPLEX:
        return max(complex_of(a), complex_of(b))
    if _SIZE[a] == _SIZE[b]:
        return F32  # f16 and bf16
    return a if _SIZE[a] > _SIZE[b] else b


def with_weak(dtype, kind):
    """The same where one of the values is a number of Python of that kind."""
    if kind <= kind_of(dtype):
        return dtype
    return complex_of(dtype) if kind == 3 else _DEFAULTS[kind]


def result_type(values):
    """(dtype, whether it is weak) of a result of (dtype, weak) pairs."""
    strong = [d for d, weak in values if not weak]
    kinds = [kind_of(d) for d, weak in values if weak]
    if not strong:
        return max(d for d, _ in values) if len(set(kinds)) == 1 else _DEFAULTS[max(kinds)], True
    found = strong[0]
    for d in strong[1:]:
        found = promoted(found, d)
    for kind in kinds:
        found = with_weak(found, kind)
    return found, bool(kinds) and all(d == BOOL for d in strong)


def inexact_of(dtype):
    """The type of sin(x)."""
    return dtype if dtype not in _INTEGERS_AND_BOOL else F64 if dtype in (I64, U64) else F32


_INTEGERS_AND_BOOL = (BOOL, *INTEGERS)


def number_of_scalar(x):
    """The dtype of a number of Python."""
    if isinstance(x, bool):
        return BOOL
    if isinstance(x, int):
        if not -1 << 63 <= x < 1 << 64:
            raise OverflowError(f"the integer {x} has more than 64 bits; no dtype holds it")
        return I32 if -1 << 31 <= x < 1 << 31 else I64 if x < 1 << 63 else U64
    return F32 if isinstance(x, float) else C64


def number_of_dtype(dtype):
    """The number of what users give as a dtype: of NumPy, a class (`float` is f32), a text, one of ours."""
    if isinstance(dtype, DType):
        return int(dtype)
    for kind, number in ((bool, BOOL), (int, I32), (float, F32), (complex, C64)):
        if dtype is kind:
            return number
    name = dtype if isinstance(dtype, str) else None
    if name in BY_NAME:
        return BY_NAME[name]
    if hasattr(dtype, "dtype") and hasattr(dtype, "shape") and not isinstance(dtype, type):
        raise TypeError(f"dtype is an array of {dtype.dtype}; a dtype is expected (x.dtype is that of an array x)")
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in BY_NAME:
        raise TypeError(f"dtype {name} is not one of {', '.join(BY_NAME)}")
    return BY_NAME[name]
