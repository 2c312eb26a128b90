"""Times of measured programs and the rates that they mean: times.py PROGRAMS FOLDER

FOLDER/order has their names, FOLDER/NAME.bench is what `ricci bench` said, NAME.trace.json what `ricci run --profile` wrote: the device's own times of
its steps. Bytes and operations are in the first line of each program.
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


def wall(file):
    """The median in us, or None."""
    found = re.search(r"^median +([\d.]+) us", file.read_text(errors="replace"), re.M) if file.exists() else None
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
    us, parts = wall(folder / f"{name}.bench"), steps(folder / f"{name}.trace.json")
    if us is None:
        return None
    device = sum(duration for _, duration in parts)
    best = min(us, device) if device else us
    rates = work(text, "bytes") / best / 1e3, work(text, "operations") / best / 1e6
    shown = ", ".join(f"{what[:30]} {duration:.1f}" for what, duration in parts[:4])
    return f"{name:20} {us:10.1f} {device:10.1f} {rates[0]:8.1f} {rates[1]:8.1f}   {shown}{', ...' if len(parts) > 4 else ''}"


def main():
    programs, folder = (pathlib.Path(p) for p in sys.argv[1:])
    failed = 0
    print(f"{'program':20} {'call us':>10} {'device us':>10} {'GB/s':>8} {'TFLOP/s':>8}   steps (us)")
    names = (folder / "order").read_text().split()
    for name in names:
        text = line(name, (programs / f"{name}.ricci").read_text(), folder)
        failed += text is None
        print(text or f"{name:20} failed: {(folder / f'{name}.bench').read_text(errors='replace').strip()[-150:]}")
    print(f"{len(names)} programs, {failed} failed")


if __name__ == "__main__":
    main()
