"""Primitives written in Python: all rules, the laws, exceptions, threads, and that nothing is kept."""
import gc
import threading
import unittest
import weakref

import numpy as np
import ricci
import ricci.numpy as rnp


def soft_clip(name="test.soft_clip"):
    """limit * tanh(x / limit), with every rule in Python."""
    @ricci.primitive(name, examples="(f64[3] in -2..2) limit=1.5; (f64[2,2] in -1..1) limit=0.5",
                     missing="transpose: not linear")
    def clip(x, *, limit: float = 1.0):
        """x limited smoothly to [-limit, limit]"""
        return x

    @clip.impl
    def _(x, *, limit):
        return limit * np.tanh(x / limit)

    @clip.jvp
    def _(primals, tangents, *, limit):
        (x,), (t,) = primals, tangents
        y = clip(x, limit=limit)
        return y, None if t is None else (1 - (y / limit) ** 2) * t

    @clip.batch
    def _(size, operands, axes, *, limit):
        return clip(operands[0], limit=limit), axes[0]
    return clip


def scaled_sum(name="test.scaled_sum"):
    """k times the sum along the last dimension: linear, with a transpose and batches."""
    @ricci.primitive(name, linear=True, examples="(f64[2,3] in -1..1) k=3")
    def total(x, *, k: int):
        """k times the sum of x along its last dimension"""
        return ricci.ShapeDtypeStruct(x.shape[:-1], x.dtype)

    @total.impl
    def _(x, *, k):
        return (k * x.sum(-1)).astype(x.dtype)

    @total.transpose
    def _(cts, operands, *, k):
        return rnp.broadcast_to(k * rnp.expand_dims(cts[0], -1), operands[0].shape)

    @total.batch
    def _(size, operands, axes, *, k):
        return total(rnp.moveaxis(operands[0], axes[0], 0), k=k), 0
    return total


class Rules(unittest.TestCase):
    def test_values_derivatives_batches(self):
        clip, total = soft_clip("test.clip1"), scaled_sum("test.total1")
        f = lambda x: total(clip(x, limit=2.0), k=3)  # noqa: E731
        x = np.array([0.5, -1.0, 3.0], np.float32)
        self.assertAlmostEqual(float(ricci.jit(f)(x)), float(6 * np.tanh(x / 2).sum()), places=4)
        slope = 3 * (1 - np.tanh(x / 2) ** 2)
        np.testing.assert_allclose(ricci.grad(f)(x), slope, rtol=1e-5)
        np.testing.assert_allclose(ricci.vmap(ricci.grad(f))(np.stack([x, x])), [slope, slope], rtol=1e-5)
        np.testing.assert_allclose(ricci.hessian(f)(x), np.diag(-3 * np.tanh(x / 2) * (1 - np.tanh(x / 2) ** 2)), atol=1e-5)
        self.assertEqual(clip(0.0), 0)
        self.assertIn("test.clip1", ricci.jit(f).lower(x).text)

    def test_several_results_and_attributes(self):
        @ricci.primitive("test.parts", results=2)
        def parts(x, *, axes: list[int], mode: str = "a", kind: np.dtype = np.dtype("int32"), on: bool = True):
            return x, ricci.ShapeDtypeStruct((len(axes),), kind)

        @parts.impl
        def _(x, *, axes, mode, kind, on):
            return x + on, np.array(axes, kind) * (2 if mode == "b" else 1)
        first, second = parts(np.float32(1), axes=[3, 4], mode="b")
        self.assertEqual((first, second.tolist(), second.dtype), (2, [6, 8], np.int32))
        with self.assertRaisesRegex(TypeError, "test.parts: there is no attribute size; it has axes, mode, kind, on"):
            parts(1.0, axes=[1], size=3)

    def test_a_decomposition_supplies_the_rest(self):
        @ricci.primitive("test.cube", examples="(f64[3] in 0.5..2)")
        def cube(x):
            return x

        @cube.decompose
        def _(x):
            return x * x * x
        x = np.array([1.0, 2.0], np.float32)
        np.testing.assert_allclose(ricci.vmap(ricci.grad(cube))(x), 3 * x ** 2)
        self.assertGreater(cube.check()["jvp"], 0)

    def test_laws(self):
        for row in (soft_clip("test.clip2"), scaled_sum("test.total2")):
            laws = row.check(ricci.Context(threads=1))
            for law in ("text", "device", "jvp", "vmap", "vmap of jvp"):
                self.assertGreater(laws[law], 0, (row, law))

    def test_a_wrong_rule_is_found(self):
        clip = soft_clip("test.clip3")
        clip._rules["jvp"] = lambda primals, tangents, limit: (clip(primals[0], limit=limit), tangents[0])
        with self.assertRaisesRegex(ricci.Error, "test.clip3: example 0: law jvp"):
            clip.check(ricci.Context(threads=1))


