"""Times of measured programs and the rates that they mean: times.py PROGRAMS FOLDER

FOLDER/order has their names. FOLDER/NAME.bench is what `ricci bench` said of runs that the host waits for in turn,
NAME.inflight the same of runs in flight, with the time on the device by events, NAME.trace.json what
`ricci run --profile` wrote: the device's own times of its steps. Bytes and operations are in the first line of each
program.
"""
import json
import math
import pathlib
import re
import sys


def work(text, unit):
    """`8 * 64 * 64 bytes` -> 32768; 0 if the text does not say."""
    found = re.search(rf"([\d *]+) {unit}", text.split("\n", 1)[0])
    return math.prod(int(factor) for factor in found[1].split("*")) if found else 0


def median(file, where=""):
    """us per run, or None."""
    pattern = rf"^median +([\d.]+) us per run{where}$"
    found = re.search(pattern, file.read_text(errors="replace"), re.M) if file.exists() else None
    return float(found[1]) if found else None


def steps(file):
    """Names and us of the steps of a trace."""
    try:
        events = json.loads(file.read_text())["traceEvents"]
    except (OSError, ValueError, KeyError):
        return []
    return [(e["name"], e["dur"]) for e in events if e.get("ph") == "X" and e.get("cat") != "run"]


def line(name, text, folder):
    """None if the program did not run."""
    parts = steps(folder / f"{name}.trace.json")
    in_flight = folder / f"{name}.inflight"
    times = median(folder / f"{name}.bench"), median(in_flight), median(in_flight, " on the device")
    if None in times:
        return None
    device = sum(duration for _, duration in parts)
    best = min(times + ((device,) if device else ()))
    rates = work(text, "bytes") / best / 1e3, work(text, "operations") / best / 1e6
    shown = ", ".join(f"{what[:30]} {duration:.1f}" for what, duration in parts[:4])
    columns = " ".join(f"{us:10.1f}" for us in (*times, device))
    return f"{name:20} {columns} {rates[0]:8.1f} {rates[1]:8.1f}   {shown}{', ...' if len(parts) > 4 else ''}"


def main():
    programs, folder = (pathlib.Path(p) for p in sys.argv[1:])
    failed = 0
    heads = " ".join(f"{head:>10}" for head in ("call us", "in flight", "by events", "steps us"))
    print(f"{'program':20} {heads} {'GB/s':>8} {'TFLOP/s':>8}   steps (us)")
    names = (folder / "order").read_text().split()
    for name in names:
        text = line(name, (programs / f"{name}.ricci").read_text(), folder)
        failed += text is None
        said = [(folder / f"{name}.{of}").read_text(errors="replace").strip()[-150:] for of in ("bench", "inflight")]
        print(text or f"{name:20} failed: {'; '.join(said)}")
    print(f"{len(names)} programs, {failed} failed")


if __name__ == "__main__":
    main()
