"""Rules for every file: short, with a unique name and an opening sentence on what it is, no words of unfinished work, in a
folder of few.

If two files have one name, a search finds the wrong one; unfinished work does not belong on the main branch.
"""
import collections
import re
import sys

import source_tree

MAX_LINES = 800  # of pages and scripts; of code:
MAX_CODE_LINES, MAX_TEST_LINES = 400, 600
MAX_FILES = 40
# Folders with one file for each primitive or public header, of which the alphabet is the right order; tests.
LISTS = {"plugins/lax", "bindings/cpp/ricci"}
# Written by programs; their length depends on the rows and on the declarations of the ABI.
PRINTED = {"PRIMITIVES.md", "REFERENCE.md", "layout.c", "abi.rs", "functions.rs", "table.rs", "layout.rs",
           "LowLevel.jl", "_abi.py", "plugin_forwarders.c", "api_table.h"}
TEXT = source_tree.CODE | {".cmake", ".py", ".sh", ".md", ".rs", ".toml", ".txt", ".in", ".jl"}
SHARED_NAMES = {"README.md", "SOURCE.md", "CMakeLists.txt", "Cargo.toml", "__init__.py", "lib.rs", "meson.build", "run.sh"}
# These folders may have files of equal names: a public header, the functions behind it and their tests share a name.
FACES = (("include", "ricci"), ("src", "api"), ("tests", "api"))
# Written in two parts so that this file does not find itself.
FORBIDDEN = [re.compile(rf"\b{a}{b}\b") for a, b in (("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK"))]
FORBIDDEN += [re.compile(a + b, re.I) for a, b in (("place", "holder"), (r"\bnot yet impl", "emented"))]
VAGUE_NAMES = re.compile(r"(^|_)(utils?|common|misc|helpers?)(_|$)")


def check_text(path):
    lines = source_tree.read(path).splitlines()
    errors = []
    most = MAX_LINES
    if path.suffix in source_tree.CODE | {".py", ".rs", ".jl"}:
        most = MAX_TEST_LINES if "tests" in path.parts else MAX_CODE_LINES
    if len(lines) > most and "golden" not in path.parts and path.name not in PRINTED and "releases" not in path.parts:
        errors.append(f"{path}: {len(lines)} lines, at most {most} are allowed")
    for number, line in enumerate(lines, 1):
        errors += [f"{path}:{number}: unfinished work: {line.strip()}" for word in FORBIDDEN if word.search(line)]
        if line != line.rstrip():
            errors.append(f"{path}:{number}: space at the end of the line")
    return errors


def check_opening(path):
    """A file of code starts with a comment that says what it is; that of a header also serves its source file."""
    header = path.with_suffix(".h")
    if path.suffix == ".cc" and (source_tree.ROOT / header).exists():
        return []
    first = source_tree.read(path).lstrip()[:2]
    return [] if first in ("//", "/*") else [f"{path}: must open with one sentence on what it is"]


def check_names(paths):
    names = collections.defaultdict(list)
    for path in paths:
        if path.parts[:2] not in FACES:
            names[path.name].append(str(path))
    errors = [f"one name, several files: {' '.join(places)}"
              for name, places in names.items() if len(places) > 1 and name not in SHARED_NAMES]
    return errors + [f"{p}: a name that says nothing" for p in paths if VAGUE_NAMES.search(p.stem)]


def check_folders(paths):
    """No folder has more files than one sees at once."""
    counts = collections.Counter(str(p.parent) for p in paths if p.parts[0] != "tests")
    return [f"{folder}: {n} files, at most {MAX_FILES} are allowed: give it folders"
            for folder, n in sorted(counts.items()) if n > MAX_FILES and folder not in LISTS]


def main():
    paths = [p for p in source_tree.files() if "golden" not in p.parts]
    errors = check_names(paths) + check_folders(paths)
    for path in paths:
        if path.suffix in TEXT:
            errors += check_text(path)
        if path.suffix in source_tree.CODE:
            errors += check_opening(path)
    return source_tree.report(errors, "text rules")


if __name__ == "__main__":
    sys.exit(main())
