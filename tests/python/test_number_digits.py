"""Numbers of Python next to arrays of 64 bits: all their digits reach the result, in every call of every function.

JAX with jax_enable_x64 is the oracle. The calls are those of numpy_cases.py, and every function with numbers in the place
of each of its arguments, so that a new function is among them. The numbers are none of those that 32 bits hold.
"""
import contextlib
import inspect
import re
import unittest
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import numpy_cases
import ricci
import ricci.numpy as rnp
from shares import share

WIDE = {"float32": "float64", "float16": "float64", "int32": "int64", "uint8": "int64", "complex64": "complex128"}
ARRAY_LIKE = np.ndarray, np.generic, jax.Array, ricci.Value
ARRAYS = {n: np.asarray(a).astype(WIDE.get(str(np.asarray(a).dtype), np.asarray(a).dtype))
          for n, a in numpy_cases.ARRAYS.items() if n not in numpy_cases.STATIC}
FIXED = {n: numpy_cases.ARRAYS[n] for n in numpy_cases.STATIC}
# Their integers are elements of results, not sizes.
OF_INTEGERS = "ricci.numpy.elementwise", "ricci.numpy.choices", "ricci.numpy.reductions"


def _with_long_numbers(text):
    """The text of a call with a little less of each number that has a point."""
    return re.sub(r"(?<![\w.])(\d+\.\d+)(?![\w.])", lambda m: repr(float(m[1]) * (1 - 1.1e-8)), text)


