"""Each header compiles alone: the public ones as C11 and C++20 with gcc and clang, the others as C++20 with one of them
(clang is faster if Abseil is included).

A header that depends on what its users happen to include before it fails for the first new user. A missing compiler
fails the test rather than reduces it.
"""
import concurrent.futures
import shutil
import subprocess
import sys

import source_tree

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-fsyntax-only"]
C11 = [["gcc", "-std=c11", "-xc"], ["clang-14", "-std=c11", "-xc"]]
CXX20 = [["g++", "-std=c++20", "-xc++"], ["clang++-14", "-std=c++20", "-xc++"]]


def jobs():
    """(header, command) of everything to compile. clang warns about `pragma once` in main files, hence the #include."""
    include = ["-I", "include"]
    for path in source_tree.files({".h", ".hpp"}):
        top = path.parts[0]
        if top == "include":
            for compiler in C11 + CXX20:
                yield path, [*compiler, *WARNINGS, *include]
            if path.name == "api_table.h":
                for compiler in C11 + CXX20:
                    yield path, [*compiler, *WARNINGS, *include, "-DRICCI_PLUGIN_DSO"]
        elif top == "bindings":
            yield path, [*CXX20[0], *WARNINGS, *include, "-I", "bindings/cpp"]
        elif top == "src":
            yield path, [*CXX20[1], *WARNINGS, *include, "-I", "src"]


def run(job):
    path, command = job
    result = subprocess.run([*command, "-"], input=f'#include "{path}"\n', cwd=source_tree.ROOT, text=True,
                            capture_output=True)
    return "" if result.returncode == 0 else f"{path} alone with {command[0]}:\n{result.stderr}"


def main():
    missing = [c[0] for c in C11 + CXX20 if shutil.which(c[0]) is None]
    if missing:
        sys.exit(f"missing: {' '.join(missing)}: sh cmake/install_dependencies.sh")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        errors = [e for e in pool.map(run, [(p, c + ["-I", "."]) for p, c in jobs()]) if e]
    return source_tree.report(errors, "headers alone")


if __name__ == "__main__":
    sys.exit(main())
