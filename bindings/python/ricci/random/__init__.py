"""Functions of jax.random, with the same bits for the same keys."""
from . import counts, distributions, draws
from .counts import *  # noqa: F403
from .distributions import *  # noqa: F403
from .draws import *  # noqa: F403

__all__ = draws.__all__ + distributions.__all__ + counts.__all__


def __getattr__(name):
    raise AttributeError(f"module 'ricci.random' has no attribute {name!r}; ricci.from_jax imports functions of jax.random")
