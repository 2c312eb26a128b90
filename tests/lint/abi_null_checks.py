"""The functions of the C ABI check exactly what the headers say about NULL and lengths.

RICCI_NULLABLE and RICCI_LEN of include/ricci are compared with the text of src/api: a parameter that args.NotNull names
is not nullable; one that args.Array or args.Path names is an array of just that length; one that is nullable is compared
with NULL or passed on; and every other pointer that a function takes is checked by it. This reads text, not C++: a check
that is made elsewhere is listed below with its place.
"""
import re
import sys

import source_tree

sys.path.insert(0, str(source_tree.ROOT / "bindings/spec"))
import headers  # noqa: E402

SOURCES = ["src/base/status_abi.cc", "src/laws/check_abi.cc"]
DEFINITION = re.compile(r"^(?:const )?\w+\*? (ricci_\w+)\(([^{;]*?)\) \{([^\n]*\}$|\n.*?^\})", re.S | re.M)
NOT_NULL = re.compile(r"args\s*\.NotNull\(\{(.*?)\}\)", re.S)
ARRAY = re.compile(r'args\s*\.(?:Array|Path)\("(\w+)", (\w+), ((?:[^();]|\([^()]*\))+)\)')
# Functions of src/api that check arguments passed to them: the parameters at these places as args.NotNull would, and
# (array, length) as args.Array would; a length that is text is used as it is.
CALLEES = [(re.compile(r"\bPerParam\(args, \"\w+\", (\w+), (\w+), \w+\)"), [], [(1, 2)]),
           (re.compile(r"\bCheckAttrs\(args, (\w+), (\w+)\)"), [], [(1, 2)]),
           (re.compile(r"\bGiven\(args, c, prim, (\w+), (\w+)\)"), [], [(1, 2)]),
           (re.compile(r"\bCheckRun\(args, (\w+), (\w+), (\w+), (\w+), (\w+)\)"), [1], [(2, 3), (4, 5)]),
           (re.compile(r"\bMark\(__func__, (\w+),"), [1], [])]
# How args.Array writes the lengths of RICCI_LEN_OF for parameter {0}.
MEASURES = {"params": ["FromAbi({0})->n_params()"], "results": ["FromAbi({0})->n_results()"],
            "bytes": ["types().Get({0}).bytes"]}
# (function, parameter): where it is checked, or why the text differs.
CHECKED_ELSEWHERE = {
    ("ricci_call_bind", "ptr"): "BoundCall::Bind names the slot",
    ("ricci_kernel_inline", "out"): "NULL only with `dst`, as its comment says",
    ("ricci_builder_definition", "b"): "Definition()",
    ("ricci_builder_operand", "b"): "Definition()",
    ("ricci_program_signature", "f"): "FromAbi(f) is NULL if f is, and is compared",
    ("ricci_call_release", "k"): "delete takes NULL",
    ("ricci_device_find", "kind"): "View() takes NULL",
    ("ricci_status_site", "prim"): "next() takes NULL",
    ("ricci_status_site", "rule"): "next() takes NULL",
    ("ricci_status_site", "file"): "next() takes NULL",
    **{("ricci_executable_signature", p): "ricci_program_signature takes NULL"
       for p in ("n_params", "params", "n_results", "results")},
}


def definitions():
    """Name of every public function -> (names of its parameters, text of its body)."""
    found = {}
    for path in [*source_tree.files({".cc"}, ["src/api"]), *SOURCES]:
        text = re.sub(r"//[^\n]*", "", source_tree.read(path))
        for name, parameters, body in DEFINITION.findall(text):
            parameters = re.sub(r"\(\*(\w+)\)\([^()]*\)", r" \1", parameters)
            names = [re.search(r"(\w+)\s*$", p)[1] for p in parameters.split(",")] if parameters != "void" else []
            found[name] = names, body
    return found


class Body:
    """The checks in the text of one function, by the names of the header."""

    def __init__(self, own_names, header_names, body):
        self.text = body
        self.own = dict(zip(header_names, own_names))
        self.not_null = {n for group in NOT_NULL.findall(body) for n in re.findall(r'\{"(\w+)",', group)}
        self.arrays = {p: length.strip() for _, p, length in ARRAY.findall(body)}
        for pattern, single, arrays in CALLEES:
            for call in pattern.finditer(body):
                self.not_null |= {call[i] for i in single}
                self.arrays |= {call[i]: call[n] for i, n in arrays}

    def looks_at(self, name):
        """Whether it compares the parameter with NULL, or passes it on."""
        own = self.own[name]
        asks = rf"\b{own} [!=]= nullptr|\b(?:ReadOptions|Options|CopyMask)\((?:\w+, )*{own}\b"
        return re.search(asks, self.text) is not None


