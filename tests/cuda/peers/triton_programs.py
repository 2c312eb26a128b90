"""Programs of quality_programs.cc as one would write them for Triton, compiled for an architecture without a GPU."""
import warnings

warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice


# ---- special functions, of which PLAIN leaves one multiplication ----
@triton.jit
def exp_of(x, PLAIN: tl.constexpr):
    if PLAIN:
        return x * 0.7
    else:
        return tl.exp(x)


@triton.jit
def tanh_of(x, PLAIN: tl.constexpr):
    if PLAIN:
        return x * 0.7
    else:
        return libdevice.tanh(x)


# ---- elementwise: a program has BLOCK elements ----
@triton.jit
def fused1(a, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, i < n)
    tl.store(out + i, x * x + 1.0, i < n)


@triton.jit
def fused2(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, i < n)
    y = x * x + 1.0
    tl.store(out + i, y * tl.load(b + i, i < n) + 0.5, i < n)


@triton.jit
def fused3(a, b, c, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, i < n)
    y = (x * x + 1.0) * tl.load(b + i, i < n) + 0.5
    tl.store(out + i, y * tl.load(c + i, i < n) + 0.5, i < n)


@triton.jit
def fused4(a, b, c, d, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, i < n)
    y = (x * x + 1.0) * tl.load(b + i, i < n) + 0.5
    y = y * tl.load(c + i, i < n) + 0.5
    tl.store(out + i, y * tl.load(d + i, i < n) + 0.5, i < n)


@triton.jit
def gelu_of(y, PLAIN: tl.constexpr):
    return 0.5 * y * (tanh_of(0.7978845608 * (y + 0.044715 * y * y * y), PLAIN) + 1.0)


