"""A function of JAX and its gradient, saved as a file that C and the shell run: export.py FILE"""
import sys

import jax.numpy as jnp
import numpy as np
import ricci


def energy(q, k):
    """Of springs of stiffness k between neighbours."""
    return 0.5 * k * jnp.sum(jnp.diff(q) ** 2)


if len(sys.argv) != 2:
    sys.exit("usage: export.py FILE")
f = ricci.from_jax(energy, np.zeros(4, np.float32), np.float32(0))
f.value_and_grad().save(sys.argv[1])
