"""Every compiler agrees with the layouts of the C ABI and with what releases promised, as C and as C++, whatever options
it is given: tests/abi/layout.c and tests/abi/releases/*.c, which bindings/spec writes, must compile.

Options that change what a compiler may choose (short enums, packed structs, the sign of char) must change nothing: no
layout depends on them. For 32 bits, where Ricci does not run, the headers must compile, without a library of C; layouts
with pointers are others there.
"""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import abi_variants
from abi_variants import ROOT, run

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
STANDARDS = [("gcc", "c11"), ("gcc", "c17"), ("gcc", "c2x"), ("gcc", "gnu11"), ("clang-14", "c11"), ("clang-14", "c17"),
             ("clang-14", "c2x"), ("g++", "c++20"), ("g++", "c++23"), ("clang++-14", "c++20"), ("clang++-14", "c++2b")]
OPTIONS = [["-fshort-enums"], ["-fpack-struct", "-DRICCI_TEST_PACKED"], ["-funsigned-char"], ["-fsigned-char"],
           ["-fvisibility=hidden", "-O2"]]
# Sizes that do not depend on pointers are the same for 32 bits. exact.h counts in 128 bits, which compilers have only
# where pointers have 64.
NARROW = abi_variants.HEADERS.replace('#include "ricci/exact.h"\n', "") + """
_Static_assert(sizeof(void*) == 4, "32 bits");
_Static_assert(sizeof(ricci_inst) == 24 && sizeof(ricci_plugin_note) == 36, "read from files or kept in them");
_Static_assert(sizeof(ricci_val) == 8 && sizeof(ricci_type) == 4, "ids");
"""
# (changes of the headers, part of what the compiler says)
BREAKS = [
    ([("include/ricci/device.h", "  int32_t ordinal; ", "  uint32_t ordinal; ")], "ordinal"),
    ([("include/ricci/build.h", "  uint32_t kind;\n  uint32_t count;", "  uint64_t kind;\n  uint32_t count;")], "ricci_attr"),
    ([("include/ricci/base.h", "RICCI_F32 = 12", "RICCI_F32 = 21")], "RICCI_F32 == 12"),
    ([("include/ricci/base.h", "ricci_dtype_size(uint32_t dtype)", "ricci_dtype_size(uint64_t dtype)")], "ricci_dtype_size"),
]
ORDER = ([("include/ricci/api_table.h", "  uint32_t (*abi_version)(void);\n", ""),
          ("include/ricci/api_table.h", "\n} ricci_api;", "\n  uint32_t (*abi_version)(void);\n} ricci_api;")],
         "ricci_api, abi_version")
GROWTH = [("include/ricci/device.h", "\n} ricci_memory_stats;", "\n  uint64_t later;\n} ricci_memory_stats;"),
          ("include/ricci/api_table.h", "\n} ricci_api;", "\n  void (*later)(void);\n} ricci_api;")]


def compiled(compiler, standard, options, file, include):
    language = ["-xc++"] if "++" in compiler else ["-xc"]
    rc, said = run(compiler, f"-std={standard}", *language, *STRICT, *options, f"-I{include}", file)
    return [] if rc == 0 else [f"{compiler} -std={standard} {' '.join(options)} {pathlib.Path(file).name}: {said[:600]}"]


def promised():
    return [p for p in sorted(abi_variants.RELEASES.glob("*.c")) if abi_variants.still_promised(p.stem)]


def agreement():
    files, include = [ROOT / "tests/abi/layout.c", *promised()], ROOT / "include"
    jobs = [(c, s, [], f, include) for c, s in STANDARDS for f in files]
    jobs += [(c, s, o, f, include) for c, s in (("gcc", "c11"), ("clang++-14", "c++20")) for o in OPTIONS for f in files]
    with tempfile.TemporaryDirectory() as folder:
        narrow = pathlib.Path(folder, "narrow.c")
        narrow.write_text(NARROW)
        jobs += [(c, "c11", ["-m32", "-ffreestanding"], narrow, include) for c in ("gcc", "clang-14")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [e for errors in pool.map(lambda job: compiled(*job), jobs) for e in errors]


def breaks_are_seen():
    errors, layout, promise = [], ROOT / "tests/abi/layout.c", abi_variants.RELEASES / f"{abi_variants.current()}.c"
    for changes, part, file in [(*b, promise) for b in BREAKS] + [(*ORDER, layout)]:
        if not file.exists():
            continue  # a version in development has promised nothing
        with abi_variants.variant(*changes) as work:
            said = "\n".join(compiled("gcc", "c11", [], file, work / "include"))
            if part not in said:
                errors.append(f"no check finds this change of the ABI: {changes}; the compiler said {said!r}")
    with abi_variants.variant(*GROWTH) as work:
        if promise.exists():
            errors += [f"a struct that grows at its end breaks a promise: {e}"
                       for e in compiled("gcc", "c11", [], promise, work / "include")]
    return errors


# (version of the headers, RICCI_TARGET_ABI, what the compiler says or "")
TARGETS = [((0, 1), "RICCI_ABI(0u, 1u)", ""), ((0, 1), "RICCI_ABI(0u, 2u)", "is newer than these headers"),
           ((0, 2), "RICCI_ABI(0u, 1u)", "before 1.0 a minor version may change anything"),
           ((1, 4), "RICCI_ABI(1u, 2u)", ""), ((1, 4), "RICCI_ABI(0u, 9u)", "another major version")]


def targets():
    """Which versions a source may be written for, by headers of several versions."""
    errors, now = [], abi_variants.version()
    for (major, minor), target, part in TARGETS:
        changes = [("include/ricci/base.h", f"#define RICCI_ABI_{word} {old}u", f"#define RICCI_ABI_{word} {new}u")
                   for word, old, new in zip(("MAJOR", "MINOR"), now, (major, minor))]
        with abi_variants.variant(*changes) as work:
            source = work / "target.c"
            source.write_text(abi_variants.HEADERS)
            said = "\n".join(compiled("gcc", "c11", [f"-DRICCI_TARGET_ABI={target}"], source, work / "include"))
            if (said == "") != (part == "") or part not in said:
                errors.append(f"{target}, headers of {major}.{minor}: {part or 'success'!r} is not what came: {said}")
    return errors


def main():
    errors = agreement() + breaks_are_seen() + targets()
    if any("releases" in e or "abi_" in e for e in errors):
        errors.append(f"if ABI {'.'.join(map(str, abi_variants.version()))} is not released yet, write its promise again: "
                      ".venv/bin/python bindings/spec/write_bindings.py --release; else see include/README.md, Versions")
    return abi_variants.report(errors, "layouts of the ABI")


if __name__ == "__main__":
    sys.exit(main())
