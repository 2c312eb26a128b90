"""Plain prose, as a budget of each folder that only falls: prose.py [--list FOLDER | --update]

Counted are phrases that hide the noun or the term of the field (HABITS) in comments, messages and pages, sentences of
more than 25 words in pages written by hand, and the lines of a README beyond its length. A count above its budget in
prose_budget.json fails. --list prints what is counted in a folder; --update lowers budgets to what is there.
"""
import collections
import json
import pathlib
import re
import sys

import links
import source_tree

BUDGET = pathlib.Path(__file__).with_name("prose_budget.json")
TEXT = source_tree.CODE | {".py", ".sh", ".md", ".rs", ".jl", ".cmake", ".txt", ".case"}
WRITTEN_BY_PROGRAMS = {"REFERENCE.md", "PRIMITIVES.md", "COVERAGE.md", "NUMPY.md"}
MOST_WORDS = 25
MOST_LINES, MOST_LINES_OF_BINDING = 60, 120
HABITS = [r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more|less)\w+", r"\b(?:whoever|nobody|anew|dear)\b",
          r"\b(?:lies|lie) (?:in|at|on|between|beyond|before|after|next|side|below|above)\b",
          r"\bone (?:by one|after the other)\b"]
HABIT = re.compile("|".join(HABITS), re.I)
COMMENT = re.compile(r"\n[ \t]*(?://+|#+|\*|///)?[ \t]*")  # the border of two lines of one comment
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[])|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+")
NOT_PROSE = re.compile(r"^(?:\||#|    |<).*$", re.M)


def folder_of(path):
    """Where its budget is: plugins/cuda, src/pass, include, and `.` for the page at the top."""
    parts = path.parts[:-1]
    return "/".join(parts[:1 if parts[:1] in (("include", ), ("cmake", )) else 2]) or "."


def habits(path, text):
    joined = COMMENT.sub(" ", text) if path.suffix != ".md" else links.without_code(text).replace("\n", " ")
    return [f"{path}: {joined[max(0, m.start() - 40):m.end() + 30].strip()}" for m in HABIT.finditer(joined)]


def long_sentences(path, text):
    sentences = SENTENCE_END.split(NOT_PROSE.sub("\n", links.without_code(text)))
    counts = [(len(s.split()), " ".join(s.split())) for s in sentences]
    return [f"{path}: {n} words: {s[:80]}" for n, s in counts if n > MOST_WORDS]


def lines_beyond(path, text):
    most = MOST_LINES_OF_BINDING if path.parts[0] in ("bindings", "README.md") else MOST_LINES
    return [f"{path}: a line beyond {most}"] * max(0, text.count("\n") - most) if path.name == "README.md" else []


def counted():
    """Of each folder, what is counted under each name."""
    found = collections.defaultdict(lambda: {"habits": [], "long sentences": [], "lines": []})
    for path in [pathlib.Path("README.md"), *source_tree.files(TEXT)]:
        if path.name in WRITTEN_BY_PROGRAMS or path.name == "prose.py" or "releases" in path.parts:
            continue
        text, here = source_tree.read(path), found[folder_of(path)]
        here["habits"] += habits(path, text)
        if path.suffix == ".md":
            here["long sentences"] += long_sentences(path, text)
            here["lines"] += lines_beyond(path, text)
    return found


def main():
    found, budget = counted(), json.loads(BUDGET.read_text()) if BUDGET.exists() else None
    if sys.argv[1:2] == ["--list"]:
        for entries in found[sys.argv[2]].values():
            print(*entries, sep="\n")
        return 0
    counts = {folder: {name: len(entries) for name, entries in kinds.items() if entries}
              for folder, kinds in sorted(found.items())}
    allowed = lambda folder, name: (budget or {}).get(folder, {}).get(name, 0 if budget else 10**9)
    if sys.argv[1:] == ["--update"]:
        lower = {folder: {name: min(n, allowed(folder, name)) for name, n in kinds.items()}
                 for folder, kinds in counts.items() if kinds}
        BUDGET.write_text(json.dumps(lower, indent=1) + "\n")
    errors = [f"{folder}: {n} {name}, at most {allowed(folder, name)}; see prose.py --list {folder}"
              for folder, kinds in counts.items() for name, n in kinds.items() if n > allowed(folder, name)]
    return source_tree.report(errors, "prose")


if __name__ == "__main__":
    sys.exit(main())
