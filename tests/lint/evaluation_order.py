"""No call has two arguments that each append equations to a program, or instructions to a kernel by a Writer: C++
leaves open which is evaluated first, so their order, the text and the key in caches would be the compiler's choice.

Right is to give the first one a name: `const Value b = sin(y); return add(sin(x), b);`. In braces, as in
`Values{f(x), g(y)}`, the order is that of the text. A function appends if it calls one that does, of the C ABI or of the
Writer in the end, or if it is only declared and gives a Value. Functions are known by their names, in the file and in
what it includes.

Not found: operators, so formulas of Scalars in plugins, and of Values in hosts.
"""
import collections
import functools
import os
import re
import sys

import source_tree

PROGRAMS, KERNELS = ["plugins/lax", "plugins/nn", "samples"], ["src/pass", "src/kernel", "src/api"]
INCLUDED = ["bindings/cpp", "plugins", "src"]  # where `#include "..."` is looked for, after the folder of the file
OF_PROGRAMS = {"ricci_builder_emit", "ricci_builder_const", "ricci_builder_zero", "ricci_builder_inline"}
CONSTANTS = {"Const", "Float", "Index", "Bool"}  # they come first in a kernel, in the order of their uses
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
                   r"|[A-Za-z_]\w*|\d[\w.']*|::|->|\n|\S", re.S)
CLOSING = {"(": ")", "[": "]", "{": "}"}
NOT_CALLED = {"if", "for", "while", "switch", "return", "sizeof", "catch", "decltype", "alignof", "static_assert"}
# What comes before the name of a function that gives no value of a program; a Scalar is one of a kernel.
NO_VALUE = {"bool", "int", "int64_t", "uint32_t", "uint64_t", "size_t", "double", "string", "string_view", "DType",
            "Dims", "Shape", "ArrayType", "ArrayTypes", "Scalar", "Index", "KernelArray", "void", "ricci_exact", "Attr"}
Function = collections.namedtuple("Function", "name calls gives_value")


class Code:
    """The tokens of a text, with their lines and partners of brackets."""

    def __init__(self, text):
        self.tokens, self.lines, line = [], [], 1
        text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: "\n" * m.group().count("\n"), text, flags=re.M)
        for token in TOKEN.findall(text):
            if not token.startswith(("//", "/*", "\n")):
                self.tokens.append('""' if token[0] in "\"'R" and token[-1] in "\"'" else token)
                self.lines.append(line)
            line += token.count("\n")
        self.partner, open_ = {}, []
        for i, token in enumerate(self.tokens):
            if token in CLOSING:
                open_.append(i)
            elif token in CLOSING.values() and open_:
                self.partner[open_[-1]] = i
                self.partner[i] = open_.pop()
        self.class_brackets = [i for i in self.partner if self[i] == "{" and self.opens_class(i)]

    def __getitem__(self, i):
        return self.tokens[i] if 0 <= i < len(self.tokens) else ""

    def opens_class(self, i):
        first = i - 1
        while first >= 0 and self[first] not in "{};()":
            first -= 1
        return any(token in ("class", "struct") for token in self.tokens[first + 1 : i])

    def bracket_of(self, i):
        """The opening bracket of a call whose name is token i, after template arguments if there are any; or None."""
        of_std = self[i - 1] == "::" and self[i - 2] == "std"
        if not re.match(r"[A-Za-z_]", self[i]) or self[i] in NOT_CALLED or of_std:
            return None
        at = i + 1
        if self[at] == "<":
            while re.match(r"[\w:,<&*]", self[at]) and self[at] not in NOT_CALLED:
                at += 1
            at += self[at] == ">"
        return at if self[at] == "(" and at in self.partner else None

    def lambda_body(self, i):
        """The brackets of the body of the lambda that begins at token i; or None."""
        if self[i] != "[" or i not in self.partner or re.match(r"[\w)\]]", self[i - 1]) and self[i - 1] != "return":
            return None
        at = self.partner[i] + 1
        if self[at] == "(":
            at = self.partner.get(at, at) + 1
        while at < len(self.tokens) and self[at] not in "{;),":
            at += 1
        return (at, self.partner[at]) if self[at] == "{" and at in self.partner else None

    def calls(self, first, last):
        """Names that are called by the tokens first ... last - 1, not by lambdas written there."""
        found, i = set(), first
        while i < last:
            body = self.lambda_body(i)
            if body:
                i = body[1] + 1
                continue
            if self.bracket_of(i) is not None:
                found.add("." * (self[i - 1] in (".", "->")) + self[i])
            i += 1
        return found

    def names_of(self, i):
        """How the function that is declared at token i is called: a member also after a point."""
        bracket = max((b for b in self.class_brackets if b < i < self.partner[b]), default=None)
        return [self[i]] if bracket is None else [self[i], "." + self[i]]

    def functions(self):
        """Functions and named lambdas with a body, and functions that are declared to give a Value."""
        for i in range(len(self.tokens)):
            body = self.lambda_body(i)
            if body and self[i - 1] == "=":
                yield Function(self[i - 2], self.calls(*body), False)
            at = self.bracket_of(i)
            if at is None or self[i - 1] in (".", "->", "return", "(", ",", "=", "!", ":"):
                continue
            before = i - 1 - (self[i - 1] in "&*")
            if self[before] in NO_VALUE:
                continue
            gives_value = self[before] in ("Value", "Values")
            end = self.partner[at] + 1
            while self[end] in ("const", "noexcept", "override"):
                end += 1
            if self[end] == "{" and end in self.partner:
                calls = self.calls(end, self.partner[end])
                yield from (Function(name, calls, False) for name in self.names_of(i))
            elif self[end] == ";" and gives_value:
                yield from (Function(name, set(), True) for name in self.names_of(i))

    def arguments(self, at):
        """(first, last) of each argument between the brackets that open at token `at`."""
        first, i, end = at + 1, at + 1, self.partner[at]
        while i < end:
            if self[i] in CLOSING:
                i = self.partner.get(i, i)
            elif self[i] == ",":
                yield first, i
                first = i + 1
            i += 1
        yield first, end


