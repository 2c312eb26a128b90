"""The table of primitives that a context has: names of operands and results, attributes and their kinds, by the C ABI.

Nothing here knows a primitive. A plugin's rows are found like the built-in ones, and `ricci.lax.NAME` and `bind` call
them with their attributes as keywords.
"""
import ctypes
import re

import numpy as np

from ..abi import _abi
from ..abi.builder import DType
from ..abi.library import Error, lib, text_of
from ..abi.program import Program
from .promotion import number_of_dtype

_KINDS = {_abi.RICCI_ATTR_INT: "an integer", _abi.RICCI_ATTR_FLOAT: "a number", _abi.RICCI_ATTR_BOOL: "True or False",
          _abi.RICCI_ATTR_DTYPE: "a dtype", _abi.RICCI_ATTR_STRING: "a text", _abi.RICCI_ATTR_INTS: "integers",
          _abi.RICCI_ATTR_FLOATS: "numbers", _abi.RICCI_ATTR_PROGRAM: "a Program", _abi.RICCI_ATTR_PROGRAMS: "Programs"}
_CONVERT = {_abi.RICCI_ATTR_INT: int, _abi.RICCI_ATTR_FLOAT: float, _abi.RICCI_ATTR_BOOL: bool,
            _abi.RICCI_ATTR_DTYPE: lambda v: DType(number_of_dtype(v)), _abi.RICCI_ATTR_STRING: str,
            _abi.RICCI_ATTR_INTS: lambda v: [int(n) for n in np.ravel(v)],
            _abi.RICCI_ATTR_FLOATS: lambda v: [float(n) for n in np.ravel(v)]}


class Row:
    """A primitive. `operands` and `results` are names, None where there may be any number."""

    def __init__(self, name, doc, attributes, flags):
        self.name, self.doc, self.attributes = name, doc, attributes
        self.is_effectful = bool(flags & _abi.RICCI_PRIM_EFFECTFUL)
        self.holds_programs = any(kind in (_abi.RICCI_ATTR_PROGRAM, _abi.RICCI_ATTR_PROGRAMS)
                                  for kind, _ in attributes.values())
        found = re.match(r"(?:(?P<out>[^=(]*)=)?\s*[^(]*\((?P<operands>[^)]*)\)", doc)
        self.operands = self._names(found and found["operands"])
        self.results = [] if found and found["out"] is None else self._names(found and found["out"])

    @staticmethod
    def _names(text):
        names = [n.strip() for n in (text or "").split(",") if n.strip()]
        return None if text is None or any(n.endswith("...") for n in names) else names

    def checked(self, given):
        """The attributes in the form that `Builder.emit` takes; None is one left out."""
        unknown = [name for name in given if name not in self.attributes]
        if unknown:
            raise TypeError(f"{self.name}: there is no attribute {unknown[0]}; "
                            + (f"it has {', '.join(self.attributes)}" if self.attributes else "it has none"))
        return {name: self._converted(name, value) for name, value in given.items() if value is not None}

    def _converted(self, name, value):
        kind = self.attributes[name][0]
        if kind not in _CONVERT or isinstance(value, Program):
            return value
        try:
            return _CONVERT[kind](value)
        except Error:
            raise
        except (TypeError, ValueError):
            raise TypeError(f"{self.name}: attribute {name} is {value!r}; {_KINDS[kind]} expected") from None


def _attributes(definition):
    """{name: (kind, is optional)} of a row."""
    size = definition.attr_spec_size or ctypes.sizeof(_abi.ricci_attr_spec)
    specs = (_abi.ricci_attr_spec.from_address(definition.attr_specs + i * size)
             for i in range(definition.n_attr_specs))
    return {text_of(s.name): (s.kind, bool(s.flags & 1)) for s in specs}


def rows_of(context):
    """{name: Row} of all primitives of a context, in their order."""
    if not context.rows:
        i = 0
        while (address := lib.ricci_prim_at(context._handle, i, None)) is not None:
            d = _abi.ricci_prim_def.from_address(address)
            context.rows[text_of(d.name)] = Row(text_of(d.name), text_of(d.doc), _attributes(d), d.hdr.flags)
            i += 1
    return context.rows


def row_of(context, name):
    row = context.rows.get(name) or rows_of(context).get(name)
    if row is None:
        context.primitive(name)  # an Error, if it does not come from a plugin loaded since
        context.rows.clear()
        row = rows_of(context)[name]
    return row
