"""The programs of run.sh in JAX, on its default device: one JSON object for each, with the median time of a call."""

import argparse
import json
import statistics
import time

import jax
import jax.numpy as jnp


def layernorm(x):
    d = x - x.mean(axis=1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)


def pendulums(x):
    def step(state, _):
        angle, speed = state
        speed = speed - 0.01 * jnp.sin(angle)
        return (angle + 0.01 * speed, speed), None

    return jax.lax.scan(step, (x, jnp.zeros_like(x)), length=100)[0][0]


def product(x, y):
    return jnp.matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


PROGRAMS = {
    "copy": lambda x, y: -x,
    "stream": lambda x, y: x * y + x,
    "row_softmax": lambda x, y: jax.nn.softmax(x, axis=1),
    "layernorm": lambda x, y: layernorm(x),
    "column_sum": lambda x, y: x.sum(axis=0),
    "cumsum": lambda x, y: jnp.cumsum(x, axis=1),
    "sort": lambda x, y: jnp.sort(x, axis=1),
    "product": product,
    "pendulums": lambda x, y: pendulums(x),
}


def median_us(f, arguments, seconds):
    f(*arguments).block_until_ready()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        f(*arguments).block_until_ready()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    keys = jax.random.split(jax.random.key(0))
    arguments = [jax.random.normal(key, (options.size, options.size)) for key in keys]
    for name, program in PROGRAMS.items():
        print(json.dumps({"name": name, "us": median_us(jax.jit(program), arguments, options.seconds)}), flush=True)


if __name__ == "__main__":
    main()
