"""Programs: typed functions of arrays, their text, and the transformations from program to program.

Arguments and results are flat lists here; `Function` puts trees around them. Each transformation is one function of the
C ABI (ricci/transform.h), which says what parameters and results the new program has.
"""
import ctypes
import os

from . import _abi
from . import arguments as given
from .context import Context, default_context
from .dtypes import DIFFERENTIABLE, type_text
from .from_c import address_of, plain_function
from .library import Error, handle, i32s, lib, struct, text_of, u8s, u32s

_SCHEDULES = {"auto": _abi.RICCI_SCHEDULE_AUTO, "batched": _abi.RICCI_SCHEDULE_BATCHED,
              "lanes": _abi.RICCI_SCHEDULE_LANES}
_WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def collected(function, *arguments):
    """The text or bytes that `function` writes to a sink."""
    pieces = []
    write = plain_function(_WRITE, lambda _, p, n: pieces.append(ctypes.string_at(p, n)))
    function(*arguments, None, address_of(write))
    return b"".join(pieces)


def string(text):
    """(ricci_str, the bytes that must outlive it)."""
    data = text.encode()
    return _abi.ricci_str(ctypes.cast(data, ctypes.c_void_p), len(data)), data


def checked_context(function, context):
    """The context given, or the default one."""
    return default_context() if context is None else given.instance(function, "context", context, Context)


