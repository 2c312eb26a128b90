"""Arrays on a device, shared with other libraries: DLPack, and the CUDA Array Interface (version 3) on GPUs.

`asarray` takes NumPy arrays (copied), what has `__dlpack__`, and what has `__cuda_array_interface__`; `Array` has both.
Nothing waits: work that is under way is handed over in streams. What `stream` means is fixed by the two protocols: 1 is
CUDA's legacy default stream, 2 the default stream of the thread, -1 (DLPack only) no order, None the legacy default
stream (DLPack) or no order (CUDA Array Interface), others are handles; 0 is an error. A consumer's stream waits for
what writes our array. A producer's work is ordered before what reads its array here, in a stream that each context has
for it.

https://dmlc.github.io/dlpack/latest/python_spec.html,
https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
"""
import ctypes
import math
import operator

import numpy as np

from . import _abi
from . import dlpack_tensor as dlpack
from .context import default_context
from .dtypes import number_of, numpy_of
from .library import Error, handle, lib, not_pickled, struct, text_of

CPU, CUDA = 1, 2  # DLDeviceType
LEGACY_STREAM = 1


class Array:
    """A dense array on a device of `context`. Immutable, except that a run that it is donated to takes its memory."""

    _handle = _viewed = None  # where the arguments of __init__ are refused

    def __init__(self, context, taken):
        self.context, self._handle, self._viewed = context, taken, None
        self._device = lib.ricci_array_device(taken)
        dtype, self.shape = context.dtype_and_shape(lib.ricci_array_type(taken))
        self.dtype = numpy_of(dtype)

    def __del__(self):
        lib.ricci_array_release(self._handle)
        if self._viewed:
            lib.ricci_array_release(self._viewed)
        dlpack.collect()

    __reduce__ = not_pickled("an Array", "pickle numpy.asarray(x)")

    # What looks at elements waits for them and copies them, as NumPy's functions do.

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    __bool__, __int__ = (lambda self: bool(np.asarray(self))), (lambda self: int(np.asarray(self)))
    __float__, __complex__ = (lambda self: float(np.asarray(self))), (lambda self: complex(np.asarray(self)))
    __index__ = lambda self: operator.index(np.asarray(self))  # noqa: E731
    __len__ = lambda self: len(np.empty(self.shape, np.bool_)) if self.shape == () else self.shape[0]  # noqa: E731
    __eq__ = lambda self, other: np.asarray(self) == np.asarray(other)  # noqa: E731
    __hash__ = None  # == is element by element

    def item(self, *index):
        """An element as a number of Python."""
        return np.asarray(self).item(*index)

    def tolist(self):
        """The elements as nested lists."""
        return np.asarray(self).tolist()

    def __repr__(self):
        kind, ordinal = _kind_of(self._device)
        return f"<ricci.Array {self.dtype}{list(self.shape)} on {kind}:{ordinal}>"

    def __array__(self, dtype=None, copy=None):
        """A copy in NumPy, after the work that writes this array."""
        if copy is False:
            raise ValueError("Array: NumPy gets a copy; share it by np.from_dlpack")
        out = np.empty(self.shape, self.dtype)
        lib.ricci_array_copy_to_host(self._handle, out.ctypes.data, out.nbytes)
        return out if dtype is None else out.astype(dtype)

    def __dlpack_device__(self):
        return _dlpack_device(self._device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule of the array, or of a copy if `copy`.

        On a GPU, what is enqueued to `stream` from now on begins after the work that writes the array.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"{self!r} is on device {self.__dlpack_device__()} of DLPack, not {tuple(dl_device)}")
        if copy:
            return self._copied(stream, max_version)
        made = handle()
        if self.__dlpack_device__()[0] == CPU:
            if stream is not None:
                raise ValueError(f"__dlpack__: stream is {stream!r}, but {self!r} is in memory of the host; None is expected")
            lib.ricci_array_to_dlpack(self._handle, ctypes.byref(made))
        else:
            stream = LEGACY_STREAM if stream is None else stream
            ordered = None if stream == -1 else _Wrapped(self._device, "__dlpack__", stream)
            lib.ricci_array_to_dlpack_on(self._handle, ordered and ordered.handle, ctypes.byref(made))
        return dlpack.capsule_of(made.value, is_versioned=max_version is not None and max_version[0] >= 1)

    def _copied(self, stream, max_version):
        """A capsule of a copy, which is the consumer's to change."""
        mine = from_numpy(np.asarray(self), self.context, self._device, self.context.dtype_and_shape(
            lib.ricci_array_type(self._handle))[0])
        capsule = mine.__dlpack__(stream=stream, max_version=max_version)
        dlpack.mark_copied(capsule)
        return capsule

    @property
    def __cuda_array_interface__(self):
        """For Numba and CuPy, read-only; PyTorch takes no read-only memory by it, but by torch.from_dlpack."""
        if self.__dlpack_device__()[0] != CUDA or self.dtype.isbuiltin != 1:
            raise AttributeError(f"{self!r} has no __cuda_array_interface__: it is for GPUs and dtypes of NumPy")
        if not self._viewed:  # a run that the array is donated to must not take memory that somebody looks at
            self._viewed = lib.ricci_array_retain(self._handle)
        with self.context.lock:
            ours = _own_stream(self.context, self._device)
            lib.ricci_stream_wait_array(ours, self._handle)
        address = 0 if 0 in self.shape else lib.ricci_array_device_data(self._handle) or 0
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3, "strides": None, "data": (address, True),
                "stream": lib.ricci_stream_native(ours)}


