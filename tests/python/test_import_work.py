"""The work of an import, counted: the primitives that JAX traces meanwhile and the equations that are walked.

The measure of an import is what JAX traces for the same function; that of an import with the rules of derivatives is
the trace of its gradient. Times depend on the machine; a trace that is repeated, or made at each level, is counted.
"""
import os
import unittest
from unittest import mock

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import ricci  # noqa: E402
from jax._src.interpreters import partial_eval  # noqa: E402
from ricci.jax import jaxpr  # noqa: E402
from ricci.jax.traced import traced as without_references  # noqa: E402

import jax_functions  # noqa: E402
from shares import share  # noqa: E402
from test_custom_rules import X, chain  # noqa: E402
from test_from_jax import argnums_of, total  # noqa: E402

FACTOR, FEW = 3, 20  # a rule of its own costs a function of one equation more than that equation


def counted(cls, name, run):
    """How often `run` calls that method; JAX has forgotten what it has traced before."""
    jax.clear_caches()
    with mock.patch.object(cls, name, autospec=True, side_effect=getattr(cls, name)) as method:
        run()
    return method.call_count


def traced(run):
    return counted(partial_eval.DynamicJaxprTrace, "process_primitive", run)


def traced_by_jax(fn, args):
    """(the primitives of the function, those of its gradient if these are more). JAX traces again what has references."""
    own, argnums = traced(lambda: without_references(lambda *xs: fn(*xs), args, {})), argnums_of(fn, args)
    return own, max(own, traced(lambda: jax.make_jaxpr(jax.grad(total(fn), argnums))(*args))) if argnums else own


class Work(unittest.TestCase):
    def is_bounded(self, fn, args):
        own, with_gradient = traced_by_jax(fn, args)
        for jaxs, run in ((own, lambda: ricci.from_jax(fn, *args)),
                          (with_gradient, lambda: ricci.from_jax(fn, *args).program.verify())):
            self.assertLessEqual(traced(run), FACTOR * jaxs + FEW)
            self.assertLessEqual(counted(jaxpr.Importer, "equation", run), FACTOR * jaxs + FEW)

    def check(self, group):
        for name, fn, args in share(jax_functions.GROUPS[group]()):
            with self.subTest(f"{group}.{name}"):
                self.is_bounded(fn, args)

    def test_rules_that_hold_functions_with_rules(self):
        for depth in (6, 12):
            self.is_bounded(lambda x: chain(depth)(x), (X,))  # noqa: B023


for _group in jax_functions.GROUPS:
    setattr(Work, f"test_{_group}", lambda self, group=_group: self.check(group))

if __name__ == "__main__":
    unittest.main()
