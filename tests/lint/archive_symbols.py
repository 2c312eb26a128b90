"""The core archive: no static constructors, every public function defined, no symbol outside our names.

Constructors run before main in hosts that did not ask for it, and the symbols of two copies of the core in one
executable must not clash. Only the iostream initialiser that Abseil's headers bring into an object is allowed.
"""
import argparse
import re
import subprocess
import sys

import source_tree

# The functions that hold the code that runs before main, by gcc and clang.
STARTUP = re.compile(r"(_GLOBAL__sub_I|_GLOBAL__I|_Z41__static_initialization|__cxx_global_var_init)")
IOSTREAM = re.compile(r"_ZNSt8ios_base4Init|_ZStL8__ioinit|__cxa_atexit|__dso_handle")


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_constructors(archive):
    """References from code that runs before main, except to the iostream initialiser (its variable or its section)."""
    errors, member, function = [], "", ""
    for line in tool("objdump", "-dr", "--no-show-raw-insn", archive).splitlines():
        header = re.match(r"(\S+\.o):\s+file format", line)
        label = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        target = re.search(r"R_X86_64_\w+\s+([\w.]+)", line)
        if header:
            member, function = header[1], ""
        elif label:
            function = label[1]
        elif target and STARTUP.match(function) and not IOSTREAM.match(target[1]) and target[1][0] != ".":
            errors.append(f"{member}: a static constructor uses {target[1]}")
    return errors


def check_names(archive):
    """Strong symbols are the public functions or are in ricci::v0; every public function is defined."""
    declared = source_tree.public_functions()
    defined, errors = set(), []
    for line in tool("nm", "--defined-only", "--extern-only", archive).splitlines():
        parts = line.split()
        if len(parts) != 3 or parts[1] not in "TDBR":
            continue
        name = parts[2]
        defined.add(name)
        if not name.startswith("_Z") and name not in declared:
            errors.append(f"{name}: defined in the archive but in no public header")
        if name.startswith("_Z") and "5ricci2v0" not in name:
            errors.append(f"{name}: outside namespace ricci::v0")
    return errors + [f"{name}: declared in a public header but not defined" for name in sorted(declared - defined)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive")
    archive = parser.parse_args().archive
    return source_tree.report(check_constructors(archive) + check_names(archive), "archive")


if __name__ == "__main__":
    sys.exit(main())
