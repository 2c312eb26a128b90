"""Element types: those of NumPy, and of ml_dtypes where it is installed, by the numbers of the C ABI.

A key has no dtype in NumPy: outside of programs it is a u64, the two words of a threefry key in their memory order.
"""
import functools

import numpy as np

from . import _abi
from .library import Error

_NAMES = {"bool": _abi.RICCI_BOOL, "float16": _abi.RICCI_F16, "float32": _abi.RICCI_F32, "float64": _abi.RICCI_F64,
          "complex64": _abi.RICCI_C64, "complex128": _abi.RICCI_C128}
_NAMES |= {f"int{8 << i}": _abi.RICCI_I8 + i for i in range(4)} | {f"uint{8 << i}": _abi.RICCI_U8 + i for i in range(4)}
_EXTENDED = {"bfloat16": _abi.RICCI_BF16, "float8_e4m3fn": _abi.RICCI_F8E4M3FN, "float8_e5m2": _abi.RICCI_F8E5M2,
             "float8_e8m0fnu": _abi.RICCI_F8E8M0FNU, "float4_e2m1fn": _abi.RICCI_F4E2M1FN}

KEY = _abi.RICCI_KEY
BY_NAME = _NAMES | _EXTENDED
DIFFERENTIABLE = set(range(_abi.RICCI_F16, _abi.RICCI_F4E2M1FN + 1))  # floats, complex numbers, floats of 8 and 4 bits
_NUMPY = {number: np.dtype(name) for name, number in _NAMES.items()} | {KEY: np.dtype(np.uint64)}
_TEXTS = {getattr(_abi, f"RICCI_{name}"): name.lower() for name in (
    "BOOL I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64 C64 C128 F8E4M3FN F8E5M2 F8E8M0FNU F4E2M1FN KEY").split()}


def type_text(dtype_and_shape):
    """The type as texts of programs have it: `f32[3,4]`."""
    dtype, shape = dtype_and_shape
    return f"{_TEXTS[dtype]}[{','.join(map(str, shape))}]"


@functools.cache
def number_of(dtype):
    """The number of a NumPy dtype."""
    name = np.dtype(dtype).name
    if name not in BY_NAME:
        raise Error(f"Ricci has no element type {name}; it has {', '.join(BY_NAME)}")
    return BY_NAME[name]


def limits_of(dtype):
    """The numbers of a float dtype, by NumPy or ml_dtypes."""
    if dtype.kind == "V":
        import ml_dtypes
        return ml_dtypes.finfo(dtype)
    return np.finfo(dtype)


def numpy_of(number):
    """The NumPy dtype of the elements of arrays of that type."""
    if number in _NUMPY:
        return _NUMPY[number]
    import ml_dtypes
    for name, n in _EXTENDED.items():
        _NUMPY[n] = np.dtype(getattr(ml_dtypes, name))
    return _NUMPY[number]
