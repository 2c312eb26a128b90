"""Functions of sparse arrays of jax.experimental.sparse: values, gradients and batches against JAX's."""
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax.experimental import sparse  # noqa: E402

from test_from_jax import compare, near  # noqa: E402


def matrix(*shape, seed=0):
    """About half of its elements are zero."""
    rng = np.random.default_rng(seed)
    return jnp.asarray(np.where(rng.random(shape) < 0.5, rng.normal(size=shape), 0).astype(np.float32))


M, N, BATCH = matrix(4, 5), matrix(5, 3, seed=1), matrix(2, 4, 5, seed=2)
V, W = jnp.linspace(-1, 1, 5), jnp.linspace(0.5, 2, 4)
S, T, B = sparse.BCOO.fromdense(M), sparse.BCOO.fromdense(N), sparse.BCOO.fromdense(BATCH, n_batch=1)
PLACES = M != 0


def of(data, like=S):
    """The array with other elements in the same places."""
    return sparse.BCOO((data, like.indices), shape=like.shape, indices_sorted=like.indices_sorted,
                       unique_indices=like.unique_indices)


def parts(s):
    return s.data, s.indices


def doubled(data):
    twice = sparse.BCOO((jnp.concatenate([data, 2 * data]), jnp.concatenate([S.indices, S.indices])), shape=S.shape)
    return parts(twice.sum_duplicates(nse=S.nse))


def batched_product(data, v):
    return sparse.bcoo_dot_general(of(data, B), v, dimension_numbers=(((2,), (0,)), ((), ())))


def sampled(a, b):
    return sparse.bcoo_dot_general_sampled(a, b, S.indices, dimension_numbers=(((1,), (0,)), ((), ())))


# With functions of JAX that have batching rules.
CASES = {
    "fromdense": (lambda m: parts(sparse.BCOO.fromdense(m, nse=12)), (M,)),
    "fromdense_too_few": (lambda m: sparse.BCOO.fromdense(m, nse=3).todense(), (M,)),
    "todense": (lambda d: jnp.sin(of(d).todense()), (S.data,)),
    "matvec": (lambda d, v: of(d) @ v, (S.data, V)),
    "vecmat": (lambda d, v: v @ of(d), (S.data, W)),
    "matmat": (lambda d, m: of(d) @ m, (S.data, N)),
    "of_a_batch": (batched_product, (B.data, V)),
    "sampled": (sampled, (M @ N, N.T)),
    "sparse_by_sparse": (lambda d, e: (of(d) @ of(e, T)).todense(), (S.data, T.data)),
    "transpose": (lambda d, v: of(d).T @ v, (S.data, W)),
    "transpose_todense": (lambda d: of(d).T.todense(), (S.data,)),
    "add": (lambda d: (of(d) + of(jnp.sin(d))).todense(), (S.data,)),
    "mul": (lambda d, m: (of(d) * 2.5 * m).todense(), (S.data, M + 1)),
    "sum": (lambda d: (of(d).sum(), of(d).sum(0).todense()), (S.data,)),
    "sort_indices": (lambda d: parts(of(d, sparse.BCOO((S.data, S.indices[::-1]), shape=S.shape)).sort_indices()),
                     (S.data,)),
    "sum_duplicates": (doubled, (S.data,)),
    "extract": (lambda m: sparse.bcoo_extract(S, m).data, (M,)),
    "slice": (lambda d: of(d)[1:3].todense(), (S.data,)),
    "reshape": (lambda d: of(d).reshape(2, 10).todense(), (S.data,)),
    "concatenate": (lambda d: sparse.bcoo_concatenate([of(d), of(d)], dimension=0).todense(), (S.data,)),
    "bcsr": (lambda m, v: sparse.BCSR.fromdense(m, nse=12) @ v, (M, V)),
    "bcsr_todense": (lambda m: sparse.BCSR.fromdense(m, nse=12).todense(), (M,)),
}
# COO and CSR have none, and JAX's gradient of a transposed CSR is not that of the product: compared to dense arrays.
WITHOUT_BATCHES = {
    "coo_matvec": (lambda m, v: sparse.COO.fromdense(m, nse=12) @ v, V),
    "coo_matmat": (lambda m, n: sparse.COO.fromdense(m, nse=12) @ n, N),
    "csr_matvec": (lambda m, v: sparse.CSR.fromdense(m, nse=12) @ v, V),
    "csr_matmat": (lambda m, n: sparse.CSR.fromdense(m, nse=12) @ n, N),
    "csr_transposed": (lambda m, v: sparse.CSR.fromdense(m, nse=12).T @ v, W),
}


class Sparse(unittest.TestCase):
    def test_against_jax(self):
        for name, (fn, args) in CASES.items():
            with self.subTest(name):
                compare(fn, args)

    def test_kinds_without_batching_rules(self):
        for name, (fn, x) in WITHOUT_BATCHES.items():
            with self.subTest(name):
                f = ricci.from_jax(fn, M, x)
                near(f(M, x), fn(M, x), name)
                near(f.vmap(2, (0, None))(jnp.stack([M, 2 * M]), x), jnp.stack([fn(M, x), fn(2 * M, x)]), name)
                total = lambda m, v: jnp.sin(fn(m, v)).sum()  # noqa: B023,E731
                dense = lambda m, v: jnp.sin((m.T if name == "csr_transposed" else m) @ v).sum()  # noqa: B023,E731
                (ours, ours_x), theirs = ricci.from_jax(total, M, x).grad((0, 1))(M, x), jax.grad(dense, (0, 1))(M, x)
                near((np.where(PLACES, ours, 0), ours_x), (jnp.where(PLACES, theirs[0], 0), theirs[1]), name)

    def test_arguments_and_results(self):
        f = ricci.from_jax(lambda s, v: (s @ v, s.T), S, V)
        product, transposed = f(S, V)
        near(product, S @ V, "product")
        near(transposed.todense(), M.T, "transposed")
        with self.assertRaisesRegex(TypeError, "argument 0: the structure .*BCOO"):
            f(M, V)
        two = jax.tree.map(lambda *leaves: jnp.stack(leaves), S, of(2 * S.data))
        near(f.vmap(2, (0, None))(two, V)[0], jnp.stack([S @ V, 2 * (S @ V)]), "batch")

    def test_gradients_of_arguments(self):
        loss = lambda s, v: jnp.sin(s @ v).sum()  # noqa: E731
        by_both = sparse.grad(loss, (0, 1))
        ours, theirs = ricci.from_jax(by_both, S, V)(S, V), by_both(S, V)
        near((ours[0].data, ours[1]), (theirs[0].data, theirs[1]), "sparse.grad")
        f = ricci.from_jax(loss, S, V)
        (ct, slope), indices = f.vjp(S, V)[1](1.0), S.indices
        near((ct.data, slope), (theirs[0].data, theirs[1]), "vjp")
        self.assertIsNone(ct.indices)
        with self.assertRaisesRegex(TypeError, "argument 0.*1.* is not floating"):
            f.grad()
        near(f.grad(1)(S, V), theirs[1], "dense")
        self.assertEqual(indices.dtype, np.int32)

    def test_errors_have_the_line_of_the_user(self):
        with self.assertRaisesRegex(ricci.Error, r"test_sparse.py:\d+: spsolve: Ricci has no such primitive"):
            ricci.from_jax(lambda v: sparse.linalg.spsolve(v, jnp.arange(5), jnp.arange(6), v), V)


if __name__ == "__main__":
    unittest.main()
