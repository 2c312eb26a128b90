"""What the annotations of ricci/base.h may say, and which declarations lack one.

They compile to nothing, so only this file notices one that is missing or that names a parameter that no longer exists;
everything is generated only from headers that pass. tests/lint/abi_null_checks.py compares them with what functions do
with NULL.
"""
import re

from headers import HANDLES

COUNTS = {"uint32_t", "uint64_t", "int64_t", "size_t"}
# They change the registry of a context, from a plugin's attach or before others use it: the only functions that need
# the context to themselves.
ALONE = {"ricci_context_add_plugin", "ricci_context_load_plugin", "ricci_prim_register", "ricci_prim_add_lowering",
         "ricci_backend_register", "ricci_context_option"}
SCALARS = COUNTS | {"uint8_t", "int32_t", "double", "ricci_val", "ricci_type", "ricci_prim", "ricci_sval", "ricci_karr"}
# Each annotation with the number of its arguments.
ANNOTATIONS = {"RICCI_OWNED": 0, "RICCI_NULLABLE": 0, "RICCI_TEXT": 0, "RICCI_ANY_THREAD": 0, "RICCI_BORROWED": 1,
               "RICCI_KEPT": 1, "RICCI_LEN": 1, "RICCI_LEN_OF": 2}
OF_FUNCTION = {"RICCI_OWNED", "RICCI_BORROWED", "RICCI_NULLABLE", "RICCI_TEXT", "RICCI_ANY_THREAD"}
# What RICCI_LEN_OF may count, and the types of the parameter that has the length.
MEASURES = {"params": {"ricci_program", "ricci_executable"}, "results": {"ricci_program", "ricci_executable"},
            "bytes": {"ricci_type", "uint32_t"}}


def structs_with_pointers(structs):
    """Structs that point to memory of the core when the core fills them: they hold pointers, texts or such structs."""
    members = {s.name: [m for m in s.members if m.type != "ricci_hdr"] for s in structs}
    found = {name for name, of in members.items() if any("*" in m.type for m in of)}
    while True:
        more = {n for n, of in members.items() if n not in found and any(m.type in found for m in of)}
        if not more:
            return found
        found |= more


def check_words(where, notes, allowed, errors):
    """Whether all of them may stand here."""
    before = len(errors)
    for word, given in notes.items():
        if word not in ANNOTATIONS:
            errors.append(f"{where}: {word} is not an annotation; known: {', '.join(sorted(ANNOTATIONS))}")
        elif word not in allowed:
            errors.append(f"{where}: {word} does not belong here")
        elif len(given) != ANNOTATIONS[word]:
            errors.append(f"{where}: {word} has {len(given)} arguments, not {ANNOTATIONS[word]}")
    return len(errors) == before


# ---- missing and impossible annotations ----
COUNT_NAME = re.compile(r"n|len|bytes|capacity|n_\w+|\w+_len|\w+_bytes")


def companion(parameters, p):
    """The name of the parameter that counts the elements of `p`, judged by names and order; None if there is none."""
    at = {q.name: i for i, q in enumerate(parameters)}
    for name in (f"n_{p.name}", f"{p.name}_len", f"{p.name}_bytes", "rank" if p.name == "dims" else ""):
        if name in at:
            before = parameters[at[name] - 1]
            taken = before is not p and before.notes.get("RICCI_LEN") == [name]
            return None if taken else name
    after = parameters[at[p.name] + 1:][:1]
    if not after or after[0].base not in COUNTS or not COUNT_NAME.fullmatch(after[0].name):
        return None
    count = after[0]
    if p.base in HANDLES and p.depth == 1 or count.depth not in (0, p.depth - 1):
        return None
    whose = re.sub(r"^n_|_len$|_bytes$", "", count.name)  # `n_in` after `f` counts `in`
    return count.name if whose == count.name or whose == p.name else None


