"""lax.scatter_apply, as in x.at[i].apply(f): JAX has a scatter whose program of elements takes no notice of the updates.

The row `scatter_apply` has derivatives of every order, which JAX's has not.
"""
from jax._src import core

from .attributes import scatter_attributes


def is_apply(eqn):
    """Is the new value of an element anything but the update?"""
    update = eqn.params["update_jaxpr"]
    return update is not None and update.outvars[0] is not update.invars[1]


def scatter_apply(importer, body, eqn):
    p = eqn.params
    x, indices, updates = body.reads(eqn.invars)
    update, names = p["update_jaxpr"], p["update_jaxpr"].debug_info.arg_names
    of_element = update.replace(invars=update.invars[:1], debug_info=update.debug_info._replace(arg_names=names[:1]))
    f = importer.program(core.ClosedJaxpr(of_element, p["update_consts"]))
    return body.builder.emit("scatter_apply", [x, indices], computation=f,
                             update_shape=body.builder.type_of(updates)[1], **scatter_attributes(p))
