"""The JAX side of every case."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from peer_loop import Case, magnitude, positive, ramp, serve, uniform


def jitted(fn, *args, work=1.0):
    run = jax.jit(fn)
    args = [jnp.asarray(a) for a in args]
    return (lambda: jax.block_until_ready(run(*args)), lambda: magnitude(jax.tree.leaves(run(*args))), work)


def dispatch(fn, n):
    """Calls without waiting for each result, as a host loop would make them."""
    return lambda small: jitted(fn, *[uniform(4, i) for i in range(n)])


def vectors(fn, n_args):
    def prepare(small):
        n = 1 << (10 if small else 24)
        return jitted(fn, ramp(n), *[uniform(n)] * (n_args - 1))
    return prepare


def rows(fn):
    return lambda small: jitted(fn, uniform((4 if small else 4096) * 1024).reshape(-1, 1024))


def gelu(x, b):
    y = x + b
    return 0.5 * y * (1 + jnp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def layernorm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def matmul(m):
    def prepare(small):
        n = 16 if small else m
        return jitted(lambda a, b: a @ b, uniform(n * n).reshape(n, n), uniform(n * n, 1).reshape(n, n), work=2.0 * n**3)
    return prepare


def bmm6(small):
    n = 10 if small else 100000
    return jitted(lambda a: a @ a, uniform(36 * n).reshape(n, 6, 6))


def solve6(m, b):
    l = lax.linalg.cholesky(m @ m.transpose(0, 2, 1) + jnp.eye(6, dtype=m.dtype), symmetrize_input=False)
    y = lax.linalg.triangular_solve(l, b, left_side=True, lower=True)
    return lax.linalg.triangular_solve(l, y, left_side=True, lower=True, transpose_a=True)


def chol6(small):
    n = 10 if small else 20000
    return jitted(solve6, uniform(36 * n).reshape(n, 6, 6), uniform(6 * n, 1).reshape(n, 6, 1))


# ---- pendulum ----
def rk4(state, h=0.01):
    f = lambda th, w: (w, -jnp.sin(th) - 0.1 * w)
    th, w = state
    a1, b1 = f(th, w)
    a2, b2 = f(th + h / 2 * a1, w + h / 2 * b1)
    a3, b3 = f(th + h / 2 * a2, w + h / 2 * b2)
    a4, b4 = f(th + h * a3, w + h * b3)
    return th + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), w + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


def roll(length):
    return lambda th, w: lax.scan(lambda c, _: (rk4(c), None), (th, w), None, length=length)[0]


def pendulum(length, batch, grad):
    def prepare(small):
        n = 10 if small else length
        f = jax.grad(lambda th, w: roll(n)(th, w)[0], (0, 1)) if grad else roll(n)
        if batch == 0:
            return jitted(f, np.float32(1), np.float32(0))
        size = 8 if small else batch
        return jitted(jax.vmap(f), 1 + 0.25 * uniform(size), 0 * uniform(size))
    return prepare


def newton(x):
    go = lambda c: (jnp.abs(c[0]**3 - x) > 1e-5) & (c[1] < 100)
    return lax.while_loop(go, lambda c: (c[0] - (c[0]**3 - x) / (3 * c[0]**2), c[1] + 1), (1.0 + x, jnp.int32(0)))[0]


# ---- network ----
def sizes(small):
    return (8, [12, 16, 16, 10]) if small else (128, [784, 512, 512, 10])


def network(small):
    batch, widths = sizes(small)
    params = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        params += [uniform(a * b, i).reshape(a, b) * np.float32(a**-0.5), np.zeros(b, np.float32)]
    return params, uniform(batch * widths[0], 9).reshape(batch, -1), np.eye(10, dtype=np.float32)[np.arange(batch) % 10]


def loss(params, x, y):
    for w, b in zip(params[:-2:2], params[1:-2:2]):
        x = jax.nn.relu(x @ w + b)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ params[-2] + params[-1]) * y, -1))


def make_step():
    """A new function each time: JAX remembers what it has traced."""
    return lambda params, x, y: [p - 1e-2 * g for p, g in zip(params, jax.grad(lambda *a: loss(*a))(params, x, y))]


def mlp(small):
    args = jax.tree.map(jnp.asarray, network(small))
    run = jax.jit(make_step())
    return lambda: jax.block_until_ready(run(*args)), lambda: magnitude(run(*args)), 1.0


def mlp_trace(small):
    args = jax.tree.map(jnp.asarray, network(small))

    def once():
        start = time.perf_counter()
        jax.jit(make_step()).trace(*args)
        return time.perf_counter() - start
    return once, lambda: 0.0, None


def mlp_compile(small):
    args = jax.tree.map(jnp.asarray, network(small))

    def once():
        jax.clear_caches()
        lowered = jax.jit(make_step()).lower(*args)
        start = time.perf_counter()
        lowered.compile()
        return time.perf_counter() - start
    return once, lambda: 0.0, None


# ---- a small language model ----
def gpt_sizes(small, layers):
    """vocabulary, features, layers, heads, sequences, length"""
    return (64, 16, 2, 2, 2, 8) if small else (8192, 256, layers, 4, 4, 256)


def gpt_inputs(small, layers, dtype):
    vocabulary, d, layers, _, sequences, length = gpt_sizes(small, layers)
    weight = lambda seed, *shape: jnp.asarray(uniform(int(np.prod(shape)), seed).reshape(shape) * np.float32(0.03), dtype)
    gain = lambda: jnp.ones(d, dtype)
    blocks = [dict(norm1=gain(), qkv=weight(10 * i + 2, d, 3 * d), out=weight(10 * i + 3, d, d), norm2=gain(),
                   up=weight(10 * i + 4, d, 4 * d), down=weight(10 * i + 5, 4 * d, d)) for i in range(layers)]
    params = dict(embedding=weight(0, vocabulary, d), position=weight(1, length, d), blocks=blocks, norm=gain())
    numbers = (uniform(sequences * (length + 1), 99) + np.float32(1)) * np.float32(vocabulary // 2)
    return params, jnp.asarray(np.minimum(numbers.astype(np.int32), vocabulary - 1).reshape(sequences, -1))


def rms_norm(x, gain):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def gpt_logits(p, tokens, heads):
    b, t = tokens.shape
    x = p['embedding'][tokens] + p['position']
    for block in p['blocks']:
        qkv = (rms_norm(x, block['norm1']) @ block['qkv']).reshape(b, t, 3 * heads, -1)
        q, k, v = jnp.split(qkv, 3, 2)
        x += jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(b, t, -1) @ block['out']
        x += jax.nn.gelu(rms_norm(x, block['norm2']) @ block['up']) @ block['down']
    return rms_norm(x, p['norm']) @ p['embedding'].T


def gpt_loss(p, tokens, heads):
    logits = gpt_logits(p, tokens[:, :-1], heads).astype(jnp.float32)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1))


def make_gpt_step(heads):
    def step(p, tokens):
        loss, gradient = jax.value_and_grad(lambda q: gpt_loss(q, tokens, heads))(p)
        return jax.tree.map(lambda a, g: a - 0.5 * g, p, gradient), loss
    return step


def gpt(layers, dtype):
    def prepare(small):
        params, tokens = gpt_inputs(small, layers, dtype)
        run = jax.jit(make_gpt_step(gpt_sizes(small, layers)[3]))

        def losses():
            p, total = params, 0.0
            for _ in range(4):
                p, loss = run(p, tokens)
                total += float(loss)
            return total
        return lambda: jax.block_until_ready(run(params, tokens)), losses, 1.0
    return prepare


def gpt_compile(small):
    args = gpt_inputs(small, 4, jnp.float32)

    def once():
        jax.clear_caches()
        start = time.perf_counter()
        jax.jit(make_gpt_step(gpt_sizes(small, 4)[3])).lower(*args).compile()
        return time.perf_counter() - start
    return once, lambda: 0.0, None


# ---- grids, random numbers, sorting, attention ----
CX, CY = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]
WEIGHTS = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4


def lbm_step(f):
    rho = f.sum(0)
    u = sum(c * f[i] for i, c in enumerate(CX) if c) / rho
    v = sum(c * f[i] for i, c in enumerate(CY) if c) / rho
    square = 1.5 * (u * u + v * v)
    out = []
    for cx, cy, weight in zip(CX, CY, WEIGHTS):
        cu = 3.0 * (cx * u + cy * v)
        out.append(jnp.roll(rho * np.float32(weight) * (1 + cu + 0.5 * cu * cu - square), (cx, cy), (0, 1)))
    return jnp.stack(out)


def stream_step(f):
    shifts, weights = np.array([CX, CY], np.int32).T, np.float32(WEIGHTS)[:, None, None]
    rho = f.sum(0)
    u, v = ((np.float32(c)[:, None, None] * f).sum(0) / rho for c in (CX, CY))
    cu = 3.0 * (np.float32(CX)[:, None, None] * u + np.float32(CY)[:, None, None] * v)
    f = f - 1.2 * (f - weights * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (u * u + v * v)))
    return jax.vmap(lambda x, c: jnp.roll(x, (c[0], c[1]), axis=(0, 1)))(f, jnp.asarray(shifts))


def lattice(step, size):
    def case(small):
        n = 8 if small else size
        start = np.float32(WEIGHTS)[:, None, None] * (1 + 0.1 * uniform(9 * n * n).reshape(9, n, n))
        return jitted(lambda f: lax.fori_loop(0, 10, lambda i, f: step(f), f), start, work=10.0 * n * n)
    return case


def forces(x):
    d = lax.rem(x[:, None, :] - x[None, :, :], jnp.float32(1))
    d = jnp.where(d > 0.5, d - 1, d)
    r2 = (d * d).sum(2) + 0.01
    s2 = 0.01 / r2
    s6 = s2 * s2 * s2
    near = jnp.where(r2 < 0.0625, (2 * s6 * s6 - s6) * s2 * 24, 0)
    return (near[:, :, None] * d).sum(1)


def pairs(grad):
    f = jax.grad(lambda x: (forces(x) ** 2).sum()) if grad else forces
    return lambda small: jitted(f, uniform(3 * (8 if small else 256)).reshape(-1, 3))


def normal(small):
    n = 1 << (10 if small else 24)
    return jitted(lambda key: jax.random.normal(jax.random.wrap_key_data(key), (n,)), np.array([0, 1], np.uint32))


def sort(small):
    return jitted(jnp.sort, ramp(1 << (10 if small else 20))[::-1].copy())


def fft(small):
    def transform(x, y):
        z = jnp.fft.fft(lax.complex(x, y))
        return z.real, z.imag
    n = 1 << (10 if small else 20)
    return jitted(transform, uniform(n), uniform(n, 1))


# ---- spectra of two dimensions, a recurrence ----
def change(w):
    n = w.shape[0]
    x, y = np.float32(np.fft.fftfreq(n, 1 / n))[:, None], np.float32(np.fft.rfftfreq(n, 1 / n))[None, :]
    squares = x * x + y * y
    stream = w * (np.sign(squares) / np.maximum(squares, 1))
    grid = lambda spectrum: jnp.fft.irfft2(spectrum, s=(n, n))
    u, v, wx, wy = grid(1j * y * stream), grid(-1j * x * stream), grid(1j * x * w), grid(1j * y * w)
    kept = np.float32((np.abs(x) < n / 3) & (y < n / 3))
    return -(jnp.fft.rfft2(u * wx + v * wy) * kept + np.float32(1e-3) * squares * w)


def flow_step(w, _):
    first = change(w)
    return w + 0.5e-3 * (first + change(w + 1e-3 * first)), None


def flow(w):
    return jnp.fft.irfft2(lax.scan(flow_step, jnp.fft.rfft2(w), None, length=20)[0], s=w.shape)


def flow_grad(w):
    return jax.grad(lambda w: (flow(w) ** 2).sum())(w)


def spectral(f, size):
    def case(small):
        n = 8 if small else size
        return jitted(f, uniform(n * n).reshape(n, n))
    return case


def flow_compile(small):
    def once():
        jax.clear_caches()
        n = 8 if small else 64
        lowered = jax.jit(flow_grad).lower(uniform(n * n).reshape(n, n))
        start = time.perf_counter()
        lowered.compile()
        return time.perf_counter() - start
    return once, lambda: 0.0, None


def lru(small):
    def prefixes(a, b, c, d):
        x = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (lax.complex(a, b), lax.complex(c, d)))[1]
        return x.real, x.imag
    shape = (9, 2) if small else (1024, 32)
    parts = [uniform(shape[0] * shape[1], i).reshape(shape) for i in range(4)]
    return jitted(prefixes, *[np.float32(0.6) * x for x in parts[:2]], *parts[2:])


def conv(grad):
    def prepare(small):
        features, size, n = (4, 6, 2) if small else (64, 56, 8)
        images, weights = (n, features, size, size), (features, features, 3, 3)
        layer = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), 'SAME')
        f = jax.grad(lambda x, w: jnp.sum(layer(x, w)**2), argnums=(0, 1)) if grad else layer
        return jitted(f, uniform(int(np.prod(images))).reshape(images), uniform(int(np.prod(weights)), 1).reshape(weights))
    return prepare


def attention(grad, size=(4, 1024, 8, 64), **options):
    def prepare(small):
        shape = (1, 16, 2, 8) if small else size
        attend = lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True, **options)
        f = jax.grad(lambda q: attend(q).sum()) if grad else attend
        return jitted(f, uniform(int(np.prod(shape))).reshape(shape))
    return prepare


def windowed_attention(grad):
    return attention(grad, (1, 4096, 8, 64), local_window_size=(256, 0))


CASES = {
    'call4': Case('us', dispatch(lambda x: x * 2 + 1, 1)),
    'call32': Case('us', dispatch(lambda *xs: [x + 1 for x in xs], 32)),
    'saxpy': Case('ms', vectors(lambda x, b: 2 * x + b, 2)),
    'gelu': Case('ms', vectors(gelu, 2)),
    'sum': Case('ms', lambda small: jitted(lambda x: x.sum(), positive(1 << (10 if small else 24)))),
    'softmax': Case('ms', rows(jax.nn.softmax)),
    'layernorm': Case('ms', rows(layernorm)),
    'matmul256': Case('GFLOP/s', matmul(256)),
    'matmul1024': Case('GFLOP/s', matmul(1024)),
    'matmul2048': Case('GFLOP/s', matmul(2048)),
    'bmm6': Case('ms', bmm6),
    'chol6': Case('ms', chol6),
    'conv': Case('ms', conv(False)),
    'conv_grad': Case('ms', conv(True)),
    'attention': Case('ms', attention(False)),
    'attention_grad': Case('ms', attention(True)),
    'attention_nn': Case('ms', attention(False)),  # ours as one operation
    'attention_nn_grad': Case('ms', attention(True)),
    'attention_window': Case('ms', windowed_attention(False)),
    'attention_window_grad': Case('ms', windowed_attention(True)),
    'rk4_scan': Case('ms', pendulum(10000, 0, False)),
    'rk4_scan_grad': Case('ms', pendulum(10000, 0, True)),
    'rk4_vmap': Case('ms', pendulum(1000, 4096, False)),
    'rk4_vmap_grad': Case('ms', pendulum(1000, 4096, True)),
    'newton': Case('us', lambda small: jitted(newton, np.float32(7))),
    'mlp': Case('ms', mlp),
    'mlp_trace': Case('s', mlp_trace),
    'mlp_compile': Case('s', mlp_compile),
    'gpt': Case('ms', gpt(4, jnp.float32)),
    'gpt_bf16': Case('ms', gpt(2, jnp.bfloat16)),
    'gpt_compile': Case('s', gpt_compile),
    'lbm': Case('MLUPS', lattice(lbm_step, 1024)),
    'stream': Case('MLUPS', lattice(stream_step, 128)),
    'pairs': Case('us', pairs(False)),
    'pairs_grad': Case('us', pairs(True)),
    'normal': Case('ms', normal),
    'sort': Case('ms', sort),
    'fft': Case('ms', fft),
    'flow64': Case('ms', spectral(flow, 64)),
    'flow128': Case('ms', spectral(flow, 128)),
    'flow64_grad': Case('ms', spectral(flow_grad, 64)),
    'flow64_grad_compile': Case('s', flow_compile),
    'lru': Case('us', lru),
}

serve('JAX', CASES, start=lambda: np.asarray(jax.jit(lambda x: x * 2 + 1)(jnp.ones(4))))
