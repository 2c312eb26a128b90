"""A program under construction: equations are emitted in order, each typed at once by its primitive.

Values are numbers of the C ABI; `emit` takes attributes as Python values, by whose types their kinds are chosen.
"""
import ctypes

import numpy as np

from . import _abi
from . import arguments as given
from .context import Context
from .dtypes import number_of
from .library import handle, lib, u32s
from .program import Program


class DType(int):
    """An attribute that is an element type."""


def _attribute(primitive, name, value, keep):
    """A ricci_attr; what it points to is appended to `keep`."""
    what, name = f"attribute {name}", name.encode()
    a = _abi.ricci_attr(_abi.ricci_str(ctypes.cast(name, ctypes.c_void_p), len(name)), 0, 1, 0, 0.0, None)
    keep.append(name)

    def point(kind, data, count):
        keep.append(data)
        a.kind, a.count, a.data = kind, count, ctypes.cast(data, ctypes.c_void_p)
    if isinstance(value, (bool, np.bool_)):
        a.kind, a.i = _abi.RICCI_ATTR_BOOL, int(value)
    elif isinstance(value, DType):
        a.kind, a.i = _abi.RICCI_ATTR_DTYPE, int(value)
    elif isinstance(value, (int, np.integer)):
        a.kind, a.i = _abi.RICCI_ATTR_INT, given.integer(primitive, what, value)
    elif isinstance(value, (float, np.floating)):
        a.kind, a.f = _abi.RICCI_ATTR_FLOAT, float(value)
    elif isinstance(value, str):
        point(_abi.RICCI_ATTR_STRING, value.encode(), len(value.encode()))
    elif isinstance(value, Program):
        keep.append(value)
        point(_abi.RICCI_ATTR_PROGRAM, (ctypes.c_void_p * 1)(value._handle), 1)
    elif not isinstance(value, (tuple, list, range, np.ndarray)):
        raise given.wrong_type(primitive, what, value, "a number, text, program or sequence of them is")
    elif len(value) and isinstance(value[0], Program):
        keep.append(value)
        point(_abi.RICCI_ATTR_PROGRAMS, (ctypes.c_void_p * len(value))(*(p._handle for p in value)), len(value))
    elif len(value) and isinstance(value[0], (float, np.floating)):
        point(_abi.RICCI_ATTR_FLOATS, (ctypes.c_double * len(value))(*value), len(value))
    else:
        numbers = given.integers(primitive, what, value)
        point(_abi.RICCI_ATTR_INTS, (ctypes.c_int64 * len(numbers))(*numbers), len(numbers))
    return a