def check_length(parameters, p, wrong):
    by_name = {q.name: q for q in parameters}
    if "RICCI_LEN" in p.notes and "RICCI_LEN_OF" in p.notes:
        wrong("has two lengths")
    if "RICCI_LEN" in p.notes:
        count = by_name.get(p.notes["RICCI_LEN"][0])
        if count is None:
            wrong(f"RICCI_LEN({p.notes['RICCI_LEN'][0]}) names no parameter of the function")
        elif count.base not in COUNTS or count.depth > 1 or (count.depth == 1 and not count.writes):
            wrong(f"RICCI_LEN({count.name}) is not a count")
        elif count.depth == 1 and p.depth != 2:
            wrong(f"RICCI_LEN({count.name}) is written by the call, so the array must be too (`T**`)")
    if "RICCI_LEN_OF" in p.notes:
        what, of = p.notes["RICCI_LEN_OF"]
        if what not in MEASURES:
            wrong(f"RICCI_LEN_OF({what}, {of}) counts nothing known; known: {', '.join(MEASURES)}")
        elif of not in by_name:
            wrong(f"RICCI_LEN_OF({what}, {of}) names no parameter of the function")
        elif by_name[of].base not in MEASURES[what]:
            wrong(f"RICCI_LEN_OF({what}, {of}): a {by_name[of].base} has no {what}")
    if "RICCI_LEN" in p.notes or "RICCI_LEN_OF" in p.notes:
        if "RICCI_TEXT" in p.notes:
            wrong("is text up to a NUL and has a length")
        return
    counted_by = companion(parameters, p)
    if counted_by:
        wrong(f"needs RICCI_LEN: {counted_by} seems to count it")
    elif p.base == "char" and p.depth == 1:
        if "RICCI_TEXT" not in p.notes:
            wrong("needs RICCI_LEN or, if it ends with a NUL, RICCI_TEXT")
    elif p.depth == 1 and p.type.startswith("const") and p.base in SCALARS:
        wrong("needs RICCI_LEN: one value would be passed as such")
    elif p.base == "void" and p.depth == 1 and p.callback is None and "RICCI_NULLABLE" not in p.notes:
        wrong("needs RICCI_LEN, or RICCI_NULLABLE if it is only handed on")


def check_owner(parameters, p, structs, wrong):
    names = {q.name for q in parameters}
    owned, borrowed, kept = (f"RICCI_{w}" in p.notes for w in ("OWNED", "BORROWED", "KEPT"))
    if owned + borrowed + kept > 1:
        wrong("has two owners")
    leads_on = p.depth == 2 or p.base in structs
    if p.writes and leads_on and not (owned or borrowed):
        wrong("needs RICCI_OWNED or RICCI_BORROWED: what is written there leads to memory that somebody owns")
    if p.writes and kept:
        wrong("RICCI_KEPT is for what the caller gives")
    if borrowed and not (p.writes and leads_on):
        wrong("RICCI_BORROWED is for pointers that the call writes; an input is borrowed for the call anyway")
    if owned and not (p.writes and leads_on) and not (p.depth == 1 and p.shared):
        wrong("RICCI_OWNED is for handles")
    for word, others in (("RICCI_BORROWED", {"static"}), ("RICCI_KEPT", set())):
        if word in p.notes and p.notes[word][0] not in (names - {p.name}) | others:
            wrong(f"{word}({p.notes[word][0]}) names no other parameter of the function")


def check_parameters(where, parameters, structs, errors, outer=()):
    handed_back = {p.name for p in outer if p.base == "void"}
    for p in parameters:
        def wrong(what, name=p.name):
            errors.append(f"{where}: {name}: {what}")
        if not check_words(f"{where}: {p.name}", p.notes, set(ANNOTATIONS) - {"RICCI_ANY_THREAD"}, errors):
            continue
        if p.depth == 0:
            if p.notes:
                wrong(f"{', '.join(p.notes)} on a parameter that is not a pointer")
            continue
        if p.callback is not None:
            check_parameters(f"{where}: {p.name}", p.callback, structs, errors, parameters)
        if outer and p.base == "void" and p.name in handed_back and not p.notes:
            continue  # the caller's pointer, passed back
        if "RICCI_TEXT" in p.notes and (p.base != "char" or p.depth != 1):
            wrong("RICCI_TEXT is for `const char*`")
        if p.callback is None:
            check_length(parameters, p, wrong)
        elif {"RICCI_LEN", "RICCI_LEN_OF"} & set(p.notes):
            wrong("a function has no length")
        check_owner(parameters, p, structs, wrong)


