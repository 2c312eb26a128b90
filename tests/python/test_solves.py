"""custom_linear_solve, custom_root and custom_vmap next to those of JAX."""
import unittest

import jax
import jax.numpy as jnp
import numpy as np
import ricci
import ricci.numpy as rnp

A = np.array([[4, 1, 0.5], [0, 3, 1], [1, -1, 5]], np.float32)
B = np.array([1, 2, 3], np.float32)


class OfRicci:
    """The names that a case uses, here and in JAX."""
    np, while_loop, fori_loop = rnp, staticmethod(ricci.while_loop), staticmethod(ricci.fori_loop)
    linear_solve, root = staticmethod(ricci.custom_linear_solve), staticmethod(ricci.custom_root)
    custom_vmap = ricci.custom_vmap


class OfJax:
    np, while_loop, fori_loop = jnp, staticmethod(jax.lax.while_loop), staticmethod(jax.lax.fori_loop)
    linear_solve, root = staticmethod(jax.lax.custom_linear_solve), staticmethod(jax.lax.custom_root)
    custom_vmap = jax.custom_batching.custom_vmap


def jacobi(n, aux=False):
    """A solver that has no reverse mode."""
    def solve(matvec, b):
        def step(state):
            i, x = state
            return i + 1, x + (b - matvec(x)) / 5
        i, x = n.while_loop(lambda s: s[0] < 200, step, (0, b * 0))
        return (x, i) if aux else x
    return solve


def solved(n, transposed=True, symmetric=False, aux=False):
    """The sum of squares of A x = b."""
    def f(a, b):
        a = a + a.T if symmetric else a
        back = jacobi(n, aux) if transposed and not symmetric else None
        found = n.linear_solve(lambda x: a @ x, b, jacobi(n, aux), back, symmetric=symmetric, has_aux=aux)
        return n.np.sum((found[0] if aux else found) ** 2)
    return f


def in_trees(n):
    def f(a, b):
        def solve(matvec, y):
            x = jacobi(n)(lambda v: matvec({"u": v, "w": y["w"]})["u"], y["u"])
            return {"u": x, "w": y["w"] / 2}
        found = n.linear_solve(lambda x: {"u": a @ x["u"], "w": 2 * x["w"]}, {"u": b, "w": b[0]}, solve, solve)
        return n.np.sum(found["u"]) * found["w"]
    return f


def root(n, aux=False):
    """The x with x ** 3 = y, by Newton's method."""
    def f(y, scale):
        def solve(g, guess):
            x = n.fori_loop(0, 40, lambda i, x: x - g(x) / (3 * x * x), guess)
            return (x, x * 0 + 40) if aux else x
        found = n.root(lambda x: x ** 3 - y * scale, y * 0 + 2, solve, lambda g, r: r / g(1.0), has_aux=aux)
        return (found[0] if aux else found) * scale
    return f


Y = np.float32(5)
SCALARS = {"one": (solved, (A, B)), "with auxiliary": (lambda n: solved(n, aux=True), (A, B)),
           "symmetric": (lambda n: solved(n, symmetric=True), (A / 4, B)), "trees": (in_trees, (A, B)),
           "root": (root, (Y, np.float32(1.5))), "root with auxiliary": (lambda n: root(n, aux=True), (Y, np.float32(1.5)))}


