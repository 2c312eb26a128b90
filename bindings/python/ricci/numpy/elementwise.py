"""Functions of jax.numpy that work element by element."""
import inspect

import numpy as np

from ..tracing.operands import aligned, converted, emit, filled, promoted, public, truth, value, weakened
from ..tracing.promotion import BOOL, COMPLEX, INEXACT, INTEGERS, UNSIGNED

# ---- tables: functions that are one primitive ----

# sin(x): integers become floats first.
_OF_FLOATS = {"sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
              "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
              "sqrt": "sqrt", "cbrt": "cbrt"}
_SAME_TYPE = {"negative": "neg", "sign": "sign", "square": "square"}
_ARRAY_API = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "arctan2": "atan2", "power": "pow"}
_COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
                "greater_equal": "ge"}
_BINARY = {"maximum": "max", "minimum": "min"}
_BITWISE = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}


def named(name, function, parameters, doc):
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
    return named(name, function, "x", f"The primitive {primitive} of each element; integers become floats.")


def _same_type(name, primitive):
    def function(x):
        (v,) = promoted(name, x, numeric=name == "square")
        return weakened(emit(primitive, v), [v])
    return named(name, function, "x", f"The primitive {primitive} of each element.")


def _binary(name, primitive, inexact=False, doc=None):
    def function(x, y):
        x, y = aligned(name, x, y, inexact=inexact)
        return weakened(emit(primitive, x, y), [x, y])
    return named(name, function, "xy", doc or f"The primitive {primitive} of each pair of elements, promoted.")


def compared(primitive, x, y):
    """A comparison of two values of one type; of complex numbers the order is that of the real parts, then of the
    imaginary ones, as in NumPy."""
    if x.kind not in COMPLEX or primitive in ("eq", "ne"):
        return emit(primitive, x, y)
    (a, b), (c, d) = ((emit("real", v), emit("imag", v)) for v in (x, y))
    return emit("select_n", emit("eq", a, c), emit(primitive, a, c), emit(primitive, b, d))


def _compared(name, primitive):
    def function(x, y):
        return compared(primitive, *aligned(name, x, y))
    return named(name, function, "xy", f"The primitive {primitive} of each pair of elements, promoted; a bool.")


def _bitwise(name, primitive):
    def function(x, y):
        x, y = aligned(name, x, y)
        check_bits(name, x)
        return weakened(emit(primitive, x, y), [x, y])
    return named(name, function, "xy", f"The primitive {primitive} of the bits of integers, or of bools.")


def _logical(name, primitive):
    def function(x, y):
        x, y = (truth(name, v) for v in aligned(name, x, y))
        return emit(primitive, x, y)
    return named(name, function, "xy", f"The primitive {primitive} of x != 0 and y != 0.")


def check_bits(function, x):
    if x.kind != BOOL and x.kind not in INTEGERS:
        raise TypeError(f"{function}: operands are {x.dtype}; integers or bools are expected")


def real_value(function, x):
    """A value that is not complex, where complex numbers have no meaning."""
    v = value(function, x)
    if v.kind in COMPLEX:
        raise TypeError(f"{function}: an operand is {v.dtype}; real numbers are expected (its parts are x.real and x.imag)")
    return v


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
    return emit("abs", *promoted("fabs", real_value("fabs", x), inexact=True))


def chosen(which, x, y):
    return emit("select_n", which, y, x)


@public
def floor_divide(x, y, /):
    """The greatest integer that is not above x / y."""
    x, y = aligned("floor_divide", x, y, numeric=True)
    if x.kind in UNSIGNED:
        return weakened(emit("div", x, y), [x, y])
    zero = filled(x, 0)
    if x.kind in INTEGERS:
        q, one = emit("div", x, y), filled(x, 1)
        below = emit("and", emit("ne", emit("sign", x), emit("sign", y)), emit("ne", emit("rem", x, y), zero))
        return weakened(chosen(below, emit("sub", q, one), q), [x, y])
    if x.kind in COMPLEX:
        raise TypeError("floor_divide: operands are complex; real numbers are expected")
    mod = emit("rem", x, y)
    div = emit("div", emit("sub", x, mod), y)
    below = emit("and", emit("ne", mod, zero), emit("ne", emit("sign", y), emit("sign", mod)))
    found = emit("round", chosen(below, emit("sub", div, filled(x, 1)), div), rounding_method=0)
    return weakened(chosen(emit("eq", y, zero), emit("div", x, y), found), [x, y])


def _rem(x, y):
    rem = emit("rem", x, y)
    return rem if x.kind not in INTEGERS else chosen(emit("eq", y, filled(y, 0)), filled(x, 0), rem)


@public
def remainder(x, y, /):
    """x - floor(x / y) * y, with the sign of y; of an integer and 0 it is 0."""
    x, y = aligned("remainder", x, y, numeric=True)
    rem, zero = _rem(x, y), filled(x, 0)
    is_other = emit("ne", emit("lt", rem, zero), emit("lt", y, zero))
    off = emit("and", is_other, emit("ne", rem, zero))
    return weakened(chosen(off, emit("add", rem, y), rem), [x, y])


