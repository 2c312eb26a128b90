"""No plain arithmetic on attributes: a program's text may state any number, so sums, products and narrowings of them go
through ricci/exact.h (`Exact` in the binding).

An attribute is what a rule reads (`e.ints("low")[i]`, `h.integer("size")`, `trace::IntOf(...)`) or a variable that holds
just that. If an earlier check makes the plain operation safe, the line says why: `// exact: the window fits`.
"""
import re
import sys

import source_tree

FOLDERS = ["plugins", "src", "samples"]
READ = r"(?:[\w.()]*\.(?:integer|ints)\([^()]*\)|\b(?:trace::)?Ints?Of\((?:[^()]|\([^()]*\))*\))"
BOUND = re.compile(rf"\b(\w+) = {READ}(?:\[[^\]]*\])?(?=[,;)])")
EXACT = re.compile(r"\bExact\(|ricci_exact|__int128|// exact: ")
NARROW = r"static_cast<(?:u?int(?:8|16|32)_t|int|unsigned)>\("


def operations(names):
    """A pattern for plain arithmetic on one of `names`, or on an attribute where it is read."""
    operand = READ if not names else rf"(?:{READ}|(?<![\w.>])(?:{'|'.join(names)})\b(?!\())"
    operand += r"(?:\[[^\]]*\])?"
    after = rf"{operand}\s*(?:[-+*/%]=?(?![-+>])|<<)\s*[\w(]"
    before = rf"(?:[\w)\]]\s*[-+*/%]=?|[(,=<>?:]\s*-|return -)\s*{operand}"
    return re.compile(rf"{after}|{before}|{NARROW}{operand}\)|(?:\+\+|--){operand}")


def functions(text):
    """(line number, lines) of every piece of code up to a closing bracket in the first column."""
    lines, start = text.splitlines(), 0
    for n, line in enumerate(lines):
        one_line = line[:1] not in ("", " ", "#", "/") and line.endswith("}")
        if line.startswith("}") or one_line:
            yield start, lines[start : n + 1]
            start = n + 1
    yield start, lines[start:]


def code_of(line):
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', line.split("//")[0])


def check_text(text, path):
    errors = []
    for start, lines in functions(text):
        names = sorted(set(BOUND.findall("\n".join(l for l in lines if not EXACT.search(l)))))
        operation = operations(names)
        for n, line in enumerate(lines, start + 1):
            if not EXACT.search(line) and operation.search(code_of(line)):
                errors.append(f"{path}:{n}: plain arithmetic on an attribute: {line.strip()}")
    return errors


WRONG = ['  shape.push_back(e.ints("reps")[i] * n);', '  const auto low = e.ints("low");\n  out = at[i] - low[i];',
         '  const int64_t k = e.integer("k");\n  f(-k);', '  n = static_cast<uint32_t>(h.integer("num_carry"));',
         '  const int64_t n = trace::IntOf(eqn.attrs, "length");\n  end = n - 1;', '  sum += e.ints("sizes")[0];']
RIGHT = ['  shape.push_back(AsDimension(Exact(e.ints("reps")[i]) * n, "x"));', '  out = low[i] + 1;',
         '  const auto axis = e.integer("axis");\n  shape[static_cast<size_t>(axis)] = 1;',
         '  last = n - e.ints("sizes")[0];  // exact: it fits', '  f(e.integer("axis"), -1);']


def main():
    errors = [f"self-test: not found: {text}" for text in WRONG if not check_text(text, "wrong")]
    errors += [f"self-test: {e}" for text in RIGHT for e in check_text(text, "right")]
    for path in source_tree.files(source_tree.CODE, FOLDERS):
        errors += check_text(source_tree.read(path), path)
    return source_tree.report(errors, "attribute arithmetic")


if __name__ == "__main__":
    sys.exit(main())
