"""The hand-written files of the Julia package: syntax, names, numbers of arguments, exports.

Julia finds such mistakes only when the line runs, and none runs here. Every name must be local to its definition, of the
package, or on the list of Julia's own (JULIA); what a call passes must fit some method of the package or the function of
LowLevel.jl. Methods of Julia's own functions, types and values are not checked.
"""
import argparse
import collections
import pathlib
import re
import sys

import julia_text
from julia_text import of_type, place, text, walk

# Names of Julia's Base that the package uses, looked up in its documentation.
JULIA = set("""
  Any Array AbstractArray AbstractFloat AbstractRange AbstractString AbstractUnitRange AbstractVector Base Bool Colon
  Complex ComplexF32 ComplexF64 Cstring Csize_t Cvoid C_NULL DataType Dict ENV Exception Float16 Float32 Float64 GC IO Int
  Int16 Int32 Int64 Int8 Integer Libdl NamedTuple Nothing Number Pair Ptr ReentrantLock Ref Ricci StepRange String Tuple
  Type UInt UInt16 UInt32 UInt64 UInt8 Union Val Vector
  append! atan abs abs2 acos acosh adjoint all any asin asinh atanh axes backtrace broadcast cat cbrt ceil collect complex
  conj convert cos cosh count cumsum eachindex eltype enumerate error exp exp2 expm1 fill finalizer first firstindex
  floor foldl foreach get get! hash hcat identity ifelse imag invoke isempty isfile isfinite isinteger isperm join
  joinpath keys last lastindex length lock log log1p map max maximum min minimum ndims new nothing occursin one ones only
  permutedims pointer pointer_from_objref pop! popfirst! print println prod push! real reduce rem rethrow reverse round size
  sizeof sign sin sinh sprint sqrt startswith step string sum tan tanh task_local_storage throw transpose typeof undef
  unique unsafe_load unsafe_pointer_to_objref unsafe_store! unsafe_string unsafe_wrap values vec vcat view xor zeros
  showerror include endswith isabspath isa in true false eval div end begin fieldtype fieldoffset
""".split())
MACROS = {"@__DIR__", "@cfunction", "@eval", "@test", "@testset", "@test_throws", "@preserve"}
NOT_NAMES = {"operator", "string_literal", "integer_literal", "float_literal", "boolean_literal", "line_comment"}


class Scope:
    """Names that a definition binds somewhere: parameters, assignments, loops, closures. Coarse, but typing errors show."""

    def __init__(self, node):
        self.bound = set()
        for n in walk(node):
            kind = n.type
            if kind == "assignment":
                self.targets(n.named_children[0], inner=n.id != node.id)
            elif kind in ("for_binding", "let_statement", "catch_clause", "arrow_function_expression", "where_expression"):
                self.binds(n)
            elif kind == "signature" or (kind == "argument_list" and n.parent.type == "do_clause"):
                self.names(n)
            elif kind == "typed_expression" and n.parent.type == "struct_definition":
                self.bound.add(text(n.named_children[0]))

    def binds(self, n):
        parts = n.named_children
        for part in (parts[1:] if n.type == "where_expression" else parts[:1]):
            self.names(part)

    def names(self, node):
        self.bound |= {text(n) for n in walk(node) if n.type == "identifier"}

    def targets(self, left, inner):
        if left.type in ("call_expression", "where_expression"):
            while left.type == "where_expression":
                self.names(left.named_children[1])
                left = left.named_children[0]
            for part in left.named_children[0 if inner else 1:]:
                self.names(part)
        elif left.type not in ("field_expression", "index_expression"):
            self.names(left)


def definitions(path):
    """The top-level statements of a file, those of a module included."""
    for node in julia_text.parsed(path).named_children:
        if node.type == "module_definition":
            yield from (c for n in node.named_children for c in ([n] if n.type != "block" else n.named_children))
        else:
            yield node


def head(node):
    """The call `f(a, b)` that a definition of a function begins with; None for other nodes."""
    if node.type == "function_definition" and of_type(node, "signature"):
        node = of_type(node, "signature")[0].named_children[0]
    elif node.type == "assignment":
        node = node.named_children[0]
    else:
        return None
    while node.type in ("where_expression", "typed_expression"):
        node = node.named_children[0]
    return node if node.type == "call_expression" else None