class _Wrapped:
    """A stream of somebody else, by its number in the protocols."""

    def __init__(self, device, function, number):
        self.handle = None
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"{function}: stream is {number!r}; it must be 1 (legacy default), 2 (default of the "
                             "thread), or the handle of a stream")
        self.handle = handle()
        lib.ricci_stream_wrap(device, number, ctypes.byref(self.handle))

    def __del__(self):
        lib.ricci_stream_release(self.handle)


def _kind_of(device):
    info = struct(_abi.ricci_device_desc)
    lib.ricci_device_info(device, ctypes.byref(info))
    return text_of(info.kind), info.ordinal


def _dlpack_device(device):
    kind, ordinal = _kind_of(device)
    return (CUDA, ordinal) if kind == "cuda" else (CPU, 0)


def _own_stream(context, device):
    """The stream in which arrays of a device are handed over; it lives as long as the context, whose lock is held."""
    if device not in context.streams:
        made = handle()
        lib.ricci_stream_create(device, ctypes.byref(made))
        context.streams[device] = made
    return context.streams[device]


def asarray(value, device=None, context=None):
    """`value` as an Array on a device: `cpu`, `cuda`, `cuda:1`; if None, where an Array is, else the best one.

    An Array there already is returned as it is. What another library has there is shared, and must not change while
    the Array lives; what it says to be read-only is copied. All else goes through NumPy and is copied.
    """
    context = context or (value.context if isinstance(value, Array) else default_context())
    is_here = device is None and isinstance(value, Array) and value.context is context
    on = value._device if is_here else context.device(device)
    if isinstance(value, Array) and value.context is context:
        return value if value._device == on else _put(value, on)
    if hasattr(value, "__dlpack__") and tuple(value.__dlpack_device__()) == _dlpack_device(on):
        if not isinstance(value, np.ndarray):  # which may change
            return _from_dlpack(value, context, on)
    elif hasattr(value, "__cuda_array_interface__") and _dlpack_device(on)[0] == CUDA:
        return _from_interface(value, context, on)
    return from_numpy(np.asarray(value, order="C"), context, on)


def from_dlpack(x, /, device=None, context=None):
    """An Array that shares the memory of what has `__dlpack__`, also of a NumPy array, which must not change meanwhile.

    What says to be read-only is copied, since a run may take the memory of an Array that is donated to it.
    """
    context = context or default_context()
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: x is of type {type(x).__name__}, which has no __dlpack__")
    on = context.device(device) if device is not None else _device_like(context, tuple(x.__dlpack_device__()))
    if tuple(x.__dlpack_device__()) != _dlpack_device(on):
        raise BufferError(f"from_dlpack: the array is on device {tuple(x.__dlpack_device__())} of DLPack, not "
                          f"{_dlpack_device(on)}; ricci.asarray(numpy.asarray(x), device) copies it")
    return _from_dlpack(x, context, on)


def _device_like(context, number):
    """The device of a context that is the given one of DLPack."""
    if number[0] == CPU:
        return context.device("cpu")
    if number[0] == CUDA:
        return context.device(f"cuda:{number[1]}")
    raise BufferError(f"from_dlpack: device {number} of DLPack is neither a CPU nor a GPU of CUDA")


def _put(value, on):
    made = handle()
    lib.ricci_device_put(value._handle, on, ctypes.byref(made))
    return Array(value.context, made)


def from_numpy(value, context, on, number=None):
    """A copy on the device `on`, a handle; `number` is the element type of Ricci if it is not that of NumPy (keys)."""
    made = handle()
    value = value.astype(value.dtype.newbyteorder("="), copy=False)
    kind = context.type(number_of(value.dtype) if number is None else number, value.shape)
    lib.ricci_array_from_host(on, kind, value.ctypes.data, None, ctypes.byref(made))
    return Array(context, made)


def _from_dlpack(value, context, on):
    """On a GPU what the producer has enqueued is waited for in our stream."""
    made, ours = handle(), None
    how = {}
    if _dlpack_device(on)[0] == CUDA:
        with context.lock:
            ours = _own_stream(context, on)
        how = {"stream": lib.ricci_stream_native(ours)}
    try:
        capsule = value.__dlpack__(max_version=(1, 1), **how)
    except TypeError:  # older than DLPack 1
        capsule = value.__dlpack__(**how)
    with context.lock, dlpack.taken(capsule) as tensor:
        lib.ricci_array_from_dlpack_on(on, ours, tensor, ctypes.byref(made))
    return Array(context, made)


def _from_interface(value, context, on):
    given = value.__cuda_array_interface__
    if given.get("mask") is not None:
        raise Error("asarray: a masked array of the CUDA Array Interface")
    dtype = np.dtype(given["typestr"])
    if dtype.kind not in dlpack.CODES or not dtype.isnative:
        raise Error(f"asarray: elements {given['typestr']} of the CUDA Array Interface")
    address, read_only = given["data"]
    stream, made = given.get("stream"), handle()
    ordered = None if stream is None else _Wrapped(on, "__cuda_array_interface__", stream)
    shape, strides = given["shape"], given.get("strides")
    tensor = dlpack.tensor_of(value, address, _dlpack_device(on), dtype, shape, strides, read_only)
    with dlpack.owned(tensor):
        lib.ricci_array_from_dlpack_on(on, ordered and ordered.handle, tensor, ctypes.byref(made))
    return Array(context, made)