def of_kernels():
    """The members of a Writer that append an instruction and give its value."""
    members = re.findall(r"^  Val (\w+)\(", source_tree.read("src/kernel/writer.h"), flags=re.M)
    return {point + name for name in members if name not in CONSTANTS for point in ("", ".")}


def appending(functions, begin):
    """Names of functions that append, of these and those where it begins."""
    found = begin | {f.name for f in functions if f.gives_value}
    while True:
        more = {f.name for f in functions if f.calls & found} - found
        if not more:
            return found
        found |= more


def check(code, names, path):
    errors = []
    for i in range(len(code.tokens)):
        at = code.bracket_of(i)
        if at is None:
            continue
        able = [code.calls(*span) & names for span in code.arguments(at)]
        able = [sorted(a)[0] for a in able if a]
        if len(able) > 1:
            errors.append(f"{path}:{code.lines[i]}: {code[i]}: the order of its arguments ({', '.join(able)}) is open; "
                          "name all but the one that comes last")
    return errors


@functools.cache
def parsed(path):
    text = source_tree.read(path)
    code = Code(text)
    return code, tuple(code.functions()), tuple(re.findall(r'^#include "([^"]+)"', text, flags=re.M))


@functools.cache
def included(path):
    """The file and all of the repository that it includes."""
    found, open_ = {path}, [path]
    while open_:
        here = open_.pop()
        for name in parsed(here)[2]:
            for folder in (here.parent, *INCLUDED):
                file = type(here)(os.path.normpath(folder / type(here)(name)))
                if (source_tree.ROOT / file).is_file() and file not in found:
                    found.add(file)
                    open_.append(file)
                    break
    return found


def check_files(folders, begin):
    errors = []
    for path in source_tree.files({".cc", ".hpp", ".h"}, folders):
        functions = [f for file in included(path) for f in parsed(file)[1]]
        errors += check(parsed(path)[0], appending(functions, begin), path)
    return errors


BASE = "Value sin(Value x) { Check(ricci_builder_emit(x)); } Value add(Value x, Value y) { return Emit(x, y); }\n" \
       "Value Emit(Value x, Value y) { ricci_builder_emit(x); }\n"
WRONG = ["Value F(Value x) { return add(sin(x), sin(x)); }",
         "Value G(Value x); Value F(Value x) { return add(G(x), add(x, sin(x))); }",
         "void F(Value x) { const auto f = [&](Value y) { return sin(y); }; add(f(x), f(x)); }",
         "void F(Value x) { Pair p(sin(x), sin(x)); }", "void F(Value x) { e.Emit(g(sin(x)), x[sin(x)]); }",
         "Val F(Writer& w, Val x) { return w.Add(w.Mul(x, x), w.Op(RICCI_S_SIN, x)); }"]
RIGHT = ["Values F(Value x) { return {sin(x), sin(x)}; }", "void F(Value x) { add(x, Values{sin(x), sin(x)}); }",
         "void F(Value x) { const Value y = sin(x), z = sin(x); add(y, sin(z)); }",
         "void F(Value x) { Loop(sin(x), [&](Value y) { return sin(y); }); }",
         "int Size(Value x) { return x.rank(); } void F(Value x) { add(Size(x), sin(x)); }",
         "Val F(Writer& w, Val x) { return w.Add(w.Mul(x, x), w.Float(dtype, 0.5)); }"]


def self_test(text):
    code = Code(BASE + text)
    return check(code, appending(list(code.functions()), OF_PROGRAMS | of_kernels()), "self-test")


def main():
    errors = [f"self-test: not found: {text}" for text in WRONG if not self_test(text)]
    errors += [error for text in RIGHT for error in self_test(text)]
    errors += check_files(PROGRAMS, OF_PROGRAMS) + check_files(KERNELS, of_kernels())
    return source_tree.report(errors, "evaluation order")


if __name__ == "__main__":
    sys.exit(main())
