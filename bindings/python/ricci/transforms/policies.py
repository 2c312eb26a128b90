"""Policies of jax.checkpoint as texts of ricci/transform.h; JAX is not imported here."""
from ..abi.library import Error

_TEXTS = {"everything_saveable": "everything", "nothing_saveable": "nothing",
          "save_anything_except_these_names.<locals>.<lambda>": "everything"}  # JAX looks at no name there


def policy_text(policy):
    """The text of ricci/transform.h that means the same; Error if there is none."""
    if policy is None:
        return "nothing"
    kind = type(policy).__name__
    if kind == "DotsSaveable":
        return "dots_with_no_batch_dims" if policy.only_if_no_batch_dims else "dots"
    if kind == "SaveOnlyTheseNames":
        return "names:" + ",".join(sorted(policy.saveable_names))
    if kind == "SaveAnyNamesButThese":
        return "names_but:" + ",".join(sorted(policy.names))
    name = getattr(policy, "__qualname__", repr(policy))
    if name not in _TEXTS:
        raise Error(f"checkpoint: policy {name} has no counterpart; apply jax.checkpoint before from_jax")
    return _TEXTS[name]
