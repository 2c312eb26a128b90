"""Functions of jax.numpy that work element by element."""
import inspect

import numpy as np

from .numpy_operands import aligned, broadcast_shapes_of, converted, emit, expanded, promoted, public, value, weakened
from .promotion import BOOL, COMPLEX, INEXACT, INTEGERS, REAL_FLOATS, UNSIGNED, number_of_dtype, real_of
from .tracing import current

# ---- tables: functions that are one primitive ----

# sin(x): integers become floats first.
_OF_FLOATS = {"sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
              "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
              "sqrt": "sqrt", "cbrt": "cbrt"}
_SAME_TYPE = {"negative": "neg", "sign": "sign", "square": "square"}
_ARRAY_API = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "arctan2": "atan2", "power": "pow", "invert": "bitwise_invert",
              "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"}
_COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
                "greater_equal": "ge"}
_BINARY = {"maximum": "max", "minimum": "min"}
_BITWISE = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}


def _named(name, function, parameters, doc):
    """`function` as a public one of this module, with a signature for inspect and help."""
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = __name__, doc
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(p, inspect.Parameter.POSITIONAL_ONLY) for p in parameters])
    made = public(function)
    globals()[name] = made
    return made


def _of_floats(name, primitive):
    def function(x):
        (v,) = promoted(name, x, inexact=True)
        return weakened(emit(primitive, v), [v])
    return _named(name, function, "x", f"The primitive {primitive} of each element; integers become floats.")


def _same_type(name, primitive):
    def function(x):
        v = value(name, x)
        return weakened(emit(primitive, v), [v])
    return _named(name, function, "x", f"The primitive {primitive} of each element.")


def _binary(name, primitive, inexact=False, doc=None):
    def function(x, y):
        x, y = aligned(name, x, y, inexact=inexact)
        return weakened(emit(primitive, x, y), [x, y])
    return _named(name, function, "xy", doc or f"The primitive {primitive} of each pair of elements, promoted.")


def _compared(name, primitive):
    def function(x, y):
        return emit(primitive, *aligned(name, x, y))
    return _named(name, function, "xy", f"The primitive {primitive} of each pair of elements, promoted; a bool.")


def _bitwise(name, primitive):
    def function(x, y):
        x, y = aligned(name, x, y)
        _check_bits(name, x)
        return weakened(emit(primitive, x, y), [x, y])
    return _named(name, function, "xy", f"The primitive {primitive} of the bits of integers, or of bools.")


def _logical(name, primitive):
    def function(x, y):
        x, y = (truth(name, v) for v in aligned(name, x, y))
        return emit(primitive, x, y)
    return _named(name, function, "xy", f"The primitive {primitive} of x != 0 and y != 0.")


def _check_bits(function, x):
    if x.kind != BOOL and x.kind not in INTEGERS:
        raise TypeError(f"{function}: operands are {x.dtype}; integers or bools are expected")


def truth(function, x):
    """x != 0."""
    v = value(function, x)
    return v if v.kind == BOOL else emit("ne", v, filled(v, 0))


def filled(like, number):
    """A number in the type and shape of a value."""
    return current().constant(np.asarray(number, like.dtype), like.kind, like.shape)


for _name, _primitive in _OF_FLOATS.items():
    _of_floats(_name, _primitive)
for _name, _primitive in _SAME_TYPE.items():
    _same_type(_name, _primitive)
for _name, _primitive in _COMPARISONS.items():
    _compared(_name, _primitive)
for _name, _primitive in _BINARY.items():
    _binary(_name, _primitive)
for _name, _primitive in _BITWISE.items():
    _bitwise(_name, _primitive)
for _name, _primitive in _LOGICAL.items():
    _logical(_name, _primitive)
subtract = _binary("subtract", "sub")
divide = _binary("divide", "div", inexact=True)
true_divide = _binary("true_divide", "div", inexact=True)
arctan2 = _binary("arctan2", "atan2", inexact=True)
nextafter = _binary("nextafter", "nextafter", inexact=True)


