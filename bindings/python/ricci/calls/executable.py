"""Compiled programs, called with NumPy arrays that are passed by address.

An argument that is contiguous, aligned and of the right dtype is not copied; results are new arrays, which the code
writes to. The interpreter's lock is not held during a run, and several threads may call one executable at once. Where the
extension is loaded (`native.py`) it makes these calls.
"""
import ctypes
import platform
import struct as struct_module
import time

import numpy as np

from ..abi import _abi
from ..abi import arguments as given
from ..abi.device_array import Array, asarray, from_numpy
from ..abi.dtypes import KEY, numpy_of
from ..abi.library import Error, handle, lib, not_pickled, struct, u8s
from ..abi.program import Program, collected
from ..abi.runs import current_limits, recorded, run
from ..abi.user_line import user_location
from . import native
from .described import LEAF, of_call
from .frames import without_frames


def _elements_offset():
    """Where an array of NumPy holds the address of its elements (PyArrayObject.data); -1 if it is not there."""
    if platform.python_implementation() != "CPython":
        return -1
    offset = object.__basicsize__
    arrays = np.ones(3), np.ones((4, 2), np.int8)[1:, 1:], np.frombuffer(b"text", np.int8)
    found = all(ctypes.c_void_p.from_address(id(a) + offset).value == a.ctypes.data for a in arrays)
    return offset if found else -1


_OFFSET = _elements_offset()


def _address(array):
    return array.ctypes.data


def _converted(name, array, dtype):
    """An argument as `dtype`: another width of the same kind, a whole number for a scalar of any; integers exactly."""
    whole = not array.ndim and array.dtype.kind in "biu" and dtype.kind in "biu"
    if not whole and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise Error(f"{name()} is {array.dtype}, the program takes {dtype}")
    converted = array.astype(dtype)
    if dtype.kind in "biu" and not (converted == array).all():
        raise Error(f"{name()} is {array.dtype} with elements that {dtype}, which the program takes, cannot hold")
    return converted


def _is_words(array, dtype, shape):
    """Is a typed key, which is u64 in NumPy, given where its two words are taken?"""
    return array.dtype == np.uint64 and dtype == np.uint32 and shape == (*array.shape, 2)


def _pointers(handles):
    return (ctypes.c_void_p * len(handles))(*handles)


class _Call:
    """A bound call, for one thread at a time."""

    def __init__(self, executable, n_slots):
        self._handle, self._pack = handle(), struct_module.Struct(f"{n_slots}P").pack
        lib.ricci_call_create(executable, ctypes.byref(self._handle))

    def __del__(self):
        lib.ricci_call_release(self._handle)

    def run(self, arrays, run_at=lib.ricci_call_run_at, pointer=id if _OFFSET >= 0 else _address):
        run_at(self._handle, self._pack(*map(pointer, arrays)), len(arrays), _OFFSET)


