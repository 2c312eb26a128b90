"""Jaxprs that are alike: which keys are equal, and that what is made of equations is made once."""
import os
import unittest
from unittest import mock

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402
from ricci.jax import package_rules  # noqa: E402
from ricci.jax.alike import Keys  # noqa: E402

from test_import import near  # noqa: E402

X = np.array([0.5, 1.5, 2.5], np.float32)
TABLE = np.arange(4096, dtype=np.float32)


def traced(f, *args):
    return jax.make_jaxpr(lambda *xs: f(*xs))(*args)  # a function of its own, which JAX traces again


def loop(x, n=4):
    return lax.fori_loop(0, n, lambda i, c: jnp.where(c > 0, jnp.sin(c), c), x)


class KeysOfJaxprs(unittest.TestCase):
    def equal(self, f, g, *args):
        keys = Keys()
        return keys.of(traced(f, *(args or (X,)))) == keys.of(traced(g, *(args or (X,))))

    def test_equal_ones(self):
        for f in (loop, jax.jit(loop), lambda x: x * np.float32(2) + 1, lambda x: x[1:] @ x[:-1],
                  lambda x: jnp.linalg.cholesky(jnp.outer(x, x) + jnp.eye(3)), lambda x: x * TABLE[:3],
                  lambda x: jax.random.normal(jax.random.key(3), (3,)) * x, lambda x: (x, x + TABLE[:3])):
            self.assertTrue(self.equal(f, f))

    def test_others(self):
        numbers = ((0.0, -0.0), (1.0, 2.0), (1, True), (np.float32(1), np.float64(1)), (float("inf"), -float("inf")))
        for a, b in numbers:
            self.assertNotEqual(Keys().of(a), Keys().of(b))
            if type(a) is float:
                self.assertFalse(self.equal(lambda x: x * a, lambda x: x * b))
        for f, g in ((lambda x: x + 1, lambda x: 1 + x), (jnp.sin, jnp.cos), (loop, lambda x: loop(x, 5)),
                     (lambda x: (x, x + 1), lambda x: (x + 1, x)), (lambda x: x * TABLE[:3], lambda x: x * TABLE[1:4]),
                     (lambda x: x[1:], lambda x: x[:2]), (lambda x: (x, jnp.sin(x)), lambda x: (jnp.sin(x), x)),
                     (lambda x: jnp.sin(x) - jnp.cos(x), lambda x: jnp.cos(x) - jnp.sin(x))):
            self.assertFalse(self.equal(f, g))
        keys = Keys()
        self.assertNotEqual(keys.of(traced(jnp.sin, X)), keys.of(traced(jnp.sin, X[:2])))
        self.assertNotEqual(keys.of(traced(jnp.sin, 1.0)), keys.of(traced(jnp.sin, np.float32(1))))  # weak or not

    def test_what_is_known_by_its_place_is_kept(self):
        keys = Keys()
        first = [keys.of(TABLE.copy()) for _ in range(50)]
        self.assertEqual(len(set(first)), 50)
        self.assertEqual(keys.of(TABLE), keys.of(TABLE))


class MadeOnce(unittest.TestCase):
    def test_implementations(self):
        x = jnp.arange(12.0, dtype=jnp.bfloat16).reshape(1, 4, 3)
        scales = jnp.array([[[0.5, 2, 1]] * 2], jnp.float8_e8m0fnu)  # one for two rows

        def f(x):
            one = lambda a: lax.scaled_dot(a.transpose(0, 2, 1), a, lhs_scale=scales.transpose(0, 2, 1),  # noqa: E731
                                           rhs_scale=scales).astype(jnp.float32)
            return sum(map(one, (x, x + 1, x + 2)))
        with mock.patch.object(package_rules, "_implementation", side_effect=package_rules._implementation) as made:
            ours = ricci.from_jax(f, x)
        near(ours(x), jax.jit(f)(x))
        self.assertEqual(made.call_count, 1)


if __name__ == "__main__":
    unittest.main()
