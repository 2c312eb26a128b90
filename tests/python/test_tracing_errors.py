"""What cannot be done while a function is traced, and wrong calls of transformations: messages, with the user's line."""
import inspect
import math
import pathlib
import unittest

import numpy as np
import ricci
import ricci.numpy as rnp

HERE = pathlib.Path(__file__).name


class Looking(unittest.TestCase):
    """Python and NumPy look at elements."""

    def refused(self, text, function, x=1.0):
        with self.assertRaises(ricci.TracingError) as caught:
            ricci.jit(function)(x)
        message = str(caught.exception)
        self.assertRegex(message, rf"{HERE}:\d+: ")
        self.assertIn(text, message)
        self.assertIsInstance(caught.exception, TypeError)

    def test_python(self):
        vector = np.ones(3, np.float32)
        self.refused("use ricci.cond or ricci.numpy.where in place of `if`", lambda x: 1 if x else 2)
        self.refused("ricci.while_loop in place of `while`", lambda x: x and 2)
        self.refused("use .astype(float) in place of float(), functions of ricci.numpy in place of those of math", math.sin)
        self.refused("use .astype(int)", int)
        self.refused("use .astype(complex)", complex)
        self.refused("ricci.switch or ricci.numpy.take in place of an index", lambda i: [1, 2][i], 1)
        self.refused("sizes and axes must be static", lambda n: rnp.zeros(n), 1)
        self.refused("sizes and axes must be static", lambda n: rnp.sum(np.ones((2, 2)), axis=n), 1)
        self.refused("the size of the result", lambda n: rnp.arange(n), 3)
        self.refused("use ricci.lax.dynamic_slice", lambda n: rnp.ones(5)[:n], 2)
        self.refused("use ricci.numpy.any(x == element)", lambda x: 1.0 in x, vector)
        self.refused("return it and look at the result", lambda x: x.item())
        self.refused("return it and look at the result", lambda x: x.tolist(), vector)
        self.refused("use ricci.numpy.where(mask, x, y)", lambda x: x[x > 0], vector)

    def test_numpy(self):
        vector = np.ones(3, np.float32)
        self.refused("numpy.exp of Value(f32[])", np.exp)
        self.refused("use ricci.numpy.sum", np.sum, vector)
        self.refused("use ricci.numpy.concatenate", lambda x: np.concatenate([x, x]), vector)
        self.refused("use ricci.numpy in place of numpy", np.array, vector)
        self.refused("numpy.add of", lambda x: np.add.reduce(x), vector)
        self.refused("numpy.linalg.norm of Value(f32[3])", np.linalg.norm, vector)
        self.refused("use ricci.numpy.linalg.norm", np.linalg.norm, vector)
        self.refused("ricci.numpy has no such function; ricci.from_jax imports", np.roots, vector)
        self.refused("ricci.numpy has no such function", np.spacing, vector)

    def test_operators_between_arrays_and_values(self):
        x = np.arange(3, dtype=np.float32)
        f = ricci.jit(lambda y: (x + y, x @ y, x > y, x[0] * y, 2 ** y))
        for ours, theirs in zip(f(x), (x + x, x @ x, x > x, x[0] * x, 2 ** x)):
            np.testing.assert_allclose(ours, theirs)

    def test_the_line_is_the_users(self):
        def inner(x):
            return 1 if x else 2  # the line
        with self.assertRaises(ricci.TracingError) as caught:
            ricci.jit(ricci.vmap(ricci.grad(inner)))(np.ones(2, np.float32))
        self.assertIn(f"{HERE}:{inner.__code__.co_firstlineno + 1}: the truth of Value(f32[])", str(caught.exception))

    def test_core_errors_have_the_line(self):
        def bad(x):
            return ricci.lax.dot_general(x, x, lhs_contract=[0], rhs_contract=[1])
        with self.assertRaisesRegex(ricci.Error, rf"{HERE}:{bad.__code__.co_firstlineno + 1}: dot_general: .*2 and 3"):
            ricci.jit(bad)(np.ones((2, 3), np.float32))

    def test_values_of_other_functions(self):
        kept = []
        ricci.jit(lambda x: kept.append(x))(1.0)
        with self.assertRaisesRegex(ricci.TracingError, "its function has ended"):
            rnp.sin(kept[0])
        with self.assertRaisesRegex(ricci.TracingError, "its function has ended"):
            ricci.grad(lambda y: y * kept[0])(1.0)
        for leak in (lambda: ricci.jit(lambda x: x)(kept[0]), lambda: float(kept[0]), lambda: np.asarray(kept[0])):
            with self.assertRaisesRegex(ricci.TracingError, rf"{HERE}:\d+: .*its function has ended"):
                leak()


