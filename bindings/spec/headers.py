"""Reads include/ricci with libclang: functions with their annotations, structs with their layout, constants, texts.

With RICCI_SPEC defined the annotations of ricci/base.h become attributes, which the parser hands over with the
declarations that they belong to. What is read is the ABI of x86-64 Linux; sizes and offsets are those of the compiler.
"""
import dataclasses
import functools
import pathlib
import re
import subprocess

from clang import cindex
from clang.cindex import CursorKind, TypeKind

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The order of the function table: only append within a major version of the ABI.
HEADERS = ["base", "context", "device", "stream", "array", "build", "transform", "executable", "kernel", "primitive",
           "backend", "check", "target", "file", "array_file", "callback", "debug", "dlpack", "cache"]
WITHOUT_FUNCTIONS = ["plugin"]
ARGUMENTS = ["-x", "c", "-std=c11", "-DRICCI_SPEC", "-fparse-all-comments", f"-I{ROOT}/include"]
HANDLES = {f"ricci_{noun}" for noun in ("ctx", "status", "program", "builder", "kernel_builder", "device", "stream",
                                        "event", "array", "executable", "call", "array_file", "dlpack")}


@dataclasses.dataclass
class Parameter:
    type: str  # as written, without blanks before `*`; of a function `result(*)`
    name: str
    notes: dict  # annotation -> its arguments
    callback: list | None = None  # the parameters of a function

    @property
    def base(self):
        return self.type.replace("const", " ").replace("struct", " ").replace("*", " ").strip()

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

    @property
    def declaration(self):
        if self.callback is None:
            return f"{self.type} {self.name}"
        return f"{self.type[:-1]}{self.name})({', '.join(p.declaration for p in self.callback) or 'void'})"


@dataclasses.dataclass
class Function:
    header: str
    name: str
    result: str
    parameters: list
    notes: dict
    fails: bool  # returns a status that must be checked
    doc: str = ""

    @property
    def short_name(self):
        return self.name.removeprefix("ricci_")

    @property
    def parameter_list(self):
        return f"({', '.join(p.declaration for p in self.parameters) or 'void'})"


@dataclasses.dataclass
class Member:
    name: str
    type: str  # `result(*)` of a function
    offset: int
    length: int | None = None  # of an array
    callback: list | None = None
    doc: str = ""


@dataclasses.dataclass
class Struct:
    header: str
    name: str
    size: int
    align: int
    members: list
    doc: str = ""


@dataclasses.dataclass
class Constant:
    header: str
    name: str
    value: int
    doc: str = ""


@dataclasses.dataclass
class FunctionType:
    header: str
    name: str
    result: str
    parameters: list


@dataclasses.dataclass
class Spec:
    functions: list
    structs: list
    constants: list
    function_types: list
    texts: dict  # of each header, its first comment
    errors: list


def plain(text):
    """A type as our headers write it."""
    return re.sub(r"\s*\*", "*", text).replace("*const*", "* const*").replace("_Bool", "bool")


def comment(cursor):
    """The text of the comment that belongs to a declaration, as paragraphs."""
    lines = re.sub(r"^/\*+|\*/$", "", cursor.raw_comment or "").split("\n")
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines).strip()


def notes_of(cursor):
    """(annotations of a declaration with their arguments, those that occur twice)."""
    found, twice = {}, []
    for child in cursor.get_children():
        if child.kind != CursorKind.ANNOTATE_ATTR:
            continue
        word, *given = [part.strip() for part in re.split(r"[(),]", child.spelling) if part.strip()]
        if word in found:
            twice.append(word)
        found[word] = given
    return found, twice


def function_of(type_):
    """The function that a pointer leads to, if it does; a named type of functions does not."""
    if type_.kind != TypeKind.POINTER:
        return None
    pointee = type_.get_pointee()
    return pointee if pointee.kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO) else function_in(pointee)


def function_in(pointee):
    if pointee.kind != TypeKind.UNEXPOSED:
        return None
    canonical = pointee.get_canonical()
    return canonical if canonical.kind == TypeKind.FUNCTIONPROTO else None


