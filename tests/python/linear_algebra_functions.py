"""Every function of jax.numpy.linalg and jax.scipy.linalg: (name, function, arguments), as in jax_functions.py.

A name is that of the function, with what is special about the case after a dot. What has no unique result (signs of
eigenvectors, factors of a Schur form) is compared by its absolute value or by what it is multiplied to.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import linalg, sparse

_RNG = np.random.default_rng(5)


def real(*shape):
    return _RNG.standard_normal(shape).astype(np.float32)


A = (lambda a: a @ a.T + 3 * np.eye(3, dtype=np.float32))(real(3, 3))  # positive definite
B, W = real(3), real(4, 3)
UPPER = np.triu(A)


def sizes(f):
    return lambda x, s=f: [jnp.abs(y) for y in s(x)]


def numpy_linalg():
    own = jnp.linalg
    for name in ("inv det cholesky norm slogdet eigvalsh svdvals qr pinv cond matrix_rank diagonal matrix_norm "
                 "matrix_transpose trace vector_norm").split():
        yield name, getattr(own, name), (A,)
    for name in ("eigh", "svd"):  # the signs of their vectors are arbitrary
        yield name, sizes(getattr(own, name)), (A,)
    for name in ("cross", "outer", "vecdot", "matmul", "tensordot"):
        matrices = name in ("matmul", "tensordot")
        yield name, (lambda x, y, f=getattr(own, name): f(x, y, axes=1)) if name == "tensordot" else getattr(own, name), (
            (A, W.T) if matrices else (B, real(3)))
    yield "eig", lambda x: [jnp.sort(jnp.abs(own.eig(x)[0])), jnp.abs(own.eig(x)[1]).sum()], (A,)
    yield "eigvals", lambda x: jnp.sort(jnp.abs(own.eigvals(x))), (UPPER,)
    yield "svd.tall", lambda x: sizes(lambda y: own.svd(y, full_matrices=False))(x), (W,)
    yield "svd.values", lambda x: own.svd(x, 1, 0), (W,)
    yield "qr.tall", own.qr, (W,)
    yield "solve", own.solve, (A, B)
    yield "solve.columns", own.solve, (A, W.T)
    yield "lstsq", lambda x, y: own.lstsq(x, y)[0], (A, B)
    yield "lstsq.all", own.lstsq, (W, real(4, 2))
    yield "pinv.tall", own.pinv, (W,)
    yield "norm.nuclear", lambda x: own.norm(x, "nuc"), (W,)
    yield "norm.two", lambda x: own.norm(x, 2), (W,)
    yield "cond.one", lambda x: own.cond(x, 1), (A,)
    yield "matrix_power", lambda x: own.matrix_power(x, 3), (A,)
    yield "matrix_power.negative", lambda x: own.matrix_power(x, -2), (A,)
    yield "multi_dot", lambda x, y: own.multi_dot([x, x, y]), (A, B)
    yield "tensorinv", lambda x: own.tensorinv(x.reshape(3, 1, 3), ind=2), (A,)
    yield "tensorsolve", lambda x, y: own.tensorsolve(x.reshape(3, 1, 3), y.reshape(3, 1)), (A, B)


def scipy_linalg():
    for name in "cholesky det inv expm lu_factor".split():
        yield name, getattr(linalg, name), (A,)
    for name in "circulant companion fiedler fiedler_companion toeplitz hankel".split():
        yield name, getattr(linalg, name), (B,)
    for name in "dft hadamard helmert hilbert invpascal pascal".split():
        yield name, lambda x, f=getattr(linalg, name): jnp.real(f(4)) * x.sum(), (B,)
    yield "invhilbert", lambda x: linalg.invhilbert(2) * x.sum(), (B,)
    yield "block_diag", linalg.block_diag, (A, real(2, 2))
    yield "convolution_matrix", lambda x: linalg.convolution_matrix(x, 4), (B,)
    yield "leslie", lambda x: linalg.leslie(x, x[:2]), (B,)
    yield "cho_factor", lambda x: jnp.triu(linalg.cho_factor(x)[0]), (A,)
    yield "cho_factor.lower", lambda x: jnp.tril(linalg.cho_factor(x, lower=1)[0]), (A,)
    yield "cho_solve", lambda x, y: linalg.cho_solve(linalg.cho_factor(x), y), (A, B)
    yield "cho_solve.lower", lambda x, y: linalg.cho_solve((jnp.linalg.cholesky(x), True), y), (A, B)
    yield "eigh", sizes(linalg.eigh), (A,)
    yield "eigh.values", lambda x: linalg.eigh(x, eigvals_only=True), (A,)
    yield "eigh_tridiagonal", lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True), (B, B[:2])
    yield "expm.scaled", linalg.expm, (A / 8,)
    yield "expm_frechet", linalg.expm_frechet, (A / 8, UPPER)
    yield "funm", lambda x: jnp.abs(linalg.funm(x, jnp.sin, disp=False)[0]), (A / 8,)
    yield "hessenberg", sizes(lambda x: linalg.hessenberg(x, calc_q=True)), (A,)
    yield "lu", linalg.lu, (A,)
    yield "lu_solve", lambda x, y: linalg.lu_solve(linalg.lu_factor(x), y), (A, B)
    yield "lu_solve.transposed", lambda x, y: linalg.lu_solve(linalg.lu_factor(x), y, trans=1), (A, B)
    yield "polar", linalg.polar, (A,)
    yield "polar.svd", lambda x: linalg.polar(x, method="svd"), (A,)
    yield "qr", lambda x: linalg.qr(x, mode="economic"), (W,)
    yield "qr_multiply", lambda x, y: linalg.qr_multiply(x, y, mode="right"), (A, B)
    yield "rsf2csf", lambda x: sizes(lambda y: linalg.rsf2csf(*linalg.schur(y)))(x), (A,)
    yield "schur", sizes(linalg.schur), (A,)
    yield "solve", linalg.solve, (A, B)
    yield "solve.definite", lambda x, y: linalg.solve(x, y, assume_a="pos"), (A, B)
    yield "solve_sylvester", lambda x, y: linalg.solve_sylvester(x, UPPER, y), (A, real(3, 3))
    yield "solve_triangular", lambda x, y: linalg.solve_triangular(x, y, lower=True), (A, B)
    yield "solve_triangular.transposed", lambda x, y: linalg.solve_triangular(x, y, trans=1, lower=1), (A, B)
    yield "sqrtm", lambda x: jnp.abs(linalg.sqrtm(x)), (A,)
    yield "svd", sizes(linalg.svd), (A,)


def lax_linalg():
    own = lax.linalg
    yield "cg", lambda x, y: sparse.linalg.cg(lambda v: x @ v, y, maxiter=8)[0], (A, B)
    yield "householder_product", own.householder_product, (W, B)
    yield "pivots", lambda x: own.lu_pivots_to_permutation(own.lu(x)[1], 3), (A,)
    yield "qdwh", lambda x: own.qdwh(x)[:2], (A,)
    yield "symmetric_product", lambda x: own.symmetric_product(x, jnp.zeros((4, 4)), symmetrize_output=True), (W,)
    yield "tridiagonal_solve", lambda x, y: own.tridiagonal_solve(x, 9 + y, x, y[:, None]), (B, real(3))
    # The gradient of a branch holds places of residuals that the other branch has.
    pivot = lambda x, y: lax.cond(x[0, 0] > 1, jnp.linalg.solve, lambda m, v: jnp.tanh(m @ v), x, y)  # noqa: E731
    yield "in_a_branch", pivot, (A, B)
