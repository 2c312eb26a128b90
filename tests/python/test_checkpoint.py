"""jax.checkpoint: every policy saves what it saves in JAX, and gradients are the same."""
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax._src.ad_checkpoint import saved_residuals  # noqa: E402
from jax.ad_checkpoint import checkpoint_name, checkpoint_policies as policies  # noqa: E402

M = np.arange(9, dtype=np.float32).reshape(3, 3) / 9


def named(m):
    return jnp.sin(checkpoint_name(m @ m, "product") * checkpoint_name(jnp.sinh(m), "sinh")).sum()


def layers(m):
    c, y = jax.lax.scan(lambda c, _: (jnp.sin(c @ c), jnp.cos(c)), jnp.sinh(m), None, length=3)
    return (jnp.sin(c) * jnp.sin(y)).sum()


FUNCTIONS = {
    "named": named,
    "product": lambda m: jnp.sin(m @ m).sum(),
    "called": lambda m: jnp.sin(jax.jit(lambda x: jnp.cos(x @ x))(m)).sum(),
    "gelu": lambda m: jax.nn.gelu(m @ m).sum(),
    "softmax": lambda m: jnp.log(jax.nn.softmax(m @ m)).sum(),
}
# Equations that hold programs, between others that need their results: residuals are counted for two policies.
HOLDING = {
    "called": lambda m: jnp.sin(jax.jit(lambda x: jnp.cos(x @ x))(jnp.sinh(m))).sum(),
    "branch": lambda m: jnp.sin(jax.lax.cond(m[0, 1] > 0, lambda x: jnp.cos(x @ x), jnp.tan, jnp.sinh(m))).sum(),
    "layers": layers,
    "nested": lambda m: jnp.sin(jax.checkpoint(lambda x: jnp.cos(jnp.sin(x)))(jnp.sinh(m))).sum(),
}
POLICIES = {
    "none": None,
    "everything": policies.everything_saveable,
    "nothing": policies.nothing_saveable,
    "dots": policies.dots_saveable,
    "dots_with_no_batch_dims": policies.dots_with_no_batch_dims_saveable,
    "only_these": policies.save_only_these_names("sinh"),
    "all_but_these": policies.save_any_names_but_these("sinh"),
    "anything_except": policies.save_anything_except_these_names("sinh"),
    "both": policies.save_from_both_policies(policies.save_only_these_names("sinh"), policies.dots_saveable),
    "offloaded": policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["sinh"], names_which_can_be_offloaded=["product"], offload_src="device",
        offload_dst="pinned_host"),
    "offloaded_dots": policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
    "own": lambda primitive, *_, **__: primitive.name in ("sinh", "dot_general"),
}


class Policies(unittest.TestCase):
    def check(self, f, policy):
        f = jax.checkpoint(f, policy=policy)
        ours = ricci.from_jax(f, M)
        np.testing.assert_allclose(ours.grad()(M), jax.grad(f)(M), rtol=1e-4, atol=1e-5)
        residuals = len(ours.program.vjp([True])[0].results) - 1
        self.assertEqual(residuals, len(saved_residuals(f, M)))

    def test_what_they_save(self):
        for policy, saves in POLICIES.items():
            for function, f in FUNCTIONS.items():
                with self.subTest(f"{policy}.{function}"):
                    self.check(f, saves)

    def test_what_they_save_of_what_is_held(self):
        for policy in ("nothing", "dots"):
            for function, f in HOLDING.items():
                with self.subTest(f"{policy}.{function}"):
                    self.check(f, POLICIES[policy])

    def test_texts(self):
        for policy, text in (("only_these", "names:sinh"), ("all_but_these", "names_but:sinh"), ("dots", "dots"),
                             ("none", "nothing"), ("own", "names:saved by the policy")):
            f = ricci.from_jax(jax.checkpoint(named, policy=POLICIES[policy]), M)
            self.assertIn(f'policy="{text}"', f.text)
        f = ricci.from_jax(named, M)
        self.assertIn('policy="names:sinh"', f.checkpoint(POLICIES["only_these"]).text)
        with self.assertRaisesRegex(ricci.Error, "checkpoint: policy <lambda> has no counterpart; apply jax.checkpoint before"):
            f.checkpoint(POLICIES["own"])

    def test_a_policy_that_gives_something_else(self):
        with self.assertRaisesRegex(TypeError, "should be a bool"):
            ricci.from_jax(jax.checkpoint(named, policy=lambda *_, **__: "yes"), M)

    def test_in_loops_and_batches(self):
        def f(m):
            step = jax.checkpoint(lambda c, a: (jnp.sin(c * jnp.exp(a) @ m), None), policy=POLICIES["own"])
            return jax.lax.scan(step, m[0], m)[0].sum()
        ours, many = ricci.from_jax(f, M).grad(), np.stack([M, 2 * M])
        np.testing.assert_allclose(ours.vmap(2)(many), jax.vmap(jax.grad(f))(many), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
