"""Functions of C's types around Python functions, out of which no exception passes into C (raised.py)."""
import ctypes

from . import _abi, raised
from .library import Error, lib

_LOST = b"a Python function failed, and so did what reports it"


def raised_status(error, site):
    """A status for what a function raised; the function of C that returns it raises `error` itself."""
    text = raised.numbered(error, site)
    return lib.ricci_status_make(_abi.RICCI_INVALID_ARGUMENT, text, len(text))


def caused_status(error, site):
    """A status for what a function raised; the Error made of it has `error` as its cause. An interrupt is raised itself."""
    if not isinstance(error, Exception):
        return raised_status(error, site)
    own = isinstance(error, Error)
    text = str(error).encode(errors="backslashreplace") if own else raised.text_of_error(error)
    text = raised.as_cause(site.encode(errors="backslashreplace") + b": " + text, error)
    return lib.ricci_status_make(error.code if own else _abi.RICCI_INVALID_ARGUMENT, text, len(text))


def _reported(error, site, status):
    """The status of an exception, or of what is raised meanwhile, an interrupt perhaps."""
    for _ in range(4):
        try:
            return status(error, site)
        except BaseException as another:
            error = another
    return lib.ricci_status_make(_abi.RICCI_INTERNAL, _LOST, len(_LOST))


def status_function(n, site, function, status=raised_status):
    """A C function of `n` addresses that returns a status: that of what `function` raises, else what it gives."""
    def call(*arguments):
        try:
            return function(*arguments)
        except BaseException as error:  # it cannot pass through C
            return _reported(error, site, status)
    call.__name__ = call.__qualname__ = raised.MARK
    return ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * n)(call)


def plain_function(kind, function):
    """A C function of the type `kind`, which returns nothing. What it raises is raised by the function of C that the
    thread has called, or by the next one."""
    def call(*arguments):
        try:
            function(*arguments)
        except BaseException as error:
            raised.keep(error)
    call.__name__ = call.__qualname__ = raised.MARK
    return kind(call)


def address_of(callback):
    """Where a callback is. ctypes.cast would leave a reference cycle."""
    return ctypes.c_void_p.from_buffer(callback).value
