"""jax.checkpoint and its policies.

A policy that Ricci has a text for stays that. Any other one is a Python function of primitives, which is asked for each
equation of the function when it is imported (not for those of its derivative, which JAX asks for too): what it saves
gets a name, and the policy saves what has that name. Offloaded values are saved where they are.
"""
import contextlib

from jax._src import core
from jax._src.interpreters import partial_eval

from ..abi.library import Error
from ..transforms.policies import policy_text

_SAVED = "saved by the policy"


def _saves(policy):
    """Whether `policy` saves the results of an equation; those that hold programs are asked about what is in these."""
    def saves(eqn):
        if eqn.primitive in partial_eval.partial_eval_jaxpr_custom_rules:
            return False
        case = policy(eqn.primitive, *(v.aval for v in eqn.invars), **eqn.params)
        return partial_eval.ensure_enum(case) is not partial_eval.Recompute
    return saves


@contextlib.contextmanager
def _asked(importer, saves):
    importer.policies.append(saves)
    try:
        yield
    finally:
        importer.policies.pop()


def checkpoint(importer, body, eqn):
    p = eqn.params
    try:
        text, saves = policy_text(p["policy"]), None
    except Error:
        text, saves = f"names:{_SAVED}", _saves(p["policy"])
    with _asked(importer, saves):
        held = importer.program(core.ClosedJaxpr(p["jaxpr"], ()), moving=body.moves(eqn.invars))
    return body.builder.emit("checkpoint", body.reads(eqn.invars), len(eqn.outvars), body=held, policy=text,
                             prevent_cse=bool(p["prevent_cse"]), differentiated=p["differentiated"])


def saved(importer, body, eqn, values):
    """The results of an equation, named if the policy around it saves them."""
    saves = importer.policies[-1] if importer.policies else None
    if saves is None or not saves(eqn):
        return values
    return [body.builder.emit("name", [v], name=_SAVED)[0] for v in values]
