"""Reads the annotated declarations of include/ricci, and checks that their annotations are complete.

ricci/base.h defines the annotations. They compile to nothing, so only this file notices one that is missing or that
names a parameter that no longer exists; the function table is generated only from headers that pass, and the bindings
of other languages can read them from here. tests/lint/abi_null_checks.py compares them with what functions do with
NULL.
"""
import dataclasses
import re

HANDLES = {f"ricci_{noun}" for noun in ("ctx", "status", "program", "builder", "kernel_builder", "device", "stream",
                                        "event", "array", "executable", "call", "array_file", "dlpack")}
COUNTS = {"uint32_t", "uint64_t", "int64_t", "size_t"}
# They change the registry of a context, from a plugin's attach or before others use it: the only functions that need
# the context to themselves.
ALONE = {"ricci_context_add_plugin", "ricci_context_load_plugin", "ricci_prim_register", "ricci_prim_add_lowering",
         "ricci_backend_register", "ricci_context_option"}
SCALARS = COUNTS | {"uint8_t", "int32_t", "double", "ricci_val", "ricci_type", "ricci_prim", "ricci_sval", "ricci_karr"}
# Each annotation with the number of its arguments.
ANNOTATIONS = {"RICCI_OWNED": 0, "RICCI_NULLABLE": 0, "RICCI_TEXT": 0, "RICCI_ANY_THREAD": 0, "RICCI_BORROWED": 1,
               "RICCI_KEPT": 1, "RICCI_LEN": 1, "RICCI_LEN_OF": 2}
OF_PARAMETER = set(ANNOTATIONS) - {"RICCI_ANY_THREAD"}
OF_FUNCTION = {"RICCI_OWNED", "RICCI_BORROWED", "RICCI_NULLABLE", "RICCI_TEXT", "RICCI_ANY_THREAD"}
# What RICCI_LEN_OF may count, and the types of the parameter that has the length.
MEASURES = {"params": {"ricci_program", "ricci_executable"}, "results": {"ricci_program", "ricci_executable"},
            "bytes": {"ricci_type", "uint32_t"}}
WORD = re.compile(r"\s*\b(RICCI_[A-Z_0-9]+)\b(?:\(([^()]*)\))?")
SPECIFIERS = {"RICCI_API", "RICCI_KFN", "RICCI_NODISCARD"}
STATUS = "ricci_status*"


@dataclasses.dataclass
class Parameter:
    type: str  # as written, without blanks before `*`; `void(*)(...)` for a function
    name: str
    notes: dict  # annotation -> its arguments
    callback: list | None = None  # the parameters of a function

    @property
    def base(self):
        return self.type.replace("const", " ").replace("*", " ").strip()

    @property
    def depth(self):
        return 1 if self.callback is not None or self.base.endswith("_fn") else self.type.count("*")

    @property
    def writes(self):
        """The callee writes to its target; handles are never written, only used."""
        if self.callback is not None or self.base.endswith("_fn") or self.depth == 0:
            return False
        if self.depth == 2:
            return re.search(r"\*\s*const\s*\*$", self.type) is None
        return not self.type.startswith("const") and self.base not in HANDLES | {"void"}

    @property
    def shared(self):
        """A handle, or an array of handles, that is not const: only one thread may use it at a time."""
        return self.base in HANDLES and not self.type.startswith("const") and not self.writes


@dataclasses.dataclass
class Function:
    header: str
    name: str
    result: str
    parameters: list
    notes: dict
    fails: bool  # returns a status that must be checked

    def parameter(self, name):
        return next((p for p in self.parameters if p.name == name), None)


def strip(text):
    """`text` without annotations."""
    return WORD.sub(lambda m: "" if m[1] in ANNOTATIONS else m[0], text)


def statements(text):
    """Every declaration of a public function in the text of a header, without comments and macros."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*$", " ", text, flags=re.M)
    text = text.replace('extern "C" {', " ")
    for statement in text.split(";"):
        start = max(statement.rfind("RICCI_API"), statement.rfind("RICCI_KFN"))
        if start >= 0:
            yield " ".join(statement[start:].split()).replace("( ", "(")


def split_top(text):
    """The parts of `text` between the commas that are outside of brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in [*parts, part.strip()] if p]


