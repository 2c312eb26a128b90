"""Each header compiles alone: the public ones as C11 and C++20 with gcc and clang, those of Python's extension as C11, the
others as C++20 with clang, which takes a third of g++'s time if they begin with a precompiled header.

A header that depends on what its users happen to include before it fails for the first new user. A missing compiler
fails the test rather than reduces it.

Most of the time goes into the headers that a header includes. BEGINNINGS are precompiled, with the templates that they
need, and a header that reaches one of them begins with it. This hides nothing: a header sees what it includes, only
earlier, and another header that needs it without including it fails alone. A beginning does not begin with another one:
clang 14 then loses a macro of the standard library.

usage: header_compiles.py [FOLDER]...
"""
import concurrent.futures
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import source_tree

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-fsyntax-only"]
C11 = [["gcc", "-std=c11", "-xc"], ["clang-14", "-std=c11", "-xc"]]
CXX20 = [["g++", "-std=c++20", "-xc++"], ["clang++-14", "-std=c++20", "-xc++"]]
# For each top folder the most expensive first.
BEGINNINGS = {"src": ["runtime/context/context.h", "trace/builder.h", "prim/registry.h", "ir/program.h", "types/array_type.h",
                      "absl/status/statusor.h", "absl/status/status.h", "string"],
              "bindings": ["ricci/tree.hpp", "ricci/operand.hpp", "ricci/emit.hpp", "ricci/value.hpp"]}
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.M)


@functools.cache
def reached(path):
    """The names of all that a header of ours includes, itself or by other headers of ours."""
    names = set(INCLUDE.findall(source_tree.read(path)))
    for name in list(names):
        for folder in [path.parent, *map(pathlib.Path, ("include", "bindings/cpp", "src"))]:
            if (source_tree.ROOT / folder / name).exists():
                names |= reached(folder / name)
                break
    return names


def jobs(folders):
    """(header, command) of all in `folders`. clang warns about `pragma once` in main files, hence the #include."""
    include = ["-I", ".", "-I", "include"]
    for path in source_tree.files({".h", ".hpp"}, folders):
        top = path.parts[0]
        if top == "include":
            for compiler in C11 + CXX20:
                yield path, [*compiler, *WARNINGS, *include]
            if path.name == "api_table.h":
                for compiler in C11 + CXX20:
                    yield path, [*compiler, *WARNINGS, *include, "-DRICCI_PLUGIN_DSO"]
        elif path.parts[:3] == ("bindings", "python", "native"):
            yield path, [*C11[0], *WARNINGS, *include, "-isystem", sysconfig.get_paths()["include"]]
        elif top == "bindings":
            yield path, [*CXX20[1], *WARNINGS, *include, "-I", "bindings/cpp"]
        elif top == "src":
            yield path, [*CXX20[1], *WARNINGS, *include, "-I", "src"]


def precompile(command, name, folder):
    """The arguments that make `command` begin with the header `name`."""
    header = pathlib.Path(folder, name.replace("/", "_") + ".first")
    header.write_text(f'#include "{name}"\n')
    command = [c for c in command if c not in ("-xc++", "-fsyntax-only")] + ["-fpch-instantiate-templates"]
    subprocess.run([*command, "-xc++-header", header, "-o", f"{header}.pch"], cwd=source_tree.ROOT, check=True)
    return ["-include-pch", f"{header}.pch", "-fpch-instantiate-templates"]


def with_beginnings(jobs, folder):
    """The jobs, each with a precompiled beginning if it reaches one."""
    precompiled = {}
    for path, command in jobs:
        name = next((b for b in BEGINNINGS.get(path.parts[0], []) if b in reached(path)), None)
        if name is not None and name not in precompiled:
            precompiled[name] = precompile(command, name, folder)
        yield path, command + precompiled.get(name, [])


def run(job):
    path, command = job
    result = subprocess.run([*command, "-"], input=f'#include "{path}"\n', cwd=source_tree.ROOT, text=True,
                            capture_output=True)
    return "" if result.returncode == 0 else f"{path} alone with {command[0]}:\n{result.stderr}"


def main(folders):
    missing = [c[0] for c in C11 + CXX20 if shutil.which(c[0]) is None]
    if missing:
        sys.exit(f"missing: {' '.join(missing)}: sh cmake/install_dependencies.sh")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        errors = [e for e in pool.map(run, with_beginnings(jobs(folders), folder)) if e]
    return source_tree.report(errors, "headers alone")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or source_tree.FOLDERS))