class Builder:
    """`params`: the (dtype, shape) of each parameter; their values are in `self.params`."""

    _handle, _owned = None, False  # until there is one, and where the arguments of __init__ are refused

    def __init__(self, context, name, params):
        self.context = given.instance("Builder", "context", context, Context)
        name, params = given.text("Builder", "name", name), given.items("Builder", "params", params, "types")
        for i, param in enumerate(params):
            if not isinstance(param, (tuple, list)) or len(param) != 2:
                raise given.wrong_type("Builder", f"params[{i}]", param, "a pair (dtype, shape) is")
        self._handle = handle()
        values = (ctypes.c_uint64 * len(params))()
        types = u32s([context.type(dtype, shape) for dtype, shape in params])
        lib.ricci_builder_create(context._handle, name.encode(), len(name.encode()), types, len(params),
                                 ctypes.byref(self._handle), values)
        self.params = list(values)
        self._broadcasts, self._owned = {}, True

    @classmethod
    def borrowed(cls, context, handle):
        """The builder of a rule, which Ricci finishes."""
        self = cls.__new__(cls)
        self.context, self._handle, self._owned = context, handle, False
        self.params, self._broadcasts = [], {}
        return self

    def __del__(self):
        if self._handle and self._owned:
            lib.ricci_builder_abandon(self._handle)

    def at(self, file, line, function):
        """The location in the source of the equations that follow."""
        lib.ricci_builder_set_location(self._handle, file.encode(), line, function.encode())

    def emit(self, primitive, operands, n_results=1, /, **attributes):
        """The values of the results of one more equation."""
        keep, operands = [], given.integers(primitive, "operands", operands, given.UINT64)
        attrs = (_abi.ricci_attr * len(attributes))(
            *(_attribute(primitive, n, v, keep) for n, v in attributes.items()))
        results = (ctypes.c_uint64 * n_results)()
        lib.ricci_builder_emit(self._handle, self.context.primitive(primitive), attrs, len(attrs),
                               (ctypes.c_uint64 * len(operands))(*operands), len(operands), results, n_results)
        return list(results)

    def infer(self, primitive, operands, /, **attributes):
        """The (dtype, shape) of each result that such an equation would have; nothing is appended."""
        keep, operands = [], given.integers(primitive, "operands", operands, given.UINT64)
        attrs = (_abi.ricci_attr * len(attributes))(
            *(_attribute(primitive, n, v, keep) for n, v in attributes.items()))
        n, types = ctypes.c_uint32(), ()
        while n.value >= len(types):
            types = (ctypes.c_uint32 * (2 * n.value + 8))()
            lib.ricci_builder_infer(self._handle, self.context.primitive(primitive), attrs, len(attrs),
                                    (ctypes.c_uint64 * len(operands))(*operands), len(operands), types, len(types),
                                    ctypes.byref(n))
        return [self.context.dtype_and_shape(t) for t in types[:n.value]]

    def param(self, dtype, shape):
        """The value of one more parameter, the last one."""
        made = ctypes.c_uint64()
        lib.ricci_builder_param(self._handle, self.context.type(dtype, tuple(shape)), ctypes.byref(made))
        self.params.append(made.value)
        return made.value

    def constant(self, array, dtype=None, shape=None):
        """A constant with the elements of `array`; one element for all if `shape` is given."""
        array = np.asarray(array, order="C")
        dtype = number_of(array.dtype) if dtype is None else dtype
        made = ctypes.c_uint64()
        shape = array.shape if shape is None else shape
        lib.ricci_builder_const(self._handle, self.context.type(dtype, tuple(shape)), array.ctypes.data, array.nbytes,
                                ctypes.byref(made))
        return made.value

    def inline(self, program, operands):
        """The values of the results of `program`, whose equations are appended."""
        results = (ctypes.c_uint64 * len(program.results))()
        lib.ricci_builder_inline(self._handle, program._handle, (ctypes.c_uint64 * len(operands))(*operands),
                                 len(operands), results, len(results))
        return list(results)

    def type_of(self, value):
        """Its (dtype, shape)."""
        return self.context.dtype_and_shape(lib.ricci_builder_type(self._handle, value))

    def broadcast(self, value, shape, dimensions):
        """`value` repeated to `shape`; the same value is broadcast once."""
        key = value, tuple(shape), tuple(dimensions)
        if key not in self._broadcasts:
            self._broadcasts[key] = self.emit("broadcast_in_dim", [value], shape=shape,
                                              broadcast_dimensions=dimensions)[0]
        return self._broadcasts[key]

    def expand(self, value, shape):
        """`value` with its scalar or its dimensions of size 1 repeated to `shape`, of the same rank otherwise."""
        own = self.type_of(value)[1]
        if own == tuple(shape):
            return value
        if not own:
            return self.broadcast(value, shape, ())
        ones = [d for d in range(len(own)) if own[d] == 1 and shape[d] != 1]
        if ones:
            key = value, "squeeze"
            if key not in self._broadcasts:
                self._broadcasts[key] = self.emit("squeeze", [value], dimensions=ones)[0]
            value = self._broadcasts[key]
        return self.broadcast(value, shape, [d for d in range(len(own)) if d not in ones])

    def finish(self, results):
        """The program with these results. The builder is used up."""
        made, results = handle(), given.integers("finish", "results", results, given.UINT64)
        lib.ricci_builder_finish(self._handle, (ctypes.c_uint64 * len(results))(*results), len(results),
                                 ctypes.byref(made))
        self._handle = None
        return Program(made, self.context)