class Program:
    """A program of a context. Immutable; transformations make new ones."""

    _handle = None  # where the arguments of __init__ are refused

    def __init__(self, owned, context):
        self._handle, self.context, self._hash = owned, context, None
        n_params, n_results = ctypes.c_uint32(), ctypes.c_uint32()
        params, results = ctypes.c_void_p(), ctypes.c_void_p()
        lib.ricci_program_signature(owned, *map(ctypes.byref, (n_params, params, n_results, results)))
        self.params = self._types(params, n_params.value)
        self.results = self._types(results, n_results.value)

    def _types(self, address, n):
        numbers = (ctypes.c_uint32 * n).from_address(address.value) if n else ()
        return tuple(self.context.dtype_and_shape(t) for t in numbers)

    def __del__(self):
        lib.ricci_program_release(self._handle)

    @classmethod
    def parse(cls, text, origin="", context=None):
        """The program that `text` is; `origin` names its file in messages."""
        context, parsed = checked_context("parse", context), handle()
        text, origin = given.text("parse", "text", text).encode(), given.text("parse", "origin", origin).encode()
        lib.ricci_program_parse(context._handle, text, len(text), origin, len(origin), ctypes.byref(parsed))
        return cls(parsed, context)

    @classmethod
    def load(cls, path, context=None):
        """The program in a file: the binary form or text."""
        context, path, loaded = checked_context("load", context), given.path("load", path), handle()
        with open(path, "rb") as file:
            data = file.read()
        if not lib.ricci_program_is_binary(data, len(data)):
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise Error(f"{path}: holds no program, neither in binary form nor as text: {error}") from None
            return cls.parse(text, path, context)
        origin = os.fsencode(path)
        lib.ricci_program_deserialize(context._handle, data, len(data), origin, len(origin), ctypes.byref(loaded))
        return cls(loaded, context)

    def __reduce__(self):
        """Pickled as its binary form; it is read into the default context."""
        return _unpickled, (collected(lib.ricci_program_serialize, self._handle),)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __repr__(self):
        params, results = (", ".join(map(type_text, types)) for types in (self.params, self.results))
        return f"<Program {self.name}({params}) -> {results}>"

    def save(self, path):
        """Writes the binary form, which C, C++ and the tool read too."""
        path = os.fsencode(given.path("save", path))
        lib.ricci_program_save(self._handle, path, len(path))

    @property
    def for_values(self):
        """What is compiled: a program of the same values, which may lack rules of derivatives."""
        return self

    @property
    def name(self):
        found = _abi.ricci_str()
        lib.ricci_program_name(self._handle, ctypes.byref(found))
        return text_of(found)

    @property
    def text(self):
        """Its text, which `parse` reads back to an equal program."""
        return collected(lib.ricci_program_print, self._handle).decode()

    def verify(self):
        lib.ricci_program_verify(self._handle)

    def __eq__(self, other):
        return isinstance(other, Program) and bool(lib.ricci_program_equal(self._handle, other._handle))

    def __hash__(self):
        """Found once: the core walks through the whole program and all that it holds."""
        if self._hash is None:
            self._hash = lib.ricci_program_hash(self._handle)
        return self._hash

    def _made(self, function, *arguments):
        made = handle()
        function(self._handle, *arguments, ctypes.byref(made))
        return Program(made, self.context)

    # ---- transformations ----

    def grad(self, argnums, with_value=False):
        argnums = given.integers("grad", "argnums", argnums, given.UINT32)
        return self._made(lib.ricci_grad, u32s(argnums), len(argnums), int(with_value))

    def jvp(self, active):
        active = given.flags("jvp", "active", active)
        return self._made(lib.ricci_jvp, u8s(active), len(active))

    def vjp(self, wanted):
        """The programs (fwd, bwd)."""
        wanted, fwd, bwd = given.flags("vjp", "wanted", wanted), handle(), handle()
        lib.ricci_vjp(self._handle, u8s(wanted), len(wanted), ctypes.byref(fwd), ctypes.byref(bwd))
        return Program(fwd, self.context), Program(bwd, self.context)

    def linear_transpose(self, linear):
        """Of a program that is linear in the parameters `linear`: other parameters, cotangents of the results -> those of
        the linear parameters."""
        linear = given.flags("linear_transpose", "linear", linear)
        return self._made(lib.ricci_linear_transpose, u8s(linear), len(linear), None, None)

    def vmap(self, in_axes, out_axes, size, schedule="auto", axis_name=""):
        """`-1` is an argument or result that is not batched."""
        if not isinstance(schedule, str) or schedule not in _SCHEDULES:
            raise ValueError(f"vmap: schedule is {schedule!r}; it must be one of {', '.join(_SCHEDULES)}")
        in_axes = given.integers("vmap", "in_axes", in_axes, given.INT32)
        out_axes = given.integers("vmap", "out_axes", out_axes, given.INT32)
        size = given.integer("vmap", "size", size, given.SIZE)
        name, _keep = string(given.text("vmap", "axis_name", axis_name))
        options = struct(_abi.ricci_vmap_opts, axis_name=name, schedule=_SCHEDULES[schedule])
        return self._made(lib.ricci_vmap, i32s(in_axes), len(in_axes), i32s(out_axes), len(out_axes), size,
                          ctypes.byref(options))

    def checkpoint(self, policy="", prevent_cse=True):
        text, _keep = string(given.text("checkpoint", "policy", policy))
        options = struct(_abi.ricci_checkpoint_opts, policy=text)
        options.hdr.flags = 0 if prevent_cse else _abi.RICCI_CHECKPOINT_ALLOW_CSE
        return self._made(lib.ricci_checkpoint, ctypes.byref(options))

    def partial_eval(self, known):
        """(which results are known, number of residuals, known program, unknown program)."""
        known, n_residuals = given.flags("partial_eval", "known", known), ctypes.c_uint32()
        first, second = handle(), handle()
        out_known = u8s([0] * len(self.results))
        lib.ricci_partial_eval(self._handle, u8s(known), len(known), None, out_known, ctypes.byref(n_residuals),
                               ctypes.byref(first), ctypes.byref(second))
        known, unknown = Program(first, self.context), Program(second, self.context)
        return [bool(k) for k in out_known], n_residuals.value, known, unknown

    def dce(self, used):
        """(without what no used result needs, which parameters are used)."""
        used = given.flags("dce", "used", used)
        used_params = u8s([0] * len(self.params))
        return self._made(lib.ricci_dce, u8s(used), len(used), used_params), [bool(u) for u in used_params]


def _unpickled(data):
    context, loaded = default_context(), handle()
    lib.ricci_program_deserialize(context._handle, data, len(data), b"", 0, ctypes.byref(loaded))
    return Program(loaded, context)


def is_differentiable(dtype_and_shape):
    return dtype_and_shape[0] in DIFFERENTIABLE
