"""Measures a batch of small Kalman filters, with their gradients, in Ricci and in JAX, and prints Markdown.

usage: measure_filters.py [--filters 10000] [--steps 20] [--threads 1] [--rounds 3]

RICCI_PREFIX must name a release build. Every filter has a state of 4 and observes 4 numbers a step; its result is the
log-likelihood of what it observes, each step of which factorises a matrix of 4x4. The gradient is that of the first
state, its covariance and both noises, for each filter. Every side is a process of its own.
"""
import argparse
import os
import statistics
import sys

import sides


def log_likelihood(mean, covariance, log_process, log_noise, observed):
    """Of a constant-velocity model in a plane (Kalman, 1960, in the form with a Cholesky factor)."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import cho_factor, cho_solve
    move = jnp.eye(4, dtype=jnp.float32).at[0, 2].set(0.1).at[1, 3].set(0.1)
    observe = jnp.eye(4, dtype=jnp.float32).at[2, 0].set(0.5)

    def step(carry, z):
        m, p = carry
        m, p = move @ m, move @ p @ move.T + jnp.diag(jnp.exp(log_process))
        s = observe @ p @ observe.T + jnp.diag(jnp.exp(log_noise))
        factor = cho_factor(s, lower=True)
        gain = cho_solve(factor, observe @ p).T
        error = z - observe @ m
        density = -0.5 * error @ cho_solve(factor, error) - jnp.sum(jnp.log(jnp.diag(factor[0])))
        return (m + gain @ error, p - gain @ observe @ p), density

    return jnp.sum(jax.lax.scan(step, (mean, covariance), observed)[1])


def case_of(filters, steps, gradient):
    import numpy as np
    rng = np.random.default_rng(1)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    covariance = np.broadcast_to(np.eye(4, dtype=np.float32), (filters, 4, 4)).copy()
    args = (normal(filters, 4), covariance, -2 + 0.1 * normal(filters, 4), -1 + 0.1 * normal(filters, 4),
            normal(filters, steps, 4))
    return log_likelihood, args, (0, 1, 2, 3) if gradient else (), filters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filters", type=int, default=10000, help="size of the batch")
    parser.add_argument("--steps", type=int, default=20, help="observations of each")
    parser.add_argument("--threads", default="1", help="numbers of threads; JAX's gradient hangs with two")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs in turn")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print("| threads | what | ours, ms | JAX, ms | JAX's time / ours | compile s, ours | JAX's | results |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for threads in map(int, options.threads.split(",")):
        for gradient in (False, True):
            request = {"filters": options.filters, "steps": options.steps, "gradient": gradient}
            records = sides.measured(__file__, threads, request, options.rounds)
            faster = 1 / statistics.median(records["jax"]["ratios"])
            what = "gradient" if gradient else "value"
            failed = [f"{which}: {r['error']}" for which, r in records.items() if "error" in r]
            if failed:
                print(f"| {threads} | {what} | {'; '.join(failed)} |", flush=True)
                continue
            ours, theirs = records["ricci"], records["jax"]
            same = abs(ours["check"] / theirs["check"] - 1) < 1e-3
            print(f"| {threads} | {what} | {1e3 * ours['run']:.2f} | {1e3 * theirs['run']:.1f} | {faster:.1f} | "
                  f"{ours['compile']:.2f} | {theirs['compile']:.2f} | {'agree' if same else 'DIFFER'} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sides.serve(sys.argv[2], int(sys.argv[3]), case_of)
    else:
        main()