def check_function(f, counted, structs, errors):
    where = f"{f.header}.h: {f.name}"
    names = {p.name for p in f.parameters}
    if not check_words(f"{where}: the function", f.notes, OF_FUNCTION, errors):
        return
    check_parameters(where, f.parameters, structs, errors)
    owner = {"RICCI_OWNED", "RICCI_BORROWED"} & set(f.notes)
    if "*" not in f.result or f.fails:
        if set(f.notes) - {"RICCI_ANY_THREAD"}:
            why = "a status is always owned, and NULL is OK" if f.fails else "the result is not a pointer"
            errors.append(f"{where}: {', '.join(sorted(set(f.notes) - {'RICCI_ANY_THREAD'}))}: {why}")
    elif len(owner) != 1:
        errors.append(f"{where}: the result needs RICCI_OWNED or RICCI_BORROWED")
    if "RICCI_BORROWED" in f.notes and f.notes["RICCI_BORROWED"][0] not in names | {"static"}:
        errors.append(f"{where}: RICCI_BORROWED({f.notes['RICCI_BORROWED'][0]}) names no parameter of the function")
    if "*" in f.result and "char" in f.result and "RICCI_TEXT" not in f.notes:
        errors.append(f"{where}: the result is text: it needs RICCI_TEXT")
    if not f.fails:
        for p in f.parameters:
            known = {"RICCI_NULLABLE"} if p.writes else {"RICCI_NULLABLE", "RICCI_LEN", "RICCI_LEN_OF"}
            if p.depth and not known & set(p.notes):
                errors.append(f"{where}: {p.name}: needs RICCI_NULLABLE: the function cannot report that it is NULL")

    # Functions that begin or end a reference work on any thread; all other `T *` are for one thread at a time.
    any_thread = "RICCI_ANY_THREAD" in f.notes
    verb = f.name.rsplit("_", 1)[-1]
    noun = f.name[:-len(verb) - 1]
    if any_thread and not any(p.shared for p in f.parameters):
        errors.append(f"{where}: RICCI_ANY_THREAD: all handles are const, so it is implied")
    if (verb == "retain" or verb == "release" and noun in counted) and not any_thread:
        errors.append(f"{where}: needs RICCI_ANY_THREAD: retain and release work on every thread")
    if any(p.shared and p.base in ("ricci_ctx", "ricci_device") for p in f.parameters) and not any_thread:
        if f.name not in ALONE and verb not in ("retain", "release"):
            errors.append(f"{where}: needs RICCI_ANY_THREAD: contexts and devices are for many threads at once")
    if any_thread and f.name in ALONE:
        errors.append(f"{where}: RICCI_ANY_THREAD: it needs the context to itself")
    if verb == "retain" and "RICCI_OWNED" not in f.notes:
        errors.append(f"{where}: the result needs RICCI_OWNED: it is a reference of its own")
    if verb in ("release", "free", "abandon", "finish") and f.parameters and "RICCI_OWNED" not in f.parameters[0].notes:
        errors.append(f"{where}: {f.parameters[0].name}: needs RICCI_OWNED: it is given up")


def check(spec):
    """Messages for everything that is wrong; each names header, function and parameter."""
    errors = list(spec.errors)
    counted = {f.name.removesuffix("_retain") for f in spec.functions if f.name.endswith("_retain")}
    leading = structs_with_pointers(spec.structs)
    for f in spec.functions:
        check_function(f, counted, leading, errors)
    return errors
