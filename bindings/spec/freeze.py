"""tests/abi/releases/abi_MAJOR_MINOR.c: what a release promised, as declarations and assertions that later headers must
meet: `write_bindings.py --release` writes the file of the version in ricci/base.h.

Structs may grow at the end, functions and constants may be added; whatever the release had stays at its place, with its
value and its type. tests/abi/release_files.py compiles the files of all releases whose promise still holds.
"""
from function_table import wrapped
from layout import FIRST_SLOT, FIXED


def asserted(what):
    return f"FROZEN({what});"


def of_struct(s):
    grows = "==" if s.name in FIXED else ">="
    lines = [asserted(f"sizeof({s.name}) {grows} {s.size}"), asserted(f"ALIGNED({s.name}, {s.align})")]
    for m in s.members:
        lines.append(asserted(f"offsetof({s.name}, {m.name}) == {m.offset}"))
        lines.append(f"FROZEN_TYPE({s.name}, {m.name}, {type_of(m)});")
    return lines


def type_of(m):
    if m.callback is None:
        return m.type if m.length is None else f"{m.type}[{m.length}]"
    return f"{m.type}({', '.join(p.declaration for p in m.callback) or 'void'})"


def of_constant(c):
    """As C and C++ both compare it: a count of this version may grow."""
    if c.name == "RICCI_S_COUNT":
        return [asserted(f"{c.name} >= {c.value}")]
    if c.name in ("RICCI_ABI_MAJOR", "RICCI_ABI_MINOR"):
        return []
    return [asserted(f"{c.name} == {c.value}{'u' if c.value > 2**31 - 1 else ''}{'ll' if c.value > 2**32 - 1 else ''}")]


def text(spec, major, minor):
    lines = [line for s in spec.structs for line in of_struct(s)]
    lines += [line for c in spec.constants for line in of_constant(c)]
    if major > 0:  # before, functions are added anywhere, and a plugin compares the size of the table
        lines += [asserted(f"offsetof(ricci_api, {f.short_name}) == {FIRST_SLOT + 8 * i}")
                  for i, f in enumerate(spec.functions)]
    functions = "\n".join(wrapped(f"{f.result} {f.name}", f.parameter_list + ";") for f in spec.functions)
    return f"""/* What ABI {major}.{minor} promised: layouts, values, types of members and of functions, which are declared again.
 *
 * Written by bindings/spec when that version was released; do not edit. What does not compile here breaks what was
 * compiled with that release.
 */
#include <stddef.h>

#include "ricci/api_table.h"
/* clang-format off */

#ifdef __cplusplus
#define FROZEN(is) static_assert(is, #is)
#define FROZEN_TYPE(of, member, ...) FROZEN(1) /* C compares them */
#define _Alignof alignof
extern "C" {{
#else
#define FROZEN(is) _Static_assert(is, #is)
#define FROZEN_TYPE(of, member, ...) \\
  FROZEN(__builtin_types_compatible_p(__typeof__(((of*)0)->member), __VA_ARGS__))
#endif
#ifdef RICCI_TEST_PACKED /* -fpack-struct: only places are the same */
#define ALIGNED(type, to) 1
#else
#define ALIGNED(type, to) _Alignof(type) == (to)
#endif

""" + "\n".join(lines) + "\n\n" + functions + """

#ifdef __cplusplus
}
#endif
"""


def version(spec):
    values = {c.name: c.value for c in spec.constants}
    return values["RICCI_ABI_MAJOR"], values["RICCI_ABI_MINOR"]


def release(spec):
    """The file of the version that the headers have."""
    major, minor = version(spec)
    return {f"tests/abi/releases/abi_{major}_{minor}.c": text(spec, major, minor)}
