"""Writes tests/jax/reference/<package>.cases: functions of packages as programs, with inputs and JAX's results.

usage: write_references.py OUT [package...]     (packages.txt installed, PYTHONPATH and RICCI_PREFIX set)

A case is the whole function with its gradient: the program that from_jax makes, `vjp` by all floating arguments where
JAX has reverse mode, and `vmap`; of SECOND, whose derivatives are their own, that of `vjp` too. ricci_jax_replay
runs them, so a test run needs none of the packages. A function that cannot be imported is printed with the reason, and
so is one whose case is too large to be kept.
"""
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_allow_excess_precision=false"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["EQX_ON_ERROR"] = "off"  # its checks are callbacks
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "jax"))

import jax  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402

import package_functions  # noqa: E402
from case_file import CaseFile, is_inexact, is_key  # noqa: E402
from transforms import BATCH, bits, float0, jvp_of, normal, shapes_of, stacked, vjp_of, vmap_of  # noqa: E402

LIMIT = 72 << 10
SECOND = ("lineax",)


class Near:
    """A relative tolerance, and an absolute one by the greatest element."""

    def of(self, x):
        return (2e-4, 2e-5 * max(1.0, float(np.abs(np.nan_to_num(x)).max(initial=0)))) if is_inexact(x) else (0, 0)


def has_reverse_mode(flat_fn, leaves, active):
    outs = shapes_of(flat_fn, leaves)
    cts = [np.ones(o.shape, o.dtype) if is_inexact(o) else float0(o) for o in outs]
    try:
        jax.eval_shape(vjp_of(flat_fn, active), *leaves, *[c for c, o in zip(cts, outs) if is_inexact(o)])
    except (TypeError, ValueError, NotImplementedError, RuntimeError):
        return False
    return True


def add(file, rng, name, fn, args, second):
    function = ricci.from_jax(fn, *args)
    text = function.text
    leaves, tree = jax.tree_util.tree_flatten(args)
    leaves = [x if is_key(x) else np.asarray(x) for x in map(jax.numpy.asarray, leaves)]
    flat = lambda *xs: jax.tree_util.tree_leaves(fn(*tree.unflatten(xs)))  # noqa: E731
    active = [is_inexact(x) for x in leaves]
    outs = shapes_of(flat, leaves)
    if any(active) and any(map(is_inexact, outs)) and has_reverse_mode(flat, leaves, active):
        cts = [normal(rng, o) for o in outs if is_inexact(o)]
        given, vjp, transform = leaves + cts, vjp_of(flat, active), f"vjp {bits(active)}"
        file.add(f"{name}/vjp", text, [transform], given, vjp, Near())
        if second:
            mask = active + [True] * len(cts)
            tangents = [normal(rng, x) for x, m in zip(given, mask) if m]
            transforms = [transform, f"jvp {bits(mask)}"]
            file.add(f"{name}/jvp_vjp", text, transforms, given + tangents, jvp_of(vjp, mask), Near())
    else:
        file.add(f"{name}/values", text, [], leaves, flat, Near())
    if len(text) < LIMIT // 16:
        axes, out_axes = [0] * len(leaves), [0] * len(outs)
        transform = f"vmap {BATCH} in {' '.join(map(str, axes))} out {' '.join(map(str, out_axes))}"
        shift = lambda r: [x + np.float32(0.01) * normal(r, x) if is_inexact(x) else x for x in leaves]  # noqa: E731
        file.add(f"{name}/vmap", text, [transform], stacked(rng, shift, axes), vmap_of(flat, axes, out_axes), Near())


def write(package, out):
    path, rng = out / f"{package}.cases", np.random.default_rng(7)
    file, written = CaseFile(path), 0
    for name, fn, args in package_functions.PACKAGES[package]():
        start = file.file.tell()
        try:
            lacks = ricci.missing(fn, *args)
            if lacks:
                raise ricci.Error(", ".join(lacks))
            add(file, rng, f"{package}/{name}", fn, args, package in SECOND)
            file.flush()
        except ricci.Error as error:
            print(f"{package}/{name}: {error}", flush=True)
            continue
        if file.file.tell() > LIMIT:
            print(f"{package}/{name}: {file.file.tell() - start} bytes are too many", flush=True)
            file.file.seek(start)
            file.file.truncate()
        else:
            written += 1
    file.close()
    print(f"{package}: {written} functions, {path.stat().st_size} bytes", flush=True)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for package in sys.argv[2:] or package_functions.PACKAGES:
        try:
            write(package, out)
        except ImportError as error:
            print(f"{package}: {error}", flush=True)


if __name__ == "__main__":
    main()
