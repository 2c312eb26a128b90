"""What the attributes of JAX primitives are called in Ricci: the table for primitives that are one equation in both.

A primitive of the same name whose attributes have the same names needs no line here: its attributes are copied, dtypes
and enumerations turned into ours. A line in ATTRIBUTES makes them from the parameters of the JAX equation; RENAMED has
primitives of another name, ELEMENTWISE those whose operands JAX leaves unexpanded (scalars, dimensions of size 1).
"""
import enum

import numpy as np
from jax import lax

from ..abi.builder import DType
from ..abi.dtypes import number_of
from ..abi.library import Error

# They choose where and how XLA computes, and say nothing about the result.
IGNORED = {"accuracy", "sharding", "out_sharding", "weak_type", "input_dtype", "use_magma", "impl",
           "update_jaxpr", "update_consts", "branches_platforms"}

RENAMED = {"add_any": "add", "random_clone": "copy", "copy_p": "copy", "scatter_add": "scatter-add",
           "scatter_sub": "scatter-sub", "scatter_mul": "scatter-mul", "scatter_min": "scatter-min",
           "scatter_max": "scatter-max", "sharding_constraint": "copy", "layout_constraint": "copy", "pvary": "copy",
           "reshard": "copy", "broadcast_to": "broadcast_in_dim"}

ELEMENTWISE = set("""
    add add_any and atan2 complex div eq eq_to ge gt igamma igamma_grad_a igammac le le_to lt lt_to max min mul mulhi ne
    nextafter or polygamma pow random_gamma_grad regularized_incomplete_beta rem shift_left shift_right_arithmetic
    shift_right_logical sub threefry2x32 xor zeta
""".split())
# Operands of these may be scalars in Ricci too: clamp's bounds.
SCALARS_STAY = {"clamp": (0, 2)}

MODES = {"CLIP": "clip", "FILL_OR_DROP": "fill", "PROMISE_IN_BOUNDS": "promise_in_bounds"}


def mode_text(mode):
    name = getattr(mode, "name", str(mode))
    if name not in MODES:
        raise Error(f"mode {name} is not one of {', '.join(MODES)}")
    return MODES[name]


# The dtypes that operands are rounded to and that sums have: the name of the jax.lax.DotAlgorithmPreset.
_ALGORITHMS = {("float16", "float16", "float16"): "F16_F16_F16", ("float32", "float32", "float32"): "F32_F32_F32",
               ("float64", "float64", "float64"): "F64_F64_F64", ("bfloat16", "bfloat16", "float32"): "BF16_BF16_F32"}


def _algorithm(given):
    """The name of the preset that a jax.lax.DotAlgorithm is. Sums that may be imprecise are precise here."""
    types = tuple(np.dtype(t).name for t in (given.lhs_precision_type, given.rhs_precision_type,
                                             given.accumulation_type))
    parts = (given.lhs_component_count, given.rhs_component_count, given.num_primitive_operations)
    if parts != (1, 1, 1) or types not in _ALGORITHMS:
        raise Error(f"precision {given} is none of {', '.join(_ALGORITHMS.values())}, which lax.DotAlgorithm may be here")
    return _ALGORITHMS[types]


def _precision(given):
    """A jax.lax.DotAlgorithmPreset by its name; None for a jax.lax.Precision: f32 is always multiplied as f32."""
    if isinstance(given, lax.DotAlgorithm):
        return _algorithm(given)
    if given is None or isinstance(given, tuple) and all(isinstance(g, lax.Precision) for g in given):
        return None
    if isinstance(given, lax.DotAlgorithmPreset):
        return given.name
    raise Error(f"precision {given} is not a preset of jax.lax.DotAlgorithmPreset")


def _dot_general(p):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = p["dimension_numbers"]
    return dict(lhs_contract=lhs_contract, rhs_contract=rhs_contract, lhs_batch=lhs_batch, rhs_batch=rhs_batch,
                preferred_element_type=p["preferred_element_type"], precision=_precision(p["precision"]))


