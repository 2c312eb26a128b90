"""Every relative link of a Markdown file leads to a file or folder: in the sources, or in an installed prefix.

usage: links.py [FOLDER]      all .md files below it; without it those of the repository
"""
import pathlib
import re
import sys

import source_tree

LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`\n]*`")


def without_code(text):
    """The text with its code blanked, so that lines keep their numbers and links whose text is code stay links."""
    return SPAN.sub("code", FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text))


def broken(page, name):
    prose = without_code(page.read_text(encoding="utf-8"))
    for match in LINK.finditer(prose):
        target = match.group(1)
        elsewhere = re.match(r"[a-z]+:", target) or target.startswith("#")
        if not elsewhere and not (page.parent / target.split("#")[0]).exists():
            yield f"{name}:{prose.count(chr(10), 0, match.start()) + 1}: the link {target} leads nowhere"


def main():
    if len(sys.argv) > 1:
        root = pathlib.Path(sys.argv[1])
        pages = [p.relative_to(root) for p in sorted(root.rglob("*.md"))]
    else:
        root = source_tree.ROOT
        pages = [pathlib.Path("README.md"), *source_tree.files({".md"})]
    errors = [error for page in pages for error in broken(root / page, page)]
    if not pages:
        errors = [f"{root}: there is no page in it"]
    return source_tree.report(errors, "links")


if __name__ == "__main__":
    sys.exit(main())
