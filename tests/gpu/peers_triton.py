"""Triton kernels of some programs of measured/, for peers.py."""
import triton
import triton.language as tl
from peers import BYTES, N, attempt


@triton.jit
def stream(x_at, y_at, out_at, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    u = tl.load(x_at + i, i < n)
    tl.store(out_at + i, u * tl.load(y_at + i, i < n) + u, i < n)


@triton.jit
def softmax(x_at, out_at, n, block: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, block)
    u = tl.load(x_at + i)
    e = tl.exp(u - tl.max(u, 0))
    tl.store(out_at + i, e / tl.sum(e, 0))


@triton.jit
def norm(x_at, out_at, n, block: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, block)
    u = tl.load(x_at + i)
    d = u - tl.sum(u, 0) / n
    tl.store(out_at + i, d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5))


def attempt_all(x, y, out):
    attempt("triton", "stream", lambda: lambda: stream[(N * N // 1024,)](x, y, out, N * N, block=1024), 3 * BYTES)
    attempt("triton", "row_softmax", lambda: lambda: softmax[(N,)](x, out, N, block=N, num_warps=16), 2 * BYTES)
    attempt("triton", "layernorm", lambda: lambda: norm[(N,)](x, out, N, block=N, num_warps=16), 2 * BYTES)
