"""Finds and opens libricci.so.0, and turns statuses into exceptions.

The library is opened with RTLD_LOCAL. Every pointer is a c_void_p, and `errcheck` checks every status. ctypes releases
the interpreter's lock during every call.
"""
import ctypes

from . import _abi, raised
from .installation import find

LIBRARY = "libricci.so.0"
CPU_PLUGIN = "libricci_plugin_cpu.so.0"


class Error(Exception):
    """What Ricci refuses or cannot do. `code` is one of the RICCI_* status codes; `primitive`, `rule` where known."""

    def __init__(self, message, code=_abi.RICCI_INVALID_ARGUMENT, primitive="", rule=""):
        super().__init__(message)
        self.code, self.primitive, self.rule = code, primitive, rule


class Cancelled(Error):
    """A run was ended by its Cancel."""


class DeadlineExceeded(Error, TimeoutError):
    """A run was ended because its time was over."""


_KINDS = {_abi.RICCI_CANCELLED: Cancelled, _abi.RICCI_DEADLINE_EXCEEDED: DeadlineExceeded}


def not_pickled(what, instead):
    """A `__reduce__` that says what to do in place of pickling or copying."""
    def __reduce__(self):
        raise TypeError(f"{what} cannot be pickled or copied; {instead}")
    return __reduce__


def text_of(s):
    """A ricci_str as Python text."""
    return ctypes.string_at(s.ptr, s.len).decode(errors="replace") if s.len else ""


def check_status(status, function, arguments):
    """The errcheck of functions that give a status: raises what it says, or what a Python function left that C called."""
    if status is None:
        escaped = raised.escaped()
        if escaped is not None:
            raise escaped
        return
    message, primitive, rule = _abi.ricci_str(), _abi.ricci_str(), _abi.ricci_str()
    lib.ricci_status_message(status, ctypes.byref(message))
    lib.ricci_status_site(status, ctypes.byref(primitive), ctypes.byref(rule), None, None)
    code = lib.ricci_status_code(status)
    error = _KINDS.get(code, Error)(text_of(message), code, text_of(primitive), text_of(rule))
    lib.ricci_status_free(status)
    for other in (raised.escaped(), raised.passed(str(error))):
        if other is not None:
            raise other
    raise error from raised.cause(str(error))


def _open():
    library = ctypes.CDLL(find(LIBRARY), mode=ctypes.RTLD_LOCAL)
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = parameters
        function.restype = ctypes.c_void_p if result is _abi.STATUS else result
        if result is _abi.STATUS:
            function.errcheck = check_status
    version = library.ricci_abi_version()
    if version != _abi.RICCI_ABI_MAJOR << 16 | _abi.RICCI_ABI_MINOR:
        raise ImportError(f"{LIBRARY} has version {version >> 16}.{version & 0xffff} of the ABI, this package "
                          f"{_abi.RICCI_ABI_MAJOR}.{_abi.RICCI_ABI_MINOR}")
    return library


lib = _open()


def struct(kind, /, **members):
    """A struct of the ABI with its size set and everything else 0 but `members`."""
    value = kind(**members)
    value.hdr.size = ctypes.sizeof(kind)
    return value


def handle():
    """Where a function writes a handle."""
    return ctypes.c_void_p()


def u8s(flags):
    return (ctypes.c_uint8 * len(flags))(*map(int, flags))


def u32s(numbers):
    return (ctypes.c_uint32 * len(numbers))(*numbers)


def i32s(numbers):
    return (ctypes.c_int32 * len(numbers))(*numbers)