class NextToJax(unittest.TestCase):
    def test_values_and_derivatives(self):
        for name, (case, arguments) in SCALARS.items():
            ours, theirs = case(OfRicci), case(OfJax)
            tangents = tuple(np.ones_like(x) for x in arguments)
            batch = [np.stack([x, 1.1 * x]) for x in arguments]
            with self.subTest(name):
                np.testing.assert_allclose(ours(*arguments), theirs(*arguments), rtol=1e-4)
                for make in ("jvp", "grad", "hessian", "vmap"):
                    if make == "jvp":
                        found = ricci.jvp(ours, arguments, tangents), jax.jvp(theirs, arguments, tangents)
                    elif make == "vmap":
                        found = ricci.vmap(ours)(*batch), jax.vmap(theirs)(*batch)
                    else:
                        transform = [getattr(m, make) for m in (ricci, jax)]
                        found = [ricci.jit(transform[0](ours, (0, 1)))(*arguments),
                                 transform[1](theirs, (0, 1))(*arguments)]
                    for a, b in zip(ricci.tree.leaves(found[0]), jax.tree.leaves(found[1])):
                        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4, err_msg=f"{name} {make}")

    def test_a_batching_rule(self):
        def case(n):
            @n.custom_vmap
            def f(x, y):
                return n.np.sin(x) * y["k"]

            @f.def_vmap
            def rule(size, batched, x, y):
                own, other = batched
                assert size == 3 and own is True and isinstance(other, dict)
                k = y["k"] if other["k"] else n.np.stack([y["k"]] * size)
                return n.np.sin(x) * k + 100, True
            return f
        x, k = np.arange(6, dtype=np.float32).reshape(3, 2), np.float32(2)
        ours, theirs = case(OfRicci), case(OfJax)
        np.testing.assert_allclose(ours(x, {"k": k}), theirs(x, {"k": k}), rtol=1e-6)
        np.testing.assert_allclose(ours(x=x, y={"k": k}), theirs(x, {"k": k}), rtol=1e-6)
        ks = np.arange(3, dtype=np.float32)[:, None]
        for axes, y in (((0, 0), {"k": ks}), ((0, None), {"k": np.float32([2, 3])})):
            np.testing.assert_allclose(ricci.vmap(ours, in_axes=axes)(x, y), jax.vmap(theirs, in_axes=axes)(x, y),
                                       rtol=1e-6)
        slope = ricci.jit(ricci.grad(lambda x: rnp.sum(ours(x, {"k": k}))))(x)
        np.testing.assert_allclose(slope, np.cos(x) * k, rtol=1e-5)
        mapped = ricci.jit(ricci.vmap(lambda x: ours(x, {"k": ks[0]})))
        self.assertIn("batch.f#", mapped.function(x).text + ricci.jit(ours).function(x, {"k": k}).text)
        texts = {ricci.jit(lambda x, y: ours(x, y)).function(x, {"k": k}).text.split("{", 1)[1] for _ in range(2)}
        self.assertEqual(len(texts), 1)


class WrongCalls(unittest.TestCase):
    def check(self, call, text, kind=TypeError):
        with self.assertRaises((kind, ricci.Error)) as raised:
            call()
        self.assertIn(text, str(raised.exception) + str(raised.exception.__cause__))

    def test_solves(self):
        solve, square = jacobi(OfRicci), lambda x: A @ x
        self.check(lambda: ricci.custom_linear_solve(lambda x: x[:2], B, solve), "matvec returns f32[2], b is f32[3]")
        self.check(lambda: ricci.custom_linear_solve(lambda x: (x,), B, solve), "matvec returns the structure (*,), b has *")
        self.check(lambda: ricci.custom_linear_solve(square, B, solve, has_aux=True),
                   "solve that returns (solution, auxiliary)")
        self.check(lambda: ricci.custom_linear_solve(3, B, solve), "custom_linear_solve: 3 is not callable")
        alone = ricci.grad(lambda b: rnp.sum(ricci.custom_linear_solve(square, b, solve)))
        self.check(lambda: alone(B), "custom_linear_solve", ricci.Error)
        newton = lambda g, x: x  # noqa: E731
        divided = lambda g, y: y / g(1.0)  # noqa: E731
        self.check(lambda: ricci.custom_root(lambda x: (x,), 1.0, newton, divided),
                   "f returns the structure (*,), the guess has *")
        self.check(lambda: ricci.custom_root(lambda x: x, 1.0, newton, divided, has_aux=True), "(solution, auxiliary)")
        self.check(lambda: ricci.custom_root(lambda x: x, 1.0, lambda g, x: (x, x), divided),
                   "solve returns the structure (*, *), the guess has *")

    def test_custom_vmap(self):
        f = ricci.custom_vmap(lambda x: (x, x))
        self.check(lambda: f(B), "has no rule; f.def_vmap(rule) sets it")
        for made, text in ((lambda x: x, "must give (result, which of it is batched)"),
                           (lambda x: (x, True), "gives *, the function (*, *)"),
                           (lambda x: ((x, x), True), "which of it is batched as *")):
            f.def_vmap(lambda size, batched, x, made=made: made(x))
            self.check(lambda: ricci.vmap(f)(B), text)
        g = ricci.custom_vmap(lambda x: x)
        g.def_vmap(lambda size, batched, x: (x, True))
        self.check(lambda: ricci.jit(lambda y: _capturing(y)(B))(B), "pass it as an argument", ricci.TracingError)


def _capturing(y):
    f = ricci.custom_vmap(lambda x: x + y)
    f.def_vmap(lambda size, batched, x: (x, True))
    return f


if __name__ == "__main__":
    unittest.main()
