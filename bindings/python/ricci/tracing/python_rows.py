"""Primitives whose rules are Python functions: a plugin made by ctypes callbacks, for exploration.

Every rule runs in Python whenever the core asks for it, so it is slow, but it is a row like any other: programs that use
it are differentiated, batched, checked by the laws and compiled. A context gets the row on its first use there and keeps
it, with the functions, until its end; the functions refer to the context weakly, so references have no cycle. What a
rule raises, the call that led to it raises: the very exception, with a note that names plugin, primitive and rule.
ctypes takes the interpreter's lock for each call, from any thread.
"""
import contextlib
import ctypes
import inspect
import itertools
import threading
import weakref

import numpy as np

from ..abi import _abi
from ..abi.builder import Builder, DType
from ..abi.callbacks import memory
from ..abi.context import default_context
from ..abi.dtypes import numpy_of
from ..abi.from_c import address_of, plain_function, raised_status, status_function
from ..abi.library import lib, struct, text_of
from ..abi.program import string
from ..calls.frames import without_frames
from .closing import ShapeDtypeStruct, in_a_trace
from .promotion import number_of_dtype
from .trace import Trace, bind, current
from .value import Value

_KINDS = {int: _abi.RICCI_ATTR_INT, float: _abi.RICCI_ATTR_FLOAT, bool: _abi.RICCI_ATTR_BOOL,
          str: _abi.RICCI_ATTR_STRING, np.dtype: _abi.RICCI_ATTR_DTYPE, list[int]: _abi.RICCI_ATTR_INTS,
          list[float]: _abi.RICCI_ATTR_FLOATS}


def _many(kind, address, n):
    return list((kind * n).from_address(address)) if n else []


def _fill(address, kind, values):
    if values:
        (kind * len(values)).from_address(address)[:] = values


def _value_of(a):
    """An attribute as Python sees it."""
    if a.kind == _abi.RICCI_ATTR_INT:
        return a.i
    if a.kind == _abi.RICCI_ATTR_FLOAT:
        return a.f
    if a.kind == _abi.RICCI_ATTR_BOOL:
        return bool(a.i)
    if a.kind == _abi.RICCI_ATTR_DTYPE:
        return numpy_of(a.i)
    if a.kind == _abi.RICCI_ATTR_STRING:
        return ctypes.string_at(a.data, a.count).decode()
    return _many(ctypes.c_int64 if a.kind == _abi.RICCI_ATTR_INTS else ctypes.c_double, a.data, a.count)