class Executable(native.Caller):
    """A program compiled for a device. Calls take and give NumPy arrays, `enqueue` those of the device.

    `donate[i]`: a run may write a result into the memory of argument i, whose contents are lost then (if it cannot be
    written to, into that of a copy). With `profiled` the code can
    report its steps (`profile`). `timings` has the seconds that each part of compiling took. `names()` are
    those of the arguments in messages.
    """

    __reduce__ = not_pickled("an Executable", "pickle its Program, and compile it there")
    _handle = None  # where the arguments of __init__ are refused

    def __init__(self, program, device=None, donate=(), opt_level=0, names=None, profiled=False):
        self._handle, self._calls, self._names = handle(), [], names
        given.instance("Executable", "program", program, Program)
        opt_level = given.integer("Executable", "opt_level", opt_level, given.UINT32)
        donate = given.flags("Executable", "donate", donate)
        self._keys = {i for i, (dtype, _) in enumerate(program.params) if dtype == KEY}
        self.params = [(numpy_of(d), shape) for d, shape in program.params]
        self.results = [(numpy_of(d), shape) for d, shape in program.results]
        options = struct(_abi.ricci_compile_opts, opt_level=opt_level)
        options.hdr.flags = _abi.RICCI_COMPILE_PROFILED if profiled else 0
        if len(donate) > len(self.params):
            raise ValueError(f"Executable: donate has {given.count(len(donate), 'flag')}, the program "
                             f"{given.count(len(self.params), 'parameter')}")
        self._donate = donate + [False] * (len(self.params) - len(donate))
        flags = u8s(self._donate)
        if any(self._donate):
            options.donate, options.n_donate = ctypes.cast(flags, ctypes.c_void_p), len(flags)
        devices = (ctypes.c_void_p * 1)(program.context.device(device))
        options.devices, options.n_devices = ctypes.cast(devices, ctypes.c_void_p), 1
        program.context.used = program.context.used or user_location()
        start = time.perf_counter()
        lib.ricci_compile(program.for_values._handle, ctypes.byref(options), ctypes.byref(self._handle))
        self._seconds = time.perf_counter() - start
        self._device, self._on_device = device, devices[0]
        info = struct(_abi.ricci_device_desc)
        lib.ricci_device_info(self._on_device, ctypes.byref(info))
        self._is_on_host = info.host_memory != 0
        self._numbers = [d for d, _ in program.params]
        self.context = program.context  # lives as long as its executables
        self._aliases = [lib.ricci_executable_alias(self._handle, i) for i in range(len(self.results))]
        self._has_aliases = any(alias >= 0 for alias in self._aliases)
        self.target = self._new_target() if native.IS_THERE and self._is_on_host else None

    def _new_target(self):
        """What the extension runs, after it has learnt calls with single arrays."""
        target = native.Target(self._handle.value, self.context, self.params, self.results, self._donate, self._aliases)
        arguments, n = of_call([LEAF] * len(self.params), {}), len(self.results)
        self._learn(native.Kind(native.Tree(arguments), target, native.Tree([("L", n), *LEAF * n]), None, None))
        return target

    def __del__(self):
        self._calls = []
        lib.ricci_executable_release(self._handle)

    def stats(self):
        """What ricci_executable_info reports, as a dict."""
        info = struct(_abi.ricci_executable_stats)
        lib.ricci_executable_info(self._handle, ctypes.byref(info))
        return {name: getattr(info, name) for name, _ in info._fields_ if name != "hdr"}

    @property
    def timings(self):
        stats = self.stats()
        return {name: stats[name] for name in ("transform_s", "lower_s", "codegen_s")} | {"total_s": self._seconds}

    def dump(self, stage):
        """The text of a stage: `program`, `optimized`, `decisions`, `kernels`, `plan`, `native`, or a pass's name."""
        given.text("dump", "stage", stage)
        return collected(lib.ricci_executable_dump, self._handle, stage.encode(), len(stage.encode())).decode()

    def _name(self, i):
        return self._names()[i] if self._names else f"argument {i}"

    def _argument(self, i, value):
        """`value` as an array that the code can read, or write to if it is donated."""
        (dtype, shape), array = self.params[i], np.asarray(value)
        if array.dtype.kind not in "biufcV":
            raise Error(f"{self._name(i)} is {array.dtype}, the program takes {dtype}")
        if array.shape != shape:
            raise Error(f"{self._name(i)} has shape {array.shape}, the program takes {shape}"
                        + (", of typed keys (jax.random.key)" if i in self._keys else "")
                        + (" (of typed keys the words: jax.random.key_data)" if _is_words(array, dtype, shape) else ""))
        if array.dtype != dtype:
            array = _converted(lambda: self._name(i), array, dtype)
        array = np.require(array, requirements=["C", "A", "W"] if self._donate[i] else ["C", "A"])
        return array if array.dtype is dtype else array.view(dtype)  # which may be another object for the same

    def _can_use(self, arguments, ndarray=np.ndarray):
        """Whether all are arrays that the code can use as they are: a test that costs little and mostly holds."""
        for a, (dtype, shape) in zip(arguments, self.params):
            if type(a) is not ndarray or a.dtype is not dtype or a.shape != shape or not a.flags.carray:
                return False
        return True

    def _new_results(self, arrays, empty=np.empty):
        if not self._has_aliases:
            return [empty(shape, dtype) for dtype, shape in self.results]
        return [empty(shape, dtype) if alias < 0 else arrays[alias]
                for (dtype, shape), alias in zip(self.results, self._aliases)]

    @without_frames
    def enqueue(self, *arguments):
        """The results as ricci.Arrays on the executable's device, which may be a GPU; the run may be under way.

        Arguments are what `asarray` takes, or what a call does. A donated ricci.Array has no data afterwards.
        """
        self._check_count(arguments)
        arrays = [self._array(i, a) for i, a in enumerate(arguments)]
        given_to, results = _pointers([a._handle for a in arrays]), _pointers([None] * len(self.results))
        lib.ricci_executable_enqueue(self._handle, given_to, len(arrays), results, len(results), None)
        return [Array(self.context, ctypes.c_void_p(r)) for r in results]

    def _check_count(self, arguments):
        if len(arguments) != len(self.params):
            raise Error(f"{given.count(len(arguments), 'argument')} given, the program takes {len(self.params)}")

    def _array(self, i, value):
        """An argument as an Array on the device: what is not an array of another library goes through NumPy."""
        is_shared = hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
        if isinstance(value, Array) or (is_shared and not isinstance(value, np.ndarray)):
            return asarray(value, self._device, self.context)
        return from_numpy(self._argument(i, value), self.context, self._on_device, self._numbers[i])

    def _run(self, arguments, profile=None):
        self._check_count(arguments)
        arrays = [self._array(i, a) for i, a in enumerate(arguments)]
        found = _pointers([None] * len(self.results))
        run(self._handle, _pointers([a._handle for a in arrays]), found, profile)
        return [np.asarray(Array(self.context, ctypes.c_void_p(r))) for r in found]

    @without_frames
    def profile(self, *arguments):
        """(the results of a run, the Spans of its steps); for an executable that was compiled with `profiled`."""
        spans = []
        with recorded(spans) as profile:
            return self._run(arguments, profile), spans

    def check_finite(self, program, *arguments):
        """An Error for the first equation of `program`, whose form this is, that makes a NaN or an infinity."""
        self._check_count(arguments)
        arrays = [self._array(i, a) for i, a in enumerate(arguments)]
        lib.ricci_check_finite(program.for_values._handle, self._on_device, _pointers([a._handle for a in arrays]), len(arrays))

    def _prepared(self, _, i, value):
        return self._argument(i, value)

    def _call(self, arguments, named):
        """The list of results; where memory is not the host's, arguments and results are copied."""
        if named:
            raise TypeError(f"Executable: there is no argument {next(iter(named))!r}; arrays are given by position")
        if current_limits() is not None:
            return self._run(arguments)
        if not self._is_on_host:
            return [np.asarray(r) for r in self.enqueue(*arguments)]
        self._check_count(arguments)
        arrays = arguments if self._can_use(arguments) else [self._argument(i, a) for i, a in enumerate(arguments)]
        return self.target.run(list(arrays)) if self.target is not None else self._ran(arrays)

    def _ran(self, arrays):
        """A run by ctypes on arrays that can be used as they are."""
        results = self._new_results(arrays)
        try:
            call = self._calls.pop()
        except IndexError:
            call = _Call(self._handle, len(arrays) + len(results))
        call.run([*arrays, *results])
        self._calls.append(call)
        return results
