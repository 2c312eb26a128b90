"""Measures MJX's step of a humanoid in Ricci and in JAX, for one world and for many, and prints Markdown.

usage: measure_humanoid.py [--worlds 64] [--threads 1,2] [--rounds 3]

mujoco-mjx and what it needs (tests/python/packages.txt) must be in PYTHONPATH, and RICCI_PREFIX must name a release
build. Every side is a process of its own. `trace` is what JAX takes to make a jaxpr (and, for JAX, StableHLO) of the
step; `import` and `compile` are what follows. Memory is what compiling and the first run add to the process.
"""
import argparse
import os
import statistics
import sys

import sides


def case_of(worlds):
    import humanoid
    step, arguments = humanoid.step_and_arguments()
    return (step, arguments, ()) if worlds == 1 else (step, humanoid.worlds(arguments, worlds), (), worlds)


def row(threads, worlds, which, r):
    if "error" in r:
        return f"| {threads} | {worlds} | {which} | {r['error']} |"
    return (f"| {threads} | {worlds} | {which} | {r['trace']:.2f} | {r.get('import', 0):.2f} | {r['compile']:.2f} | "
            f"{1e3 * r['run']:.3f} | {worlds / r['run']:.0f} | {r['memory']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=64, help="size of the batch")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs in turn")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print("| threads | worlds | side | trace s | import s | compile s | step ms | steps/s | memory MB |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for threads in map(int, options.threads.split(",")):
        for worlds in dict.fromkeys((1, options.worlds)):
            records = sides.measured(__file__, threads, {"worlds": worlds}, options.rounds)
            for which, r in records.items():
                print(row(threads, worlds, which, r))
            faster = 1 / statistics.median(records["jax"]["ratios"])
            print(f"| {threads} | {worlds} | JAX's time / ours | | | | {faster:.2f} | | |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sides.serve(sys.argv[2], int(sys.argv[3]), case_of)
    else:
        main()
