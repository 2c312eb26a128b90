"""The core archive: no static constructors, every public function defined, no symbol outside our names.

Constructors run before main in hosts that never asked for it, and two copies of the core in one executable must not
meet. Allowed is the iostream initialiser that Abseil's headers bring into an object.
"""
import argparse
import re
import subprocess
import sys

import source_tree

sys.path.insert(0, str(source_tree.ROOT / "cmake"))
import generate_api_table  # noqa: E402

ALLOWED_CALLS = {"_ZNSt8ios_base4InitC1Ev", "__cxa_atexit"}
# gcc's names for code of startup; clang splits them into one section per variable.
STARTUP = re.compile(r"Disassembly of section (\.text\.startup[^:]*|\.text\.__cxx_global_var_init[^:]*):")


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_constructors(archive):
    """Calls made by code of .text.startup other than the iostream initialiser."""
    errors, member, inside = [], "", False
    for line in tool("objdump", "-dr", "--no-show-raw-insn", archive).splitlines():
        header = re.match(r"(\S+\.o):\s+file format", line)
        if header:
            member, inside = header[1], False
        elif line.startswith("Disassembly of section"):
            inside = STARTUP.match(line) is not None
        call = inside and re.search(r"R_X86_64_(?:PLT32|PC32)\s+([\w.]+)", line)
        if call and call[1].startswith("_Z") and call[1] not in ALLOWED_CALLS and "ioinit" not in call[1] \
                and not call[1].startswith("_ZNSt8ios_base4InitD"):
            errors.append(f"{member}: a static constructor uses {call[1]}")
    return errors


def check_names(archive):
    """Strong symbols are the public functions or live in ricci::v0; every public function is there."""
    declared = {f"ricci_{n}" for h in generate_api_table.HEADERS for n, _, _ in generate_api_table.declarations(h)}
    declared.add("ricci_plugin_query_lax")
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
