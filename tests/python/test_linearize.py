"""linearize: values and tangents next to jvp, in and out of traced functions."""
import unittest

import numpy as np
import ricci
import ricci.numpy as rnp


class Linearize(unittest.TestCase):
    def test_values_and_tangents(self):
        def f(p, n, x):
            return {"a": rnp.sin(p["w"]) @ x, "n": n + 1, "c": p["w"] * 0.5}, x * 2
        p, x = {"w": np.array([0.5, 1.5], np.float32)}, np.ones((2, 3), np.float32)
        moved = {"w": np.array([1, -2], np.float32)}, None, x * 3
        result, push = ricci.linearize(f, p, 4, x)
        wanted, tangent = ricci.jvp(f, (p, 4, x), moved)
        for a, b in ((result, wanted), (push(*moved), tangent), (push(*moved), tangent)):
            self.assertIsNone(b[0]["n"] if b is tangent else None)
            for u, v in zip(ricci.tree.leaves(a), ricci.tree.leaves(b)):
                np.testing.assert_allclose(u, v, rtol=1e-6)

    def test_inside_and_with_more(self):
        f = lambda x: (rnp.sum(x ** 3), x)  # noqa: E731
        x = np.array([1.0, 2, 3])
        value, push, more = ricci.linearize(f, x, has_aux=True)
        np.testing.assert_allclose((value, push(np.ones(3))), (36, 42))
        np.testing.assert_array_equal(more, x)

        def both(x, t):
            value, push = ricci.linearize(lambda x: x ** 2, x)
            return value + ricci.vmap(push)(t)[0]
        np.testing.assert_allclose(ricci.jit(both)(x, np.eye(3)), x ** 2 + [2, 0, 0])
        constant, push = ricci.linearize(lambda x: (rnp.ones(2), x * 2), 3.0)
        np.testing.assert_array_equal(push(1.0)[0], np.zeros(2))
        with self.assertRaisesRegex(TypeError, "linearize: the tangent of argument 0 is f64"):
            push(np.ones(2))


if __name__ == "__main__":
    unittest.main()
