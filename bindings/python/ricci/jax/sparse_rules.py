"""Sparse arrays of jax.experimental.sparse: their primitives are JAX functions, which are traced to programs.

Derivatives and batches are Ricci's own, of what the functions do: gathers, scatters, sorts and products. So there are
rules that JAX lacks. A sparse argument of an imported function is a tree of its data and indices: `grad` is that of
`jax.experimental.sparse.grad` within the function, `vjp` has None for the indices, `vmap` maps data and indices.
"""
import importlib

from .package_rules import implemented

_NAMES = {
    "bcoo": ("dot_general", "dot_general_sampled", "extract", "fromdense", "sort_indices", "spdot_general",
             "sum_duplicates", "todense", "transpose"),
    "bcsr": ("dot_general", "extract", "fromdense", "todense"),
    "coo": ("fromdense", "matmat", "matvec", "todense"),
    "csr": ("fromdense", "matmat", "matvec", "todense"),
}


def sparse(importer, body, eqn):
    """The primitives' own `impl` compiles some of them, so the function is looked for in the module."""
    name = eqn.primitive.name
    module = importlib.import_module(f"jax.experimental.sparse.{name.split('_')[0]}")
    return implemented(importer, body, eqn, getattr(module, f"_{name}_impl"))


SPARSE_RULES = {f"{kind}_{name}": sparse for kind, names in _NAMES.items() for name in names} | {"todense": implemented}
