"""Functions of jax.numpy of rounding, of floats, bits and complex numbers, and choices, element by element."""
import numpy as np

from .numpy_elementwise import check_bits, chosen, filled, maximum, minimum, named, truth
from .numpy_operands import aligned, broadcast_shapes_of, converted, emit, expanded, promoted, public, value, weakened
from .promotion import BOOL, COMPLEX, INEXACT, INTEGERS, REAL_FLOATS, UNSIGNED, number_of_dtype, real_of

# ---- rounding, signs, floats ----


def _rounded(name, primitive, **attributes):
    def function(x):
        v = value(name, x)
        if v.kind in INTEGERS or v.kind == BOOL:
            return v
        return weakened(emit(primitive, v, **attributes), [v])
    return named(name, function, "x", f"{name} of each element; integers stay as they are.")


floor, ceil = _rounded("floor", "floor"), _rounded("ceil", "ceil")
rint = _rounded("rint", "round", rounding_method=1)


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
    if v.kind in INTEGERS or v.kind == BOOL:
        if decimals < 0:
            raise TypeError("round: integers are rounded to whole numbers only; decimals must not be negative")
        return v
    if decimals == 0:
        return emit("round", v, rounding_method=1)
    factor = filled(v, 10.0 ** decimals)
    return emit("div", emit("round", emit("mul", v, factor), rounding_method=1), factor)


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
    return chosen(emit("or", emit("gt", x, y), emit("ne", y, y)), x, y)


@public
def fmin(x1, x2, /):
    """The lesser one; if one is NaN, the other."""
    x, y = aligned("fmin", x1, x2)
    return chosen(emit("or", emit("lt", x, y), emit("ne", y, y)), x, y)


@public
def clip(arr, min=None, max=None):  # noqa: A002, the names of jax.numpy
    """Limited to [min, max]; None is no limit."""
    found = value("clip", arr)
    if min is not None:
        found = maximum(min, found)
    if max is not None:
        found = minimum(max, found)
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
    v = chosen(isnan(v), filled(v, nan), v)
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
    x, y = aligned("left_shift", x, y)
    check_bits("left_shift", x)
    return emit("shift_left", x, y)


@public
def right_shift(x1, x2, /):
    """x1 shifted right by x2 bits, with copies of the sign bit."""
    x, y = aligned("right_shift", x1, x2)
    check_bits("right_shift", x)
    return emit("shift_right_logical" if x.kind in UNSIGNED else "shift_right_arithmetic", x, y)


@public
def bitwise_count(x, /):
    """The number of bits set, as u8."""
    v = value("bitwise_count", x)
    check_bits("bitwise_count", v)
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