# ---- arithmetic ----


def _bools(name, x, y, of_bools, of_numbers):
    x, y = aligned(name, x, y)
    return weakened(emit(of_bools if x.kind == BOOL else of_numbers, x, y), [x, y])


@public
def add(x, y, /):
    """x + y; of bools, the logical or."""
    return _bools("add", x, y, "or", "add")


@public
def multiply(x, y, /):
    """x * y; of bools, the logical and."""
    return _bools("multiply", x, y, "and", "mul")


@public
def positive(x, /):
    """x."""
    return value("positive", x)


@public
def abs(x, /):  # noqa: A001, the name of jax.numpy
    """|x|; of a complex number, its absolute value."""
    v = value("abs", x)
    return v if v.kind == BOOL or v.kind in UNSIGNED else weakened(emit("abs", v), [v])


absolute = abs


@public
def fabs(x, /):
    """|x| as a float."""
    return emit("abs", *promoted("fabs", x, inexact=True))


def _where(which, x, y):
    return emit("select_n", which, y, x)


@public
def floor_divide(x, y, /):
    """The greatest integer that is not above x / y."""
    x, y = aligned("floor_divide", x, y)
    if x.kind in UNSIGNED:
        return weakened(emit("div", x, y), [x, y])
    if x.kind == BOOL:
        raise TypeError("floor_divide: operands are bool; numbers are expected")
    zero = filled(x, 0)
    if x.kind in INTEGERS:
        q, one = emit("div", x, y), filled(x, 1)
        below = emit("and", emit("ne", emit("sign", x), emit("sign", y)), emit("ne", emit("rem", x, y), zero))
        return weakened(_where(below, emit("sub", q, one), q), [x, y])
    if x.kind in COMPLEX:
        raise TypeError("floor_divide: operands are complex; real numbers are expected")
    mod = emit("rem", x, y)
    div = emit("div", emit("sub", x, mod), y)
    below = emit("and", emit("ne", mod, zero), emit("ne", emit("sign", y), emit("sign", mod)))
    return weakened(emit("round", _where(below, emit("sub", div, filled(x, 1)), div), rounding_method=0), [x, y])


@public
def remainder(x, y, /):
    """x - floor(x / y) * y, with the sign of y."""
    x, y = aligned("remainder", x, y)
    rem, zero = emit("rem", x, y), filled(x, 0)
    is_other = emit("ne", emit("lt", rem, zero), emit("lt", y, zero))
    off = emit("and", is_other, emit("ne", rem, zero))
    return weakened(_where(off, emit("add", rem, y), rem), [x, y])


mod = remainder


@public
def fmod(x, y, /):
    """The remainder of x / y with the sign of x."""
    return emit("rem", *aligned("fmod", x, y))


@public
def divmod(x, y, /):  # noqa: A001, the name of jax.numpy
    """(floor_divide(x, y), remainder(x, y))."""
    return floor_divide(x, y), remainder(x, y)


@public
def power(x, y, /):
    """x to the power y; a number y that is whole is exact, and its derivative is that of the polynomial."""
    if isinstance(y, int) and not isinstance(y, bool):
        v = value("power", x)
        if v.kind != BOOL and (v.kind in INEXACT or y >= 0):
            return weakened(emit("integer_pow", v, y=y), [v])
    x, y = aligned("power", x, y)
    if x.kind in INTEGERS or x.kind == BOOL:
        return _integer_power(x, y)
    return weakened(emit("pow", x, y), [x, y])


def _integer_power(x, y):
    """By squares: the bits of y choose among x, x^2, x^4, ..."""
    found, zero, one = filled(x, 1), filled(x, 0), filled(x, 1)
    for bit in range(6):
        chosen = emit("ne", emit("and", emit("shift_right_logical", y, filled(y, bit)), one), zero)
        found = _where(chosen, emit("mul", found, x), found)
        x = emit("mul", x, x)
    return found


@public
def float_power(x, y, /):
    """x to the power y in floats."""
    return emit("pow", *aligned("float_power", x, y, inexact=True))


