"""Keys of jaxprs and of what holds them: equal if they compute the same, however often JAX has traced it.

Packages trace the same function again for each place that uses it, and a rule of theirs can be a hundred times the work
of its equation; who makes something of a jaxpr makes it once for each key. What is not known by its value (functions,
large arrays, tracers) is known by its place in memory.
"""
import jax
import numpy as np
from jax._src import core

_SMALL = 4096  # bytes
_VALUES = (str, bytes, bool, int, type(None), np.dtype, type)
_OUTPUTS = ("flatten",)  # where equinox writes down what its abstract evaluation finds


class Keys:
    """The keys of one importer, which keep what they know by its place."""

    def __init__(self):
        self._jaxprs, self._numbers, self._kept = {}, {}, {}

    def of(self, x):
        if isinstance(x, core.Jaxpr):
            return self._of_jaxpr(x)
        if isinstance(x, core.ClosedJaxpr):
            return "closed", self._of_jaxpr(x.jaxpr), self.of(x.consts)
        if type(x) in (tuple, list):
            return (type(x), *map(self.of, x))
        if type(x) is dict:
            return (dict, *((k, self.of(v)) for k, v in x.items()))
        if isinstance(x, (float, complex)):
            return type(x), repr(x)  # apart from the zero of the other sign
        if isinstance(x, (np.ndarray, np.generic)) and x.nbytes <= _SMALL and x.dtype != object:
            return type(x), x.dtype.str, x.shape, x.tobytes()
        return (type(x), x) if isinstance(x, _VALUES) else self._by_itself(x)

    def _by_itself(self, x):
        """By what its type calls equal, if that is a value."""
        try:
            if not isinstance(x, (core.Tracer, jax.Array)):
                hash(x)
                return type(x), x
        except TypeError:
            pass
        self._kept[id(x)] = x
        return type(x), id(x)

    def of_params(self, params):
        return tuple((k, self.of(v)) for k, v in params.items() if k not in _OUTPUTS)

    def _of_jaxpr(self, jaxpr):
        """A number, so that keys that hold it are quick to compare."""
        if id(jaxpr) not in self._jaxprs:
            self._kept[id(jaxpr)] = jaxpr
            self._jaxprs[id(jaxpr)] = self._numbers.setdefault(self._equations(jaxpr), len(self._numbers))
        return "jaxpr", self._jaxprs[id(jaxpr)]

    def _equations(self, jaxpr):
        numbers = {v: i for i, v in enumerate((*jaxpr.constvars, *jaxpr.invars))}

        def atom(a):
            return (a.aval, self.of(np.asarray(a.val))) if isinstance(a, core.Literal) else numbers[a]

        def equation(eqn):
            found = eqn.primitive, self.of_params(eqn.params), tuple(map(atom, eqn.invars))
            for v in eqn.outvars:
                numbers[v] = len(numbers)
            return (*found, *(v.aval for v in eqn.outvars))
        avals = tuple(v.aval for v in numbers)
        return len(jaxpr.constvars), avals, tuple(map(equation, jaxpr.eqns)), tuple(map(atom, jaxpr.outvars))
