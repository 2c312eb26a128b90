"""Runs that end early, what their steps take, and where a NaN comes from.

`limits` holds for all compiled code that its thread runs: calls of jit, of grad, of functions of ricci.numpy.
"""
import collections
import contextlib
import ctypes
import time

from . import _abi
from . import arguments as given
from .from_c import address_of, plain_function
from .library import lib, struct, text_of
from .thread_state import state

_KINDS = {_abi.RICCI_SPAN_KERNEL: "kernel", _abi.RICCI_SPAN_LIBRARY: "library", _abi.RICCI_SPAN_COPY: "copy",
          _abi.RICCI_SPAN_SOURCE: "source"}
_SPAN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

# An execution of a step of the plan, or of a part of it: `thread` 0 is all of the step, i + 1 the part of worker i. Times
# are nanoseconds of time.monotonic_ns().
Span = collections.namedtuple("Span", "kind name step thread file line begin_ns end_ns")


class Cancel:
    """Called, it makes the runs end that were given it (`limits`), and those that begin later. Any thread may call it."""

    def __init__(self):
        self._word = ctypes.c_uint32(0)

    def __call__(self):
        self._word.value = 1

    def __repr__(self):
        return f"<ricci.Cancel, {'called' if self._word.value else 'not called'}>"


@contextlib.contextmanager
def limits(timeout=None, cancel=None):
    """Runs of this thread inside the `with` end soon after `timeout` seconds from its beginning, with DeadlineExceeded, or
    after a call of `cancel`, a Cancel, with Cancelled. Of several around each other the earliest time holds."""
    around = current_limits()
    deadline, word = around if around else (0, None)
    if timeout is not None:
        if not isinstance(timeout, (int, float)) or not timeout >= 0:
            raise given.wrong_type("limits", "timeout", timeout, "a number of seconds that is not negative is")
        own = time.monotonic_ns() + int(min(timeout, 1e9) * 1e9)
        deadline = min(deadline, own) if deadline else own
    if cancel is not None:
        word = given.instance("limits", "cancel", cancel, Cancel)
    state.limits = deadline, word
    try:
        yield
    finally:
        state.limits = around


def current_limits():
    """(deadline, Cancel or None) of this thread, or None."""
    return state.limits


def run(executable, arrays, found, profile=None):
    """Runs an executable on handles of arrays, within the limits of this thread."""
    deadline, cancel = current_limits() or (0, None)
    options = struct(_abi.ricci_run_opts, deadline_ns=deadline)
    if cancel is not None:
        options.cancel = ctypes.addressof(cancel._word)
    if profile is not None:
        options.profile = ctypes.addressof(profile)
    lib.ricci_executable_run(executable, arrays, len(arrays), found, len(found), ctypes.byref(options))


@contextlib.contextmanager
def recorded(spans):
    """A ricci_profile that appends to a list."""
    def span(_, address):
        s = _abi.ricci_span.from_address(address)
        spans.append(Span(_KINDS.get(s.kind, "?"), text_of(s.name), s.step, s.thread, text_of(s.file), s.line, s.begin_ns,
                          s.end_ns))
    held = plain_function(_SPAN, span)
    yield struct(_abi.ricci_profile, span=address_of(held))
