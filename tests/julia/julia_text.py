"""The Julia package as syntax trees, and what LowLevel.jl declares: what the checks of this folder share.

Nothing here knows bindings/spec: declarations are read from the Julia text, so that a mistake of the generator shows.
"""
import dataclasses
import pathlib

import tree_sitter
import tree_sitter_julia

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings/julia"
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))


def parsed(path):
    return PARSER.parse(path.read_bytes()).root_node


def walk(node):
    """All nodes below and with `node`, from the first character on."""
    yield node
    for child in node.children:
        yield from walk(child)


def text(node):
    return node.text.decode()


def of_type(node, kind):
    return [c for c in node.named_children if c.type == kind]


def place(path, node):
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{node.start_point[0] + 1}"


def syntax_errors(path):
    return [f"{place(path, n)}: not Julia: {text(n)[:60]!r}" for n in walk(parsed(path))
            if n.type == "ERROR" or n.is_missing]


@dataclasses.dataclass
class Function:
    parameters: list
    symbol: str
    result: str
    kinds: list
    arguments: list
    where: str


@dataclasses.dataclass
class LowLevel:
    structs: dict  # name -> [(member, type text)], in the order of the file
    opaque: set
    constants: dict  # name -> (type, value)
    aliases: dict
    functions: dict
    others: set  # of Julia code: sized, libricci, entries of plugins


def number(word):
    return int(word, 0)


def constant(node, out):
    """`const NAME = UInt32(4)`, or an alias of a type."""
    left, _, right = node.named_children[0].named_children
    name = text(left)
    if right.type == "call_expression":
        out.constants[name] = (text(right.named_children[0]), number(text(right.named_children[1]).strip("()")))
    elif right.type == "identifier":
        out.aliases[name] = text(right)
    else:
        out.others.add(name)


def struct(node, out):
    name = text(of_type(node, "type_head")[0])
    members = [(text(m.named_children[0]), text(m.named_children[1])) for m in of_type(node, "typed_expression")]
    if text(node).startswith("mutable"):
        out.opaque.add(name)
    else:
        out.structs[name] = members


def function(path, node, out):
    call = of_type(of_type(node, "signature")[0], "call_expression")
    calls = [n for n in walk(node) if n.type == "call_expression" and text(n.named_children[0]) == "ccall"]
    if not call or len(calls) != 1:
        out.others.add(text(of_type(node, "signature")[0]).split("(")[0])
        return
    name, parameters = call[0].named_children[:2]
    target, result, kinds, *arguments = calls[0].named_children[1].named_children
    out.functions[text(name)] = Function([text(p) for p in parameters.named_children],
                                         text(target.named_children[0]).removeprefix(":"), text(result),
                                         [text(k) for k in kinds.named_children], [text(a) for a in arguments],
                                         place(path, node))


def low_level(path=PACKAGE / "src/LowLevel.jl"):
    out = LowLevel({}, set(), {}, {}, {}, set())
    module = of_type(parsed(path), "module_definition")[0]
    body = module.named_children
    for node in [c for n in body for c in ([n] if n.type != "block" else n.named_children)]:
        if node.type == "const_statement":
            constant(node, out)
        elif node.type == "struct_definition":
            struct(node, out)
        elif node.type == "function_definition":
            function(path, node, out)
        elif node.type == "assignment":
            out.others.add(text(node.named_children[0].named_children[0]))
    return out
