"""Every primitive of JAX is imported, or listed with the reason why it is not; every function of its linear algebra has a
case."""
import gc
import importlib
import unittest

import jax
import jax.numpy as jnp
import ricci
from jax._src import core
from ricci.jax.attributes import RENAMED
from ricci.jax.control import RULES
from ricci.jax.jaxpr import NOTHING

import linear_algebra_functions as linear_algebra
from primitives_left_out import LEFT_OUT

# Those that define primitives when they are imported.
MODULES = """jax.custom_batching jax.custom_derivatives jax.experimental.buffer_callback jax.experimental.checkify
    jax.experimental.custom_partitioning jax.experimental.jet jax.experimental.multihost_utils jax.experimental.ode
    jax.experimental.pallas jax.experimental.shard_map jax.experimental.sparse jax.export jax.ffi jax.lax.linalg jax.nn
    jax.random jax.ref jax.scipy.fft jax.scipy.integrate jax.scipy.interpolate jax.scipy.linalg jax.scipy.ndimage
    jax.scipy.optimize jax.scipy.signal jax.scipy.sparse.linalg jax.scipy.spatial.transform jax.scipy.stats"""


def primitives_of_jax():
    for module in MODULES.split():
        importlib.import_module(module)
    return {p.name for p in gc.get_objects() if isinstance(p, core.Primitive)
            and getattr(type(p), "__module__", "").startswith("jax")}


def is_imported(name):
    return name in RULES or name in NOTHING or ricci.default_context().has_primitive(RENAMED.get(name, name))


class Primitives(unittest.TestCase):
    def test_all_are_imported_or_listed(self):
        listed = {name for names in LEFT_OUT.values() for name in names.split()}
        theirs = primitives_of_jax()
        self.assertGreater(len(theirs), 250)
        unknown = {name for name in theirs if not is_imported(name)}
        self.assertEqual(sorted(unknown - listed), [], "neither imported nor in primitives_left_out.py")
        self.assertEqual(sorted(listed - unknown), [], "imported, or no primitive of JAX: it is not to be listed")

    def test_all_functions_of_linear_algebra_have_a_case(self):
        for module, cases in ((jnp.linalg, linear_algebra.numpy_linalg), (jax.scipy.linalg, linear_algebra.scipy_linalg)):
            named = {name.split(".")[0] for name, _, _ in cases()}
            functions = {n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n))}
            self.assertEqual(sorted(functions - named), [], module.__name__)


if __name__ == "__main__":
    unittest.main()