def arity(arguments):
    """(least, most or None, keywords or None if any are taken) of a list of parameters."""
    least, most, keywords, after = 0, 0, set(), False
    for child in arguments.children:
        if child.type == ";":
            after = True
        if not child.is_named or child.type == "line_comment":
            continue
        default = child.type == "named_argument"
        if after:
            name = child.named_children[0] if default else child
            name = name.named_children[0] if name.type == "typed_expression" else name
            keywords = None if child.type == "splat_expression" or keywords is None else keywords | {text(name)}
        elif child.type == "splat_expression":
            most = None
        else:
            least, most = least + (not default), None if most is None else most + 1
    return least, most, keywords


class Package:
    """What the files define."""

    def __init__(self, files, low):
        self.low, self.names, self.methods = low, set(), collections.defaultdict(list)
        for path in files:
            for node in definitions(path):
                self.add(node)

    def add(self, node):
        call = head(node)
        if call is not None and call.named_children[0].type == "identifier":
            self.method(call)
        elif node.type in ("const_statement", "assignment"):
            left = node.named_children[0] if node.type == "assignment" else node.named_children[0].named_children[0]
            self.names |= {text(n) for n in walk(left) if n.type == "identifier"}
        elif node.type in ("struct_definition", "abstract_definition"):
            self.type_definition(node)

    def method(self, call):
        name, arguments = text(call.named_children[0]), of_type(call, "argument_list")[0]
        self.names.add(name)
        self.methods[name].append(arity(arguments))

    def type_definition(self, node):
        name = next(text(n) for n in walk(of_type(node, "type_head")[0]) if n.type == "identifier")
        self.names.add(name)
        if node.type != "struct_definition":
            return
        inner = [head(n) for n in walk(node) if n.type in ("function_definition", "assignment") and head(n)]
        for call in inner:
            self.method(call)
        if not inner:
            n = len(of_type(node, "typed_expression")) + len(of_type(node, "identifier"))
            self.methods[name].append((n, n, set()))


def passed(call):
    """(number of positional arguments, or None if some are spread; names of keywords, None if spread)."""
    n, keywords, after = 0, set(), False
    for child in of_type(call, "argument_list")[0].children:
        after = after or child.type == ";"
        if not child.is_named or child.type == "line_comment":
            continue
        if child.type == "splat_expression":
            n, keywords = (n, None) if after else (None, keywords)
        elif child.type == "named_argument":
            keywords = keywords if keywords is None else keywords | {text(child.named_children[0])}
        elif after:
            keywords = keywords if keywords is None else keywords | {text(child)}
        else:
            n = None if n is None else n + 1
    if of_type(call, "do_clause"):
        n = None if n is None else n + 1
    return n, keywords


def fits(methods, n, keywords):
    for least, most, known in methods:
        count = n is None or (least <= n and (most is None or n <= most))
        if count and (keywords is None or known is None or keywords <= known):
            return True
    return False


def check_low_call(where, name, call, low):
    """A call of something in LowLevel.jl."""
    n, keywords = passed(call)
    if name == "sized":
        target = text(of_type(call, "argument_list")[0].named_children[0]).removeprefix("sys.")
        members = {m for m, _ in low.structs.get(target, ())}
        return [f"{where}: sized: {target} has no member {k}" for k in sorted((keywords or set()) - members)]
    wanted = len(low.functions[name].parameters) if name in low.functions else \
        len(low.structs[name]) if name in low.structs else 1 if name in low.aliases else 0
    return [] if n == wanted else [f"{where}: {name} is given {n} arguments, not {wanted}"]


def is_definition_head(call):
    node = call.parent
    while node is not None and node.type in ("where_expression", "typed_expression", "signature"):
        node = node.parent
    return node is not None and head(node) is not None and head(node).id == call.id


