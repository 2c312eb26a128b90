"""Modules of the Python and the Rust binding: each folder uses only those below it, and no modules use each other in a circle.

In Python an import stands at the top of its file, since one inside of a function hides a circle. The one exception is in
ROOT: JAX is imported on first use. In Rust a module uses another where it says `crate::other`; an `impl` may stand in any
file of a crate, so a circle is cut by moving one.
"""
import ast
import pathlib
import re
import sys

import source_tree

PACKAGE = pathlib.Path("bindings/python/ricci")
FOLDERS = ["abi", "calls", "tracing", "transforms", "numpy", "nn", "random", "jax"]  # the lowest first, then the root
LATE = {("__init__.py", "jax/importing.py")}
USE = re.compile(r"\b(?:crate|super)::(\{[^}]*\}|\w+)")


def python_file(folder, name):
    """The path in PACKAGE of the module `name`, with dots, as `folder` sees it; None for a name in a module."""
    path = folder.joinpath(*name.split(".")) if name else folder
    for candidate in (path.with_suffix(".py") if name else path, path / "__init__.py"):
        if candidate.suffix and (source_tree.ROOT / PACKAGE / candidate).is_file():
            return candidate.as_posix()
    return None


def imports(path):
    """(path in PACKAGE, line, whether it is at the top of the file) of what a file of the package imports from it."""
    tree = ast.parse(source_tree.read(path))
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        folder = path.relative_to(PACKAGE).parent
        for _ in range(node.level - 1):
            folder = folder.parent
        for name in node.names:
            inner = python_file(folder, ".".join(filter(None, (node.module, name.name))))
            found = inner or python_file(folder, node.module or "")
            if found:
                yield found, node.lineno, node in tree.body


def rank(name):
    folder = name.split("/")[0] if "/" in name else ""
    return FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


def check_python():
    """(errors, {file: the files it imports})."""
    errors, uses = [], {}
    for path in source_tree.files({".py"}, [str(PACKAGE)]):
        own = path.relative_to(PACKAGE).as_posix()
        if "/" in own and own.split("/")[0] not in FOLDERS:
            errors.append(f"{path}: its folder is not in FOLDERS of module_order.py")
        for name, line, at_top in imports(path):
            uses.setdefault(own, set()).add(name)
            if rank(name) > rank(own):
                errors.append(f"{path}:{line}: imports {name}, which is above it")
            if not at_top and (own, name) not in LATE:
                errors.append(f"{path}:{line}: imports {name} inside of a function; imports stand at the top")
    return errors, uses


def rust_uses(crate):
    """{module: the modules of the crate that it uses}. The root, which lists them all, is none."""
    texts = {p.stem: re.sub(r"//.*", "", source_tree.read(p)) for p in source_tree.files({".rs"}, [str(crate)])}
    return {name: {n for use in USE.findall(text) for n in re.findall(r"\w+", use) if n in texts} - {name, "lib"}
            for name, text in texts.items() if name != "lib"}


def circles(uses):
    """The groups of modules that reach each other."""
    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            new = uses.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found
    reach = {name: reached(name) for name in uses}
    return sorted({tuple(sorted(m for m in reach[name] if name in reach.get(m, ()))) for name in uses if name in reach[name]})


def main():
    errors, python = check_python()
    errors += [f"{PACKAGE}: these import each other: {' '.join(group)}" for group in circles(python)]
    for manifest in source_tree.files({".toml"}, ["bindings/rust"]):
        crate = manifest.parent / "src"
        errors += [f"{crate}: these use each other: {' '.join(group)}" for group in circles(rust_uses(crate))]
    return source_tree.report(errors, "module order")


if __name__ == "__main__":
    sys.exit(main())
