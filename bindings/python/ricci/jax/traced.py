"""JAX functions as jaxprs."""
import jax
from jax._src import core
from jax._src.interpreters import partial_eval
from jax._src.state import discharge


def traced(fn, args, kwargs):
    """(closed jaxpr without dead code, tree of the results)."""
    closed, shapes = jax.make_jaxpr(fn, return_shape=True)(*args, **kwargs)
    if core.internal_mutable_array_effect in closed.effects:
        closed = discharge.discharge_state(closed)  # values in place of references (jax.new_ref)
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return core.ClosedJaxpr(jaxpr, closed.consts), jax.tree_util.tree_structure(shapes)
