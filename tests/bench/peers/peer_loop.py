"""The loop every Python peer runs: case names come in on stdin, one JSON record per case goes out on stdout.

A record is {case, unit, value, what, check}: the best time (or rate) of repeated runs, and the sum of the absolute
values of the result, by which the peers' results are compared. `--small` makes the cases tiny, `--seconds` says how
long to repeat, `--list` prints the case names, `--start` computes one small result and ends (its process is timed).
"""
import json
import sys
import time

import numpy as np

TO_UNIT = {'us': 1e6, 'ms': 1e3, 's': 1.0}
RATE = {'GFLOP/s': 1e9, 'MLUPS': 1e6}


def uniform(n, seed=0):
    """n numbers in [-1, 1) that are the same in every language."""
    h = (np.arange(n, dtype=np.uint32) + np.uint32(seed * 7919)) * np.uint32(2654435761)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    h *= np.uint32(3266489917)
    h ^= h >> np.uint32(16)
    return (h * 2.0**-31 - 1).astype(np.float32)


def positive(n):
    return np.float32(1) + np.float32(0.5) * uniform(n)


def ramp(n):
    return (np.arange(n) * (6.0 / n) - 3.0).astype(np.float32)


def best(run, seconds):
    """Seconds of the fastest run."""
    run()
    n, total, quickest = 1, 0.0, float('inf')
    while total < seconds:
        start = time.perf_counter()
        for _ in range(n):
            run()
        taken = time.perf_counter() - start
        total += taken
        quickest = min(quickest, taken / n)
        if taken < 0.02:
            n *= 2
    return quickest


def magnitude(arrays):
    return float(sum(np.abs(np.asarray(a, np.float64)).sum() for a in arrays))


class Case:
    """unit; prepare(small) -> (run, check, work): run() runs it once, check() is a number, work is for rates."""

    def __init__(self, unit, prepare):
        self.unit, self.prepare = unit, prepare


def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def serve(what, cases, start=lambda: None):
    if '--start' in sys.argv:
        start()
        return
    if '--list' in sys.argv:
        print(json.dumps(list(cases)))
        return
    small, seconds = '--small' in sys.argv, float(option('--seconds', '0.6'))
    name, prepared = None, None
    for line in sys.stdin:
        if line.strip() != name:
            name, prepared = line.strip(), None
            prepared = cases[name].prepare(small)
        run, check, work = prepared
        unit = cases[name].unit
        taken = run() if work is None else best(run, seconds)
        value = taken * TO_UNIT[unit] if unit in TO_UNIT else work / taken / RATE[unit]
        print(json.dumps({'case': name, 'unit': unit, 'value': value, 'what': what, 'check': check()}), flush=True)
