"""The files of this repository that the lint tests check: everything below the top-level folders, no build output."""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["bindings", "cmake", "include", "plugins", "samples", "src", "tests"]
CODE = {".h", ".hpp", ".c", ".cc"}
SKIPPED = {"__pycache__", ".venv", "node_modules", ".cache"}


def files(suffixes=None, below=FOLDERS):
    """Paths relative to ROOT, sorted, with one of `suffixes` (all if None), below the given folders."""
    found = []
    for folder in below:
        for directory, names, entries in os.walk(ROOT / folder):
            names[:] = [n for n in names if n not in SKIPPED and not n.startswith("build")]
            found += [pathlib.Path(directory, e).relative_to(ROOT) for e in entries]
    return sorted(f for f in found if suffixes is None or f.suffix in suffixes)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def public_functions():
    """Names of the C ABI, from the list that bindings/spec generates."""
    return set(re.findall(r"^    (\w+);$", read("cmake/shared_exports.map"), flags=re.M))


def report(errors, what):
    """Prints the violations and returns the exit status."""
    for error in errors:
        print(error)
    print(f"{what}: {len(errors)} violation(s)")
    return 1 if errors else 0
