"""JAX on the programs of measured/: wall time of a call, several in flight, as peers.py shows it: peers_jax.py [PLATFORM]"""
import os
import statistics
import sys
import time

from peers import BYTES, N, OPERATIONS, show

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"


def norm(jnp, jax, x):
    d = x - x.mean(axis=1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)


def pendulums(jnp, jax, x):
    def step(state, _):
        speed = state[1] - 0.01 * jnp.sin(state[0])
        return (state[0] + 0.01 * speed, speed), None

    return jax.lax.scan(step, (x, jnp.zeros_like(x)), length=100)[0][0]


def programs(jax, jnp, x, y):
    """Name, function, arguments, bytes, operations."""
    p, q = x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)
    yield "product_bf16", lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.float32), (p, q), 0, OPERATIONS
    yield "copy", lambda a: -a, (x,), 2 * BYTES, 0
    yield "stream", lambda a, b: a * b + a, (x, y), 3 * BYTES, 0
    yield "row_softmax", lambda a: jax.nn.softmax(a, axis=1), (x,), 2 * BYTES, 0
    yield "layernorm", lambda a: norm(jnp, jax, a), (x,), 2 * BYTES, 0
    yield "column_sum", lambda a: a.sum(0), (x,), BYTES, 0
    yield "total2", lambda a: a.sum(), (x,), BYTES, 0
    yield "cumsum", lambda a: jnp.cumsum(a, axis=1), (x,), 2 * BYTES, 0
    yield "sort", lambda a: jnp.sort(a, axis=1), (x,), 2 * BYTES, 0
    yield "pendulums", lambda a: pendulums(jnp, jax, a), (x,), 100 * 4 * BYTES, 0


def measured(jax, f, arguments, in_flight=5, rounds=5):
    compiled = jax.jit(f)
    jax.block_until_ready(compiled(*arguments))
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        jax.block_until_ready([compiled(*arguments) for _ in range(in_flight)][-1])
        taken.append((time.perf_counter() - begin) / in_flight * 1e6)
    return statistics.median(taken)


def main():
    platform = sys.argv[1] if len(sys.argv) > 1 else "gpu"
    try:
        import jax
        import jax.numpy as jnp
        device = jax.devices(platform)[0]
    except Exception as e:  # not there, or without a GPU
        return print(f"no JAX for {platform}: {type(e).__name__}: {str(e)[:120]}")
    print(f"jax {jax.__version__} on {device.device_kind}", flush=True)
    x, y = (jax.random.normal(key, (N, N)) for key in jax.random.split(jax.random.key(0)))
    for name, f, arguments, bytes_, operations in programs(jax, jnp, x, y):
        try:
            show("jax", name, measured(jax, f, arguments), bytes_, operations, "call")
        except Exception as e:
            print(f"jax      {name:18} not measured: {type(e).__name__}: {str(e)[:120]}", flush=True)


if __name__ == "__main__":
    main()