@public
def reciprocal(x, /):
    """1 / x."""
    (v,) = promoted("reciprocal", x, inexact=True)
    return weakened(emit("integer_pow", v, y=-1), [v])


# ---- exponentials, angles ----


def _scaled_log(name, base):
    def function(x):
        (v,) = promoted(name, x, inexact=True)
        return emit("div", emit("log", v), filled(v, np.log(base)))
    return _named(name, function, "x", f"The logarithm of x to the base {base}.")


log2, log10 = _scaled_log("log2", 2), _scaled_log("log10", 10)


@public
def logaddexp(x1, x2, /):
    """log(exp(x1) + exp(x2)), without overflow."""
    x, y = aligned("logaddexp", x1, x2, inexact=True)
    delta, greatest = emit("sub", x, y), emit("max", x, y)
    sum_ = emit("add", greatest, emit("log1p", emit("exp", emit("neg", emit("abs", delta)))))
    return _where(emit("ne", delta, delta), emit("add", x, y), sum_)


@public
def logaddexp2(x1, x2, /):
    """log2(2^x1 + 2^x2), without overflow."""
    x, y = aligned("logaddexp2", x1, x2, inexact=True)
    delta, greatest = emit("sub", x, y), emit("max", x, y)
    tail = emit("div", emit("log1p", emit("exp2", emit("neg", emit("abs", delta)))), filled(x, np.log(2)))
    return _where(emit("ne", delta, delta), emit("add", x, y), emit("add", greatest, tail))


@public
def hypot(x1, x2, /):
    """sqrt(x1^2 + x2^2), without overflow."""
    x, y = (emit("abs", v) for v in aligned("hypot", x1, x2, inexact=True))
    high, low = emit("max", x, y), emit("min", x, y)
    none = emit("eq", high, filled(high, 0))
    safe = _where(none, filled(high, 1), high)
    ratio = emit("div", low, safe)
    root = emit("mul", high, emit("sqrt", emit("add", filled(high, 1), emit("mul", ratio, ratio))))
    return _where(none, high, root)


def _times(name, factor):
    def function(x):
        (v,) = promoted(name, x, inexact=True)
        return emit("mul", v, filled(v, factor))
    return _named(name, function, "x", f"x times {factor!r}.")


deg2rad, radians = _times("deg2rad", np.pi / 180), _times("radians", np.pi / 180)
rad2deg, degrees = _times("rad2deg", 180 / np.pi), _times("degrees", 180 / np.pi)


@public
def sinc(x, /):
    """sin(pi x) / (pi x), and 1 at 0, with derivatives there."""
    (v,) = promoted("sinc", x, inexact=True)
    none = emit("eq", v, filled(v, 0))
    angle = emit("mul", filled(v, np.pi), v)
    safe = _where(none, filled(v, 1), angle)
    # Near 0 the series 1 - angle^2 / 6 has the derivatives that a constant lacks.
    series = emit("sub", filled(v, 1), emit("div", emit("mul", angle, angle), filled(v, 6)))
    return _where(none, series, emit("div", emit("sin", safe), safe))


# ---- rounding, signs, floats ----


def _rounded(name, primitive, **attributes):
    def function(x):
        v = value(name, x)
        if v.kind in INTEGERS or v.kind == BOOL:
            return v
        return weakened(emit(primitive, v, **attributes), [v])
    return _named(name, function, "x", f"{name} of each element; integers stay as they are.")


floor, ceil = _rounded("floor", "floor"), _rounded("ceil", "ceil")
rint = _rounded("rint", "round", rounding_method=1)


@public
def trunc(x, /):
    """x without its fraction."""
    v = value("trunc", x)
    if v.kind in INTEGERS or v.kind == BOOL:
        return v
    return _where(emit("lt", v, filled(v, 0)), emit("ceil", v), emit("floor", v))


