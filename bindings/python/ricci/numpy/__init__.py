"""jax.numpy for functions that Ricci traces: `import ricci.numpy as rnp`.

Names, arguments and promotion are those of jax.numpy, and of the Python array API standard where that has another name.
In a traced function the functions give values; outside of one they run at once and give arrays of NumPy. What differs
from jax.numpy: dtypes stay as they are (f64 too), an integer index that is known and outside is an error, and functions
whose result has a size that depends on data are not there.
"""
import math as _math
import sys as _sys

import numpy as _np

from ..abi.dtypes import limits_of as _limits_of
from ..abi.dtypes import numpy_of as _numpy_of
from ..tracing import promotion as _promotion
from ..tracing.operands import is_operand  # noqa: F401
from ..tracing.trace import type_of as _type_of
from ..tracing.value import Value as ndarray  # noqa: F401
from . import fft, linalg, methods  # noqa: F401
from .arrays import *  # noqa: F403
from .choices import *  # noqa: F403
from .creation import *  # noqa: F403
from .differences import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .filters import *  # noqa: F403
from .indexing import *  # noqa: F403
from .joining import *  # noqa: F403
from .order import *  # noqa: F403
from .polynomials import *  # noqa: F403
from .products import *  # noqa: F403
from .ranges import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shaping import *  # noqa: F403
from .statistics import *  # noqa: F403

pi, e, inf, nan, newaxis, euler_gamma = _math.pi, _math.e, _math.inf, _math.nan, None, _np.euler_gamma
bool_, int8, int16, int32, int64 = _np.bool_, _np.int8, _np.int16, _np.int32, _np.int64
uint8, uint16, uint32, uint64 = _np.uint8, _np.uint16, _np.uint32, _np.uint64
float16, float32, float64, complex64, complex128 = _np.float16, _np.float32, _np.float64, _np.complex64, _np.complex128
__array_api_version__ = "2024.12"

_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "fV",
          "complex floating": "c", "numeric": "iufcV"}


def __getattr__(name):
    if name == "bool":
        return bool_
    if name == "bfloat16":
        return _numpy_of(_promotion.number_of_dtype("bfloat16")).type
    raise AttributeError(f"module 'ricci.numpy' has no attribute {name!r}; ricci.from_jax imports functions of jax.numpy")


def promote_types(a, b):
    """The dtype of a result of two dtypes."""
    return _numpy_of(_promotion.promoted(_promotion.number_of_dtype(a), _promotion.number_of_dtype(b)))


def result_type(*args):
    """The dtype of a result of arrays, numbers and dtypes."""
    def pair(x):
        if is_operand(x):
            return _type_of(x)[0], _type_of(x)[2]
        return _promotion.number_of_dtype(x), False
    return _numpy_of(_promotion.result_type([pair(x) for x in args])[0])


def isdtype(dtype, kind):
    """Is `dtype` of a kind (`real floating`, ...), one of several kinds, or a dtype?"""
    if isinstance(kind, tuple):
        return True in [isdtype(dtype, k) for k in kind]
    own = _numpy_of(_promotion.number_of_dtype(dtype))
    if isinstance(kind, str) and kind in _KINDS:
        return own.kind in _KINDS[kind]
    return own == _np.dtype(kind)



def _dtype_of(x):
    """The dtype of an array, or what is given for one."""
    return x.dtype if is_operand(x) else x


def finfo(dtype):
    """Numbers of a float dtype."""
    return _limits_of(_numpy_of(_promotion.number_of_dtype(_dtype_of(dtype))))


def iinfo(dtype):
    """Numbers of an integer dtype."""
    return _np.iinfo(_numpy_of(_promotion.number_of_dtype(_dtype_of(dtype))))


def can_cast(from_, to, /):
    """Does every number of a dtype have one in the other, by the rules of promotion?"""
    return promote_types(getattr(from_, "dtype", from_), to) == _np.dtype(to)


def __array_namespace_info__():
    """The information of the array API standard."""
    return _Info()


class _Info:
    def capabilities(self):
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 16}

    def default_device(self):
        return None

    def devices(self):
        return [None]

    def default_dtypes(self, *, device=None):
        return {"real floating": float32, "complex floating": complex64, "integral": int32, "indexing": int32}

    def dtypes(self, *, device=None, kind=None):
        every = {"bool": bool_, "int8": int8, "int16": int16, "int32": int32, "int64": int64, "uint8": uint8,
                 "uint16": uint16, "uint32": uint32, "uint64": uint64, "float32": float32, "float64": float64,
                 "complex64": complex64, "complex128": complex128}
        return {n: d for n, d in every.items() if kind is None or isdtype(d, kind)}


methods.give(_sys.modules[__name__])