def closing(text, start):
    """The position at which the bracket that opens at `start` closes."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise ValueError(f"brackets: {text}")


class Reader:
    """Reads the declarations of one header; mistakes in their annotations go to `errors`."""

    def __init__(self, header):
        self.header, self.errors = header, []

    def wrong(self, where, what):
        self.errors.append(f"{self.header}.h: {where}: {what}")

    def notes(self, text, where, allowed):
        found = {}
        for word, arguments in WORD.findall(text):
            given = [a.strip() for a in arguments.split(",")] if arguments else []
            if word not in ANNOTATIONS:
                self.wrong(where, f"{word} is not an annotation; known: {', '.join(sorted(ANNOTATIONS))}")
            elif word not in allowed:
                self.wrong(where, f"{word} does not belong here")
            elif len(given) != ANNOTATIONS[word]:
                self.wrong(where, f"{word} has {len(given)} arguments, not {ANNOTATIONS[word]}")
            elif word in found:
                self.wrong(where, f"{word} occurs twice")
            else:
                found[word] = given
        rest = WORD.sub("", text).strip()
        if rest:
            self.wrong(where, f"cannot read `{rest}`")
        return found

    def parameter(self, text, where):
        function = re.match(r"(.*?)\(\*\s*(\w+)\)\s*(?=\()", text)
        if function:
            end = closing(text, function.end())
            inner = self.parameters(text[function.end() + 1:end], f"{where}: {function[2]}")
            notes = self.notes(text[end + 1:], f"{where}: {function[2]}", OF_PARAMETER)
            return Parameter(f"{function[1].strip()}(*)", function[2], notes, inner)
        plain = re.match(r"((?:const |struct )?\w+(?:\s*\*|\s+const\b)*)\s*(\w+)(.*)$", text)
        if not plain or "RICCI_" in plain[1] + plain[2]:
            self.wrong(where, f"cannot read the parameter `{text}`; annotations follow its name")
            return Parameter("int", "?", {})
        type_text = re.sub(r"\s*\*\s*", "* ", plain[1]).strip().replace("* *", "**")
        return Parameter(type_text, plain[2], self.notes(plain[3], f"{where}: {plain[2]}", OF_PARAMETER))

    def parameters(self, text, where):
        return [] if text.strip() == "void" else [self.parameter(part, where) for part in split_top(text)]

    def function(self, statement):
        named = re.search(r"\b(ricci_\w+)\s*\(", statement)
        if not named:
            self.wrong(statement, "cannot read the declaration")
            return None
        name, open_at = named[1], named.end() - 1
        end = closing(statement, open_at)
        before = statement[:named.start(1)]
        for word in WORD.findall(before):
            if word[0] not in SPECIFIERS:
                self.wrong(name, f"{word[0]} comes before the result; annotations of a function follow its parameters")
        fails = "RICCI_KFN" in before or "RICCI_NODISCARD" in before
        result = STATUS if "RICCI_KFN" in before else " ".join(WORD.sub("", before).split())
        parameters = self.parameters(statement[open_at + 1:end], name)
        notes = self.notes(statement[end + 1:], f"{name}: the function", OF_FUNCTION)
        return Function(self.header, name, result, parameters, notes, fails)


def read(header, text):
    """(functions, errors) from the text of one header."""
    reader = Reader(header)
    functions = [reader.function(s) for s in statements(text)]
    return [f for f in functions if f], reader.errors


def structs_with_pointers(texts):
    """Structs that point to memory of the core when the core fills them: they hold pointers, texts or such structs."""
    members = {}
    for text in texts:
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        for body, name in re.findall(r"typedef struct (?:\w+ )?\{(.*?)\}\s*(\w+);", text, flags=re.S):
            members[name] = body.replace("ricci_hdr hdr;", "")
    found = {name for name, body in members.items() if "*" in body}
    while True:
        more = {n for n, body in members.items() if n not in found and set(re.findall(r"\w+", body)) & found}
        if not more:
            return found
        found |= more


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


def check(functions, structs):
    """Messages for everything that is wrong; each names header, function and parameter."""
    errors = []
    counted = {f.name.removesuffix("_retain") for f in functions if f.name.endswith("_retain")}
    for f in functions:
        check_function(f, counted, structs, errors)
    return errors