def _as_list(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


class _Operation:
    """One application, as a rule sees it."""

    def __init__(self, row, context, address):
        op = _abi.ricci_op.from_address(address)
        self.context, self.n_in, self.n_out = context, op.n_in, op.n_out
        self.types = [context.dtype_and_shape(t) for t in _many(ctypes.c_uint32, op.in_types, op.n_in)]
        self.results = [context.dtype_and_shape(t) for t in _many(ctypes.c_uint32, op.out_types, op.n_out)]
        given = {text_of(a.name): _value_of(a) for a in _many(_abi.ricci_attr, op.attrs, op.n_attrs)}
        self.attributes = row.defaults | given

    def structs(self):
        return [ShapeDtypeStruct(shape, DType(dtype)) for dtype, shape in self.types]


class Primitive:
    """What `primitive` gives: call it in traced functions; its methods are decorators that add rules."""

    def __init__(self, name, abstract, results, linear, elementwise, examples, missing, factors):
        self.name, self._abstract, self.__doc__ = name, abstract, abstract.__doc__
        self._rules, self._lock, self._known = {}, threading.Lock(), weakref.WeakSet()
        self._options = linear, elementwise, examples, missing, factors
        parameters = inspect.signature(abstract, eval_str=True).parameters.values()
        operands = [f"{p.name}..." if p.kind == p.VAR_POSITIONAL else p.name for p in parameters
                    if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
        named = [p for p in parameters if p.kind == p.KEYWORD_ONLY]
        self.kinds = {p.name: self._kind(p) for p in named}
        self.defaults = {p.name: p.default for p in named if p.default is not p.empty}
        outs = ["y"] if results == 1 else [f"y{i}" for i in range(results)]
        line = (abstract.__doc__ or "a primitive in Python").strip().splitlines()[0]
        self.signature = f"{', '.join(outs)} = {name}({', '.join(operands)}): {line}"

    def _kind(self, parameter):
        if parameter.annotation not in _KINDS:
            raise TypeError(f"primitive: attribute {parameter.name} of {self.name} is annotated "
                            f"{parameter.annotation!r}; int, float, bool, str, numpy.dtype, list[int] or list[float] is "
                            "expected")
        return _KINDS[parameter.annotation]

    def __repr__(self):
        return f"<ricci.primitive {self.name} with {', '.join(self._rules) or 'no rules'}>"

    # ---- rules ----

    def _add(self, rule, function):
        if not callable(function):
            raise TypeError(f"{self.name}: rule {rule} is {function!r}; a function is expected")
        if len(self._known):
            raise TypeError(f"{self.name}: rule {rule} comes too late: the primitive has been used")
        self._rules[rule] = function
        return function

    def impl(self, function):
        """`function(*arrays, **attributes)` computes the results from arrays of NumPy, which it must not change."""
        return self._add("impl", function)

    def jvp(self, function):
        """`function(primals, tangents, **attributes)` gives (results, their tangents); a tangent of None is zero."""
        return self._add("jvp", function)

    def transpose(self, function):
        """`function(cts, operands, **attributes)` gives a cotangent, or None for zero, for each operand. Of operands that
        the operation is linear in there are only shape and dtype. A cotangent of None is zero."""
        return self._add("transpose", function)

    def batch(self, function):
        """`function(size, operands, axes, **attributes)` gives (results, their axes); an axis of None: no batch."""
        return self._add("batch", function)

    def decompose(self, function):
        """`function(*operands, **attributes)` gives the results by other operations. It supplies every missing rule."""
        return self._add("decompose", function)

    @without_frames
    def __call__(self, *operands, **attributes):
        def emit():
            self.register(current().context)
            return bind(self.name, *operands, **attributes)
        return in_a_trace(emit)()

    # ---- the row ----

    def register(self, context):
        """Makes the primitive known to a context; a call does it too. For programs that are read from text."""
        with self._lock:
            if context in self._known:
                return
            _Registration(self, context, dict(self._rules), self._options)
            self._known.add(context)

    def check(self, context=None):
        """{law: number of comparisons} of the laws (ricci/check.h) over the examples of the row.

        A law that does not hold is an Error that names it, with the example and both values.
        """
        context = default_context() if context is None else context
        self.register(context)
        return check_primitive(self.name, context)


def _noted(error, site):
    """The status of what a rule raised, with a note for its reader."""
    with contextlib.suppress(Exception):  # its class may refuse
        error.add_note(f"raised by {site}")
    return raised_status(error, site)


_DROP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_LAW = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def check_primitive(name, context):
    """The laws over the examples of any primitive of a context, as `Primitive.check`."""
    found = {}

    def law(_, address):
        law = _abi.ricci_check_law.from_address(address)
        found[text_of(law.name)] = law.comparisons
    held = plain_function(_LAW, law)
    options = struct(_abi.ricci_check_opts, law=address_of(held))
    lib.ricci_check_primitive(context._handle, name.encode(), len(name.encode()), None, 0, ctypes.byref(options))
    return found


class _Registration:
    """A row in one context. What C keeps the address of is in `held`, which the context keeps, and only while it is
    made here."""

    def __init__(self, primitive, context, rules, options):
        self.row, self.rules, self.held = primitive, rules, []
        self.context = weakref.ref(context)
        self.states, self.numbers = {}, itertools.count(1)  # of the library lowering, by call site
        self.linear, self.elementwise, examples, missing, factors = options
        definition = self._definition(examples, missing, factors)
        attached = status_function(2, self.plugin, lambda _, c: self._registered(c, definition))
        plugin = struct(_abi.ricci_plugin, abi_major=_abi.RICCI_ABI_MAJOR, abi_minor=_abi.RICCI_ABI_MINOR,
                        name=self._text(self.plugin), version=self._text("0"), attach=address_of(attached))

        def query(_, out):
            ctypes.c_void_p.from_address(out).value = ctypes.addressof(plugin)
        asked = status_function(2, self.plugin, query)
        self.held += [definition, attached, plugin, asked]
        lib.ricci_context_add_plugin(context._handle, address_of(asked))
        context.callbacks.append(self.held)
        del self.held  # it refers to this object
        context.rows.clear()

    @property
    def plugin(self):
        return "python-" + self.row.name.replace(".", "-")  # plugins have no dot in their names

    def _registered(self, c, definition):
        """attach: without errcheck, whose exception could not pass through C."""
        return _raw_register(c, ctypes.addressof(definition), None)

    def _text(self, text):
        s, data = string(text)
        self.held.append(data)
        return s

    def _site(self, rule):
        return f"plugin {self.plugin}: primitive {self.row.name}: rule {rule}"

    def _callback(self, rule, n, function):
        """A C function of `n` addresses after `self` that runs `function` on them."""
        held = status_function(n + 1, self._site(rule), lambda _, *addresses: function(*addresses), _noted)
        self.held.append(held)
        return address_of(held)

    def _definition(self, examples, missing, factors):
        row, rules = self.row, self.rules
        specs = (_abi.ricci_attr_spec * len(row.kinds))(*(
            _abi.ricci_attr_spec(self._text(n), kind, int(n in row.defaults), self._text(str(row.defaults.get(n, ""))))
            for n, kind in row.kinds.items()))
        made = struct(_abi.ricci_prim_def, name=self._text(row.name), doc=self._text(row.signature),
                      examples=self._text(examples), missing=self._text(missing), factors=self._text(factors),
                      attr_specs=ctypes.addressof(specs), n_attr_specs=len(specs),
                      batch_kind=_abi.RICCI_BATCH_ELEMENTWISE if self.elementwise else 0,
                      abstract_eval=self._callback("abstract_eval", 2, self._abstract_eval))
        made.hdr.flags = _abi.RICCI_PRIM_LINEAR if self.linear else 0
        for name, n in (("jvp", 3), ("transpose", 3), ("batch", 3)):
            if name in rules:
                setattr(made, name, self._callback(name, n, getattr(self, f"_{name}")))
        lowerings = [make() for name, make in (("impl", self._library), ("decompose", self._decomposition))
                     if name in rules]
        pointers = (ctypes.c_void_p * len(lowerings))(*map(ctypes.addressof, lowerings))
        made.lowerings, made.n_lowerings = ctypes.addressof(pointers), len(lowerings)
        self.held += [specs, lowerings, pointers]
        return made

    # ---- what the rules get and give ----

    def _operation(self, address):
        context = self.context()
        if context is None:
            raise RuntimeError(f"the context of {self.row.name} has ended")
        return _Operation(self.row, context, address)

    def _given(self, rule, found, n, what="results"):
        found = _as_list(found)
        if len(found) != n:
            raise TypeError(f"{self.row.name}: rule {rule} gives {len(found)} {what}; {n} are expected")
        return found

    def _abstract_eval(self, b, op):
        operation = self._operation(op)
        found = _as_list(self.row._abstract(*operation.structs(), **operation.attributes))
        types = [operation.context.type(number_of_dtype(t.dtype) if not isinstance(t, Value) else t.kind, tuple(t.shape))
                 for t in found]
        lib.ricci_builder_set_out_types(b, (ctypes.c_uint32 * len(types))(*types), len(types))

    def _traced(self, operation, b, numbers, run):
        """The numbers of what `run` gives for values; None stays None."""
        builder = Builder.borrowed(operation.context, b)
        none = (_abi.RICCI_VAL_ZERO, _abi.RICCI_VAL_NONE)
        trace = Trace.borrowed(builder, [None if v in none else v for v in numbers])
        with trace.active():
            return [None if x is None else trace.lift(x).number for x in run(trace.params)]

    def _jvp(self, b, op, arguments):
        operation, a = self._operation(op), _abi.ricci_jvp_args.from_address(arguments)
        n, m = operation.n_in, operation.n_out
        numbers = _many(ctypes.c_uint64, a.primals, n) + _many(ctypes.c_uint64, a.tangents, n)

        def run(values):
            outs, moved = self._given("jvp", self.rules["jvp"](tuple(values[:n]), tuple(values[n:]),
                                                               **operation.attributes), 2, "parts")
            return self._given("jvp", outs, m) + self._given("jvp", moved, m, "tangents")
        found = self._traced(operation, b, numbers, run)
        _fill(a.out_primals, ctypes.c_uint64, found[:m])
        _fill(a.out_tangents, ctypes.c_uint64, [_abi.RICCI_VAL_ZERO if v is None else v for v in found[m:]])

    def _transpose(self, b, op, arguments):
        operation, a = self._operation(op), _abi.ricci_transpose_args.from_address(arguments)
        n, m = operation.n_in, operation.n_out
        linear, structs = _many(ctypes.c_uint8, a.linear, n), operation.structs()
        numbers = _many(ctypes.c_uint64, a.cts, m) + _many(ctypes.c_uint64, a.operands, n)

        def run(values):
            operands = tuple(s if is_linear else v for v, s, is_linear in zip(values[m:], structs, linear))
            return self._given("transpose", self.rules["transpose"](tuple(values[:m]), operands,
                                                                    **operation.attributes), n, "cotangents")
        found = self._traced(operation, b, numbers, run)
        _fill(a.in_cts, ctypes.c_uint64, [_abi.RICCI_VAL_ZERO if v is None else v for v in found])

    def _batch(self, b, op, arguments):
        operation, a = self._operation(op), _abi.ricci_batch_args.from_address(arguments)
        n, m = operation.n_in, operation.n_out
        axes = [None if d < 0 else d for d in _many(ctypes.c_int32, a.in_dims, n)]
        out_axes = []

        def run(values):
            outs, dims = self._given("batch", self.rules["batch"](a.axis_size, tuple(values), tuple(axes),
                                                                  **operation.attributes), 2, "parts")
            out_axes[:] = self._given("batch", dims, m, "axes")
            return self._given("batch", outs, m)
        found = self._traced(operation, b, _many(ctypes.c_uint64, getattr(a, "in"), n), run)
        _fill(a.out, ctypes.c_uint64, found)
        _fill(a.out_dims, ctypes.c_int32, [-1 if d is None else int(d) for d in out_axes])

    def _decomposition(self):
        def decompose(b, op, operands, out):
            operation = self._operation(op)
            found = self._traced(operation, b, _many(ctypes.c_uint64, operands, operation.n_in), lambda values: self._given(
                "decompose", self.rules["decompose"](*values, **operation.attributes), operation.n_out))
            _fill(out, ctypes.c_uint64, found)
        made = struct(_abi.ricci_lowering, kind=_abi.RICCI_LOWER_DECOMPOSE, target=self._text("*"),
                      decompose=self._callback("decompose", 4, decompose))
        made.hdr.flags = _abi.RICCI_LOWERING_TRANSFORMABLE
        return made

    # ---- the implementation: a function of the host, planned for each call site ----

    def _library(self):
        def plan(op, out):
            number = next(self.numbers)
            self.states[number] = operation = self._operation(op)
            operation.context = None
            _abi.ricci_library_plan.from_address(out).state = number
        drop = plain_function(_DROP, lambda state: self.states.pop(state, None))
        launch = status_function(2, self._site("impl"), lambda state, address: self._run(
            self.states[state], _abi.ricci_launch.from_address(address)), _noted)
        library = struct(_abi.ricci_library, plan=self._callback("impl", 2, plan), launch=address_of(launch),
                         drop_state=address_of(drop))
        self.held += [library, launch, drop]
        return struct(_abi.ricci_lowering, kind=_abi.RICCI_LOWER_LIBRARY, target=self._text("*"), priority=1,
                      library=ctypes.addressof(library))

    def _run(self, operation, l):
        arrays = [memory(address, numpy_of(dtype), shape) for address, (dtype, shape) in zip(
            _many(ctypes.c_void_p, getattr(l, "in"), l.n_in), operation.types)]
        for x in arrays:
            x.flags.writeable = False
        found = self._given("impl", self.rules["impl"](*arrays, **operation.attributes), l.n_out)
        for i, (x, address, (dtype, shape)) in enumerate(zip(found, _many(ctypes.c_void_p, l.out, l.n_out),
                                                             operation.results)):
            x = np.asarray(x)
            if x.shape != shape or x.dtype != numpy_of(dtype):
                raise TypeError(f"{self.row.name}: rule impl gives result {i} as {x.dtype}{list(x.shape)}; "
                                f"{numpy_of(dtype)}{list(shape)} is expected")
            memory(address, numpy_of(dtype), shape)[...] = x


_raw_register = ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 3)(address_of(lib.ricci_prim_register))


def primitive(name, *, results=1, linear=False, elementwise=False, examples="", missing="", factors=""):
    """A decorator that makes a function the abstract evaluation of a new primitive, `vendor.name`.

    The function gets shape and dtype of each operand, and the attributes, its keyword-only parameters with annotations;
    it gives an object with shape and dtype for each result. The other rules are added by the decorators `impl`, `jvp`,
    `transpose`, `batch` and `decompose` of what it returns. `linear`: in all operands together, so jvp is the operation
    itself; `elementwise`: batched as it is; `examples`, `missing`, `factors`: texts of ricci/primitive.h.
    """
    if not isinstance(name, str) or "." not in name:
        raise ValueError(f"primitive: name is {name!r}; it must be of the form vendor.name")

    def of(abstract):
        return Primitive(name, abstract, results, linear, elementwise, examples, missing, factors)
    return of
