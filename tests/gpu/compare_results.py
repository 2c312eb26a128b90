"""What programs gave on the GPU: compare_results.py [--exact] FOLDER

FOLDER/NAME has `code`, the status, `cuda.txt`, what was said, and cuda.npz, the results, beside ref.npz (or both as
safetensors); with --exact result 0 must be zeros and result 1 not. A line for each program that is wrong, then how many are.
"""
import json
import pathlib
import sys

import numpy as np

KILLED = {"124": "hangs", "137": "hangs", "139": "crashes", "134": "aborts"}
# The largest difference against the size of the element or a hundredth of the largest; 0: equal bits.
TOLERANCE = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 2e-5, np.dtype(np.complex64): 2e-5,
             np.dtype(np.float64): 1e-9, np.dtype(np.complex128): 1e-9}
OF_BF16 = 2e-2


def numbers(a):
    """As NumPy's numbers, with the tolerance: bf16 and floats of 8 bits are bytes in a file."""
    if a.dtype.kind == "V" and a.dtype.itemsize == 2:
        return (a.view(np.uint16).astype(np.uint32) << 16).view(np.float32), OF_BF16
    if a.dtype.kind == "V":
        return a.view(np.uint8).astype(np.int64), 0
    return a, TOLERANCE.get(a.dtype, 0)


def difference(have, want):
    """What is wrong with one result, or nothing."""
    if have.shape != want.shape:
        return f"its shape is {have.shape}, not {want.shape}"
    (x, _), (y, tolerance) = numbers(have), numbers(want)
    with np.errstate(all="ignore"):
        good = x == y
        if tolerance:
            finite = np.where(np.isfinite(y), np.abs(y), 0)
            good |= (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= tolerance * np.maximum(finite, finite.max(initial=0) / 100))
    if good.all():
        return ""
    at = tuple(np.argwhere(~good)[0])
    return f"{np.count_nonzero(~good)} of {x.size} differ, first at {[int(i) for i in at]}: {x[at]}, not {y[at]}"


def said(folder, name):
    file = folder / name
    return file.read_text(errors="replace").strip() if file.exists() else ""


def load(file):
    """Results by name. Of safetensors their bytes, a row for each element."""
    if file.with_suffix(".npz").exists():
        return np.load(file.with_suffix(".npz"))
    raw = file.with_suffix(".safetensors").read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    entries = {name: e for name, e in json.loads(raw[8:end]).items() if name != "__metadata__"}
    data = {name: np.frombuffer(raw, np.uint8)[end + e["data_offsets"][0]:end + e["data_offsets"][1]] for name, e in entries.items()}
    return {name: bytes_.reshape(*entries[name]["shape"], -1) for name, bytes_ in data.items()}


def has(folder, name):
    return any((folder / f"{name}.{form}").exists() for form in ("npz", "safetensors"))


def compared(folder):
    have, want = load(folder / "cuda"), load(folder / "ref")
    each = ((name, difference(have[name], want[name])) for name in want)
    return "; ".join(f"result {name}: {what}" for name, what in each if what)


def exact(folder):
    results = load(folder / "cuda")
    off, largest = (np.asarray(results[str(i)]) for i in range(2))
    if np.all(off == 0) and np.all(np.isfinite(largest)) and largest.max() > 0:
        return ""
    rows = np.flatnonzero(off)
    return f"{rows.size} of {off.size} rows are wrong, first {rows[:8].tolist()}, by up to {np.nanmax(off)}, of {np.nanmax(largest)}"


def fault(folder, is_exact):
    """What is wrong with a program, or nothing."""
    code, text = said(folder, "code") or "none: it did not run", said(folder, "cuda.txt")
    if code == "1" and text and text == said(folder, "ref.txt"):
        return ""  # a check of the program, which fails on both
    if code != "0":
        return f"{KILLED.get(code, 'status ' + code)}: {text[-300:]}"
    return exact(folder) if is_exact else compared(folder)


def main():
    folder, is_exact = pathlib.Path(sys.argv[-1]), "--exact" in sys.argv
    programs = sorted(p for p in folder.iterdir() if p.is_dir())
    # What `ref` takes too long for has run on the GPU, and no more is known of it.
    alone = [p for p in programs if not is_exact and said(p, "code") == "0" and not has(p, "ref")]
    wrong = {p.name: what for p in programs if p not in alone and (what := fault(p, is_exact))}
    for name, what in wrong.items():
        print(f"{name}: {what}")
    ran = f", {len(alone)} ran without a reference" if alone else ""
    print(f"{len(programs) - len(wrong) - len(alone)} right, {len(wrong)} wrong{ran}")
    return 0 if programs and not wrong and len(alone) < len(programs) else 1


if __name__ == "__main__":
    sys.exit(main())
