"""Measures small programs in Ricci and in JAX, side by side, and prints a Markdown table.

usage: measure_programs.py [--set convolution,spectral] [--threads 1] [--rounds 3] [--orders value,gradient,second]
                           [PROGRAM...]

RICCI_PREFIX must name a release build. The programs are those of convolution_programs.py and spectral_programs.py: each
as it is, its gradient by data and parameters, and the product of its second derivatives with a vector. A ratio is the
median over the rounds of (our time / JAX's time), below 1 we are faster; that of `compile` is ours of the imported
program against XLA's of the lowered one, without tracing on either side. The status is 1 if a program could not be
measured.
"""
import argparse
import importlib
import os
import statistics
import sys

import sides

SETS = ("convolution", "spectral")
TOLERANCE = 1e-3  # of the sums of absolute values


def programs_of(sets):
    """name -> (function, arguments), when it is called."""
    return {name: made for s in sets for name, made in importlib.import_module(f"{s}_programs").PROGRAMS.items()}


def differentiated(fn, order):
    """`fn` itself, its gradient, or the derivative of the gradient along the arguments."""
    if order == "value":
        return fn
    import jax
    gradient = jax.grad(fn, argnums=(0, 1))
    return gradient if order == "gradient" else lambda *xs: jax.jvp(gradient, xs, xs)[1]


def case_of(program, order):
    fn, args = programs_of(SETS)[program]()
    return differentiated(fn, order), args, ()


def measured(both, rounds, **request):
    """(None or the ratios of run and compilation, the cells of the table) of one program."""
    records = {which: side.ask(**request) for which, side in both.items()}
    failed = [f"{which}: {r['error']}" for which, r in records.items() if "error" in r]
    if failed:
        return None, "; ".join(failed).replace("|", "/") + " | | |"
    ratios = []
    for _ in range(rounds):
        ours, theirs = both["ricci"].ask()["run"], both["jax"].ask()["run"]
        ratios.append(ours / theirs)
    same = abs(records["ricci"]["check"] / records["jax"]["check"] - 1) < TOLERANCE
    found = statistics.median(ratios), records["ricci"]["compile"] / records["jax"]["compile"]
    return found, f"{1e6 * ours:.0f}{'' if same else ' (DIFFERS)'} | {found[0]:.2f} | {found[1]:.2f} |"


def summary(order, found):
    """Geometric means and greatest ratios."""
    for what, ratios in zip(("run", "compile"), zip(*found)):
        print(f"{order}, {what}: {statistics.geometric_mean(ratios):.2f} of JAX in the mean, {max(ratios):.2f} at most")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default=",".join(SETS), help="which programs")
    parser.add_argument("--threads", type=int, default=1, help="number of threads")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs in turn")
    parser.add_argument("--orders", default="value,gradient,second", help="which derivatives")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all of the sets")
    options = parser.parse_args()
    if unknown := set(options.set.split(",")) - set(SETS):
        parser.error(f"--set {','.join(unknown)}: there are {','.join(SETS)}")
    known = programs_of(options.set.split(","))
    if unknown := set(options.programs) - set(known):
        parser.error(f"{' '.join(unknown)}: there are {' '.join(known)}")
    return options, options.orders.split(","), options.programs or list(known)


def main():
    options, orders, programs = parsed()
    both = {which: sides.Side(__file__, which, options.threads) for which in ("ricci", "jax")}
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print("| program |" + "".join(f" {order}, us | of JAX | compile of XLA |" for order in orders))
    print(f"|---{3 * len(orders) * '|---'}|", flush=True)
    ratios = {order: [] for order in orders}
    for program in programs:
        print(f"| {program} |", end="")
        for order in orders:
            found, cells = measured(both, options.rounds, program=program, order=order)
            ratios[order] += [] if found is None else [found]
            print(f" {cells}", end="", flush=True)
        print(flush=True)
    print()
    for order, found in ratios.items():
        summary(order, found)
    for side in both.values():
        side.close()
    return 0 if all(len(found) == len(programs) for found in ratios.values()) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sides.serve(sys.argv[2], int(sys.argv[3]), case_of)
    else:
        sys.exit(main())
