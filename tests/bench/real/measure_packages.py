"""Measures functions of published packages in Ricci and in JAX, side by side, and prints a Markdown table.

usage: measure_packages.py [--size 16] [--threads 1,2] [--rounds 3] [PACKAGE...]

The functions are those of tests/python/package_functions.py, whose arrays grow with --size (1: a few elements, where a
call is all that is measured). packages.txt there must be installed into a folder of PYTHONPATH, and RICCI_PREFIX must
name a release build. A function is measured as it is, and as the gradient of the sum of its results by its floating
arguments where JAX has one. Each side is a process, which answers in turn with the other; a ratio is the median over
the rounds of (our time / JAX's time), below 1 we are faster. `compile` is ours of the imported program against XLA's of
the lowered one, without tracing on either side; `import` is ours, from a jaxpr to a program (custom rules, which JAX
traces on the way, are in it).
"""
import argparse
import math
import os
import pathlib
import statistics
import sys

import sides

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
TOLERANCE = 1e-2  # of the sums of absolute values; chains of samples part after a rounding
SLOW = 1.2
PACKAGES = "flax optax diffrax numpyro distrax haiku equinox lineax jaxopt blackjax jax_md jaxlie mjx"


def functions_of(package, size, found={}):
    """name -> (function, arguments), made once."""
    import package_functions
    if (package, size) not in found:
        made = package_functions.PACKAGES[package](size)
        found[package, size] = {name: (fn, args) for name, fn, args in made}
    return found[package, size]


def summed(fn):
    """The sum of all floating results."""
    import jax
    import jax.numpy as jnp

    def total(*args):
        leaves = jax.tree_util.tree_leaves(fn(*args))
        return sum(jnp.sum(x) for x in leaves if jnp.issubdtype(x.dtype, jnp.floating))
    return total


def case_of(package, size, name=None, gradient=False):
    import jax
    import jax.numpy as jnp
    fn, args = functions_of(package, size)[name]
    if not gradient:
        return fn, args, ()
    floating = lambda a: all(jnp.issubdtype(x.dtype, jnp.floating) for x in jax.tree_util.tree_leaves(a))  # noqa: E731
    argnums = tuple(i for i, a in enumerate(args) if floating(a))
    if not argnums:
        raise TypeError("no floating argument")
    return summed(fn), args, argnums


def measured(both, rounds, **request):
    """The record of one function: ours, JAX's and ratios; or the error."""
    records = {which: side.ask(**request) for which, side in both.items()}
    for which in ("jax", "ricci"):
        if "error" in records[which]:
            return {"error": f"{which}: {records[which]['error']}"}
    ratios = []
    for _ in range(rounds):
        for which, side in both.items():
            records[which]["run"] = side.ask()["run"]
        ratios.append(records["ricci"]["run"] / records["jax"]["run"])
    ours, theirs = records["ricci"], records["jax"]
    apart = abs(ours["check"] - theirs["check"]) / max(abs(theirs["check"]), 1e-3)
    return ours | {"ratio": statistics.median(ratios), "jax": theirs["run"],
                   "compile_ratio": ours["compile"] / theirs["compile"], "apart": apart}


def cells(r):
    if "error" in r:
        return f" {r['error'].replace('|', '/')} | | | |"
    agrees = "" if r["apart"] <= TOLERANCE else f" (sums {r['apart']:.0e} apart)"
    return (f" {1e6 * r['run']:.1f}{agrees} | {r['ratio']:.2f} | {1e3 * r['import']:.0f} + {1e3 * r['compile']:.0f} | "
            f"{r['compile_ratio']:.2f} |")


def mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers))) if numbers else float("nan")


def summary(threads, records):
    for what in ("value", "gradient"):
        good = {name: r[what] for name, r in records.items() if "error" not in r[what]}
        print(f"{threads} thread{'s' * (threads > 1)}, {what}: {len(good)} functions, run "
              f"{mean([r['ratio'] for r in good.values()]):.2f} of JAX, compile "
              f"{mean([r['compile_ratio'] for r in good.values()]):.2f} of XLA (geometric means)", end="")
        slow = [f"{name} {r['ratio']:.2f}" for name, r in good.items() if r["ratio"] > SLOW]
        print(f"; above {SLOW}: {', '.join(slow) or 'none'}")
    print(flush=True)


def measure(threads, options):
    both = {which: sides.Side(__file__, which, threads) for which in ("ricci", "jax")}
    print(f"\n{threads} thread{'s' * (threads > 1)}, size {options.size}, load {os.getloadavg()[0]:.1f}\n")
    half = "us | of JAX | import + compile ms | of XLA |"
    print(f"| function | value {half} gradient {half}\n|---{8 * '|---'}|", flush=True)
    records = {}
    for package in options.packages:
        listed = both["ricci"].ask(names={"package": package, "size": options.size})
        if "error" in listed:
            print(f"| {package} | {listed['error']} | | | | | | | |")
        for name in listed.get("names", ()):
            request = {"package": package, "size": options.size, "name": name}
            r = {"value": measured(both, options.rounds, **request)}
            r["gradient"] = measured(both, options.rounds, **request, gradient=True)
            records[f"{package}/{name}"] = r
            print(f"| {package}/{name} |{cells(r['value'])}{cells(r['gradient'])}", flush=True)
    for side in both.values():
        side.close()
    print()
    summary(threads, records)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=16, help="how often the arrays are as long as the references'")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs in turn")
    parser.add_argument("packages", nargs="*", default=PACKAGES.split(), metavar="PACKAGE", help="default: all")
    options = parser.parse_args()
    for threads in map(int, options.threads.split(",")):
        measure(threads, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sides.serve(sys.argv[2], int(sys.argv[3]), case_of, lambda **x: list(functions_of(**x)))
    else:
        main()
