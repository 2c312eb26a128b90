"""Batches of matrices that make steps towards eigenvalues and singular values lose their way."""
import jax.numpy as jnp
import numpy as np

from case_file import DTYPES
from program_text import PARTS


def drawn(dtype, rng, shape):
    x = rng.uniform(-1, 1, shape)
    return x + 1j * rng.uniform(-1, 1, shape) if dtype in PARTS else x


def hostile(dtype, n, rng):
    """Elements of very different size, in order and in none, subnormal ones, zeros, equal eigenvalues. Results are within
    the range of the dtype."""
    info = jnp.finfo(DTYPES[PARTS.get(dtype, dtype)])
    tiny, huge = float(info.smallest_subnormal), float(info.max) / (8 * n)
    low, high = np.log10(tiny) + 1, np.log10(huge)
    powers = lambda first, last, shape=(n, n): 10.0 ** rng.uniform(first, last, shape)
    down, some = 10.0 ** np.linspace(0, low / 2, n), powers(low / 2, high / 2, n)
    x = lambda: drawn(dtype, rng, (n, n))
    unit = np.linalg.qr(x())[0]
    zeros, ends = x(), np.full((n, n), tiny)
    zeros[::2], zeros[:, 1::3], ends[0, 0] = 0, 0, 1
    near = np.where(np.arange(n)[:, None] + np.arange(n) < 2, 10.0 ** (low * (np.arange(n)[:, None] + np.arange(n))), 10 * tiny)
    graded = x() * down[:, None] * down
    return np.stack([
        near, ends, graded, graded[::-1, ::-1], x() * powers(low, high), x() * powers(low, 0), x() * some[:, None] * some,
        x() * np.minimum(some[:, None] / some, huge), zeros, x() * huge, x() * np.finfo(DTYPES[dtype]).tiny,
        np.where(rng.uniform(size=(n, n)) < 0.5, huge, tiny) * x(), np.zeros((n, n)), np.ones((n, n)), np.eye(n) + np.diag(tiny * np.ones(n - 1), -1),
        unit @ np.diag(np.arange(n) // (n // 2) + 1.0) @ unit.conj().T, np.eye(n)[rng.permutation(n)], np.triu(x() * powers(low, high)),
    ]).astype(DTYPES[dtype])


def defective(dtype, n, rng):
    """Eigenvectors that do not span the space, or hardly do; ranks of 0 and 1; equal, zero and conjugate eigenvalues; and
    elements that are all at one end of the range."""
    info = jnp.finfo(DTYPES[PARTS.get(dtype, dtype)])
    ends = 2.0 ** float(np.floor(np.log2(float(info.max))) - 8), float(info.tiny) * 2.0**12
    shift, turn = np.diag(np.ones(n - 1), 1), np.kron(np.eye(n // 2), [[0.0, 1.0], [-1.0, 0.0]])
    turns = np.zeros((n, n))
    turns[:2 * (n // 2), :2 * (n // 2)] = turn
    order, x = np.arange(n), drawn(dtype, rng, (n, n))
    frank = np.where(order[None, :] >= order[:, None] - 1, n - np.maximum(order[:, None], order[None, :]), 0.0)
    rank_1 = np.outer(np.ones(n), np.arange(n) + 1.0)
    all_of = [np.eye(n) + shift, shift, shift.T, 2 * np.eye(n) + shift + shift @ shift, turns + np.diag(np.ones(n - 2), 2) if n > 2 else turns,
              frank / n, rank_1, np.zeros((n, n)), np.eye(n), np.outer(x[0], x[1]), x - np.outer(x @ np.ones(n), np.ones(n)) / n]
    return np.stack(all_of + [a * end for a in (x, shift + np.eye(n), np.ones((n, n))) for end in ends]).astype(DTYPES[dtype])
