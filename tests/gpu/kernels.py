"""Machine code that was compiled on another machine, launched without Ricci: kernels.py LIBCUDA FOLDER

FOLDER/NAME.cubin is what `ricci compile` made of a program of measured/, NAME.cu its text and NAME.explain how it wants to
be launched. So it is known whether the kernels are right, and how fast, even if all host code of the backend fails.
"""
import pathlib
import re
import sys

import numpy as np
from cuda_calls import Driver

TIMES = 15
SAMPLES = 64  # rows, or columns, that are compared


class Made:
    """A kernel of a folder."""

    def __init__(self, folder, name):
        text, told = ((folder / f"{name}.{form}").read_text() for form in ("cu", "explain"))
        signature = re.search(r"__global__ (?:__launch_bounds__\([^)]*\) )?void (\w+)\((.*)\) \{", text)
        self.image, self.entry = (folder / f"{name}.cubin").read_bytes(), signature[1]
        self.n_buffers = len(re.findall(r"\* b\d+", signature[2]))
        self.blocks, self.threads = map(int, re.search(r"launch: (\d+) blocks? of (\d+) threads", told).groups())
        dynamic = re.search(r"extern __shared__ [^;]*;  // (\d+) bytes", text)
        # Boxes of each map, as (inner, outer), if the kernel is given maps at all.
        boxes = re.findall(r"map\d: boxes of (\d+) x (\d+)", text) if "u64x16 map0" in signature[2] else []
        self.boxes = [(int(inner), int(outer)) for outer, inner in boxes]
        self.shared_bytes = int(dynamic[1]) if dynamic else 0


def bf16(x):
    """The bits of rounded floats, and what they mean."""
    bits = x.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return rounded, (rounded.astype(np.uint32) << 16).view(np.float32)


def of_bits(a):
    return (a.astype(np.uint32) << 16).view(np.float32) if a.dtype == np.uint16 else a


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def norm(x):
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)


def by_rows(f):
    """Of what is computed row by row, some rows are compared."""
    return lambda rows, *arrays: f(*(a[rows].astype(np.float64) for a in arrays))


def cases(x, y):
    """Name, arguments, a result to write to, the reference of sampled rows, the largest relative error."""
    (p, p_value), (q, q_value), n = bf16(x), bf16(y), len(x)
    yield "stream", (x, y), x, by_rows(lambda u, v: u * v + u), 1e-6
    yield "row_softmax", (x,), x, by_rows(softmax), 1e-5
    yield "layernorm", (x,), x, by_rows(norm), 1e-4
    yield "column_sum", (x,), x[0], lambda at, u: u[:, at].astype(np.float64).sum(0), 1e-4
    yield "cumsum", (x,), x, by_rows(lambda u: u.cumsum(1)), 1e-4
    yield "product_bf16", (p, q), x, lambda at, *_: p_value[at] @ q_value, 5e-3
    yield "product_bf16_tn", (p, q), p, lambda at, *_: p_value[at] @ q_value.T, 5e-3


def run(driver, made, arguments, like):
    """The result and the time."""
    addresses = [driver.to_device(a) for a in arguments]
    addresses += [driver.to_device(np.full_like(like, np.nan if like.dtype.kind == "f" else 0x7FC0)),
                  driver.to_device(np.array([-1], np.int32))]
    if made.n_buffers != len(arguments) + 1:
        raise RuntimeError(f"{made.entry} has {made.n_buffers} buffers")
    n = len(arguments[0])
    maps = [driver.tensor_map(address, n, n, box) for address, box in zip(addresses, made.boxes)]
    kernel = driver.load(made.image, made.entry, made.shared_bytes)
    launch = lambda: driver.launch(kernel, made.blocks, made.threads, made.shared_bytes, addresses, maps)
    launch()
    result = driver.to_host(addresses[len(arguments)], like)
    us = driver.microseconds(launch, TIMES)
    for address in addresses:
        driver.free(address)
    return result, us


def judged(result, want, at, bound):
    have = of_bits(result[at]).astype(np.float64)
    error = np.linalg.norm(have - want) / np.linalg.norm(want)
    if error <= bound:  # no NaN
        return f"right   error {error:.1e}"
    wrong = np.abs(have - want) > 0.05 * np.abs(want).mean()
    return f"WRONG   error {error:.1e}, {np.count_nonzero(wrong)} of {wrong.size}, first {np.argwhere(wrong)[:3].tolist()}"


def main():
    path, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    n, wrong = int((folder / "size").read_text()), 0
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((n, n), np.float32) for _ in range(2))
    at = np.sort(random.choice(n, min(SAMPLES, n), replace=False))
    driver = Driver(path)
    for name, arguments, like, reference, bound in cases(x, y):
        if not (folder / f"{name}.cubin").exists():
            continue
        try:
            result, us = run(driver, Made(folder, name), arguments, like)
            text = judged(result, reference(at, *arguments), at, bound)
            text = f"{text}   {us:9.1f} us"
        except Exception as e:
            text = f"FAILS   {type(e).__name__}: {e}"
        wrong += "right" not in text
        print(f"{name:16} {text}", flush=True)
    print(f"{wrong} kernels are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
