"""Plugins that were compiled against older and newer headers, loaded by this core: plugin_versions.py RICCI_TOOL

Each is the plugin of samples/custom_primitive, compiled against changed copies of the headers. Structs that were
shorter or that are longer by members that are 0 make no difference; what this core cannot honour is a status that says
so, before it does harm.
"""
import pathlib
import sys
import tempfile

import abi_variants
from abi_variants import ROOT, run

PLUGIN = "include/ricci/plugin.h"
ROW = "include/ricci/primitive.h"
SOURCE = "samples/custom_primitive/smooth_abs_plugin.c"
CONTRACT = (
    "  ricci_status* (*contract)(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, const uint8_t* only,\n"
    "                            ricci_val* out);\n")
LAST_OF_ROW = CONTRACT + "} ricci_prim_def;"
LAST_OF_LOWERING = "} ricci_lowering;"
NEWER = [(ROW, LAST_OF_ROW, CONTRACT + "  uint64_t later[3];\n} ricci_prim_def;"),
         (ROW, LAST_OF_LOWERING, "  uint64_t later;\n} ricci_lowering;"),
         (PLUGIN, "may be NULL */\n} ricci_plugin;", "may be NULL */\n  void* later;\n} ricci_plugin;")]

# (what it is, changes of the headers, changes of the plugin's source, part of the message or "" if it must work)
CASES = [
    ("the plugin as it is", [], [], ""),
    ("an older one, without the last members", [
        (ROW, LAST_OF_ROW, "} ricci_prim_def;"), (PLUGIN, "  void (*detach)(void* self, ricci_ctx* c);", "  /*")], [], ""),
    ("a newer one, which sets nothing new", NEWER, [], ""),
    ("a newer one, which sets a new member of the row", NEWER, [
        ("  row.n_lowerings = 1;\n", "  row.n_lowerings = 1;\n  row.later[2] = 5;\n")], "primitive: struct of"),
    ("a newer one, which sets a new member of the plugin", NEWER, [
        (".attach = attach};", ".attach = attach,\n.later = (void*)8};")], "plugin: struct of"),
    ("one that needs a feature", [], [(".attach = attach};", ".attach = attach,\n.needs_features = {0, 0, 1}};")],
     "plugin smooth_abs: needs feature 128, which this core lacks"),
    ("one that asks what the host has", [], [
        ("  (void)host;\n", "  if (host->hdr.size < sizeof *host || host->features[0] != host->api->features[0])\n"
                            '    return ricci_status_make(RICCI_INTERNAL, "features", 8);\n')], ""),
    ("one of another minor version", [
        ("include/ricci/base.h", "#define RICCI_ABI_MINOR 1u", "#define RICCI_ABI_MINOR 9u")], [],
     "compiled against ABI 0.9, this core has 0.1; rebuild it"),
    ("one with a longer table", [
        ("include/ricci/api_table.h", "\n} ricci_api;", "\n  void (*later)(void);\n} ricci_api;")], [],
     "compiled for another version of the ABI; rebuild it for this core"),
    ("one with an extension that must be known", [], [
        ("  ricci_prim id;\n", "  const ricci_ext ext = {sizeof ext, RICCI_EXT_CRITICAL, 77, NULL};\n"
                               "  row.hdr.next = &ext;\n  ricci_prim id;\n")], "unknown critical extension 77"),
    ("one with an extension that may be ignored", [], [
        ("  ricci_prim id;\n", "  const ricci_ext ext = {sizeof ext, 0, 77, NULL};\n"
                               "  row.hdr.next = &ext;\n  ricci_prim id;\n")], ""),
]


def built(work, header_changes, source_changes):
    """The shared object of one case."""
    source, entry, out = work / "plugin.c", work / "entry.c", work / "plugin.so"
    source.write_text((ROOT / SOURCE).read_text())
    entry.write_text((ROOT / "cmake/plugin_entry.c.in").read_text().replace("@name@", "smooth_abs"))
    for old, new in source_changes:
        abi_variants.replaced(source, old, new)
    with abi_variants.variant(*header_changes) as tree:
        rc, said = run("gcc", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-DRICCI_PLUGIN_DSO",
                       f"-I{tree / 'include'}", entry, source, "-o", out)
    return out if rc == 0 else sys.exit(f"a plugin does not compile: {said}")


def check(tool):
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for what, header_changes, source_changes, part in CASES:
            rc, said = run(tool, "check", "--plugin", built(work, header_changes, source_changes))
            if (rc == 0) != (part == "") or part not in said or rc < 0:
                errors.append(f"{what}: exit status {rc}, {part or 'success'!r} is not what came:\n{said[-600:]}")
    return errors


if __name__ == "__main__":
    sys.exit(abi_variants.report(check(sys.argv[1]), "plugins of other versions"))