class Transformations(unittest.TestCase):
    def refused(self, text, call, kind=TypeError):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def test_derivatives(self):
        f, x = (lambda a: a["x"] * a["n"]), np.float32(2)
        self.refused("grad: argument 0['n'] is i32[], which has no derivative", lambda: ricci.grad(f)({"x": x, "n": 3}))
        self.refused("grad: argnums is 2; 1 positional argument", lambda: ricci.grad(f, 2)(x), ValueError)
        self.refused("the function returns 2 arrays, not one; has_aux=True", lambda: ricci.grad(lambda x: (x, x))(x))
        self.refused("has_aux=True needs a function that returns (value, auxiliary)",
                     lambda: ricci.grad(lambda x: x, has_aux=True)(x))
        self.refused("jvp: tangents: the structure (*,) is expected, () is given", lambda: ricci.jvp(rnp.sin, (x,), ()))
        self.refused("jvp: tangents are of type float; a tuple", lambda: ricci.jvp(rnp.sin, (x,), 1.0))
        self.refused("jvp: the tangent of argument 0 is f32[2]; f32[] is expected",
                     lambda: ricci.jvp(rnp.sin, (x,), (np.ones(2, np.float32),)))
        self.refused("vjp: cotangent: the structure (*, *) is expected", lambda: ricci.vjp(lambda x: (x, x), x)[1](x))
        self.refused("vjp: the cotangent of result is f32[2]; f32[] is expected",
                     lambda: ricci.vjp(rnp.sin, x)[1](np.ones(2, np.float32)))
        self.refused("jit: 3 is not callable", lambda: ricci.jit(3))
        self.refused("the function text returns a leaf [1] of type str; arrays are expected",
                     lambda: ricci.jit(self.text)(1.0))

    @staticmethod
    def text(x):
        return x, "text"

    def test_vmap(self):
        x = np.ones((2, 3), np.float32)
        self.refused("the batch must have one size; it is 2 in argument 0 and 3 in argument 1",
                     lambda: ricci.vmap(lambda a, b: a, (0, 1))(x, x), ValueError)
        self.refused("in_axes of argument 0 is 2; it has 2 dimensions", lambda: ricci.vmap(rnp.sin, 2)(x), ValueError)
        self.refused("no argument is mapped", lambda: ricci.vmap(rnp.sin, None)(x), ValueError)
        self.refused("out_axes is 3; the result has 2 dimensions", lambda: ricci.vmap(rnp.sin, out_axes=3)(x), ValueError)
        self.refused("result 1 of program lambda has out_axes -1, one value for the batch, but depends on parameter 0",
                     lambda: ricci.vmap(lambda x: (1.0, x), out_axes=None)(x), ricci.Error)
        self.refused("out_axes of the result is (0, 1); an integer or None is expected",
                     lambda: ricci.vmap(rnp.sin, out_axes=(0, 1))(x))

    def test_options_of_jit(self):
        def f(x, n=2, *, k=1):
            return x * n
        for text, options in (("static_argnums is 5; f has 2 positional arguments", {"static_argnums": 5}),
                              ("donate_argnums is -3; f has 2", {"donate_argnums": (0, -3)}),
                              ("static_argnames is 'z'; the arguments of f are x, n, k", {"static_argnames": "z"}),
                              ("donate_argnames is 'z'", {"donate_argnames": ["z"]})):
            self.refused("jit: " + text, lambda: ricci.jit(f, **options), ValueError)  # noqa: B023
        self.refused("jit: static_argnums is 'a'; an integer", lambda: ricci.jit(f, static_argnums="a"))
        self.assertEqual(ricci.jit(lambda *xs: xs[2] * xs[0], static_argnums=2)(1.0, 2.0, 3), 3)
        self.assertEqual(ricci.jit(lambda **named: named["k"] * 1.0, static_argnames="k")(k=3), 3)

    def test_loops_and_branches(self):
        x = np.ones(3, np.float32)
        self.refused("scan: the body returns *; a pair (carry, y) is expected", lambda: ricci.scan(lambda c, x: c, 0.0, x))
        self.refused("the carry is (*, *) before and * after", lambda: ricci.scan(lambda c, x: (x, x), (0.0, 0.0), x))
        self.refused("it is 2 in length and 3 in xs", lambda: ricci.scan(lambda c, x: (c, x), 0.0, x, 2), ValueError)
        self.refused("so length must be given", lambda: ricci.scan(lambda c, x: (c, x), 0.0), ValueError)
        self.refused("the condition gives f32[]; bool[] is expected", lambda: ricci.while_loop(lambda c: c, lambda c: c, 0.0))
        self.refused("cond: pred is bool[3]; a scalar is expected", lambda: ricci.cond(x > 0, rnp.sin, rnp.cos, x))
        self.refused("result is f32[3] in false_fun and f32[] in true_fun",
                     lambda: ricci.cond(True, lambda x: rnp.sum(x), lambda x: x, x))
        self.refused("result is bool[3] in false_fun and f32[3] in true_fun",
                     lambda: ricci.cond(True, lambda x: x, lambda x: x > 0, x))
        self.refused("false_fun returns (*,), true_fun *", lambda: ricci.cond(True, lambda x: x, lambda x: (x,), x))
        self.refused("result is f32[3] in branch 0 and f64[3] in branch 2",
                     lambda: ricci.switch(0, [lambda x: 0 * x, lambda x: x, lambda x: x.astype("float64")], x))
        self.refused("fori_loop: upper is f32[]; an integer scalar", lambda: ricci.fori_loop(0, 2.5, lambda i, c: c, 0))
        self.refused("arange: from 0 to 4611686018427387909 by 1 are too many elements",
                     lambda: ricci.fori_loop(0, 2**62 + 5, lambda i, c: c, 0), ValueError)
        self.refused("branch 0 returns *, branch 1 (*, *)", lambda: ricci.switch(0, [rnp.sin, lambda x: (x, x)], x))
        self.refused("switch: index is f32[]; an integer scalar", lambda: ricci.switch(0.5, [rnp.sin], x))

    def test_custom_rules(self):
        f = ricci.custom_jvp(lambda x: x)
        self.refused("has no rule; f.defjvp(rule) sets it", lambda: f(1.0))
        f.defjvp(lambda p, t: p[0])
        self.refused("must give (result, tangent)", lambda: f(1.0))
        f.defjvp(lambda p, t: (p[0], rnp.stack([t[0], t[0]])))
        self.refused("the tangent that the rule of", lambda: f(1.0))
        g = ricci.custom_vjp(lambda x: x)
        g.defvjp(lambda x: (x, x), lambda res, ct: ct)
        self.refused("must give a tuple of 1, a cotangent for each argument", lambda: g(1.0))

        @ricci.jit
        def captures(x):
            own = ricci.custom_jvp(lambda y: x * y)
            own.defjvp(lambda p, t: (x * p[0], x * t[0]))
            return own(x)
        self.refused("whose derivative would be lost; pass it as an argument", lambda: captures(1.0))

    def test_functions(self):
        x = np.ones((2, 3), np.float32)
        self.refused("sin: an array or a number is expected, list is given", lambda: rnp.sin([1.0]))
        for name in """sum prod max min any all mean var std median average ptp argmax argmin count_nonzero cumsum cumprod
                       nansum nanprod nanmean nanvar nanstd nanmax nanmin sort argsort flip""".split():
            self.refused(f"{name}: axis is 2; the array has 2 dimensions", lambda: getattr(rnp, name)(x, 2),  # noqa: B023
                         ValueError)
        self.refused("reshape: an array of shape (2, 3) has 6 elements, (4,) does not", lambda: rnp.reshape(x, 4), ValueError)
        self.refused("matmul: shapes (2, 3) and (2, 3) do not fit: dimension 1 of the first has size 3, dimension 0 of the "
                     "second 2", lambda: rnp.matmul(x, x), ValueError)
        self.refused("index 5 is outside of dimension 0, which has size 2", lambda: rnp.at(x)[5].get(), IndexError)
        self.refused("3 indices are given for 2 dimensions", lambda: rnp.at(x)[0, 0, 0].get(), IndexError)
        self.refused("values of shape (2,) do not fit a place of shape (3,)", lambda: rnp.at(x)[0].set(x[:, 0]), ValueError)
        self.refused("argmax: an array of shape (0,) has no elements", lambda: rnp.argmax(x[:0, 0]), ValueError)
        self.refused("dtype str32 is not one of", lambda: rnp.zeros(3, "U1"))
        self.refused("dtype is an array of float32; a dtype is expected", lambda: rnp.zeros_like(x, x))
        self.refused("clip: an operand is complex64; real numbers are expected", lambda: rnp.clip(1j, 0, 1))
        self.refused("einsum: a subscript is 'i'; numbers from 0 to 51", lambda: rnp.einsum(x, ["i", 1]), ValueError)
        self.refused("einsum: subscripts are of type ndarray; a text is expected, or a list", lambda: rnp.einsum(x, x))
        self.refused("roll: a shift is f32[]; an integer is expected", lambda: rnp.roll(x, 1.5))
        self.refused("multivariate_normal: mean has shape (2,) and cov (3, 3)", lambda: ricci.random.multivariate_normal(
            ricci.random.PRNGKey(0), np.zeros(2), np.eye(3)), ValueError)
        for module in (rnp, ricci.nn, ricci.random):
            self.refused("has no attribute 'foo'; ricci.from_jax imports", lambda: module.foo, AttributeError)  # noqa: B023
        self.refused("dtype 'foo' is not one of bool, float16", lambda: rnp.zeros(3, "foo"))
        self.refused("reshape: shape is (2.0, 3); integers are expected", lambda: rnp.reshape(x, (2.0, 3)))
        self.refused("concatenate: arrays are 1.0; a list of arrays is expected", lambda: rnp.concatenate(1.0))
        self.refused("the integer 1180591620717411303424 has more than 64 bits", lambda: rnp.add(1 << 70, x), OverflowError)
        self.refused("the integer 1099511627776 does not fit i32[], which holds -2147483648 to 2147483647",
                     lambda: rnp.add(np.ones(2, np.int32), 1 << 40), OverflowError)
        self.refused("where: x and y are missing", lambda: rnp.where(x > 0))

    def test_primitives_by_name(self):
        x = np.ones(3, np.float32)
        np.testing.assert_array_equal(ricci.lax.neg(x), -x)
        np.testing.assert_array_equal(ricci.bind("reduce_sum", x, axes=[0]), 3)
        values, index = ricci.lax.top_k(x, k=2, axis=0)
        self.assertEqual((values.shape, index.dtype), ((2,), np.int32))
        self.assertIn("scatter_add", dir(ricci.lax))
        self.assertIn("and_", dir(ricci.lax))
        self.assertIn("axes", str(inspect.signature(ricci.lax.reduce_sum)))
        self.refused("there is no primitive nothing", lambda: ricci.lax.nothing, AttributeError)
        self.refused("reduce_sum: there is no attribute axis; it has axes", lambda: ricci.lax.reduce_sum(x, axis=0))
        self.refused("add: operands are x, y; 1 given", lambda: ricci.lax.add(x))
        self.refused("neg: operand 0 is a list of values; an array is expected",
                     lambda: ricci.jit(lambda x: ricci.lax.neg([x]))(x))
        self.refused("attribute axes is 'a'; integers expected", lambda: ricci.lax.reduce_sum(x, axes="a"))

    def test_namespace_of_the_array_standard(self):
        def f(x):
            xp = x.__array_namespace__()
            return xp.sum(xp.astype(x, xp.float64)), xp.__array_namespace_info__().default_dtypes()["integral"] is not None
        with self.assertRaisesRegex(ValueError, "api_version is '1999.1'"):
            ricci.jit(lambda x: x.__array_namespace__("1999.1"))(1.0)
        self.assertEqual(ricci.jit(f)(np.ones(3, np.float32)), (3.0, True))


if __name__ == "__main__":
    unittest.main()