def _lost(ours, theirs):
    """Do they agree to the digits of 32 bits, but not to those of 64? Integers must be the same."""
    ours, theirs = jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs)
    if len(ours) != len(theirs):
        return False
    for a, b in zip(map(np.asarray, ours), map(np.asarray, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind not in "fciu" or a.dtype.itemsize < 8:
            continue
        if a.dtype.kind in "iu":
            near, same = True, np.array_equal(a, b)
        else:
            near, same = (np.allclose(a, b, scale, scale, equal_nan=True) for scale in (1e-5, 2e-13))
        if near and not same:
            return True
    return False


def _given(form, x, a, b):
    """Arguments with numbers in the place of some; an array of their own, for NumPy writes to some."""
    x = x.copy()
    return {"x a": (x, a), "a x": (a, x), "x a b": (x, a, b), "a b x": (a, b, x), "x x a": (x, x, a), "a x b": (a, x, b),
            "x (a b)": (x, (a, b)), "(a b) x": ((a, b), x), "x 2 a": (x, 2, a), "3 x": (3, x), "x 3": (x, 3), "a": (a,),
            "x": (x,), "x x": (x, x), "a b": (a, b), "(4) a": ((4,), a), "[a b a]": ([a, b, a],), "a b 4": (a, b, 4)}[form]


def _calls(function, x, a):
    """(arguments as `_given` names them, keywords)."""
    for form in ("x", "x a", "a x", "x a b", "a b x", "x x a", "a x b", "x (a b)", "(a b) x", "x 2 a", "3 x", "x 3"):
        yield form, {}
    for p in inspect.signature(function).parameters.values():
        if p.default is not p.empty and p.name not in ("axis", "dtype", "num", "N", "k", "ddof"):
            yield from (("x", {p.name: a}), ("x x", {p.name: a}))
        if p.name == "dtype":
            yield from ((form, {"dtype": x.dtype}) for form in ("a", "a b", "(4) a", "[a b a]", "x a", "a b 4"))


def _results(module, calls, numbers):
    """{the call: what it gives}, of those that a module takes."""
    found = {}
    for name, form, named in calls:
        try:
            leaves = jax.tree_util.tree_leaves(getattr(module, name)(*_given(form, *numbers), **named))
        except Exception:  # noqa: S112, what a function refuses is not in the result
            continue
        if leaves and all(isinstance(x, ARRAY_LIKE) for x in leaves):
            found[f"{name}: {form} {named}"] = leaves
    return found


def _all_calls(module, oracle, numbers):
    return [(name, *call) for name in _names(module, oracle) for call in _calls(getattr(module, name), *numbers[:2])]


def _names(module, oracle):
    return [n for n in dir(module) if not n.startswith("_") and inspect.isfunction(getattr(module, n)) and hasattr(oracle, n)]


def _draws(random, names, key):
    """{name: f64 numbers of a distribution with numbers of Python for its parameters}."""
    found = {}
    for name in names:
        parameters = list(inspect.signature(getattr(random, name)).parameters.values())[1:]
        named = {p.name: {"shape": (4,), "dtype": np.float64}[p.name] for p in parameters if p.name in ("shape", "dtype")}
        named |= {p.name: 0.6 if p.name in ("high", "maxval", "upper", "right", "mode") else 0.1 for p in parameters
                  if p.name not in named and (p.default is p.empty or isinstance(p.default, float))}
        if "dtype" in named:
            with contextlib.suppress(Exception):  # what a function refuses is not in the result
                found[name] = getattr(random, name)(key, **named)
    return found


class Digits(unittest.TestCase):
    maxDiff = None

    def check(self, ours, theirs, at_least):
        both = [call for call in ours if call in theirs]
        self.assertGreater(len(both), at_least)
        self.assertEqual([call for call in both if _lost(ours[call], theirs[call])], [])

    def test_calls_of_the_table(self):
        # What np.array makes of a list of numbers is f32, by itself.
        cases = share(text for text, _ in numpy_cases.cases() if not re.search(r"finfo|np\.array\(|float32", text))

        def every(namespace):
            def function(arrays):
                return [eval(_with_long_numbers(text), {"np": namespace, **arrays, **FIXED})  # noqa: S307, our own texts
                        for text in cases]
            return function
        ours = ricci.jit(every(rnp), device="ref")(ARRAYS)
        with jax.enable_x64(True):
            theirs = jax.jit(every(jnp))(ARRAYS)
        self.assertEqual([text for text, a, b in zip(cases, ours, theirs) if _lost(a, b)], [])

    def test_ranges(self):
        # By numpy where unsigned numbers of numpy would wrap in jax.numpy.
        calls = share([
            (jnp, (1 << 63, (1 << 63) + 3), "u8"), (jnp, (0, 1 << 63, 1 << 61), "u8"), (jnp, (1 << 31, (1 << 31) + 3), "i8"),
            (jnp, (np.uint64(1 << 63), np.uint64((1 << 63) + 3)), None), (jnp, ((1 << 53), (1 << 53) + 3), "f8"),
            (jnp, (np.float32(2.5), np.float32(4)), None), (jnp, (np.uint8(3), np.int16(7)), None),
            (jnp, ((1 << 63) + 1, (1 << 63) + 4), "f8"), (jnp, (1, 2.5, 0.1), "f8"), (jnp, (0.1, 0.7, 0.2), "f8"),
            (jnp, (5.0,), "f8"), (jnp, (1, 4, 1), "c16"), (np, (10, 5), "u1"), (np, (0, 10**18 + 2, 10**17 + 1), "i8")])
        for oracle, numbers, dtype in calls:
            given = [np.uint8(n) for n in numbers] if dtype == "u1" else numbers
            with jax.enable_x64(True):
                theirs = np.asarray(oracle.arange(*numbers, dtype=dtype))
            ours = np.asarray(ricci.jit(lambda: rnp.arange(*given, dtype=dtype), device="ref")())  # noqa: B023
            self.assertEqual(ours.dtype, theirs.dtype)
            np.testing.assert_array_equal(ours, theirs, f"{numbers}, {dtype}")
        # numpy counts these in floating numbers, and so misses the last one.
        least, most = -(1 << 63), (1 << 63) - 1
        ours = ricci.jit(lambda: rnp.arange(least, most, most, "i8"), device="ref")()
        self.assertEqual(np.asarray(ours).tolist(), [least, -1, most - 1])

    def check_numpy(self, *numbers, at_least):
        for ours, theirs, n in ((rnp, np, at_least), (rnp.linalg, np.linalg, 4), (rnp.fft, np.fft, 4)):
            calls = _all_calls(ours, theirs, numbers)
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                expected = _results(theirs, calls, numbers)
                found = ricci.jit(lambda: _results(ours, calls, numbers), device="ref")()  # noqa: B023
            self.check(found, expected, n)

    def test_every_function_of_numpy(self):
        self.check_numpy(np.array([0.3, 0.7, 0.2, 0.9]), 0.1, 0.6, at_least=500)

    def test_complex_numbers(self):
        self.check_numpy(np.array([0.3, 0.7 + 0.1j, 0.2j, 0.9]), 0.1 + 0.3j, 0.6, at_least=300)

    def test_integers(self):
        names = {n for n in _names(rnp, np) if getattr(rnp, n).__module__ in OF_INTEGERS} | {"full_like", "append"}
        names -= {"pow", "power", "mean"}  # as in JAX: 6 bits of an exponent; a mean of integers is one of floats
        for numbers in ((np.array([3, 2**40, 2**60 + 1, 5]), 2**31 + 1, 2**53 + 1),
                        (np.array([3, 2**40, 2**60 + 1, 5], np.uint64), 2**53 + 1, 2**63 + 1)):
            calls = [call for call in _all_calls(rnp, np, numbers) if call[0] in names]
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                expected = _results(np, calls, numbers)
                found = ricci.jit(lambda: _results(rnp, calls, numbers), device="ref")()  # noqa: B023
            self.check(found, expected, 100)

    def test_every_function_of_nn(self):
        numbers = np.array([0.3, 0.7, 0.2, 0.9]), 0.1, 0.6
        calls = _all_calls(ricci.nn, jax.nn, numbers)
        with jax.enable_x64(True), warnings.catch_warnings(action="ignore"):
            self.check(ricci.jit(lambda: _results(ricci.nn, calls, numbers), device="ref")(),
                       jax.jit(lambda: _results(jax.nn, calls, numbers))(), 30)

    def test_every_function_of_random(self):
        every = _names(ricci.random, jax.random)
        names = share(every)
        with jax.enable_x64(True):
            key = jax.random.PRNGKey(3)
            theirs = _draws(jax.random, names, key)
            ours = ricci.jit(lambda: _draws(ricci.random, names, np.asarray(key)))()
        self.check(ours, theirs, 8 * len(names) // len(every))


if __name__ == "__main__":
    unittest.main()