class Exceptions(unittest.TestCase):
    def raised(self, rule, call):
        """The exception of a rule, which must be the very one, with its place as a note."""
        own = ValueError(f"of {rule}")
        name = f"test.fails_{rule}"

        def fail(*_, **__):
            raise own

        @ricci.primitive(name, linear=rule == "transpose")
        def row(x):
            return fail() if rule == "abstract_eval" else x
        if rule == "decompose":
            row.decompose(fail)
        else:
            row.impl(fail if rule == "impl" else lambda x: x)
        if rule == "transpose":
            row.transpose(fail)
        else:
            row.jvp(fail if rule == "jvp" else lambda p, t: (row(p[0]), t[0]))
        row.batch(fail if rule == "batch" else lambda n, x, axes: (row(x[0]), axes[0]))
        with self.assertRaises(ValueError) as caught:
            call(row)
        self.assertIs(caught.exception, own)
        self.assertIn(f"raised by plugin python-{name.replace('.', '-')}: primitive {name}: rule {rule}", own.__notes__)

    def test_of_each_rule(self):
        x = np.ones(3, np.float32)
        self.raised("abstract_eval", lambda f: f(x))
        self.raised("impl", lambda f: f(x))
        self.raised("jvp", lambda f: ricci.jvp(f, (x,), (x,)))
        self.raised("transpose", lambda f: ricci.grad(f)(1.0))
        self.raised("decompose", lambda f: f(x))
        self.raised("batch", lambda f: ricci.jit(ricci.vmap(f, schedule="batched"))(x))

    def test_wrong_results_of_rules(self):
        @ricci.primitive("test.wrong_impl")
        def wrong(x):
            return x
        wrong.impl(lambda x: np.ones(7))
        with self.assertRaisesRegex(TypeError, r"rule impl gives result 0 as float64\[7\]; float32\[3\] is expected"):
            wrong(np.ones(3, np.float32))

        @ricci.primitive("test.wrong_count")
        def many(x):
            return x
        many.jvp(lambda p, t: (p[0], [t[0], t[0]]))
        with self.assertRaisesRegex(TypeError, "rule jvp gives 2 tangents; 1 are expected"):
            ricci.jvp(many, (1.0,), (1.0,))

    def test_a_missing_rule(self):
        @ricci.primitive("test.no_rules")
        def bare(x):
            return x
        with self.assertRaisesRegex(ricci.Error, "test.no_rules.*jvp"):
            ricci.jvp(bare, (1.0,), (1.0,))

    def test_wrong_declarations(self):
        with self.assertRaisesRegex(ValueError, "name is 'clip'; it must be of the form vendor.name"):
            ricci.primitive("clip")
        with self.assertRaisesRegex(TypeError, "attribute k of test.untyped is annotated"):
            @ricci.primitive("test.untyped")
            def untyped(x, *, k):
                return x
        row = soft_clip("test.clip4")
        row(np.ones(2, np.float32))
        with self.assertRaisesRegex(TypeError, "rule impl comes too late"):
            row.impl(abs)


class Lifetimes(unittest.TestCase):
    def test_nothing_is_kept(self):
        """Row, rules and context go by their reference counts alone."""
        gc.collect()
        gc.disable()
        try:
            context, row = ricci.Context(threads=1), soft_clip("test.clip5")
            f = ricci.jit(lambda x: row(x), context=context)
            f(np.ones(2, np.float32))
            rule = weakref.ref(row._rules["impl"])
            kept = weakref.ref(context)
            del f
            del context
            self.assertIsNone(kept())
            row._rules.clear()
            self.assertIsNone(rule())
        finally:
            gc.enable()

    def test_threads(self):
        row, wrong = soft_clip("test.clip6"), []
        f = ricci.jit(lambda x: row(x, limit=3.0))
        f(np.ones(50, np.float32))

        def work(k):
            x = np.full(50, k, np.float32)
            for _ in range(50):
                if not np.allclose(f(x), 3 * np.tanh(x / 3), rtol=1e-5):
                    wrong.append(k)
            g = ricci.grad(lambda x: row(x, limit=float(k + 1)))
            if abs(float(g(np.float32(1))) - 1 + np.tanh(1 / (k + 1)) ** 2) > 1e-5:
                wrong.append(k)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
