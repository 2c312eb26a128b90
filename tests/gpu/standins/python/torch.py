"""A stand-in for PyTorch, for rehearse.sh: the names, arguments and results of PyTorch 2.8 that peers.py uses, on NumPy.

What PyTorch would refuse it refuses too: unknown arguments, other devices, products of other types. Times mean nothing.
"""
import time

import numpy as np

__version__ = "2.8.0 (stand-in)"


class dtype:
    """What numbers are said to be."""


float32, bfloat16, float8_e4m3fn = dtype(), dtype(), dtype()


class Tensor(np.ndarray):
    """Numbers are f32, whatever `kind` says that they are."""
    kind = float32

    def __array_finalize__(self, other):
        self.kind = getattr(other, "kind", float32)

    def to(self, kind):
        out = self.copy()
        out.kind = kind
        return out

    def bfloat16(self):
        return self.to(bfloat16)

    def t(self):
        return self.transpose()

    def contiguous(self):
        return np.ascontiguousarray(self).view(Tensor).to(self.kind)

    def sort(self, dim):
        at = np.argsort(self, dim)
        return np.take_along_axis(self, at, dim), at

    def __matmul__(self, other):
        return mm(self, other)


def on_gpu(device):
    if device != "cuda":
        raise RuntimeError("this is measured on a GPU")


def randn(*shape, device, dtype=float32):
    on_gpu(device)
    return np.random.default_rng(1).standard_normal(shape, np.float32).view(Tensor).to(dtype)


def ones(shape, *, device):
    on_gpu(device)
    return np.ones(shape, np.float32).view(Tensor)


def empty_like(x):
    return np.empty_like(x)


def put(value, out):
    out[...] = value
    return out


def neg(x, *, out):
    return put(np.negative(x), out)


def addcmul(x, a, b, *, value=1, out):
    return put(x + value * a * b, out)


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def mm(a, b, *, out_dtype=None):
    if a.kind is not b.kind:
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got others")
    return np.matmul(np.asarray(a), np.asarray(b)).view(Tensor).to(out_dtype or a.kind)


def _scaled_mm(a, b, *, scale_a, scale_b, out_dtype, use_fast_accum=False):
    if a.kind is not float8_e4m3fn or b.kind is not float8_e4m3fn or not b.T.flags.c_contiguous:
        raise RuntimeError("_scaled_mm takes floats of 8 bits, the second one by columns")
    return (np.matmul(np.asarray(a), np.asarray(b)) * scale_a * scale_b).view(Tensor).to(out_dtype)


class cuda:
    """Of torch.cuda."""
    class Event:
        def __init__(self, enable_timing=False):
            self.has_time, self.at = enable_timing, None

        def record(self):
            self.at = time.perf_counter()

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            if not (self.has_time and end.has_time):
                raise RuntimeError("both events must be made with enable_timing")
            return (end.at - self.at) * 1e3

    @staticmethod
    def get_device_name():
        return "stand-in"


class nn:
    """Of torch.nn."""
    class functional:
        @staticmethod
        def layer_norm(x, normalized_shape):
            if tuple(x.shape[-len(normalized_shape):]) != tuple(normalized_shape):
                raise RuntimeError(f"expected an input with the last dimensions {normalized_shape}, not {x.shape}")
            d = x - x.mean(-1, keepdims=True)
            return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)

        @staticmethod
        def scaled_dot_product_attention(query, key, value):
            if query.ndim != 4 or query.shape[:2] != key.shape[:2]:
                raise RuntimeError("attention takes arrays of batch, heads, positions and neighbours")
            scores = query @ np.swapaxes(key, 2, 3) / np.sqrt(query.shape[3])
            e = np.exp(scores - scores.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True) @ value
