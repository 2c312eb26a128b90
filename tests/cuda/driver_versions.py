"""The functions of libcuda that driver.h declares, against NVIDIA's cudaTypedefs.h: driver_versions.py DRIVER_H TYPEDEFS_H

The driver has several versions of some functions and gives the newest one up to the version that it is asked for (12.0,
and 12.4 for those of conditional nodes). That one must have as many arguments as ours, pointers where ours has them.
"""
import pathlib
import re
import sys

VERSION, CONDITION_VERSION = 12000, 12040  # as driver.cc asks


def pointers(arguments):
    """Of each argument, how many stars it has."""
    return [argument.count("*") for argument in arguments.split(",") if argument.strip() not in ("", "void")]


def theirs(text):
    """By name, the versions of each function with its arguments."""
    found = {}
    for m in re.finditer(r"typedef CUresult \(CUDAAPI \*PFN_(cu\w+?)_v(\d+)\)\((.*?)\);", text, re.S):
        found.setdefault(m[1], {})[int(m[2])] = m[3]
    return found


def ours(text):
    """Name, arguments and asked version of each function."""
    text = text.replace("\\\n", " ")
    for macro, version in ("RICCI_CUDA_FUNCTIONS", VERSION), ("RICCI_CUDA_CONDITION_FUNCTIONS", CONDITION_VERSION):
        listed = re.search(rf"#define {macro}\(X\)(.*)", text)[1]
        for m in re.finditer(r"X\((cu\w+),\s*\(([^()]*)\)\)", listed):
            yield m[1], m[2], version


def main():
    driver, typedefs = (pathlib.Path(p).read_text() for p in sys.argv[1:])
    known, wrong, count = theirs(typedefs), [], 0
    for name, arguments, asked in ours(driver):
        count += 1
        versions = [v for v in known.get(name, ()) if v <= asked]
        if not versions:
            wrong.append(f"{name}: no version up to {asked}, only {sorted(known.get(name, ()))}")
        elif pointers(arguments) != pointers(known[name][max(versions)]):
            wrong.append(f"{name}: ours is ({arguments}), that of {max(versions)} is ({known[name][max(versions)]})")
    print("\n".join([*wrong, f"{count} functions, {len(wrong)} differ"]))
    return 1 if wrong or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
