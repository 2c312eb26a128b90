"""pure_callback, io_callback, debug_callback and debug_print in traced functions, next to JAX's."""
import contextlib
import io
import unittest

import jax
import numpy as np
import ricci
import ricci.numpy as rnp

X = np.array([0.5, 1.5, -0.25], np.float32)
LIKE = ricci.ShapeDtypeStruct((3,), np.float32)


def sine(x):
    return np.sin(x)


class Callbacks(unittest.TestCase):
    def test_trees_names_and_widths(self):
        def host(x, n, *, scale):
            return {"a": x * scale, "b": (x.sum().astype(np.float64), np.int64(n))}
        wanted = {"a": LIKE, "b": (ricci.ShapeDtypeStruct((), np.float32), ricci.ShapeDtypeStruct((), np.int32))}

        def f(namespace):
            return lambda x: namespace.pure_callback(host, wanted, x, 3, scale=x[0])
        ours, theirs = ricci.jit(f(ricci))(X), jax.jit(f(jax))(X)
        for a, b in zip(jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs), strict=True):
            self.assertEqual(a.dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-6)
        np.testing.assert_array_equal(ricci.pure_callback(sine, LIKE, X), np.sin(X))

    def test_batches_and_derivatives(self):
        one = ricci.ShapeDtypeStruct((), np.float32)
        for method in ("sequential", "expand_dims", "broadcast_all"):
            f = lambda x, m=method: ricci.pure_callback(sine, one, x, vmap_method=m) * x  # noqa: E731
            np.testing.assert_allclose(ricci.vmap(f)(X), np.sin(X) * X, rtol=1e-6)
        with self.assertRaisesRegex(ricci.Error, "pure_callback"):
            ricci.grad(lambda x: rnp.sum(ricci.pure_callback(sine, LIKE, x)))(X)
        with self.assertRaisesRegex(ValueError, "pure_callback: vmap_method is 'fast'; it must be one of sequential"):
            ricci.pure_callback(sine, LIKE, X, vmap_method="fast")

    def test_one_function_is_one_program(self):
        f = lambda x: ricci.pure_callback(sine, LIKE, x)  # noqa: E731
        self.assertEqual(ricci.jit(f).function(X).text, ricci.jit(f).function(X).text)
        other = lambda x: ricci.pure_callback(lambda x: -x, LIKE, x)  # noqa: E731
        self.assertNotEqual(ricci.jit(f).function(X).text, ricci.jit(other).function(X).text)

    def test_effects(self):
        seen = []
        f = ricci.jit(lambda x: (ricci.io_callback(lambda x: seen.append(float(x)), None, x[0], ordered=True),
                                 ricci.io_callback(lambda x: seen.append(float(x)), None, x[1], ordered=True), x)[2])
        f(X)
        self.assertEqual(seen, [0.5, 1.5])
        g = ricci.jit(ricci.grad(lambda x: (ricci.debug_callback(lambda x: seen.append("debug"), x), rnp.sum(x * x))[1]))
        np.testing.assert_allclose(g(X), 2 * X)
        self.assertEqual(seen[2:], ["debug"])
        ricci.debug_callback(seen.append, 7)
        self.assertEqual(seen[3:], [7])

    def test_debug_print(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            ricci.jit(lambda x: (ricci.debug_print("x {} of {name}", x, name=x[0]), x)[1])(X)
            ricci.debug_print("plain {:.1f}", 1.25)
        self.assertEqual(out.getvalue(), f"x {X} of 0.5\nplain 1.2\n")
        with self.assertRaisesRegex(TypeError, "debug_print: fmt is 3; a text is expected"):
            ricci.debug_print(3)

    def test_wrong_results(self):
        with self.assertRaisesRegex(RuntimeError, r"result 0 is float32\[2\]; float32\[3\] is expected"):
            ricci.pure_callback(lambda x: x[:2], LIKE, X)
        with self.assertRaisesRegex(TypeError, "pure_callback: 3 is not callable"):
            ricci.pure_callback(3, LIKE, X)


if __name__ == "__main__":
    unittest.main()
