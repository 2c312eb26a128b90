"""What a call from Python costs beside the work: arguments and results in trees of 1 to 300 small arrays.

    PYTHONPATH=bindings/python RICCI_PREFIX=build python tests/bench/python_calls.py [--rounds N] [--elements N]

Each leaf is added to a number, so the work is little and about the same on both sides. Ours gets and gives arrays of
NumPy, jax.jit arrays of JAX, as each makes them. Microseconds of a call, the best of several rounds in which all are
measured in turn; a ratio below 1 means that Ricci is faster. RICCI_PYTHON_CALLS=ctypes measures calls without the
extension. One thread on one core (`taskset -c 0`) gives quiet numbers.

On two cores of a shared AMD EPYC a call of jit takes 0.12 to 0.14 of the time of one of jax.jit, that of an imported
function 0.10 to 0.11, with arrays of JAX 0.26 to 0.40; by ctypes 0.5 to 3.6.
"""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
import ricci
from ricci.calls import native

LEAVES = (1, 10, 100, 300)


def tree_of(n, elements):
    """n arrays: one alone, more in lists in dicts."""
    arrays = [np.full(elements, i, np.float32) for i in range(n)]
    if n == 1:
        return arrays[0]
    return {f"layer{i}": {"w": arrays[i], "rest": arrays[i + 1:i + 5]} for i in range(0, n, 5)}


def calls_of(n, elements):
    """{what is called: a call of it}."""
    tree = tree_of(n, elements)
    on_device = jax.tree.map(jnp.asarray, tree)
    plus = lambda tree, y: jax.tree.map(lambda x: x + y, tree)  # noqa: E731
    number = np.float32(2)
    by_jax, imported = jax.jit(plus), ricci.from_jax(plus, tree, number)
    by_ricci = ricci.jit(lambda tree, y: ricci.tree.map(lambda x: x + y, tree))
    leaves, y = [*jax.tree.leaves(tree), number], jnp.float32(2)
    return {"jax.jit": lambda: by_jax(on_device, y), "ricci.jit": lambda: by_ricci(tree, number),
            "imported": lambda: imported(tree, number), "executable": lambda: imported.executable(*leaves),
            "imported, arrays of JAX": lambda: imported(on_device, y)}


def seconds(call, n):
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--elements", type=int, default=8, help="of each array")
    given = options.parse_args()
    print(f"calls by {'ctypes: ' + native.WHY_NOT if native.WHY_NOT else 'the extension'}")
    for n in LEAVES:
        calls, best = calls_of(n, given.elements), {}
        for _ in range(given.rounds + 1):  # the first one compiles
            for name, call in calls.items():
                best[name] = min(best.get(name, 1.0), seconds(call, 2000 // (n + 10)))
        print(f"{n} leaves: " + "; ".join(f"{name} {t * 1e6:.2f} us" + (
            f" ({t / best['jax.jit']:.2f})" if name != "jax.jit" else "") for name, t in best.items()))


if __name__ == "__main__":
    main()
