"""The ABI against the dump of each release that still holds (tests/abi/releases/*.xml), by abidiff of libabigail:
abi_difference.py LIBRICCI_SO, or abi_difference.py --release to write the dump of the version that is released.

What may happen: new functions, and members at the end of structs, whose size their writer says. Everything else that a
release had must still be there, of the same type. The library must export all symbols of the dump and have the SONAME
of its major version.
"""
import argparse
import pathlib
import re
import sys
import tempfile
from xml.etree import ElementTree

import abi_variants
from abi_variants import ROOT, run

sys.path.insert(0, str(ROOT / "bindings/spec"))

from layout import FIXED  # noqa: E402

ENTRIES = "".join(f"ricci_status* ricci_plugin_query_{name}(const ricci_host_info* host, const ricci_plugin** out) "
                  "{ __builtin_trap(); }\n" for name in ("lax", "nn"))
LARGEST_DUMP = 300 * 1024
# (changes, part of the report)
BREAKS = [
    ([("include/ricci/callback.h", "  uint32_t n_in, n_out;\n", "  uint64_t n_in, n_out;\n")],
     "ricci_callback_call: 64 bytes have become 72, and not by members at its end"),
    ([("include/ricci/callback.h", "  uint32_t n_in, n_out;\n", "  uint64_t n_in;\n")], "ricci_callback_call"),
    ([("include/ricci/device.h", "  int32_t ordinal; ", "  uint32_t ordinal; ")], "ordinal"),
    ([("include/ricci/build.h", "ricci_val v, uint32_t i);", "ricci_val v, uint64_t i);"),
      ("cmake/plugin_forwarders.c", "ricci_val v, uint32_t i)", "ricci_val v, uint64_t i)")], "ricci_builder_operand"),
    ([("cmake/plugin_forwarders.c", "uint32_t ricci_abi_version(void)", "uint32_t ricci_other_version(void)")],
     "ricci_abi_version"),
]
ADDED = [("include/ricci/device.h", "\n} ricci_memory_stats;", "\n  uint64_t later;\n} ricci_memory_stats;"),
         ("cmake/plugin_forwarders.c", "uint32_t ricci_abi_version(void)",
          "uint32_t ricci_later(ricci_ctx* c) { return c != NULL; }\nuint32_t ricci_abi_version(void)")]


def own_soname():
    return f"libricci.so.{abi_variants.version()[0]}"


def stub(work, tree=ROOT, soname=None):
    """A shared object with every public function and type of the headers below `tree`, with debug information.

    libricci.so itself is compiled without types in its debug information: those of its C++ would take longer to write
    and to read than the rest of the build. Its functions are compiled against the same headers, so that a type that
    differs does not compile; its symbols are compared here. The functions are those that plugins are linked with, which
    bindings/spec writes, with no body: so the table, whose order the promises hold, is in no type.
    """
    source, out = work / "stub.c", work / "libricci.so"
    code = (tree / "cmake/plugin_forwarders.c").read_text()
    table = '#include "ricci/api_table.h"'
    code = code.replace(table, abi_variants.HEADERS.replace(table, ""))
    code = re.sub(r"\{\s+(?:return )?ricci_api_table->[^;]*;\s*\}", "{ __builtin_trap(); }", code)
    source.write_text(re.sub(r"^extern .*ricci_api_table;$", "", code, flags=re.M) + ENTRIES)
    rc, said = run("gcc", "-std=c11", "-g", "-O0", "-shared", "-fPIC", f"-I{tree / 'include'}", source,
                   f"-Wl,-soname,{soname or own_soname()}", "-o", out)
    return out if rc == 0 else sys.exit(f"the headers do not compile: {said}")


def dump(library, out):
    rc, said = run("abidw", "--exported-interfaces-only", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                   "--no-elf-needed", "--no-parameter-names", "--out-file", out, library)
    if rc:
        sys.exit(f"abidw: {said}")
    text = re.sub(r"^ +", "", out.read_text(), flags=re.M)  # a fifth of it is blanks
    out.write_text(re.sub(r"path='[^']*/stub\.c'", "path='stub.c'", text))


