"""Finds and opens libricci.so.0, and turns statuses into exceptions.

The library is opened with RTLD_LOCAL. ctypes releases the interpreter's lock during every call.
"""
import ctypes
import itertools
import re
import threading

from . import _abi
from ._places import find

LIBRARY = "libricci.so.0"
CPU_PLUGIN = "libricci_plugin_cpu.so.0"


class Error(Exception):
    """What Ricci refuses or cannot do. `code` is one of the RICCI_* status codes; `primitive`, `rule` where known."""

    def __init__(self, message, code=_abi.RICCI_INVALID_ARGUMENT, primitive="", rule=""):
        super().__init__(message)
        self.code, self.primitive, self.rule = code, primitive, rule


def not_pickled(what, instead):
    """A `__reduce__` that says what to do in place of pickling or copying."""
    def __reduce__(self):
        raise TypeError(f"{what} cannot be pickled or copied; {instead}")
    return __reduce__


def text_of(s):
    """A ricci_str as Python text."""
    return ctypes.string_at(s.ptr, s.len).decode(errors="replace") if s.len else ""


_raised = threading.local()


def status_of(error, prefix):
    """A status for what a Python function raised that Ricci called; the Error made of it has `error` as its cause."""
    own = isinstance(error, Error)
    text = prefix + (str(error) if own else f"{type(error).__name__}: {error}")
    _raised.last = text, error
    code = error.code if own else _abi.RICCI_INVALID_ARGUMENT
    return lib.ricci_status_make(code, text.encode(), len(text.encode()))


def _cause(message):
    text, error = getattr(_raised, "last", ("", None))
    _raised.last = "", None
    return error if error is not None and text in message else None


_passing, _numbers = {}, itertools.count(1)  # what callbacks raised that has not reached the caller of C yet
_PASSING_LIMIT = 64  # older ones are forgotten: nobody has asked for the status


def raised_status(error, name):
    """A status for what a callback raised; the function of C that returns it raises `error` itself."""
    number = next(_numbers)
    _passing[number] = error
    _passing.pop(number - _PASSING_LIMIT, None)
    text = f"callback {name}: {type(error).__name__}: {error} (Python exception {number})".encode()
    return lib.ricci_status_make(_abi.RICCI_INVALID_ARGUMENT, text, len(text))


def _passed(message):
    """The exception of a callback that the message of a status is about; None if it is about none."""
    found = re.search(r"\(Python exception (\d+)\)", message)
    return _passing.pop(int(found[1]), None) if found else None


def _check(status, function, arguments):
    if status is None:
        return
    message, primitive, rule = _abi.ricci_str(), _abi.ricci_str(), _abi.ricci_str()
    lib.ricci_status_message(status, ctypes.byref(message))
    lib.ricci_status_site(status, ctypes.byref(primitive), ctypes.byref(rule), None, None)
    error = Error(text_of(message), lib.ricci_status_code(status), text_of(primitive), text_of(rule))
    lib.ricci_status_free(status)
    passed = _passed(str(error))
    if passed is not None:
        raise passed
    raise error from _cause(str(error))


def _open():
    library = ctypes.CDLL(find(LIBRARY), mode=ctypes.RTLD_LOCAL)
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = parameters
        function.restype = ctypes.c_void_p if result is _abi.STATUS else result
        if result is _abi.STATUS:
            function.errcheck = _check
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
