"""Measures small convolutional programs in Ricci and in JAX, side by side, and prints a Markdown table.

usage: measure_convolutions.py [--threads 1] [--rounds 3] [--orders value,gradient,second] [PROGRAM...]

RICCI_PREFIX must name a release build. The programs are those of convolution_programs.py: each as it is, its gradient
by data and weights, and the product of its second derivatives with a vector. A ratio is the median over the rounds of
(our time / JAX's time); below 1 we are faster.
"""
import argparse
import os
import statistics
import sys

import sides

TOLERANCE = 1e-3  # of the sums of absolute values


def case_of(program, order):
    import convolution_programs
    return convolution_programs.case_of(program, order)


def names_of():
    import convolution_programs
    return list(convolution_programs.PROGRAMS)


def measured(both, rounds, **request):
    """(ratio or None, the cell of the table) of one program."""
    records = {which: side.ask(**request) for which, side in both.items()}
    failed = [f"{which}: {r['error']}" for which, r in records.items() if "error" in r]
    if failed:
        return None, "; ".join(failed).replace("|", "/") + " | |"
    ratios = []
    for _ in range(rounds):
        ours, theirs = both["ricci"].ask()["run"], both["jax"].ask()["run"]
        ratios.append(ours / theirs)
    same = abs(records["ricci"]["check"] / records["jax"]["check"] - 1) < TOLERANCE
    ratio = statistics.median(ratios)
    return ratio, f"{1e6 * ours:.0f}{'' if same else ' (DIFFERS)'} | {ratio:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="number of threads")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs in turn")
    parser.add_argument("--orders", default="value,gradient,second", help="which derivatives")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    options = parser.parse_args()
    orders = options.orders.split(",")
    both = {which: sides.Side(__file__, which, options.threads) for which in ("ricci", "jax")}
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print("| program |" + "".join(f" {order}, us | of JAX |" for order in orders))
    print(f"|---{2 * len(orders) * '|---'}|", flush=True)
    ratios = {order: [] for order in orders}
    for program in options.programs or names_of():
        print(f"| {program} |", end="")
        for order in orders:
            ratio, cell = measured(both, options.rounds, program=program, order=order)
            ratios[order] += [] if ratio is None else [ratio]
            print(f" {cell}", end="", flush=True)
        print(flush=True)
    for order, found in ratios.items():
        if found:
            print(f"\n{order}: {statistics.geometric_mean(found):.2f} of JAX in the mean, {max(found):.2f} at most")
    for side in both.values():
        side.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sides.serve(sys.argv[2], int(sys.argv[3]), case_of)
    else:
        main()
