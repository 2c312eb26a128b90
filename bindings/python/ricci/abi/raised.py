"""What Python functions raise that C calls: it does not pass through C, but the call of C that led to it raises it again.

C is given a status, whose message holds a number by which the exception is found, since the function may run on another
thread than the one that waits for it. Whatever the exception is, the status is made: its text may not exist.

An interrupt (Ctrl-C) can be raised where Python has not reached the first line of such a function yet. ctypes reports it
to sys.unraisablehook and returns 0 to C, which is success. So the hook here keeps it for the thread, and the function of
C, which returns to that thread, raises it. What comes from anything else goes to the hook that was there before.
"""
import contextlib
import itertools
import re
import sys
import threading

MARK = "ricci_calls_python"  # the name of all functions that C calls
_NUMBER = re.compile(r"\(Python exception (\d+)\)")
_passing, _numbers = {}, itertools.count(1)  # what was raised and has not reached the caller of C yet
_PASSING_LIMIT = 64  # older ones are forgotten: their status was never read
_last = threading.local()  # text and exception of what becomes the cause of an Error
_escaped = {}  # by thread: what ctypes did not let pass


def text_of_error(error):
    """Type and text of an exception as bytes, whatever its class does."""
    name = "exception"
    with contextlib.suppress(BaseException):
        name = type(error).__name__
        return f"{name}: {error}".encode(errors="backslashreplace")
    return f"{name} (its text cannot be made)".encode(errors="backslashreplace")


def numbered(error, site):
    """The message of a status for which `error` itself is raised."""
    number = next(_numbers)
    _passing[number] = error
    _passing.pop(number - _PASSING_LIMIT, None)
    site = site.encode(errors="backslashreplace")
    return b"callback %b: %b (Python exception %d)" % (site, text_of_error(error), number)


def as_cause(text, error):
    """`text`, the message of a status whose Error has `error` as its cause."""
    _last.raised = text, error
    return text


def cause(message):
    text, error = getattr(_last, "raised", (b"", None))
    _last.raised = b"", None
    return error if error is not None and text.decode(errors="replace") in message else None


def passed(message):
    """The exception that the message of a status is about; None if it is about none."""
    numbers = _NUMBER.findall(message)
    return _passing.pop(int(numbers[-1]), None) if numbers else None


def escaped():
    """What left a function that this thread called through C, once; else None."""
    return _escaped.pop(threading.get_ident(), None) if _escaped else None


def escapes():
    """The dict of what `escaped` gives, which is empty but for a moment; it is there as long as the process."""
    return _escaped


def keep(error):
    """What `escaped` gives in this thread."""
    _escaped[threading.get_ident()] = error


def _hook(unraisable, previous=sys.unraisablehook):
    what = getattr(unraisable.object, "__name__", "") if unraisable.object is not None else unraisable.err_msg or ""
    if MARK not in what:
        return previous(unraisable)
    keep(unraisable.exc_value if unraisable.exc_value is not None else unraisable.exc_type())


sys.unraisablehook = _hook