@public
def round(a, decimals=0):  # noqa: A001, the name of jax.numpy
    """Rounded to `decimals` digits after the point, halves to even."""
    v = value("round", a)
    if v.kind in INTEGERS or v.kind == BOOL:
        if decimals < 0:
            raise TypeError("round: integers are rounded to whole numbers only; decimals must not be negative")
        return v
    if decimals == 0:
        return emit("round", v, rounding_method=1)
    factor = filled(v, 10.0 ** decimals)
    return emit("div", emit("round", emit("mul", v, factor), rounding_method=1), factor)


@public
def signbit(x, /):
    """Is the sign bit set?"""
    v = value("signbit", x)
    if v.kind in INTEGERS or v.kind == BOOL:
        return emit("lt", v, filled(v, 0)) if v.kind != BOOL else filled(v, False)
    bits = np.dtype(f"int{8 * v.dtype.itemsize}")
    found = emit("bitcast_convert_type", v, new_dtype=bits)
    return emit("lt", found, filled(found, 0))


@public
def copysign(x1, x2, /):
    """|x1| with the sign of x2."""
    x, y = aligned("copysign", x1, x2, inexact=True)
    size = emit("abs", x)
    return _where(signbit(y), emit("neg", size), size)


@public
def heaviside(x1, x2, /):
    """0 below 0, x2 at 0, 1 above."""
    x, y = aligned("heaviside", x1, x2, inexact=True)
    zero = filled(x, 0)
    above = _where(emit("gt", x, zero), filled(x, 1), y)
    return _where(emit("ne", x, x), x, _where(emit("lt", x, zero), zero, above))


@public
def isnan(x, /):
    """Is it not a number?"""
    v = value("isnan", x)
    return emit("ne", v, v)


@public
def isfinite(x, /):
    """Is it neither infinite nor NaN?"""
    v = value("isfinite", x)
    if v.kind in COMPLEX:
        return emit("and", isfinite(real(v)), isfinite(imag(v)))
    return emit("is_finite", v) if v.kind in INEXACT else emit("eq", v, v)


@public
def isinf(x, /):
    """Is it infinite?"""
    v = value("isinf", x)
    if v.kind in COMPLEX:
        return emit("or", isinf(real(v)), isinf(imag(v)))
    if v.kind not in REAL_FLOATS:
        return emit("ne", v, v)
    return emit("eq", emit("abs", v), filled(v, np.inf))


@public
def isposinf(x, /):
    """Is it +inf?"""
    v = value("isposinf", x)
    return emit("eq", v, filled(v, np.inf)) if v.kind in REAL_FLOATS else emit("ne", v, v)


@public
def isneginf(x, /):
    """Is it -inf?"""
    v = value("isneginf", x)
    return emit("eq", v, filled(v, -np.inf)) if v.kind in REAL_FLOATS else emit("ne", v, v)


@public
def fmax(x1, x2, /):
    """The greater one; if one is NaN, the other."""
    x, y = aligned("fmax", x1, x2)
    return _where(emit("or", emit("gt", x, y), emit("ne", y, y)), x, y)


@public
def fmin(x1, x2, /):
    """The lesser one; if one is NaN, the other."""
    x, y = aligned("fmin", x1, x2)
    return _where(emit("or", emit("lt", x, y), emit("ne", y, y)), x, y)


@public
def clip(arr, min=None, max=None):  # noqa: A002, the names of jax.numpy
    """Limited to [min, max]; None is no limit."""
    found = value("clip", arr)
    if min is not None:
        found = maximum(min, found)  # noqa: F821, from the table
    if max is not None:
        found = minimum(max, found)  # noqa: F821
    return found