def _conv_general_dilated(p):
    specs = p["dimension_numbers"]
    padding = [n for pair in p["padding"] for n in pair]
    same = ("window_strides", "lhs_dilation", "rhs_dilation", "feature_group_count", "batch_group_count",
            "preferred_element_type")
    return dict(padding=padding, lhs_spec=specs.lhs_spec, rhs_spec=specs.rhs_spec, out_spec=specs.out_spec,
                **{name: p[name] for name in same})


def _gather(p):
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
             "start_indices_batching_dims")
    fill = p["fill_value"]
    return dict(slice_sizes=p["slice_sizes"], mode=mode_text(p["mode"]), indices_are_sorted=p["indices_are_sorted"],
                unique_indices=p["unique_indices"], fill_value=None if fill is None else float(fill),
                **{name: getattr(p["dimension_numbers"], name) for name in names})


def scatter_attributes(p):
    names = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims",
             "scatter_indices_batching_dims")
    return dict(mode=mode_text(p["mode"]), indices_are_sorted=p["indices_are_sorted"],
                unique_indices=p["unique_indices"], **{name: getattr(p["dimension_numbers"], name) for name in names})


def _schur(p):
    if p["sort_eig_vals"] or p["select_callable"] is not None:
        raise Error("eigenvalues are not sorted")
    return dict(compute_schur_vectors=p["compute_schur_vectors"])


def _ragged_dot_general(p):
    numbers = p["ragged_dot_dimension_numbers"]
    if p["group_offset"] is not None:
        raise Error("group_offset has no counterpart")
    return dict(lhs_ragged=numbers.lhs_ragged_dimensions, rhs_group=numbers.rhs_group_dimensions,
                **_dot_general(p | {"dimension_numbers": numbers.dot_dimension_numbers}))


def window_attributes(p):
    pairs = {"padding": [n for pair in p["padding"] for n in pair]} if "padding" in p else {}
    chosen = {"select_prim": p["select_prim"].name} if "select_prim" in p else {}
    return {k: v for k, v in p.items() if k not in ("jaxpr", "consts")} | pairs | chosen


ATTRIBUTES = {
    "dot_general": _dot_general,
    "conv_general_dilated": _conv_general_dilated,
    "gather": _gather,
    "scatter": scatter_attributes,
    **{f"scatter-{kind}": scatter_attributes for kind in ("add", "sub", "mul", "min", "max")},
    "ragged_dot_general": _ragged_dot_general,
    **{f"reduce_window_{kind}": window_attributes for kind in ("sum", "max", "min")},
    **{f"select_and_{kind}_add": window_attributes for kind in ("gather", "scatter")},
    "pad": lambda p: dict(zip(("low", "high", "interior"), map(list, zip(*p["padding_config"]))))
    or dict(low=[], high=[], interior=[]),
    "schur": _schur,
    "fft": lambda p: dict(fft_type=p["fft_type"].name, fft_lengths=p["fft_lengths"]),
    "broadcast_to": lambda p: dict(shape=p["shape"], broadcast_dimensions=range(len(p["shape"]))),
    **{name: lambda p: {} for name, ours in RENAMED.items() if ours == "copy"},
}


def _value(name, value):
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return DType(number_of(value))
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (bool, int, float, str, np.bool_, np.integer, np.floating)):
        return value
    if isinstance(value, (tuple, list, range)):
        if all(isinstance(v, (int, np.integer, float)) for v in value):
            return list(value)
    raise Error(f"attribute {name}={value!r} has no counterpart")


def attributes_of(name, params):
    """Our attributes of one equation of the JAX primitive; None is an attribute left out."""
    made = ATTRIBUTES.get(name, ATTRIBUTES.get(RENAMED.get(name, name), dict))(params)
    return {k: _value(k, v) for k, v in made.items() if v is not None and k not in IGNORED}
