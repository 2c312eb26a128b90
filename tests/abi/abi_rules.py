"""The rules for declarations of the C ABI: a struct that breaks one could not be read by all compilers, or not grow.

Members are integers of a stated size, doubles, pointers, other structs or arrays of these: no enums, bool, bit fields,
unions or characters alone; no bytes between them; what crosses begins with ricci_hdr, except what ricci/base.h lists.
Functions pass and return no structs by value and no variable arguments.
"""
import pathlib
import re
import sys
import tempfile

import abi_layouts
import abi_variants

sys.path.insert(0, str(abi_variants.ROOT / "bindings/spec"))

import freeze  # noqa: E402
import headers  # noqa: E402
import layout  # noqa: E402

NUMBERS = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8, "size_t": 8,
           "double": 8, "ricci_val": 8, "ricci_type": 4, "ricci_prim": 4, "ricci_sval": 4, "ricci_karr": 4}
# Elements of arrays whose size the struct that holds the array gives (ricci/base.h).
SIZE_IS_GIVEN = {"ricci_inst", "ricci_kernel_buffer", "ricci_plan_buffer", "ricci_plan_step", "ricci_plan_library",
                 "ricci_plan_source", "ricci_attr_spec"}
MISTAKES = """
enum bad_kind { BAD_ONE = 1 };
typedef struct ricci_bad { ricci_hdr hdr; enum bad_kind kind; uint32_t rest; } ricci_bad;
typedef struct ricci_worse { uint32_t size; uint64_t value; _Bool yes; } ricci_worse;
RICCI_API uint32_t ricci_worst(ricci_str by_value, ...);
"""


def bytes_of(member, structs):
    if "*" in member.type or member.callback is not None or member.type.endswith("_fn"):
        return 8
    kind = member.type.removeprefix("struct ")
    if kind in NUMBERS:
        return NUMBERS[kind]
    if kind in structs:
        return structs[kind].size
    return 1 if kind == "char" and member.length else None


def check_struct(s, structs):
    errors, at = [], 0
    for m in s.members:
        size = bytes_of(m, structs)
        if size is None:
            errors.append(f"{s.name}.{m.name}: {m.type} is not a type for a layout; use integers of a stated size")
            size = 0
        if m.offset != at:
            errors.append(f"{s.name}: {m.offset - at} bytes before {m.name} have no name; add a reserved member")
        at = m.offset + size * (m.length or 1)
    if at != s.size:
        errors.append(f"{s.name}: {s.size - at} bytes at its end have no name; add a reserved member")
    first = s.members[0]
    if (first.name, first.type) != ("hdr", "ricci_hdr") and s.name not in layout.FIXED | SIZE_IS_GIVEN:
        errors.append(f"{s.name}: does not begin with ricci_hdr hdr")
    return errors


def check_function(f, structs):
    errors = [f"{f.name}: {p.name}: a struct by value; pass its address" for p in f.parameters
              if "*" not in p.type and p.type in structs]
    return errors + ([f"{f.name}: returns a struct by value"] if f.result in structs else [])


def variadic(text):
    code = re.sub(r"/\*.*?\*/|^ *#.*$", " ", text, flags=re.M | re.S)
    return [f"{name}: variable arguments; pass an array" for name in re.findall(r"\b(ricci_\w+)\([^()]*\.\.\.\)", code)]


def check(spec, known):
    structs = {s.name: s for s in known.structs + spec.structs}
    return [e for s in spec.structs for e in check_struct(s, structs)] + \
        [e for f in spec.functions for e in check_function(f, structs)]


def order_is_promised(spec):
    """What 1.0 would promise holds for the headers as they are, and not if a function of the table moves."""
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        promise = pathlib.Path(folder, "abi_1_0.c")
        promise.write_text(freeze.text(spec, 1, 0))
        errors += abi_layouts.compiled("gcc", "c11", [], promise, abi_variants.ROOT / "include")
        with abi_variants.variant(*abi_layouts.ORDER[0]) as work:
            said = "\n".join(abi_layouts.compiled("gcc", "c11", [], promise, work / "include"))
    return errors + ([] if "ricci_api, abi_version" in said else [f"no check finds that a function moves: {said}"])


def main():
    spec = headers.read()
    texts = [p.read_text() for p in sorted((abi_variants.ROOT / "include/ricci").glob("*.h"))]
    errors = check(spec, spec) + variadic("\n".join(texts)) + order_is_promised(spec)
    said = "\n".join(check(headers.read_text(MISTAKES), spec) + variadic(MISTAKES))
    for part in ("ricci_bad.kind", "ricci_worse: does not begin", "4 bytes before value", "ricci_worse.yes", "by_value",
                 "ricci_worst: variable arguments"):
        if part not in said:
            errors.append(f"no check finds {part!r} in declarations that break the rules; said: {said}")
    return abi_variants.report(errors, "rules of the ABI")


if __name__ == "__main__":
    sys.exit(main())
