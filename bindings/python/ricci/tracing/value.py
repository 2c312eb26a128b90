"""Values: what a function that is traced gets in the place of its arrays.

A Value has a dtype and a shape but no elements. Its operators and methods are functions of `ricci.numpy`, which gives it
them (numpy/methods.py). What needs elements, such as `if x:`, `float(x)` or a function of NumPy, raises TracingError, which
says what to use and names the line.
"""
import math

from ..abi.dtypes import numpy_of, type_text
from ..abi.library import Error
from ..abi.user_line import user_location

class TracingError(Error, TypeError):
    """What a value that is traced cannot do: it has no elements yet."""


def refuse_foreign(value):
    """Raises for a value that is used outside of its function."""
    file, line, _ = user_location()
    why = "it belongs to another program" if value._trace.is_open else "its function has ended"
    raise TracingError(f"{file}:{line}: {value!r} cannot be used here: {why}; return it from the function that made it, do "
                       "not keep it in a variable outside")


def refuse_use(value, why):
    """Raises `why`, with the user's line."""
    if not value._trace.is_open:
        refuse_foreign(value)
    file, line, _ = user_location()
    raise TracingError((f"{file}:{line}: " if file else "") + why)


def refuse(value, what, instead):
    """Raises for `what`, such as `the truth of`, and says what to use."""
    refuse_use(value, f"{what} {value!r} is not known while the function is traced; {instead}")


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

    # ---- what needs elements ----

    def __bool__(self):
        refuse(self, "the truth of", "use ricci.cond or ricci.numpy.where in place of `if`, ricci.while_loop in place of "
               "`while`, & | ~ in place of `and`, `or`, `not`, or make the argument static (static_argnums)")

    def __index__(self):
        refuse(self, "the number", "use ricci.fori_loop in place of `range`, ricci.switch or ricci.numpy.take in place "
               "of an index into a list; sizes and axes must be static (static_argnums)")

    def __int__(self):
        refuse(self, "the number", "use .astype(int) in place of int(), or make the argument static (static_argnums)")

    def __float__(self):
        refuse(self, "the number", "use .astype(float) in place of float(), functions of ricci.numpy in place of those "
               "of math, or make the argument static (static_argnums)")

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
        refuse_use(self, f"`in` needs the elements of {self!r}, which are not known while the function is traced; use "
                   "ricci.numpy.any(x == element)")

    def __setitem__(self, index, _):
        shown = "..." if isinstance(index, Value) else repr(index)
        refuse_use(self, f"{self!r} cannot be changed: values are immutable; use x = x.at[{shown}].set(y)")

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled or copied: it has no elements yet; return it and take the result")

    # ---- sequences ----

    def __len__(self):
        if not self.shape:
            raise TypeError(f"len() of {self!r}, which has no dimensions")
        return self.shape[0]