mod = remainder


@public
def fmod(x, y, /):
    """The remainder of x / y with the sign of x; of an integer and 0 it is 0."""
    return _rem(*aligned("fmod", x, y, numeric=True))


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
    x, y = aligned("power", x, y, numeric=True)
    if x.kind in INTEGERS:
        return _integer_power(x, y)
    return weakened(emit("pow", x, y), [x, y])


def _integer_power(x, y):
    """By squares: the bits of y choose among x, x^2, x^4, ..."""
    found, zero, one = filled(x, 1), filled(x, 0), filled(x, 1)
    for bit in range(6):
        is_set = emit("ne", emit("and", emit("shift_right_logical", y, filled(y, bit)), one), zero)
        found = chosen(is_set, emit("mul", found, x), found)
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
        log = emit("log", converted(v, v.kind, weak=False))
        if v.kind not in COMPLEX:
            return emit("div", log, filled(log, np.log(base)))
        parts = emit("real", log), emit("imag", log)  # a complex quotient makes NaN of infinities
        return emit("complex", *(emit("div", part, filled(part, np.log(base))) for part in parts))
    return named(name, function, "x", f"The logarithm of x to the base {base}.")


log2, log10 = _scaled_log("log2", 2), _scaled_log("log10", 10)


def _ordered(x, y):
    """The greater one and the lesser. Chosen, not by max and min: where both are equal these have derivatives of their
    own, which do not add up to those of a symmetric function."""
    is_first = emit("ge", x, y)
    return chosen(is_first, x, y), chosen(is_first, y, x)


def _below(high, low):
    """low - high, and 0 where both are the same infinity."""
    alike = emit("and", emit("eq", high, low), emit("not", emit("is_finite", high)))
    zero = filled(high, 0)
    return emit("sub", chosen(alike, zero, low), chosen(alike, zero, high))


@public
def logaddexp(x1, x2, /):
    """log(exp(x1) + exp(x2)), without overflow."""
    x, y = aligned("logaddexp", real_value("logaddexp", x1), real_value("logaddexp", x2), inexact=True)
    high, low = _ordered(x, y)
    return emit("add", high, emit("log1p", emit("exp", _below(high, low))))


@public
def logaddexp2(x1, x2, /):
    """log2(2^x1 + 2^x2), without overflow."""
    x, y = aligned("logaddexp2", real_value("logaddexp2", x1), real_value("logaddexp2", x2), inexact=True)
    high, low = _ordered(x, y)
    tail = emit("div", emit("log1p", emit("exp2", _below(high, low))), filled(x, np.log(2)))
    return emit("add", high, tail)


@public
def hypot(x1, x2, /):
    """sqrt(x1^2 + x2^2), without overflow; infinite if one is, even if the other is NaN."""
    x, y = (emit("abs", v) for v in aligned("hypot", real_value("hypot", x1), real_value("hypot", x2), inexact=True))
    high, low = _ordered(x, y)
    none = emit("eq", high, filled(high, 0))
    safe = chosen(none, filled(high, 1), high)
    ratio = emit("div", low, safe)
    root = emit("mul", high, emit("sqrt", emit("add", filled(high, 1), emit("mul", ratio, ratio))))
    is_infinite = emit("or", *(emit("eq", v, filled(v, np.inf)) for v in (x, y)))
    return chosen(is_infinite, filled(high, np.inf), chosen(none, emit("max", x, y), root))


def _times(name, factor):
    def function(x):
        (v,) = promoted(name, x, inexact=True)
        return emit("mul", v, filled(v, factor))
    return named(name, function, "x", f"x times {factor!r}.")


deg2rad, radians = _times("deg2rad", np.pi / 180), _times("radians", np.pi / 180)
rad2deg, degrees = _times("rad2deg", 180 / np.pi), _times("degrees", 180 / np.pi)


@public
def sinc(x, /):
    """sin(pi x) / (pi x), and 1 at 0, with derivatives there."""
    (v,) = promoted("sinc", x, inexact=True)
    none = emit("eq", v, filled(v, 0))
    angle = emit("mul", filled(v, np.pi), v)
    safe = chosen(none, filled(v, 1), angle)
    # Near 0 the series 1 - angle^2 / 6 has the derivatives that a constant lacks.
    series = emit("sub", filled(v, 1), emit("div", emit("mul", angle, angle), filled(v, 6)))
    return chosen(none, series, emit("div", emit("sin", safe), safe))


for _name, _alias in _ARRAY_API.items():  # the names of the array API standard
    globals()[_alias] = globals()[_name]
    __all__.append(_alias)  # noqa: F821, made by `public`
__all__ += ["absolute", "mod"]  # noqa: F821
