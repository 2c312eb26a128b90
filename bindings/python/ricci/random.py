"""Functions of jax.random, with the same bits for the same keys."""
from . import random_counts, random_distributions, random_draws
from .random_counts import *  # noqa: F403
from .random_distributions import *  # noqa: F403
from .random_draws import *  # noqa: F403

__all__ = random_draws.__all__ + random_distributions.__all__ + random_counts.__all__


def __getattr__(name):
    raise AttributeError(f"module 'ricci.random' has no attribute {name!r}; ricci.from_jax imports functions of jax.random")