def structs(xml):
    """name -> (size, [(member, offset)]) of a dump, in bits."""
    place = lambda m: (m.find("var-decl").get("name"), int(m.get("layout-offset-in-bits")))
    return {c.get("name"): (int(c.get("size-in-bits")), [place(m) for m in c.iter("data-member")])
            for c in ElementTree.parse(xml).iter("class-decl") if c.get("size-in-bits")}


def grown(old, new):
    """(structs that have only more members at their end, mistakes in others that are larger)."""
    before, after, only_more, errors = structs(old), structs(new), [], []
    for name in sorted(set(before) & set(after)):
        (size, members), (new_size, new_members) = before[name], after[name]
        if new_size <= size:
            continue
        if new_members[:len(members)] == members and name not in FIXED:
            only_more.append(name)
        else:
            errors.append(f"{name}: {size // 8} bytes have become {new_size // 8}, and not by members at its end")
    return only_more, errors


def difference(old, library, work):
    """What an old user of the ABI would notice; empty if nothing.

    abidiff must hear of each struct that may have grown: a rule for all that grow at their end (libabigail 2.2:
    has_data_member_inserted_at) hides other changes too.
    """
    new, rules = work / "new.xml", work / "grown.suppr"
    dump(library, new)
    only_more, errors = grown(old, new)
    rules.write_text("".join(f"[suppress_type]\n  type_kind = struct\n  name = {name}\n" for name in only_more))
    rc, said = run("abidiff", "--no-added-syms", "--suppressions", rules, old, library)
    return "\n".join(errors + ([f"abidiff {old.name}: {said}"] if rc else []))


def check_changes(old, work):
    """Changes that users would notice are reported, additions are not."""
    errors = []
    for changes, part in BREAKS:
        with abi_variants.variant(*changes) as tree:
            said = difference(old, stub(work, tree), work)
        if part not in said:
            errors.append(f"no check finds this change of the ABI: {changes}; abidiff said {said!r}")
    with abi_variants.variant(*ADDED) as tree:
        said = difference(old, stub(work, tree), work)
    return errors + ([f"an addition is taken for a change: {said}"] if said else [])


def check_library(old, library):
    """The symbols and the SONAME of the library itself."""
    wanted = set(re.findall(r"<elf-symbol name='(ricci_\w+)'", old.read_text()))
    exported = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library)[1].splitlines()}
    errors = [f"{library}: {name} of {old.stem} is gone" for name in sorted(wanted - exported)]
    soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", library)[1])
    right = own_soname()
    if not wanted:
        errors.append(f"{old.name} has no symbols")
    return errors + ([] if soname and soname[1] == right else [f"{library}: its SONAME is not {right}"])


def check_other_libraries(old, work):
    """A library without a function, and one of another major version, are refused."""
    with abi_variants.variant(*BREAKS[-1][0]) as tree:
        lacking = stub(work, tree)
    said = "\n".join(check_library(old, lacking))
    errors = [] if "ricci_abi_version of" in said else [f"no check finds that a library lacks ricci_abi_version: {said}"]
    with abi_variants.variant() as tree:
        other = stub(work, tree, soname="libricci.so.77")
    said = "\n".join(check_library(old, other))
    return errors + ([] if "its SONAME is not" in said else [f"no check finds another SONAME: {said}"])


def check(library):
    releases = [p for p in sorted(abi_variants.RELEASES.glob("*.xml")) if abi_variants.still_promised(p.stem)]
    errors = [f"{p.name} has {p.stat().st_size} bytes, more than {LARGEST_DUMP}" for p in releases
              if p.stat().st_size > LARGEST_DUMP]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for old in releases:
            said = difference(old, stub(work), work)
            errors += ([said] if said else []) + check_library(old, library)
        if releases:
            errors += check_changes(releases[-1], work) + check_other_libraries(releases[-1], work)
    if any("abidiff" in e for e in errors):
        errors.append("if that version is not released yet, write its dump again: tests/abi/abi_difference.py --release")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="?")
    parser.add_argument("--release", action="store_true", help="write the dump of this version")
    arguments = parser.parse_args()
    if arguments.release:
        with tempfile.TemporaryDirectory() as folder:
            dump(stub(pathlib.Path(folder)), abi_variants.RELEASES / f"{abi_variants.current()}.xml")
        return 0
    return abi_variants.report(check(arguments.library), "differences to releases")


if __name__ == "__main__":
    sys.exit(main())
