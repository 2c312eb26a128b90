"""Functions of jax.numpy of rounding, of floats, bits and complex numbers, and choices, element by element."""
import numpy as np

from ..abi.arguments import is_integer, wrong_type
from ..abi.dtypes import limits_of
from ..tracing.operands import (aligned, broadcast_shapes_of, converted, emit, expanded, filled, promoted, public,
                                truth, value, weakened)
from ..tracing.promotion import (BOOL, COMPLEX, F32, INEXACT, INTEGERS, REAL_FLOATS, UNSIGNED, inexact_of,
                                 number_of_dtype, real_of)
from .elementwise import check_bits, chosen, compared, maximum, minimum, named, real_value

# ---- rounding, signs, floats ----


def _rounded(name, primitive, **attributes):
    def function(x):
        v = value(name, x)
        if v.kind in INTEGERS or v.kind == BOOL:
            return v
        return weakened(emit(primitive, v, **attributes), [v])
    return named(name, function, "x", f"{name} of each element; integers stay as they are.")


floor, ceil = _rounded("floor", "floor"), _rounded("ceil", "ceil")


@public
def rint(x, /):
    """The nearest whole number, halves to even; integers become floats."""
    v = value("rint", x)
    if v.kind in INTEGERS or v.kind == BOOL:
        return converted(v, inexact_of(v.kind), weak=False)
    return round(v)


@public
def trunc(x, /):
    """x without its fraction."""
    v = value("trunc", x)
    if v.kind in INTEGERS or v.kind == BOOL:
        return v
    return chosen(emit("lt", v, filled(v, 0)), emit("ceil", v), emit("floor", v))


@public
def round(a, decimals=0):  # noqa: A001, the name of jax.numpy
    """Rounded to `decimals` digits after the point, halves to even."""
    v = value("round", a)
    if not is_integer(decimals):
        raise wrong_type("round", "decimals", decimals, "an integer is")
    if v.kind == BOOL:
        raise TypeError("round: the array is bool; numbers are expected")
    if v.kind in INTEGERS:
        if decimals < 0:
            raise TypeError("round: integers are rounded to whole numbers only; decimals must not be negative")
        return v
    if v.kind in COMPLEX:
        return emit("complex", round(real(v), decimals), round(imag(v), decimals))
    if decimals == 0:
        return emit("round", v, rounding_method=1)
    wide = converted(v, F32) if v.dtype.itemsize == 2 else v  # where times a power of 10 does not overflow
    factor = filled(wide, 10.0 ** decimals)
    return converted(emit("div", emit("round", emit("mul", wide, factor), rounding_method=1), factor), v.kind, weak=v.weak)


around = round


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
    return chosen(signbit(y), emit("neg", size), size)


@public
def heaviside(x1, x2, /):
    """0 below 0, x2 at 0, 1 above."""
    x, y = aligned("heaviside", x1, x2, inexact=True)
    zero = filled(x, 0)
    above = chosen(emit("gt", x, zero), filled(x, 1), y)
    return chosen(emit("ne", x, x), x, chosen(emit("lt", x, zero), zero, above))


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
    v = real_value("isposinf", x)
    return emit("eq", v, filled(v, np.inf)) if v.kind in REAL_FLOATS else emit("ne", v, v)


@public
def isneginf(x, /):
    """Is it -inf?"""
    v = real_value("isneginf", x)
    return emit("eq", v, filled(v, -np.inf)) if v.kind in REAL_FLOATS else emit("ne", v, v)


@public
def fmax(x1, x2, /):
    """The greater one; if one is NaN, the other."""
    x, y = aligned("fmax", x1, x2)
    return chosen(emit("or", compared("gt", x, y), emit("ne", y, y)), x, y)


@public
def fmin(x1, x2, /):
    """The lesser one; if one is NaN, the other."""
    x, y = aligned("fmin", x1, x2)
    return chosen(emit("or", compared("lt", x, y), emit("ne", y, y)), x, y)


@public
def clip(arr, min=None, max=None):  # noqa: A002, the names of jax.numpy
    """Limited to [min, max]; None: unlimited."""
    found = real_value("clip", arr)
    for limit in (min, max):
        if limit is not None:
            real_value("clip", limit)
    if min is not None:
        found = maximum(min, found)
    if max is not None:
        found = minimum(max, found)
    return found


@public
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in place of NaN and of infinities (the greatest and the least float if None)."""
    v = value("nan_to_num", x)
    if v.kind in COMPLEX:
        return emit("complex", *(nan_to_num(part, copy, nan, posinf, neginf) for part in (real(v), imag(v))))
    if v.kind not in REAL_FLOATS:
        return v
    greatest = limits_of(v.dtype).max
    high, low = greatest if posinf is None else posinf, -greatest if neginf is None else neginf
    v = chosen(isnan(v), filled(v, nan), converted(v, v.kind, weak=False))
    v = chosen(isposinf(v), filled(v, high), v)
    return chosen(isneginf(v), filled(v, low), v)


# ---- bits, logic, complex numbers, types ----


@public
def logical_not(x, /):
    """x == 0."""
    return emit("not", truth("logical_not", x))


@public
def invert(x, /):
    """All bits inverted; of bools, the logical not."""
    v = value("invert", x)
    check_bits("invert", v)
    return emit("not", v)


bitwise_not = invert


@public
def left_shift(x, y, /):
    """x shifted left by y bits."""
    x, y = aligned("left_shift", x, y, numeric=True)
    check_bits("left_shift", x)
    return emit("shift_left", x, y)


@public
def right_shift(x1, x2, /):
    """x1 shifted right by x2 bits, with copies of the sign bit."""
    x, y = aligned("right_shift", x1, x2, numeric=True)
    check_bits("right_shift", x)
    return emit("shift_right_logical" if x.kind in UNSIGNED else "shift_right_arithmetic", x, y)


@public
def bitwise_count(x, /):
    """The number of bits set, as u8."""
    v = value("bitwise_count", x)
    check_bits("bitwise_count", v)
    v = converted(v, number_of_dtype("uint8")) if v.kind == BOOL else v
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
    found = converted(found, found.kind, weak=False)
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
    return weakened(chosen(expanded(which, shape), expanded(x, shape), expanded(y, shape)), [x, y])


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


bitwise_invert, bitwise_left_shift, bitwise_right_shift = invert, left_shift, right_shift
__all__ += ["bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_right_shift", "conjugate"]  # noqa: F821
__all__ += ["around"]  # noqa: F821
