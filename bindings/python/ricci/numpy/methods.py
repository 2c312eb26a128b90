"""Operators and methods of values, which are functions of `ricci.numpy`.

A Value is below the functions that compute with it, so it gets them from here, when the package is imported. What else
computes with values without being asked is here too: indices, and what NumPy calls where it meets a value.
"""
import numpy as np

from ..tracing.value import Value, refuse
from .indexing import At, taken

# What `array + value` calls for an array of NumPy, and the function of ricci.numpy that it means.
_UFUNCS = set("""add subtract multiply true_divide divide floor_divide remainder power matmul equal not_equal less
                 less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift""".split())
_OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
              "mod": "remainder", "divmod": "divmod", "pow": "power", "matmul": "matmul", "and": "bitwise_and",
              "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
                "ge": "greater_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "invert", "round": "round"}
_PROPERTIES = {"T": "transpose", "mT": "matrix_transpose", "real": "real", "imag": "imag"}
_METHODS = """all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot max mean min prod ptp ravel repeat
              round searchsorted sort squeeze std sum swapaxes take trace var""".split()
_ALIASES = {"flatten": "ravel", "conjugate": "conj"}


def _refuse_numpy(functions, value, name):
    """Raises for a function of NumPy, or of a package that extends it, by its full name."""
    found = functions
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    refuse(value, f"{name} of", f"use ricci.{name}" if found is not None and name.startswith("numpy.") else
           "ricci.numpy has no such function; ricci.from_jax imports functions of JAX")


def _operator(function, is_operand):
    return lambda self, other: function(self, other) if is_operand(other) else NotImplemented


def _reflected(function, is_operand):
    return lambda self, other: function(other, self) if is_operand(other) else NotImplemented


def _method(name, function):
    """A method that is the function with the value as its first argument."""
    def method(self, *arguments, **named):
        return function(self, *arguments, **named)
    method.__name__, method.__doc__ = name, f"As ricci.numpy.{function.__name__} of this value."
    return method


def _give_operators(functions):
    for name, of in _OPERATORS.items():
        function = getattr(functions, of)
        setattr(Value, f"__{name}__", _operator(function, functions.is_operand))
        setattr(Value, f"__r{name}__", _reflected(function, functions.is_operand))
    for name, of in _COMPARISONS.items():
        setattr(Value, f"__{name}__", _operator(getattr(functions, of), functions.is_operand))


def _give_methods(functions):
    for name in _METHODS:
        setattr(Value, name, _method(name, getattr(functions, name)))
    for name, of in _ALIASES.items():
        setattr(Value, name, _method(name, getattr(functions, of)))
    for name, of in _UNARY.items():
        setattr(Value, f"__{name}__", _method(f"__{name}__", getattr(functions, of)))
    for name, of in _PROPERTIES.items():
        setattr(Value, name, property(_method(name, getattr(functions, of))))


def _give_shapes(functions):
    def reshape(self, *shape, order="C"):
        """In a shape given as a tuple or as numbers."""
        return functions.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes):
        """With its dimensions in the order `axes`, reversed if there are none."""
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return functions.transpose(self, axes or None)

    def to_device(self, device, stream=None):
        """The value itself: where it will be is chosen when the function is compiled."""
        return self

    Value.reshape, Value.transpose, Value.to_device = reshape, transpose, to_device


def _give_items(functions):
    def items(self):
        if not self.shape:
            raise TypeError(f"{self!r} has no dimensions to go through")
        return iter(functions.unstack(self))

    Value.__iter__, Value.__getitem__ = items, taken
    Value.at = property(At, doc="`x.at[i].set(y)`, and add, subtract, multiply, divide, power, min, max, apply, get: "
                                "changed copies.")


def _give_protocols(functions):
    """What NumPy and the Python array API standard call."""
    def namespace(self, api_version=None):
        """The namespace of functions of the Python array API standard."""
        if api_version not in (None, "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"__array_namespace__: api_version is {api_version!r}; it must be 2024.12 or older")
        return functions

    def ufunc_of(self, ufunc, method, *inputs, **named):
        name = ufunc.__name__
        if method == "__call__" and name in _UFUNCS and not named and len(inputs) == 2:
            return getattr(functions, name)(*inputs)  # an operator between an array and a value
        _refuse_numpy(functions, self, f"numpy.{name}" if hasattr(np, name) else f"the function {name}")

    def function_of(self, function, *_):
        _refuse_numpy(functions, self, f"{function.__module__}.{function.__name__}")

    Value.__array_namespace__, Value.__array_ufunc__, Value.__array_function__ = namespace, ufunc_of, function_of


def give(functions):
    """Gives values the operators and methods that are in `functions`, the module ricci.numpy."""
    for part in (_give_operators, _give_methods, _give_shapes, _give_items, _give_protocols):
        part(functions)
