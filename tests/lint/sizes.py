"""Functions and classes are short: outside of tests a function has at most 60 lines, half of them at most 6, and a class at
most 60 methods.

A long function does several things, and a class of many methods is a file that cannot be split. What is read is text as
clang-format leaves it. TABLES are functions that only list cases. BUDGET holds the methods of classes that have
more today: it only falls.
"""
import collections
import re
import sys

import source_tree

MAX_LINES, MAX_MEDIAN, MAX_METHODS = 60, 6, 60
FOLDERS = ("include", "src", "plugins", "bindings", "samples")
TABLES = {
    "KernelEmitter::Item", "Writer::Replay", "LlvmMath::Emit",  # a switch over operations
    "RunPoint",  # the interpreter's
    "RunCommands",  # the commands of the tool
    "WithManyMembers",  # of structs, by their number
}
BUDGET = {"KernelPrinter": 258, "KernelEmitter": 148, "Writer": 85, "KernelBuilder": 69}

NO_FUNCTION = re.compile(r"\s*(namespace|class|struct|enum|union|extern|using|template <|if |for |while |switch |do |else|case|"
                         r"return|public|private|\}|//|#|:)")
CLASS = re.compile(r"(?:template <.*> )?(?:class|struct) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : .*)? \{$")
METHOD = re.compile(r"  (?!static_assert|using|friend|RICCI_)[A-Za-z~\[][^=]*\(")


def functions(lines):
    """(lines of the body, line, name) of the functions in a file: in namespaces, and in classes that are in these."""
    i = 0
    while i < len(lines):
        head = re.match(r"( {0,2})(\S.*)\{$", lines[i])
        if head and "(" in head[2] and " = " not in head[2].split("(")[0] and not NO_FUNCTION.match(lines[i]):
            end = i + 1
            while end < len(lines) and not lines[end].startswith(head[1] + "}"):
                end += 1
            names = re.findall(r"([\w:~]+)(?<!decltype)\(", head[2])
            yield end - i - 1, i + 1, names[0] if names else head[2]
            i = end
        i += 1


def classes(lines):
    """(methods, line, name) of the classes in a file that are in no other class."""
    for i, line in enumerate(lines):
        if head := CLASS.match(line):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith("}")), len(lines))
            yield sum(METHOD.match(body) is not None for body in lines[i + 1 : end]), i + 1, head[1]


def main():
    errors, lengths, large = [], collections.defaultdict(list), {}
    for path in source_tree.files({".h", ".hpp", ".cc"}, FOLDERS):
        lines = source_tree.read(path).splitlines()
        for n, line, name in functions(lines):
            lengths[path.parts[0]].append(n)
            if n > MAX_LINES and name not in TABLES:
                errors.append(f"{path}:{line}: {name} has {n} lines, at most {MAX_LINES} are allowed")
        for n, line, name in classes(lines):
            if n > BUDGET.get(name, MAX_METHODS):
                errors.append(f"{path}:{line}: {name} has {n} methods, at most {BUDGET.get(name, MAX_METHODS)} are allowed")
            large[name] = max(n, large.get(name, 0))
    errors += [f"sizes.py: {name} has {large.get(name, 0)} methods now: lower its budget of {budget}"
               for name, budget in BUDGET.items() if large.get(name, 0) < budget]
    for folder, some in lengths.items():
        if (median := sorted(some)[len(some) // 2]) > MAX_MEDIAN:
            errors.append(f"{folder}: half of the functions have {median} lines or more, at most {MAX_MEDIAN} are allowed")
    return source_tree.report(errors, "sizes")


if __name__ == "__main__":
    sys.exit(main())