def lengths(p):
    """What args.Array may have as the length of `p`."""
    if "RICCI_LEN" in p.notes:
        return [p.notes["RICCI_LEN"][0]]
    what, of = p.notes["RICCI_LEN_OF"]
    return [form.format(of) for form in MEASURES[what]]


def check_parameter(f, p, body):
    nullable, array = "RICCI_NULLABLE" in p.notes, bool({"RICCI_LEN", "RICCI_LEN_OF"} & set(p.notes))
    own = body.own[p.name]
    if own in body.not_null and nullable:
        return "is RICCI_NULLABLE, but args.NotNull refuses it"
    if own in body.arrays and not array:
        return "has no RICCI_LEN, but args.Array checks its length"
    if own in body.arrays and nullable:
        return "is RICCI_NULLABLE, but args.Array refuses it"
    if own in body.arrays and not any(body.arrays[own].endswith(length) for length in lengths(p)):
        return f"has {' or '.join(lengths(p))} elements, but args.Array is given {body.arrays[own]}"
    if f.fails and not nullable and own not in body.not_null and own not in body.arrays:
        return "is not RICCI_NULLABLE, but nothing refuses NULL"
    opaque = p.base == "void" and p.depth == 1 and not array
    if nullable and not opaque and p.callback is None and not body.looks_at(p.name):
        return "is RICCI_NULLABLE, but NULL is not looked for"
    if not f.fails and not nullable and not body.looks_at(p.name):
        return "is not looked at before it is used"
    return None


def check_function(f, own_names, text):
    if len(own_names) != len(f.parameters):
        return [f"{f.name}: {len(f.parameters)} parameters in the header, {len(own_names)} in the source"]
    body = Body(own_names, [p.name for p in f.parameters], text)
    errors, used = [], set()
    for p in f.parameters:
        wrong = check_parameter(f, p, body) if p.depth else None
        if wrong and (f.name, p.name) in CHECKED_ELSEWHERE:
            used.add((f.name, p.name))
        elif wrong:
            errors.append(f"{f.header}.h: {f.name}: {p.name}: {wrong}")
    unused = {key for key in CHECKED_ELSEWHERE if key[0] == f.name} - used
    errors += [f"{name}: {p}: listed as checked elsewhere, but needs no mention" for name, p in unused]
    named = {n for n in body.not_null | set(body.arrays) if n not in own_names}
    return errors + [f"{f.name}: a check names {n}, which is not a parameter" for n in sorted(named)]


# ---- tests of the checks: what each of them must find ----
WRONG = [("const char* s RICCI_NULLABLE RICCI_TEXT", 'args.NotNull({{"s", s}})', "but args.NotNull refuses it"),
         ("ricci_val* s", 'args.Array("s", s, n)', "has no RICCI_LEN"),
         ("ricci_val* s RICCI_NULLABLE RICCI_LEN(n)", 'args.Array("s", s, n)', "but args.Array refuses it"),
         ("ricci_val* s RICCI_LEN(n)", 'args.Array("s", s, m)', "has n elements, but args.Array is given m"),
         ("ricci_val* s", "return *s;", "nothing refuses NULL"),
         ("ricci_val* s RICCI_NULLABLE", "return *s;", "NULL is not looked for")]


def self_test():
    errors = []
    for parameter, text, expected in WRONG:
        f = headers.read_text(
            f"RICCI_API RICCI_NODISCARD ricci_status* ricci_f({parameter}, uint32_t n);").functions[0]
        found = check_function(f, ["s", "n"], text)
        if len(found) != 1 or expected not in found[0]:
            errors.append(f"self-test: {parameter}: expected {expected}, found {found}")
    return errors


def main():
    functions, errors = headers.read().functions, self_test()
    sources = definitions()
    for f in functions:
        if f.name in sources:
            errors += check_function(f, *sources[f.name])
        else:
            errors.append(f"{f.name}: its definition is not found")
    return source_tree.report(errors, "NULL and lengths")


if __name__ == "__main__":
    sys.exit(main())
