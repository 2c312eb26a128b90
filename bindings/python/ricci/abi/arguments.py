"""What users pass to public functions, checked before it reaches C.

C takes numbers of fixed width and ctypes cuts longer ones off in silence, so every number is checked here. A message
names the function, what was given and what is expected; another type is a TypeError, another value a ValueError.
"""
import contextlib
import operator
import os

INT32, INT64, SIZE = (-1 << 31, 1 << 31), (-1 << 63, 1 << 63), (0, 1 << 63)  # the first, and that after the last
UINT32, UINT64 = (0, 1 << 32), (0, 1 << 64)


def count(n, noun):
    """`1 argument`, `2 arguments`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _shown(value):
    """A value in a message: short ones as they are, of others the type."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"of type {type(value).__name__}"


def wrong_type(function, name, value, expected):
    return TypeError(f"{function}: {name} is {_shown(value)}; {expected} expected")


def is_integer(value):
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def integer(function, name, value, bounds=INT64):
    """`value` as an int that is at least the first and less than the second of `bounds`."""
    if not is_integer(value):
        raise wrong_type(function, name, value, "an integer is")
    number, (low, end) = operator.index(value), bounds
    if not low <= number < end:
        raise ValueError(f"{function}: {name} is {number}; it must be from {low} to {end - 1}")
    return number


def items(function, name, value, expected):
    """A sequence as a list; a text is none here."""
    if isinstance(value, (str, bytes)):
        raise wrong_type(function, name, value, f"{expected} are")
    try:
        return list(value)
    except TypeError:
        raise wrong_type(function, name, value, f"{expected} are") from None


def integers(function, name, value, bounds=INT64):
    given, (low, end) = items(function, name, value, "integers"), bounds
    if all(type(n) is int and low <= n < end for n in given):
        return given
    return [integer(function, f"{name}[{i}]", n, bounds) for i, n in enumerate(given)]


def integer_or_integers(function, name, value):
    """(the numbers, whether one was given without a sequence around it)."""
    if is_integer(value):
        return [operator.index(value)], True
    return integers(function, name, items(function, name, value, "an integer or several")), False


def flags(function, name, value):
    """A sequence of truth values."""
    given = items(function, name, value, "truth values")
    for i, flag in enumerate(given):
        if not is_integer(flag) and type(flag).__name__ not in ("bool", "bool_"):
            raise wrong_type(function, f"{name}[{i}]", flag, "True or False is")
    return [bool(flag) for flag in given]


def text(function, name, value):
    if not isinstance(value, str):
        raise wrong_type(function, name, value, "a text is")
    return value


def instance(function, name, value, kind):
    if not isinstance(value, kind):
        raise wrong_type(function, name, value, f"a {kind.__name__} is")
    return value


def path(function, value):
    """A path as text."""
    try:
        decoded = os.fsdecode(value)
    except TypeError:
        raise wrong_type(function, "path", value, "a path is") from None
    if not decoded:
        raise ValueError(f"{function}: path is empty")
    if "\0" in decoded:
        raise ValueError(f"{function}: path is {decoded!r}, which holds a null character")
    return decoded


@contextlib.contextmanager
def about(function, name):
    """Errors raised inside say which argument they are about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{function}: {name}: {error}") from None
