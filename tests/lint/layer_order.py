"""Each folder includes only what is below it: the layers of src/, the public headers, the binding, the plugins.

The order of the layers is that of RICCI_LAYERS in cmake/core.cmake, with the tool (cli) last; that of the folders within
one is in ROOMS. A rule that only reviewers check is broken sooner or later; breaking this one fails a test.
"""
import pathlib
import re
import sys

import source_tree

# Folders with folders of code in them, the lowest of these first; `.` stands for the files beside them.
ROOMS = {
    "bindings/cpp/host": "core jit transform numpy linalg random nn scipy",
    "plugins/codegen": ". math",
    "plugins/cpu": "llvm run scalar kernel plan tiles library .",
    "plugins/cuda": "driver device schedule tile print lowering profile run explain .",
    "src/kernel": "scalar . verify interpret",
    "src/pass": "target cost kernel program plan reduce .",
    "src/runtime": "cache context plugin run compile fault",
}
ROOTS = ("src", "plugins", "bindings/cpp")  # from where files include those of another folder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LLVM_CXX_FILES = 4


def layers():
    text = source_tree.read("cmake/core.cmake")
    return re.search(r"set\(RICCI_LAYERS ([^)]*)\)", text)[1].split() + ["cli"]


def includes(path):
    """(kind of bracket, path) of every include of a file."""
    return INCLUDE.findall(source_tree.read(path))


def check_core(path, order):
    """A file of src/<layer> includes its own layer, lower layers and the C ABI."""
    layer = path.parts[1]
    if layer not in order:
        return [f"{path}: {layer} is not a layer; cmake/core.cmake lists them"]
    below = order[: order.index(layer) + 1]
    errors = []
    for bracket, name in includes(path):
        top = name.split("/")[0]
        if bracket == '"' and top not in below and top not in ("ricci", "absl"):
            errors.append(f"{path}: includes {name}, but {layer} may use only {' '.join(below)}")
        if bracket == '"' and top == "ricci" and name.endswith(".hpp"):
            errors.append(f"{path}: includes {name}; the core does not use the C++ binding")
    return errors


def check_public(path):
    """A header of the C ABI includes only stddef.h, stdint.h and its siblings."""
    return [f"{path}: includes {name}; only stddef.h, stdint.h and ricci/*.h may be"
            for _, name in includes(path)
            if name not in ("stddef.h", "stdint.h") and not re.fullmatch(r"ricci/\w+\.h", name)]


def check_outside(path):
    """Bindings, plugins and samples include public headers and files of their own folder or of plugins/ only."""
    errors = []
    for bracket, name in includes(path):
        inside = (source_tree.ROOT / "src" / name).exists()
        own = (source_tree.ROOT / path.parent / name).exists() or (source_tree.ROOT / "plugins" / name).exists()
        if bracket == '"' and inside and not own and not name.startswith("ricci/"):
            errors.append(f"{path}: includes {name} of the core; only include/ and bindings/ are open to it")
    return errors


def room_of(path):
    """(folder, its rooms in order, the room) of a file below a folder with rooms; else None."""
    for folder, order in ROOMS.items():
        if path.is_relative_to(folder):
            inner = path.relative_to(folder).parts
            return folder, order.split(), inner[0] if len(inner) > 1 else "."
    return None


def check_room(path):
    """A file of a room includes those of its own room and of lower ones, each by its path from one of ROOTS."""
    folder, order, room = room_of(path)
    if room not in order:
        return [f"{path}: {room} is not a folder of {folder}; ROOMS in layer_order.py lists them"]
    errors = []
    for bracket, name in includes(path):
        other = next((o for root in ROOTS if (o := room_of(pathlib.Path(root, name))) and o[0] == folder), None)
        if bracket == '"' and other and order.index(other[2]) > order.index(room):
            errors.append(f"{path}: includes {name}, but {room} may use only {' '.join(order[:order.index(room) + 1])}")
        if bracket == '"' and "/" not in name and (source_tree.ROOT / path.parent / name).exists():
            errors.append(f"{path}: includes {name}; files of {folder} are included by their whole path")
    return errors


def check_llvm(paths):
    """Only plugins/cpu, plugins/object and tests include LLVM, and only a few files its slow C++ headers."""
    errors, cxx = [], set()
    for path in paths:
        for _, name in includes(path):
            if not re.match(r"(llvm|llvm-c|clang)/", name):
                continue
            if path.parts[:2] not in (("plugins", "cpu"), ("plugins", "object"), ("tests", "cpu")):
                errors.append(f"{path}: includes {name}; only plugins/cpu and plugins/object use LLVM")
            if not name.startswith("llvm-c/"):
                cxx.add(str(path))
    if len(cxx) > LLVM_CXX_FILES:
        errors.append(f"LLVM's C++ headers are in {len(cxx)} files, {LLVM_CXX_FILES} are allowed: {' '.join(sorted(cxx))}")
    return errors


def main():
    order = layers()
    code = source_tree.files(source_tree.CODE)
    errors = check_llvm(code)
    for path in code:
        if room_of(path):
            errors += check_room(path)
        if path.parts[0] == "src":
            errors += check_core(path, order)
        elif path.parts[0] == "include":
            errors += check_public(path)
        elif path.parts[0] in ("bindings", "plugins", "samples"):
            errors += check_outside(path)
    return source_tree.report(errors, "layer order")


if __name__ == "__main__":
    sys.exit(main())