def check_calls(path, package):
    errors = []
    for node in definitions(path):
        bound = Scope(node).bound
        for call in (n for n in walk(node) if n.type == "call_expression" and of_type(n, "argument_list")):
            where, callee = place(path, call), call.named_children[0]
            if callee.type == "field_expression" and text(callee).startswith("sys."):
                name = text(callee).removeprefix("sys.")
                if name in known_of(package.low):
                    errors += check_low_call(where, name, call, package.low)
            elif callee.type == "identifier" and text(callee) in package.methods and text(callee) not in bound:
                if not is_definition_head(call) and not fits(package.methods[text(callee)], *passed(call)):
                    errors.append(f"{where}: no method of {text(callee)} takes what {text(call)[:60]!r} passes")
    return errors


def known_of(low):
    return set(low.structs) | low.opaque | set(low.constants) | set(low.aliases) | set(low.functions) | low.others


def check_names(path, package, more):
    errors, known = [], package.names | JULIA | more
    for node in definitions(path):
        if node.type in ("export_statement", "using_statement", "import_statement"):
            continue
        bound = Scope(node).bound
        for n in walk(node):
            if n.type == "macro_identifier" and text(n) not in MACROS:
                errors.append(f"{place(path, n)}: unknown macro {text(n)}")
            if n.type != "identifier" or not is_used(n) or text(n) in bound | known:
                continue
            errors.append(f"{place(path, n)}: {text(n)} is not defined")
    for n in walk(julia_text.parsed(path)):
        if n.type == "field_expression" and text(n.named_children[0]) == "sys":
            name = text(n.named_children[-1])
            if name not in known_of(package.low):
                errors.append(f"{place(path, n)}: LowLevel.jl has no {name}")
    return errors


def is_used(n):
    """Not the name of a member, a keyword, a macro or a symbol."""
    parent = n.parent
    if parent.type == "field_expression" and parent.named_children[0].id != n.id:
        return False
    if parent.type in ("quote_expression", "macro_identifier"):
        return False
    return not (parent.type == "named_argument" and parent.named_children[0].id == n.id)


def check_exports(main, package):
    exported = [text(n) for node in definitions(main) if node.type == "export_statement" for n in node.named_children]
    return [f"{main.name}: {name} is exported and not defined" for name in exported if name not in package.names] + \
        ([] if exported else [f"{main.name}: exports nothing"])


def check_files(folder, main):
    included = re.findall(r'^include\("(.*)"\)$', main.read_text(), flags=re.M)
    there = {p.name for p in (folder / "src").glob("*.jl")} - {main.name}
    return [f"{main.name}: includes {n}, which is not there" for n in sorted(set(included) - there)] + \
        [f"{main.name}: {n} is not included" for n in sorted(there - set(included))]


def check_readme(path, package):
    """The examples for users parse, and call what there is."""
    errors, exported = [], package.names
    for block in re.findall(r"^```julia\n(.*?)^```", path.read_text(), flags=re.M | re.S):
        root = julia_text.PARSER.parse(block.encode()).root_node
        errors += [f"{path.name}: not Julia: {text(n)!r}" for n in walk(root) if n.type == "ERROR" or n.is_missing]
        bound = Scope(root).bound
        for call in (n for n in walk(root) if n.type == "call_expression" and n.named_children[0].type == "identifier"):
            name = text(call.named_children[0])
            if name not in bound | exported | JULIA:
                errors.append(f"{path.name}: {name} is not defined")
            elif name in package.methods and not fits(package.methods[name], *passed(call)):
                errors.append(f"{path.name}: no method of {name} takes what {text(call)[:60]!r} passes")
    return errors


def check(folder):
    main, errors = folder / "src/Ricci.jl", []
    files = sorted((folder / "src").glob("*.jl"))
    tests = folder / "test/runtests.jl"
    for path in [*files, tests]:
        errors += julia_text.syntax_errors(path)
    if errors:
        return errors
    files = [p for p in files if p.name != "LowLevel.jl"]
    package = Package(files, julia_text.low_level(folder / "src/LowLevel.jl"))
    package.names |= {"LowLevel", "sys"}
    for path in files:
        errors += check_calls(path, package) + check_names(path, package, set())
    own = Package([tests], package.low).names
    return errors + check_names(tests, package, own | {"Test"}) + check_calls(tests, package) + \
        check_exports(main, package) + check_files(folder, main) + check_readme(folder / "README.md", package)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=julia_text.PACKAGE)
    errors = check(parser.parse_args().folder)
    print("\n".join(errors + [f"package of Julia: {len(errors)} mistake(s)"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
