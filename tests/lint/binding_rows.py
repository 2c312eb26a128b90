"""The C++ binding fits the rows: every primitive has its function, and functions emit what the row takes.

This reads the text of bindings/cpp: calls of Emit1, EmitN and EmitNullary whose primitive is a literal, or the `name`
parameter of their function, which is a literal in its calls. Results and attributes are always checked, operands if
they are listed in the call: each attribute is one of the row, and none that the row needs is left out.

usage: binding_rows.py TOOL
"""
import pathlib
import re
import subprocess
import sys

BINDING = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "cpp"
# Made by transforms and passes, never by a host.
INTERNAL = {"call", "check", "custom_linear"}
CALL = re.compile(r"(?<![.\w])(Emit1|EmitN|EmitNullary)\((?!std::|uint32_t|ricci_builder)")
TITLE = re.compile(r"(?:([^(]*) = )?([\w.-]+)\((.*?)\): ")


def rows(tool):
    """Name of a primitive -> (operands, results, {attribute: whether it may be left out})."""
    ask = lambda *names: subprocess.run([tool, "primitives", *names], capture_output=True, text=True, check=True).stdout
    out = {}
    for line in ask(*(line.split()[0] for line in ask().splitlines())).splitlines():
        if title := TITLE.match(line):
            name, attributes = title[2], {}
            out[name] = tuple([n for n in (title[i] or "").split(", ") if n] for i in (3, 1)) + (attributes,)
        elif line[2:13].strip() in ("attributes", "") and line[14:]:
            attribute, _, kind = line[14:].partition(": ")
            attributes[attribute] = "left out" in kind
    return out


def split(text):
    """The arguments at the start of `text`, up to the bracket that closes them."""
    depth, start, out = 0, 0, []
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth < 0 or (c == "," and depth == 0):
            out.append(text[start:i].strip())
            start = i + 1
        if depth < 0:
            return [a for a in out if a]
    return []


def named(text, call, prim):
    """The primitives that this call may emit."""
    if prim.startswith('"'):
        return [prim.strip('"')]
    function = re.findall(r"(\w+)\(std::string_view name", text[:call.start()])
    return re.findall(rf'\b{function[-1]}\("([\w-]+)"', text) if prim == "name" and function else []


def emitted(text):
    """(primitive, operands or None, results or None, attributes or None) of each call."""
    for call in CALL.finditer(text):
        arguments = split(text[call.end():])
        first = arguments.pop(0) if call[1] != "Emit1" else "1"  # the number of results, or the builder
        names = named(text, call, arguments.pop(0))
        if not names:
            continue
        operands = arguments.pop(0) if call[1] != "EmitNullary" else "{}"
        attributes = arguments.pop(0) if arguments else "{}"
        count = len(split(operands[1:])) if operands.startswith("{") else None
        results = int(first) if first.isdigit() else 1 if call[1] == "EmitNullary" else None
        given = re.findall(r'\{"(\w+)",', attributes) if re.match(r"\{[{}]", attributes) else None
        for name in names:
            yield name, 1 if operands.startswith("{&") else count, results, given


def fits(names, n):
    return n is None or (n >= len(names) - 1 if names and names[-1].endswith("...") else n == len(names))


def wrong(row, operands, results, attributes):
    taken, given, known = row
    if not fits(taken, operands):
        yield f"gives {operands} operands, not ({', '.join(taken)})"
    if not fits(given, results):
        yield f"needs {results} results, not ({', '.join(given)})"
    for attribute in attributes or []:
        if attribute not in known:
            yield f"gives attribute {attribute}, which the row does not have"
    for attribute, optional in known.items():
        if attributes is not None and not optional and attribute not in attributes:
            yield f"leaves out attribute {attribute}"


def main():
    known = rows(sys.argv[1])
    texts = {p: p.read_text() for p in sorted(BINDING.rglob("*.[hc][pc]*"))}
    errors = [f"no function emits {n}" for n in known if n not in INTERNAL and
              not any(f'"{n}"' in text for text in texts.values())]
    calls = [(path, *call) for path, text in texts.items() for call in emitted(text)]
    for path, name, *call in calls:
        faults = wrong(known[name], *call) if name in known else ["no such primitive"]
        errors += [f"{path.name}: {name}: {what}" for what in faults]
    print("".join(f"bindings/cpp: {e}\n" for e in errors), end="")
    print(f"binding_rows: {len(known)} primitives, {len(calls)} calls, {len(errors)} errors")
    return 1 if errors or len(known) < 100 or len(calls) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
