"""Values: what a function that is traced gets in the place of its arrays.

A Value has a dtype and a shape but no elements. Operators and methods are those of `ricci.numpy`. What needs elements,
such as `if x:`, `float(x)` or a function of NumPy, raises TracingError, which says what to use and names the line.
"""
import math

from ._library import Error
from .dtypes import numpy_of, type_text
from .place import user_place

# What `array + value` calls for an array of NumPy, and the function of ricci.numpy that it means.
_UFUNCS = set("""add subtract multiply true_divide divide floor_divide remainder power matmul equal not_equal less
                 less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift""".split())


class TracingError(Error, TypeError):
    """What a value that is traced cannot do: it has no elements yet."""


def refuse_foreign(value):
    """Raises for a value that is used outside of its function."""
    file, line, _ = user_place()
    why = "it belongs to another program" if value._trace.is_open else "its function has ended"
    raise TracingError(f"{file}:{line}: {value!r} cannot be used here: {why}; return it from the function that made it, do "
                       "not keep it in a variable outside")


def refuse(value, what, instead):
    """Raises for `what`, such as `the truth of`, with the user's line and what to use."""
    if not value._trace.is_open:
        refuse_foreign(value)
    file, line, _ = user_place()
    place = f"{file}:{line}: " if file else ""
    raise TracingError(f"{place}{what} {value!r} is not known while the function is traced; {instead}")


def _numpy():
    from . import numpy
    return numpy


def _refuse_numpy(value, name):
    """Raises for a function of NumPy, or of a package that extends it, by its full name."""
    found = _numpy()
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    refuse(value, f"{name} of", f"use ricci.{name}" if found is not None and name.startswith("numpy.") else
           "ricci.numpy has no such function; ricci.from_jax imports functions of JAX")


def _binary(name):
    def method(self, other):
        np_like = _numpy()
        return getattr(np_like, name)(self, other) if np_like.is_operand(other) else NotImplemented
    return method


def _reflected(name):
    def method(self, other):
        np_like = _numpy()
        return getattr(np_like, name)(other, self) if np_like.is_operand(other) else NotImplemented
    return method


def _unary(name):
    return lambda self: getattr(_numpy(), name)(self)


def _method(name):
    """A method that is the function of that name with the value as its first argument."""
    def method(self, *arguments, **named):
        return getattr(_numpy(), name)(self, *arguments, **named)
    method.__name__, method.__doc__ = name, f"As ricci.numpy.{name} of this value."
    return method


class Value:
    """An array of a function that is traced. Immutable; `x.at[i].set(y)` is a changed copy."""

    __slots__ = ("_trace", "number", "kind", "shape", "weak", "recipe")
    __hash__ = None  # == is element by element

    def __init__(self, trace, number, kind, shape, weak=False, recipe=None):
        self._trace, self.number, self.kind, self.shape, self.weak = trace, number, kind, tuple(shape), weak
        self.recipe = recipe  # of weak_numbers.py: how it is made again with more digits

    def __repr__(self):
        return f"Value({type_text((self.kind, self.shape))})"

    # ---- what it is ----

    @property
    def dtype(self):
        return numpy_of(self.kind)

    @property
    def type(self):
        return self.kind, self.shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def device(self):
        """Where it will be, by the array API standard: that is chosen when the function is compiled."""
        return None

    def __array_namespace__(self, api_version=None):
        """The namespace of functions of the Python array API standard."""
        if api_version not in (None, "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"__array_namespace__: api_version is {api_version!r}; it must be 2024.12 or older")
        return _numpy()

    # ---- what needs elements ----

    def __bool__(self):
        refuse(self, "the truth of", "use ricci.cond or ricci.numpy.where in place of `if`, ricci.while_loop in place of "
               "`while`, & | ~ in place of `and`, `or`, `not`; if it is no data, make it one of static_argnums")

    def __index__(self):
        refuse(self, "the number", "use ricci.fori_loop in place of `range`, ricci.switch or ricci.numpy.take in place "
               "of an index into a list; sizes and axes must be static (static_argnums)")

    def __int__(self):
        refuse(self, "the number", "use .astype(int) in place of int(); if it is no data, make it one of static_argnums")

    def __float__(self):
        refuse(self, "the number", "use .astype(float) in place of float(), functions of ricci.numpy in place of those "
               "of math; if it is no data, make it one of static_argnums")

    def __complex__(self):
        refuse(self, "the number", "use .astype(complex) in place of complex()")

    def __array__(self, dtype=None, copy=None):
        refuse(self, "the array", "use ricci.numpy in place of numpy, or return it and look at the result")

    def item(self, *_):
        refuse(self, "the element of", "return it and look at the result")

    tolist = item

    def __dlpack__(self, **_):
        refuse(self, "the memory of", "return it and share the result")

    def __contains__(self, _):
        refuse(self, "what is in", "use ricci.numpy.any(x == element)")

    def __setitem__(self, index, _):
        shown = "..." if isinstance(index, Value) else repr(index)
        refuse(self, "a change of", f"values are immutable: use x = x.at[{shown}].set(y)")

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        name = ufunc.__name__
        if method == "__call__" and name in _UFUNCS and not named and len(inputs) == 2:
            return getattr(_numpy(), name)(*inputs)  # an operator between an array and a value
        import numpy as np
        _refuse_numpy(self, f"numpy.{name}" if hasattr(np, name) else f"the function {name}")

    def __array_function__(self, function, *_):
        _refuse_numpy(self, f"{function.__module__}.{function.__name__}")

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled or copied: it has no elements yet; return it and take the result")

    # ---- sequences ----

    def __len__(self):
        if not self.shape:
            raise TypeError(f"len() of {self!r}, which has no dimensions")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError(f"{self!r} has no dimensions to go through")
        return iter(_numpy().unstack(self))

    def __getitem__(self, index):
        from .indexing import taken
        return taken(self, index)

    @property
    def at(self):
        """`x.at[i].set(y)`, and add, subtract, multiply, divide, power, min, max, apply, get: changed copies."""
        from .indexing import At
        return At(self)

    # ---- operators ----

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __divmod__, __rdivmod__ = _binary("divmod"), _reflected("divmod")
    __pow__, __rpow__ = _binary("power"), _reflected("power")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift"), _reflected("right_shift")
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __neg__, __pos__, __abs__ = _unary("negative"), _unary("positive"), _unary("abs")
    __invert__, __round__ = _unary("invert"), _method("round")

    # ---- methods ----

    T = property(_unary("transpose"))
    mT = property(_unary("matrix_transpose"))
    real, imag = property(_unary("real")), property(_unary("imag"))
    astype, to_device = _method("astype"), lambda self, device, stream=None: self
    ravel = flatten = _method("ravel")
    conj = conjugate = _method("conj")
    sum, prod, mean, var, std = map(_method, ("sum", "prod", "mean", "var", "std"))
    min, max, any, all = map(_method, ("min", "max", "any", "all"))
    argmin, argmax, cumsum, cumprod = map(_method, ("argmin", "argmax", "cumsum", "cumprod"))
    dot, take, clip, round, squeeze = map(_method, ("dot", "take", "clip", "round", "squeeze"))
    swapaxes, repeat, sort, argsort = map(_method, ("swapaxes", "repeat", "sort", "argsort"))
    diagonal, trace, ptp, copy = map(_method, ("diagonal", "trace", "ptp", "copy"))
    searchsorted = _method("searchsorted")

    def reshape(self, *shape, order="C"):
        """In a shape given as a tuple or as numbers."""
        return _numpy().reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes):
        """With its dimensions in the order `axes`, reversed if there are none."""
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return _numpy().transpose(self, axes or None)
