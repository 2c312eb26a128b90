"""jax.numpy.linalg for functions that Ricci traces."""
from . import least_squares as _least_squares
from . import linalg_factors as _factors
from .least_squares import *  # noqa: F403
from .linalg_factors import *  # noqa: F403

__all__ = [*_factors.__all__, *_least_squares.__all__]