@triton.jit
def gelu(a, b, out, n, BLOCK: tl.constexpr, PLAIN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(a + i, i < n).to(tl.float32) + tl.load(b + i, i < n).to(tl.float32)
    tl.store(out + i, gelu_of(y, PLAIN).to(out.dtype.element_ty), i < n)


@triton.jit
def masked(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(b + i, i < n)
    tl.store(out + i, tl.where(tl.load(a + i, i < n) != 0, x, x * 0.5), i < n)


@triton.jit
def bias(a, scale, shift, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N + i
    tl.store(out + at, tl.load(a + at) * tl.load(scale + i) + tl.load(shift + i))


# ---- rows and columns ----
@triton.jit
def softmax(a, out, N: tl.constexpr, PLAIN: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(a + at)
    e = exp_of(x - tl.max(x, 0), PLAIN)
    tl.store(out + at, e / tl.sum(e, 0))


@triton.jit
def layernorm(a, out, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(a + at)
    centred = x - tl.sum(x, 0) / N
    tl.store(out + at, centred * tl.rsqrt(tl.sum(centred * centred, 0) / N + 1e-5))


@triton.jit
def column_sum(a, out, rows, N: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    column, row = tl.program_id(0) * C + tl.arange(0, C), tl.arange(0, R)
    sums = tl.zeros((R, C), tl.float32)
    for r in range(0, rows, R):
        sums += tl.load(a + (r + row)[:, None] * N + column[None, :])
    tl.store(out + column, tl.sum(sums, 0))


@triton.jit
def total(a, out, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK, ), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        sums += tl.load(a + first + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0), tl.sum(sums, 0))


@triton.jit
def amax(a, out, n, BLOCK: tl.constexpr):
    most = tl.zeros((BLOCK, ), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        most = tl.maximum(most, tl.abs(tl.load(a + first + tl.arange(0, BLOCK))))
    tl.store(out + tl.program_id(0), tl.max(most, 0))


@triton.jit
def mse(a, b, out, n, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK, ), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = first + tl.arange(0, BLOCK)
        d = tl.load(a + at) - tl.load(b + at)
        sums += d * d
    tl.store(out + tl.program_id(0), tl.sum(sums, 0))


@triton.jit
def batch_stats(a, mean_out, variance_out, batches, C: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    channel, i = tl.program_id(0), tl.arange(0, BLOCK)  # [batch, channel, points]: a program has a channel
    sums = tl.zeros((BLOCK, ), tl.float32)
    for batch in range(batches):
        sums += tl.load(a + (batch * C + channel) * N + i, i < N, 0.0)
    mean = tl.sum(sums, 0) / (batches * N)
    squares = tl.zeros((BLOCK, ), tl.float32)
    for batch in range(batches):
        d = tl.where(i < N, tl.load(a + (batch * C + channel) * N + i, i < N, 0.0) - mean, 0.0)
        squares += d * d
    tl.store(mean_out + channel, mean)
    tl.store(variance_out + channel, tl.sum(squares, 0) / (batches * N))


@triton.jit
def transpose(a, out, N: tl.constexpr, T: tl.constexpr):
    i, j = tl.program_id(0) * T + tl.arange(0, T), tl.program_id(1) * T + tl.arange(0, T)
    x = tl.load(a + i[:, None] * N + j[None, :])
    tl.store(out + j[:, None] * N + i[None, :], tl.trans(x))


@triton.jit
def plus_transposed(a, b, out, N: tl.constexpr, T: tl.constexpr):
    i, j = tl.program_id(0) * T + tl.arange(0, T), tl.program_id(1) * T + tl.arange(0, T)
    x = tl.trans(tl.load(b + i[:, None] * N + j[None, :]))
    at = j[:, None] * N + i[None, :]
    tl.store(out + at, tl.load(a + at) + x)


@triton.jit
def gather_rows(a, index, out, rows, N: tl.constexpr):
    i, j = tl.program_id(0), tl.arange(0, N)
    row = tl.minimum(tl.maximum(tl.load(index + i), 0), rows - 1)
    tl.store(out + i * N + j, tl.load(a + row * N + j))


# ---- products: a program has a tile of BM x BN ----
@triton.jit
def sums_of(a, b, i, j, K: tl.constexpr, AM: tl.constexpr, AK: tl.constexpr, BK_: tl.constexpr, BN_: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    k = tl.arange(0, BK)
    pa = a + i[:, None] * AM + k[None, :] * AK
    pb = b + k[:, None] * BK_ + j[None, :] * BN_
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        sums = tl.dot(tl.load(pa), tl.load(pb), sums, input_precision="ieee")
        pa += BK * AK
        pb += BK * BK_
    return sums


@triton.jit
def product(a, b, out, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = sums_of(a, b, i, j, N, N, 1, N, 1, BM, BN, BK)
    tl.store(out + i[:, None] * N + j[None, :], sums)


@triton.jit
def product_gelu(a, b, bias, out, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = sums_of(a, b, i, j, N, N, 1, N, 1, BM, BN, BK) + tl.load(bias + j)[None, :]
    tl.store(out + i[:, None] * N + j[None, :], gelu_of(sums + 0.0, False).to(out.dtype.element_ty))


@triton.jit
def scores(a, b, out, T: tl.constexpr, H: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):  # [batch, time, head, feature] -> [batch, head, time, time]
    batch = tl.program_id(2)
    of = (batch // H) * T * H * D + (batch % H) * D
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = sums_of(a + of, b + of, i, j, D, H * D, 1, 1, H * D, BM, BN, BK)
    tl.store(out + batch * T * T + i[:, None] * T + j[None, :], sums)


LINE = dict(constants=dict(BLOCK=1024), warps=8)
HALF = dict(constants=dict(BLOCK=2048), warps=8)
TILE = dict(BM=128, BN=128, BK=64)
# name: the kernel, the types of its parameters, constants and warps of a program
PROGRAMS = {
    "fused1": (fused1, "*fp32 *fp32 i32", LINE),
    "fused2": (fused2, "*fp32 *fp32 *fp32 i32", LINE),
    "fused3": (fused3, "*fp32 *fp32 *fp32 *fp32 i32", LINE),
    "fused4": (fused4, "*fp32 *fp32 *fp32 *fp32 *fp32 i32", LINE),
    "fused1_bf16": (fused1, "*bf16 *bf16 i32", HALF),
    "fused4_bf16": (fused4, "*bf16 *bf16 *bf16 *bf16 *bf16 i32", HALF),
    "gelu": (gelu, "*fp32 *fp32 *fp32 i32", LINE),
    "gelu_bf16": (gelu, "*bf16 *bf16 *bf16 i32", HALF),
    "masked": (masked, "*i8 *fp32 *fp32 i32", LINE),
    "bias": (bias, "*fp32 *fp32 *fp32 *fp32", dict(constants=dict(N=1024), warps=8)),
    "softmax1024": (softmax, "*fp32 *fp32", dict(constants=dict(N=1024), warps=8)),
    "softmax8192": (softmax, "*fp32 *fp32", dict(constants=dict(N=8192), warps=16)),
    "layernorm": (layernorm, "*fp32 *fp32", dict(constants=dict(N=1024), warps=8)),
    "column_sum": (column_sum, "*fp32 *fp32 i32", dict(constants=dict(N=1024, R=32, C=32), warps=8)),
    "total": (total, "*fp32 *fp32 i32", LINE),
    "total2": (total, "*fp32 *fp32 i32", LINE),
    "mse": (mse, "*fp32 *fp32 *fp32 i32", LINE),
    "amax2": (amax, "*fp32 *fp32 i32", LINE),
    "batch_stats": (batch_stats, "*fp32 *fp32 *fp32 i32", dict(constants=dict(C=64, N=56 * 56, BLOCK=4096), warps=8)),
    "transpose": (transpose, "*fp32 *fp32", dict(constants=dict(N=1024, T=32), warps=8)),
    "plus_transposed": (plus_transposed, "*fp32 *fp32 *fp32", dict(constants=dict(N=1024, T=32), warps=8)),
    "gather_rows": (gather_rows, "*fp32 *i32 *fp32 i32", dict(constants=dict(N=1024), warps=8)),
    "product_f32": (product, "*fp32 *fp32 *fp32", dict(constants=dict(N=1024, BM=128, BN=128, BK=16), warps=8)),
    "product_bf16": (product, "*bf16 *bf16 *fp32", dict(constants=dict(N=1024, **TILE), warps=8)),
    "product_bf16_gelu": (product_gelu, "*bf16 *bf16 *fp32 *bf16", dict(constants=dict(N=1024, **TILE), warps=8)),
    "scores_bf16": (scores, "*bf16 *bf16 *fp32", dict(constants=dict(T=1024, H=8, D=64, **TILE), warps=8)),
}


def cubin(name, architecture, plain=False):
    """Machine code for `architecture`, such as 90, of one of the PROGRAMS; `plain`: without its special function."""
    kernel, types, how = PROGRAMS[name]
    constants = how["constants"] | ({"PLAIN": plain} if "PLAIN" in kernel.arg_names else {})
    names = [n for n in kernel.arg_names if n not in constants]
    signature = dict(zip(names, types.split(), strict=True)) | {n: "constexpr" for n in constants}
    at = {n: (kernel.arg_names.index(n), ) for n in signature}
    source = ASTSource(kernel, signature, {at[n]: v for n, v in constants.items()},
                       {at[n]: [["tt.divisibility", 16]] for n in names})
    options = {"num_warps": how["warps"], "num_stages": 3}
    return triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options).asm["cubin"]
