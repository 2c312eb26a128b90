"""The figures in README.md at the top are rows of tests/bench/MEASURED.md: the same text in both, or one is out of date."""
import re
import sys

import source_tree

SECTION = re.compile(r"^## Measured\n(.*?)^## ", re.M | re.S)


def rows(text):
    return [line for line in text.splitlines() if line.startswith("| ")]


def main():
    quoted = rows("".join(SECTION.findall(source_tree.read("README.md"))))
    measured = set(rows(source_tree.read("tests/bench/MEASURED.md")))
    errors = [f"README.md: not a row of tests/bench/MEASURED.md: {row}" for row in quoted if row not in measured]
    return source_tree.report(errors if quoted else ["README.md: no table in its section Measured"], "quoted_rows")


if __name__ == "__main__":
    sys.exit(main())
