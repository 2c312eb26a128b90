"""Every function of ricci.random in every dtype next to jax.random: the same bits, and the same numbers to a few units
of the last place where they are the results of functions."""
import inspect
import unittest
import warnings

import jax
import numpy as np
import ricci
from shares import share

NARROW = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"]
WIDE = ["int64", "uint64", "float64", "complex128"]
KEY = np.array([3, 4], np.uint32)
SMALL, SHAPES = np.array([0.5, 1.5, 4.0], np.float32), np.array([0.1, 0.9, 3.0, 30.0], np.float32)
# The arguments before dtype, if they are not a shape.
GIVEN = {
    "randint": [((40,), -100, 100), ((40,), 0, 256), ((40,), 3, 70000), ((40,), -1000, 5), ((40,), 5, 5), ((0,), 0, 9),
                ((3,), np.array([0, 5, -4], np.int8), 9)],
    "truncated_normal": [(-1.0, 1.5, (30,)), (np.float32(-0.3), SMALL)],
    "lognormal": [(0.5, (30,)), (SMALL,)],
    "gamma": [(SHAPES, (4,))], "loggamma": [(SHAPES,)], "beta": [(SHAPES, 1.5)],
    "dirichlet": [(SHAPES, (3,))], "chisquare": [(SHAPES,)], "t": [(SHAPES, (4,))],
    "f": [(SHAPES, 2.0)], "generalized_normal": [(1.5, (20,))], "ball": [(2, 1.5, (9,))],
    "double_sided_maxwell": [(0.5, SMALL, (3,)), (SMALL, 2.0)], "wald": [(0.7, (20,)), (SMALL,)],
    "orthogonal": [(3,), (2, (2,), "dtype", 3), (4, (), "dtype", 2)], "rayleigh": [(np.float32(1.5), (20,))],
    "pareto": [(1.5, (20,)), (SHAPES,)], "weibull_min": [(0.7, 1.5, (20,))],
    "triangular": [(-1.0, 0.5, 2.0, (20,))], "geometric": [(0.3, (20,)), (np.array([0.1, 0.9], np.float32),)],
    "poisson": [(np.array([0, 3, 0.5, 20, 300], np.float32),)],
    "binomial": [(np.array([5.0, 1e4, np.inf, np.nan, 300, 20], np.float32), 0.8)],
    "multinomial": [(20.0, np.array([0.1, 0.2, 0.7], np.float32)), (5.0, np.array([[0.5, 0.5]] * 3, np.float32))],
    "multivariate_normal": [(SMALL.astype(float), np.diag(SMALL.astype(float)), (4,))],
}
# XLA takes seconds for each call of these, so they are compared in one dtype.
OF_LOOPS = set("""gamma loggamma beta dirichlet chisquare t f generalized_normal ball geometric poisson binomial multinomial
                  double_sided_maxwell maxwell orthogonal wald""".split())
WITH_A_DEFAULT_DTYPE = {"rademacher"}  # of the numbers that decide
EXACT = {"uniform", "rademacher", "bits", "randint"}  # and all integers
DIGITS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "complex64": 2e-6, "float64": 1e-13, "complex128": 1e-13}


def _names():
    return [n for n in dir(ricci.random) if not n.startswith("_") and inspect.isfunction(getattr(ricci.random, n))
            and "dtype" in inspect.signature(getattr(ricci.random, n)).parameters]


def _calls(dtypes):
    """(name, arguments after the key, dtype)."""
    for name in _names():
        for given in GIVEN.get(name, [((40,),)]):
            for dtype in set(dtypes) & {"float32", "int32"} if name in OF_LOOPS else dtypes:
                yield name, given, dtype


def _results(jit, random, calls):
    """{the call: what it gives}, of those that are taken, compiled together."""
    taken = []

    def every():
        found = []
        for name, given, dtype in calls:
            try:
                if "dtype" in given[1:]:
                    found.append(getattr(random, name)(KEY, *(dtype if x == "dtype" else x for x in given)))
                else:
                    found.append(getattr(random, name)(KEY, *given, dtype=dtype))
            except Exception:  # noqa: S112, what a function refuses is not in the result
                continue
            taken.append(f"{name}{given} {dtype}")
        return found
    made = jit(every)()
    return dict(zip(taken, map(np.asarray, made)))


class Random(unittest.TestCase):
    def check(self, dtypes, without):
        ours, theirs = {}, {}
        for name in share(sorted(set(_names()) - without)):  # XLA is slow for programs with many loops
            calls = [call for call in _calls(dtypes) if call[0] == name]
            with warnings.catch_warnings(action="ignore"):
                ours |= _results(ricci.jit, ricci.random, calls)
                theirs |= _results(jax.jit, jax.random, calls)
        self.assertEqual([call for call in theirs if call not in ours], [])
        for call, expected in theirs.items():
            with self.subTest(call):
                found = ours[call]
                self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
                if expected.dtype.kind in "iu" or call.split("(")[0] in EXACT:
                    np.testing.assert_array_equal(found, expected)
                    continue
                digits = DIGITS[str(expected.dtype)]
                wide = np.complex128
                np.testing.assert_allclose(found.astype(wide), expected.astype(wide), digits, digits)

    def test_every_function_is_there(self):
        theirs = {n for n in dir(jax.random) if not n.startswith("_") and callable(getattr(jax.random, n))}
        self.assertGreater(len(theirs), 40)
        self.assertEqual(sorted(n for n in theirs if not hasattr(ricci.random, n)), [])

    def test_every_dtype_of_every_function(self):
        # With an f16 multivariate_normal of JAX gives f32.
        self.check(NARROW, {"multivariate_normal"})
        self.check(["float32"], set(_names()) - {"multivariate_normal"})

    def test_every_dtype_of_64_bits(self):
        with jax.enable_x64(True):  # where JAX draws 64 bits for other types than floats
            self.check(WIDE, WITH_A_DEFAULT_DTYPE)


if __name__ == "__main__":
    unittest.main()
