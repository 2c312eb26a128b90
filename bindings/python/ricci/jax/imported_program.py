"""Programs of imported functions: the rules of their custom derivatives are imported when something needs them.

JAX traces such a rule when it differentiates, and a rule can be several times the work of the function: that of an
implicit solver of diffrax is three times. So `from_jax` imports what a run needs, in which each custom operation is a
call of its function. The program itself, with the rules, is what everything else of a program is about, from its
derivatives to its text and its file.
"""
import functools
import threading

from ..abi.program import Program


class ImportedProgram(Program):
    """`for_values` gives the same values and lacks the rules; `whole()` makes the program with them, once."""

    def __init__(self, for_values, whole):
        self._for_values, self._make, self._lock, self._hash = for_values, whole, threading.Lock(), None
        self.context, self.params, self.results = for_values.context, for_values.params, for_values.results

    def __del__(self):
        """Both programs release their own handles."""

    @property
    def for_values(self):
        return self._for_values

    @functools.cached_property
    def _whole(self):
        with self._lock:
            if "_whole" not in self.__dict__:  # made by another thread meanwhile
                self.__dict__["_whole"] = self._make()
                self._make = None  # and what it keeps of JAX
        return self.__dict__["_whole"]

    @property
    def _handle(self):
        return self._whole._handle

    @property
    def name(self):
        return self._for_values.name

    def vmap(self, *args, **options):
        """Of a batch too the rules are imported when something needs them."""
        return ImportedProgram(self._for_values.vmap(*args, **options), lambda: self._whole.vmap(*args, **options))
