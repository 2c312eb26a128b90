"""LowLevel.jl against the headers: layouts, types of members, constants, functions, by what g++ says of them.

Julia's rules for the layout of immutable structs (those of C: members in order, each at a multiple of its alignment) are
applied here to the Julia text. The C++ side names types as Julia would: `Ptr{UInt32}` for `const ricci_type*`.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import julia_text

INCLUDE = julia_text.ROOT / "include"
SIZES = {"UInt8": 1, "Int8": 1, "UInt16": 2, "Int32": 4, "UInt32": 4, "Int64": 8, "UInt64": 8, "Float64": 8,
         "Float32": 4, "Csize_t": 8}
ONE_TYPE = {"Csize_t": "UInt64", "Cstring": "Ptr{UInt8}"}
CXX_SCALARS = {"void": "Cvoid", "char": "UInt8", "uint8_t": "UInt8", "int8_t": "Int8", "uint16_t": "UInt16",
               "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int64", "uint64_t": "UInt64", "double": "Float64",
               "float": "Float32"}
NOT_READ = {"ricci", "api_table", "attr", "exact", "float_format", "step_blocks", "writer"}  # nothing of theirs is in the table


class Layout:
    """Sizes and alignments by Julia's rules; types with one name each."""

    def __init__(self, low):
        self.low, self.errors = low, []

    def resolved(self, kind):
        kind = re.sub(r"\b\w+\b", lambda m: self.low.aliases.get(m[0], m[0]), kind)
        return re.sub(r"\b\w+\b", lambda m: ONE_TYPE.get(m[0], m[0]), kind)

    def size(self, kind):
        """(size, alignment) of a type."""
        kind = self.low.aliases.get(kind, kind)
        array = re.fullmatch(r"NTuple\{(\d+), (.*)\}", kind)
        if array:
            size, align = self.size(array[2])
            return int(array[1]) * size, align
        if kind.startswith("Ptr{") or kind == "Cstring":
            return 8, 8
        if kind in self.low.structs:
            end, align, _ = self.struct(kind)
            return end, align
        return SIZES[kind], SIZES[kind]

    def struct(self, name):
        """(size, alignment, offsets) of a struct; bytes between members are an error, as in all structs of the ABI."""
        at, align, offsets = 0, 1, []
        for member, kind in self.low.structs[name]:
            size, own = self.size(kind)
            start = -(-at // own) * own
            if start != at:
                self.errors.append(f"{name}: {start - at} bytes before {member} belong to no member")
            offsets.append(start)
            at, align = start + size, max(align, own)
        return -(-at // align) * align, align, offsets


def header_text():
    files = [p for p in sorted((INCLUDE / "ricci").glob("*.h")) if p.stem not in NOT_READ]
    return re.sub(r"/\*.*?\*/", " ", "\n".join(p.read_text() for p in files), flags=re.S)


def preprocessed(*options):
    lines = "".join(f'#include "ricci/{p.name}"\n' for p in sorted((INCLUDE / "ricci").glob("*.h"))
                    if p.stem not in NOT_READ)
    return subprocess.run(["g++", "-E", "-xc++", "-std=c++20", f"-I{INCLUDE}", *options, "-"], input=lines, check=True,
                          capture_output=True, text=True).stdout


def declared():
    """(functions, structs, constants) that the headers declare, found without a parser of C."""
    code = header_text()
    functions = set(re.findall(r"^RICCI_(?:API|KFN)\b[^;(]*?\b(ricci_\w+)\s*\(", code, flags=re.M))
    structs = set(re.findall(r"typedef struct (ricci_\w+) \{", code))
    constants = {m for body in re.findall(r"\benum \{(.*?)\}", preprocessed(), flags=re.S)
                 for m in re.findall(r"\b(RICCI_\w+) =", body)}
    for name, value in re.findall(r"^#define (RICCI_\w+) (.+)$", preprocessed("-dM"), flags=re.M):
        if re.fullmatch(r"(\(?u?int\d+_t\)|\(ricci_\w+\)|[\d()~<> ]|0x[0-9a-f]+u?|\du)+", value):
            constants.add(name)
    return functions, structs, constants


def dump_source(low, structs, functions, constants):
    """A program that prints what the compiler says of everything that both sides know."""
    plain = lambda member: member.removesuffix("_")  # names that mean something in Julia
    lines = ["#include <cstdio>", "#include <string>"]
    lines += [f'#include "ricci/{p.name}"' for p in sorted((INCLUDE / "ricci").glob("*.h"))]
    lines += ["template <typename T> struct Name;",
              "template <typename T> struct Name<const T> : Name<T> {};",
              "template <typename R, typename... A> struct Name<R(A...)> {",
              "  static std::string Text() { return \"Cvoid\"; } };",
              "template <typename T> struct Name<T*> {",
              "  static std::string Text() { return \"Ptr{\" + Name<T>::Text() + \"}\"; } };",
              "template <typename T, size_t N> struct Name<T[N]> { static std::string Text() {",
              "  return \"NTuple{\" + std::to_string(N) + \", \" + Name<T>::Text() + \"}\"; } };"]
    names = {**CXX_SCALARS, **{n: n for n in sorted(set(structs) | low.opaque)}}
    lines += [f'template <> struct Name<{of}> {{ static std::string Text() {{ return "{n}"; }} }};'
              for of, n in names.items()]
    lines += ["template <typename F> struct Signature;",
              "template <typename R, typename... A> struct Signature<R(A...)> { static std::string Text() {",
              "  return Name<R>::Text() + (std::string() + ... + (\" | \" + Name<A>::Text())); } };", "int main() {"]
    for s in sorted(structs):
        lines.append(f'std::printf("struct %s %zu %zu\\n", "{s}", sizeof({s}), alignof({s}));')
        lines += [f'std::printf("member %s.%s %zu %s\\n", "{s}", "{m}", offsetof({s}, {plain(m)}), '
                  f'Name<decltype({s}::{plain(m)})>::Text().c_str());' for m, _ in low.structs[s]]
    lines += [f'std::printf("constant %s %s\\n", "{c}", std::to_string(+{c}).c_str());' for c in sorted(constants)]
    lines += [f'std::printf("function %s %s\\n", "{f}", Signature<decltype({f})>::Text().c_str());'
              for f in sorted(functions)]
    return "\n".join(lines + ["}", ""])


def dumped(low, structs, functions, constants):
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "dump.cc"), pathlib.Path(folder, "dump")
        source.write_text(dump_source(low, structs, functions, constants))
        # Functions are only named, so nothing of the library is linked.
        done = subprocess.run(["g++", "-std=c++20", "-O0", f"-I{INCLUDE}", str(source), "-o", str(program)],
                              capture_output=True, text=True)
        if done.returncode:
            return [f"the headers do not have what LowLevel.jl names: {done.stderr.strip().splitlines()[0]}"], set()
        lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
        return [], set(lines)


def stated(low, layout, structs, functions, constants):
    """The same lines, from the Julia text."""
    lines = set()
    for s in structs:
        size, align, offsets = layout.struct(s)
        lines.add(f"struct {s} {size} {align}")
        lines |= {f"member {s}.{m} {at} {layout.resolved(kind)}" for (m, kind), at in zip(low.structs[s], offsets)}
    lines |= {f"constant {c} {low.constants[c][1]}" for c in constants}
    for name in functions:
        f = low.functions[name]
        lines.add(" | ".join([f"function {name} {layout.resolved(f.result)}", *map(layout.resolved, f.kinds)]))
    return lines


def check_calls(low):
    """Each function calls the function of its name with its own parameters, in order."""
    errors = []
    for name, f in low.functions.items():
        if f.symbol != name:
            errors.append(f"{f.where}: {name} calls {f.symbol}")
        if f.arguments != f.parameters or len(f.kinds) != len(f.arguments):
            errors.append(f"{f.where}: {name} passes ({', '.join(f.arguments)}) as {len(f.kinds)} types")
    return errors


def check_order(low):
    """Julia needs a type before it is used, except behind a pointer within the type itself."""
    known, errors = set(low.opaque) | set(low.aliases) | set(SIZES) | {"Ptr", "NTuple", "Cvoid", "Cstring"}, []
    for s, members in low.structs.items():
        known.add(s)
        errors += [f"{s}.{m}: {word} is not defined before" for m, kind in members
                   for word in re.findall(r"[A-Za-z]\w*", kind) if word not in known]
    return errors


def check_constants(low):
    bits = {"UInt32": (0, 2**32), "UInt64": (0, 2**64), "Int32": (-2**31, 2**31)}
    return [f"{name}: {value} is not a {kind}" for name, (kind, value) in low.constants.items()
            if not bits[kind][0] <= value < bits[kind][1]]


def check(path):
    low, layout_errors = julia_text.low_level(path), []
    errors = julia_text.syntax_errors(path) + check_calls(low) + check_order(low) + check_constants(low)
    layout = Layout(low)
    kinds, have = ("function", "struct", "constant"), (low.functions, low.structs, low.constants)
    for what, theirs, ours in zip(kinds, declared(), have):
        errors += [f"{what} {n} is not in LowLevel.jl" for n in sorted(theirs - set(ours))]
        errors += [f"{what} {n} is in no header" for n in sorted(set(ours) - theirs)]
    if errors:
        return errors
    compile_errors, said = dumped(low, low.structs, low.functions, low.constants)
    if compile_errors:
        return compile_errors
    ours = stated(low, layout, low.structs, low.functions, low.constants)
    layout_errors = list(dict.fromkeys(layout.errors))
    return layout_errors + [f"Julia has  {line}" for line in sorted(ours - said)] + \
        [f"C has      {line}" for line in sorted(said - ours)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=julia_text.PACKAGE / "src/LowLevel.jl")
    errors = check(parser.parse_args().file)
    print("\n".join(errors[:40] + [f"low-level layer of Julia: {len(errors)} mistake(s)"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