class Reader:
    """What one translation unit declares; mistakes go to `errors`."""

    def __init__(self, header_of):
        self.header_of = header_of
        self.spec = Spec([], [], [], [], {}, [])

    def wrong(self, header, where, what):
        self.spec.errors.append(f"{header}.h: {where}: {what}")

    def noted(self, cursor, header, where):
        notes, twice = notes_of(cursor)
        for word in twice:
            self.wrong(header, where, f"RICCI_{word} occurs twice")
        return {f"RICCI_{word}": given for word, given in notes.items()}

    def parameters(self, cursor, header, where):
        return [self.parameter(c, header, where) for c in cursor.get_children() if c.kind == CursorKind.PARM_DECL]

    def parameter(self, cursor, header, where):
        where = f"{where}: {cursor.spelling}"
        notes, function = self.noted(cursor, header, where), function_of(cursor.type)
        if function is None:
            return Parameter(plain(cursor.type.spelling), cursor.spelling, notes)
        result = plain(function.get_result().spelling)
        return Parameter(f"{result} (*)", cursor.spelling, notes, self.parameters(cursor, header, where))

    def function(self, cursor, header):
        notes = self.noted(cursor, header, f"{cursor.spelling}: the function")
        fails = any(c.kind == CursorKind.WARN_UNUSED_RESULT_ATTR for c in cursor.get_children())
        self.spec.functions.append(
            Function(header, cursor.spelling, plain(cursor.result_type.spelling),
                     self.parameters(cursor, header, cursor.spelling), notes, fails, comment(cursor)))

    def member(self, cursor, struct):
        length, of = None, cursor.type
        if of.kind == TypeKind.CONSTANTARRAY:
            length, of = of.element_count, of.element_type
        function = function_of(of)
        kind, inner = plain(of.spelling), None
        if function is not None:
            kind, inner = f"{plain(function.get_result().spelling)} (*)", self.parameters(cursor, "", struct)
        offset = cursor.semantic_parent.type.get_offset(cursor.spelling) // 8
        return Member(cursor.spelling, kind, offset, length, inner, comment(cursor))

    def struct(self, cursor, header):
        members = [self.member(c, cursor.spelling) for c in cursor.get_children() if c.kind == CursorKind.FIELD_DECL]
        self.spec.structs.append(Struct(header, cursor.spelling, cursor.type.get_size(), cursor.type.get_align(), members,
                                        comment(cursor)))

    def constants(self, cursor, header):
        for c in cursor.get_children():
            if c.kind == CursorKind.ENUM_CONSTANT_DECL:
                self.spec.constants.append(Constant(header, c.spelling, c.enum_value, comment(c)))

    def macro(self, cursor, header):
        """A macro without parameters whose value is a number."""
        words = [t.spelling for t in cursor.get_tokens()][1:]
        words = [str(int(w.rstrip("uUlL"), 16)) if re.match(r"0[xX]", w) else w for w in words]
        value = re.sub(r"\b(\d+)(?:u|l)+\b", r"\1", " ".join(words), flags=re.I)
        value = re.sub(r"\( ?u?int\d+_t ?\)|\( ?ricci_\w+ ?\)", "", value)
        if cursor.spelling.startswith("RICCI_") and re.fullmatch(r"[\d ()<>|+*~-]+", value) and re.search(r"\d", value):
            number = eval(value)  # digits and operators only
            self.spec.constants.append(Constant(header, cursor.spelling, number & (2**64 - 1)))

    def function_type(self, cursor, header):
        function = function_of(cursor.underlying_typedef_type)
        if function is not None:
            self.spec.function_types.append(FunctionType(header, cursor.spelling, plain(function.get_result().spelling),
                                                         self.parameters(cursor, header, cursor.spelling)))

    def read(self, unit):
        kinds = {CursorKind.FUNCTION_DECL: self.function, CursorKind.STRUCT_DECL: self.struct,
                 CursorKind.ENUM_DECL: self.constants, CursorKind.TYPEDEF_DECL: self.function_type,
                 CursorKind.MACRO_DEFINITION: self.macro}
        for cursor in unit.cursor.get_children():
            header = self.header_of(cursor)
            if header is None or cursor.kind not in kinds:
                continue
            if cursor.kind == CursorKind.STRUCT_DECL and not cursor.is_definition():
                continue
            if cursor.kind == CursorKind.FUNCTION_DECL and cursor.storage_class == cindex.StorageClass.STATIC:
                continue
            kinds[cursor.kind](cursor, header)
        for d in unit.diagnostics:
            if d.severity >= cindex.Diagnostic.Error:
                where = pathlib.Path(str(d.location.file)).name if d.location.file else "?"
                self.spec.errors.append(f"{where}: line {d.location.line}: {d.spelling}")


@functools.cache
def compiler_headers():
    """Where stddef.h is: the package of libclang has none."""
    found = subprocess.run(["cc", "-print-file-name=include"], check=True, capture_output=True, text=True)
    return ["-isystem", found.stdout.strip()]


def parse(name, text, header_of):
    unit = cindex.Index.create().parse(name, args=ARGUMENTS + compiler_headers(), unsaved_files=[(name, text)],
                                       options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    reader = Reader(header_of)
    reader.read(unit)
    return reader.spec


def header_of_file(cursor):
    path = pathlib.Path(str(cursor.location.file)) if cursor.location.file else None
    if path is None or path.parent != ROOT / "include/ricci":
        return None
    return path.stem if path.stem in HEADERS + WITHOUT_FUNCTIONS else None


@functools.cache
def read():
    """Everything that the public headers declare, functions in the order of the table."""
    spec = parse("all.c", "".join(f'#include "ricci/{h}.h"\n' for h in HEADERS + WITHOUT_FUNCTIONS), header_of_file)
    spec.functions.sort(key=lambda f: HEADERS.index(f.header))
    for h in HEADERS + WITHOUT_FUNCTIONS:
        first = re.match(r"/\*(.*?)\*/", (ROOT / f"include/ricci/{h}.h").read_text(), flags=re.S)
        spec.texts[h] = "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in first[1].split("\n")).strip()
    return spec


def read_text(declarations):
    """The same of declarations that follow the public headers, as a header `bad`, for tests."""
    start = "".join(f'#include "ricci/{h}.h"\n' for h in ("kernel", "executable", "check"))
    return parse("bad.h", start + declarations, lambda c: "bad" if str(c.location.file) == "bad.h" else None)
