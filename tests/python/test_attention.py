"""Attention, normalizations and products with scales of ricci.nn: values and gradients next to jax.nn and to formulas."""
import unittest

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import ricci
import ricci.numpy as rnp
from ricci.nn import attention

_draws = np.random.default_rng(1)


def _floats(*shape):
    return _draws.standard_normal(shape).astype(np.float32)


B, T, S, N, K, H = 2, 5, 6, 4, 2, 3
Q, KEYS, VALUES = _floats(B, T, N, H), _floats(B, S, K, H), _floats(B, S, K, H)
BIAS, MASK = _floats(1, N, T, S), _draws.random((B, 1, T, S)) < 0.8
LENGTHS = {"query_seq_lengths": np.array([3, 5], np.int32), "key_value_seq_lengths": np.array([6, 2], np.int32)}
OPTIONS = [{}, {"bias": BIAS}, {"mask": MASK}, {"bias": BIAS, "mask": MASK, "scale": 0.3}, {"is_causal": True},
           {"local_window_size": 1}, {"local_window_size": (2, 0), "is_causal": True}, LENGTHS, {**LENGTHS, "mask": MASK},
           {"implementation": "xla"}]


def _formula(x, scale, bias, axis, epsilon, centered):
    x = x - jnp.mean(x, axis, keepdims=True) if centered else x
    return x / jnp.sqrt(jnp.mean(x * x, axis, keepdims=True) + epsilon) * scale + bias


class Attention(unittest.TestCase):
    def near(self, ours, theirs, digits=1e-5):
        for a, b in zip(jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs), strict=True):
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            wide = (np.asarray(x).astype(np.float64) for x in (a, b))
            np.testing.assert_allclose(*wide, rtol=digits, atol=digits)

    def test_values_and_gradients(self):
        def every(nn, numpy, grad):
            def function(q, k, v):
                found = []
                for options in OPTIONS:
                    # Beyond the lengths of queries, the residual of JAX is that of no keys.
                    found.append(nn.dot_product_attention(q, k, v, **options, return_residual="query_seq_lengths" not in options))
                    weight = lambda *x, o=options: numpy.sum(nn.dot_product_attention(*x, **o) ** 2)  # noqa: E731
                    found.append(grad(weight, (0, 1, 2))(q, k, v))
                return found
            return function
        self.near(ricci.jit(every(ricci.nn, rnp, ricci.grad))(Q, KEYS, VALUES),
                  jax.jit(every(jax.nn, jnp, jax.grad))(Q, KEYS, VALUES))

    def test_without_a_batch_and_in_one(self):
        call = lambda nn: lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True)  # noqa: E731
        self.near(call(ricci.nn)(Q[0], KEYS[0], VALUES[0]), call(jax.nn)(Q[0], KEYS[0], VALUES[0]))
        self.near(ricci.vmap(call(ricci.nn))(Q, KEYS, VALUES), jax.vmap(call(jax.nn))(Q, KEYS, VALUES))
        half = [x.astype(np.float16) for x in (Q, KEYS, VALUES)]
        self.near(call(ricci.nn)(*half), call(jax.nn)(*half), 1e-2)

    def test_normalizations(self):
        x, scale, bias = _floats(4, 3, 5), _floats(5), _floats(5)
        self.near(ricci.nn.layer_norm(x, scale, bias), _formula(x, scale, bias, -1, 1e-5, True))
        self.near(ricci.nn.layer_norm(x, 2.0, axis=(1, 2), epsilon=0.1), _formula(x, 2.0, 0.0, (1, 2), 0.1, True))
        self.near(ricci.nn.rms_norm(x, scale), _formula(x, scale, 0.0, -1, 1e-6, False))
        self.near(ricci.grad(lambda x: rnp.sum(ricci.nn.layer_norm(x, scale, bias) ** 3))(x),
                  jax.grad(lambda x: jnp.sum(_formula(x, scale, bias, -1, 1e-5, True) ** 3))(x), 1e-4)

    def test_products_with_scales(self):
        a, b = (_floats(2, n, 8).astype(ml_dtypes.float8_e4m3fn) for n in (3, 5))
        a_scales, b_scales = np.exp2(_draws.integers(-2, 3, (2, 3, 4))), np.exp2(_draws.integers(-2, 3, (2, 5, 4)))
        scales = [x.astype(ml_dtypes.float8_e8m0fnu) for x in (a_scales, b_scales)]
        wide = [x.astype(np.float64) * np.repeat(s, 2, -1) for x, s in ((a, a_scales), (b, b_scales))]
        expected = np.einsum("bmk,bnk->bmn", *wide).astype(np.float32)
        self.near(ricci.nn.scaled_matmul(a, b, *scales), expected)
        self.assertEqual(ricci.nn.scaled_matmul(a, b, *scales, rnp.bfloat16).dtype, ml_dtypes.bfloat16)
        x, y = _floats(32, 64), _floats(64, 32)
        dims = (((1,), (0,)), ((), ()))
        for mode in ("mxfp8", "nvfp4"):
            configs = [ricci.nn.get_scaled_dot_general_config(mode)] * 3
            made = ricci.nn.scaled_dot_general(x, y, dims, configs=configs)
            self.assertLess(np.abs(made - x @ y).mean(), 0.1 * np.abs(x @ y).mean() * (1 if mode == "mxfp8" else 3))
            slope = ricci.grad(lambda x: rnp.sum(ricci.nn.scaled_dot_general(x, y, dims, configs=configs)))(x)  # noqa: B023
            self.near(slope, np.broadcast_to(y.sum(1), x.shape), 1.5)
        self.near(ricci.nn.scaled_dot_general(x, y, dims), x @ y, 1e-4)

    def test_wrong_calls(self):
        nn, wrong = ricci.nn, [
            (TypeError, "dot_product_attention: mask is float32; bool is expected",
             lambda: ricci.nn.dot_product_attention(Q, KEYS, VALUES, mask=BIAS)),
            (ValueError, "dot_product_attention: implementation is 'fast'; it must be xla, cudnn or None",
             lambda: ricci.nn.dot_product_attention(Q, KEYS, VALUES, implementation="fast")),
            (TypeError, r"dot_product_attention: query_seq_lengths are int64\[3\]; integers of shape \(2,\) are expected",
             lambda: ricci.nn.dot_product_attention(Q, KEYS, VALUES, query_seq_lengths=np.arange(3))),
            (ValueError, "get_scaled_dot_general_config: mode is 'fp2'; it must be mxfp8 or nvfp4",
             lambda: nn.get_scaled_dot_general_config("fp2")),
            (ValueError, "scaled_dot_general: configs are of mxfp8; three of one mode are expected",
             lambda: nn.scaled_dot_general(Q, Q, (((3,), (3,)), ((), ())), configs=[
                 nn.get_scaled_dot_general_config("mxfp8")]))]
        for kind, text, call in wrong:
            with self.assertRaisesRegex(kind, text):
                call()

    def test_every_function_is_called(self):
        text = open(__file__).read()
        self.assertEqual([n for n in attention.__all__ if f"nn.{n}(" not in text], [])


if __name__ == "__main__":
    unittest.main()
