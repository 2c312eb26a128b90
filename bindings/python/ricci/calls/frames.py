"""Tracebacks without the frames of this package: they show the user's lines, down to the one that is wrong.

Every public function takes the package's frames out of the traceback of what passes through it. RICCI_TRACEBACKS=full in
the environment, or `ricci.show_all_frames()`, keeps them.
"""
import contextlib
import functools
import os
import types

from ..abi.user_line import OWN

# Frames of these are there only because the package calls them.
_WRAPPERS = (contextlib.__file__, functools.__file__)
_shown = os.environ.get("RICCI_TRACEBACKS") == "full"


def show_all_frames(shown=True):
    """Tracebacks with the frames of this package too, from now on, or without them."""
    global _shown
    _shown = bool(shown)


def without_frames(function):
    """`function`, through which exceptions pass without the package's frames."""
    @functools.wraps(function)
    def call(*arguments, **named):
        try:
            return function(*arguments, **named)
        except BaseException as error:
            hide_frames(error)
            raise
    return call


def hide_frames(error):
    """Takes the package's frames out of the tracebacks of `error` and its causes. A bare `raise` after that adds none."""
    seen = set()
    while error is not None and not _shown and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _users(error.__traceback__)
        error = error.__context__ if error.__cause__ is None else error.__cause__


def _users(entry):
    kept = []
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if not file.startswith(OWN) and file not in _WRAPPERS:
            kept.append(entry)
        entry = entry.tb_next
    made = None
    for entry in reversed(kept):
        made = types.TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made
