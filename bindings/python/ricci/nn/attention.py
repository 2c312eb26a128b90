"""Attention, normalizations and products with scales, as in jax.nn: the primitives of plugins/nn, which libraries of vendors
may override."""
import collections

import numpy as np

from ..abi import arguments as given
from ..abi.dtypes import numpy_of
from ..numpy.choices import where
from ..numpy.elementwise import logical_and
from ..numpy.shaping import expand_dims, reshape
from ..tracing.operands import axes_of, converted, emit, expanded, promoted, public, value
from ..tracing.promotion import BOOL, F32, INTEGERS, number_of_dtype
from ..tracing.trace import current

# ---- normalizations ----


def _normalized(name, x, parameters, axis, epsilon):
    (v,) = promoted(name, x, inexact=True)
    axes = axes_of(name, axis, v.ndim)
    slices = tuple(v.shape[d] for d in axes)
    own = [expanded(converted(value(name, p), v.kind), slices) for p in parameters]
    return emit(name, v, *own, axes=list(axes), epsilon=epsilon)


@public
def layer_norm(x, scale=1.0, bias=0.0, axis=-1, epsilon=1e-5):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance along `axis`."""
    return _normalized("layer_norm", x, (scale, bias), axis, epsilon)


@public
def rms_norm(x, scale=1.0, axis=-1, epsilon=1e-6):
    """x / sqrt(mean of its squares along `axis` + epsilon) * scale."""
    return _normalized("rms_norm", x, (scale,), axis, epsilon)


# ---- attention ----


def _with_batch(function, x):
    v = value(function, x)
    return v if v.ndim >= 4 else reshape(v, (1,) * (4 - v.ndim) + v.shape)


def _below(name, lengths, batch, count):
    """Which of `count` places are below the length of each sequence, [batch, count]."""
    v = value("dot_product_attention", lengths)
    if v.kind not in INTEGERS or v.shape != (batch,):
        raise TypeError(f"dot_product_attention: {name} are {v.dtype}{list(v.shape)}; integers of shape ({batch},) are "
                        "expected")
    positions = emit("iota", dtype=v.dtype, shape=(batch, count), dimension=1)
    return emit("lt", positions, emit("broadcast_in_dim", v, shape=(batch, count), broadcast_dimensions=[0]))


def _mask_of(function, mask, kv_lengths, shape):
    """The masks that are given as one, or None."""
    if mask is not None:
        mask = _with_batch(function, mask)
        if mask.kind != BOOL:
            raise TypeError(f"{function}: mask is {mask.dtype}; bool is expected (what is added to the logits is `bias`)")
    if kv_lengths is None:
        return mask
    counts = expand_dims(_below("key_value_seq_lengths", kv_lengths, *shape), (1, 2))
    return counts if mask is None else logical_and(mask, counts)


@public
def dot_product_attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None,
                          key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=False):
    """softmax(scale query key^T + bias) value for each head, of queries [(B,) T, N, H], keys and values [(B,) S, K, H];
    each of the K heads serves N / K. `mask` says which keys count, the lengths how many of each sequence, and
    `local_window_size` (or a number for both) how many before and after the query. With `return_residual` also the
    logarithms of the sums, [(B,) T, N]."""
    name = "dot_product_attention"
    if implementation not in (None, "xla", "cudnn"):
        raise ValueError(f"{name}: implementation is {implementation!r}; it must be xla, cudnn or None (all mean the same "
                         "here: a plugin decides)")
    shape = np.shape(query) if not hasattr(query, "shape") else tuple(query.shape)
    q, k, v = (_with_batch(name, x) for x in (query, key, value))
    mask = _mask_of(name, mask, key_value_seq_lengths, k.shape[:2])
    extras = [x for x in (None if bias is None else _with_batch(name, bias), mask) if x is not None]
    window = (local_window_size,) * 2 if given.is_integer(local_window_size) else local_window_size
    encoded, residual = current().emit(name, [q, k, v, *extras], {
        "scale": None if scale is None else float(scale), "is_causal": bool(is_causal),
        "local_window_size": None if window is None else list(window)})
    if query_seq_lengths is not None:
        counts = _below("query_seq_lengths", query_seq_lengths, *q.shape[:2])
        encoded = where(expand_dims(counts, (2, 3)), encoded, 0)
    encoded = reshape(encoded, shape)
    if not return_residual:
        return encoded
    return encoded, reshape(emit("stop_gradient", converted(residual, encoded.kind)), shape[:-1])


# ---- products with scales ----

BlockScaleConfig = collections.namedtuple("BlockScaleConfig", "mode global_scale")


def get_scaled_dot_general_config(mode, global_scale=None):
    """How `scaled_dot_general` quantizes an operand: `mxfp8`, or `nvfp4` with a scale for all of it."""
    if mode not in ("mxfp8", "nvfp4"):
        raise ValueError(f"get_scaled_dot_general_config: mode is {mode!r}; it must be mxfp8 or nvfp4")
    if mode == "mxfp8":
        return BlockScaleConfig(mode, None)
    return BlockScaleConfig(mode, np.ones(1, np.float32) if global_scale is None else global_scale)


@public
def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=np.float32):
    """lhs [B, M, K] times the transpose of rhs [B, N, K], each element times the scale of its block along K."""
    values = [value("scaled_matmul", x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    return emit("scaled_matmul", *values, preferred_element_type=numpy_of(number_of_dtype(preferred_element_type)))


def _modes(configs):
    if len(configs) != 3 or len({c.mode for c in configs}) > 1:
        raise ValueError(f"scaled_dot_general: configs are of {', '.join(c.mode for c in configs)}; three of one mode are "
                         "expected, of lhs, rhs and gradients")
    return configs[0].mode


@public
def scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type=np.float32, configs=None, implementation=None):
    """dot_general of operands that are quantized by blocks along what is contracted, as the three `configs` of lhs, rhs and
    gradients say; an ordinary one without. `dimension_numbers` are those of jax.lax.dot_general."""
    (contract, batch), dtype = dimension_numbers, numpy_of(number_of_dtype(preferred_element_type))
    values = [value("scaled_dot_general", x) for x in (lhs, rhs)]
    dims = {"lhs_contract": list(contract[0]), "rhs_contract": list(contract[1]), "lhs_batch": list(batch[0]),
            "rhs_batch": list(batch[1]), "preferred_element_type": dtype}
    if configs is None:
        return emit("dot_general", *values, **dims)
    mode = _modes(configs)
    if mode == "nvfp4":
        values += [reshape(converted(value("scaled_dot_general", c.global_scale), F32), ()) for c in configs[:2]]
    return emit("scaled_dot_general", *values, mode=mode, **dims)


__all__ += ["get_scaled_dot_general_config"]  # noqa: F821, made by `public`