@public
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in place of NaN and of infinities (the greatest and the least float if None)."""
    v = value("nan_to_num", x)
    if v.kind not in REAL_FLOATS:
        return v
    limits = np.finfo(v.dtype) if v.dtype.kind == "f" else None
    high = (limits.max if limits else None) if posinf is None else posinf
    low = (limits.min if limits else None) if neginf is None else neginf
    v = _where(isnan(v), filled(v, nan), v)
    v = _where(isposinf(v), filled(v, high), v)
    return _where(isneginf(v), filled(v, low), v)


# ---- bits, logic, complex numbers, types ----


@public
def logical_not(x, /):
    """x == 0."""
    return emit("not", truth("logical_not", x))


@public
def invert(x, /):
    """All bits inverted; of bools, the logical not."""
    v = value("invert", x)
    _check_bits("invert", v)
    return emit("not", v)


bitwise_not = invert


@public
def left_shift(x, y, /):
    """x shifted left by y bits."""
    x, y = aligned("left_shift", x, y)
    _check_bits("left_shift", x)
    return emit("shift_left", x, y)


@public
def right_shift(x1, x2, /):
    """x1 shifted right by x2 bits, with copies of the sign bit."""
    x, y = aligned("right_shift", x1, x2)
    _check_bits("right_shift", x)
    return emit("shift_right_logical" if x.kind in UNSIGNED else "shift_right_arithmetic", x, y)


@public
def bitwise_count(x, /):
    """The number of bits set, as u8."""
    v = value("bitwise_count", x)
    _check_bits("bitwise_count", v)
    return converted(emit("population_count", v), number_of_dtype("uint8"))


@public
def real(val, /):
    """The real part."""
    v = value("real", val)
    return emit("real", v) if v.kind in COMPLEX else v


@public
def imag(val, /):
    """The imaginary part; 0 of a real number."""
    v = value("imag", val)
    return emit("imag", v) if v.kind in COMPLEX else filled(v, 0)


@public
def conj(x, /):
    """The complex conjugate."""
    v = value("conj", x)
    return emit("conj", v) if v.kind in COMPLEX else v


conjugate = conj


@public
def angle(z, deg=False):
    """The angle of a complex number, in degrees if `deg`."""
    (v,) = promoted("angle", z, inexact=True)
    found = emit("atan2", imag(v), real(v))
    return emit("mul", found, filled(found, 180 / np.pi)) if deg else found


@public
def astype(x, dtype, /, *, copy=False, device=None):
    """In another type; of complex numbers the real part, of numbers to bool x != 0."""
    v, kind = value("astype", x), number_of_dtype(dtype)
    if kind == BOOL:
        return truth("astype", v)
    if v.kind in COMPLEX and kind not in COMPLEX:
        v = emit("real", v)
    return converted(v, kind, weak=False)


@public
def where(condition, x=None, y=None, /):
    """x where the condition holds, else y. Without them the result's size would depend on data, which is an error."""
    if x is None or y is None:
        raise TypeError("where: x and y are missing: how many elements hold depends on data, which a traced function "
                        "does not know; give both")
    which, (x, y) = truth("where", condition), promoted("where", x, y)
    shape = broadcast_shapes_of("where", [which.shape, x.shape, y.shape])
    return weakened(_where(expanded(which, shape), expanded(x, shape), expanded(y, shape)), [x, y])


@public
def select(condlist, choicelist, default=0):
    """The choice of the first condition that holds, element by element."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices are given")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = where(condition, choice, found)
    return value("select", found)


@public
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|a - b| <= atol + rtol |b|, or both are the same infinity (or NaN, if equal_nan)."""
    x, y = aligned("isclose", a, b, inexact=True)
    near = emit("le", emit("abs", emit("sub", x, y)),
                emit("add", filled(converted(x, real_of(x.kind)), atol),
                     emit("mul", filled(converted(x, real_of(x.kind)), rtol), emit("abs", y))))
    finite = emit("and", isfinite(x), isfinite(y))
    found = emit("or", emit("and", near, finite), emit("eq", x, y))
    return emit("or", found, emit("and", isnan(x), isnan(y))) if equal_nan else found


for _name, _alias in _ARRAY_API.items():  # the names of the array API standard
    globals()[_alias] = globals()[_name]
    __all__.append(_alias)  # noqa: F821, made by `public`
__all__ += ["absolute", "bitwise_not", "conjugate", "mod"]  # noqa: F821
