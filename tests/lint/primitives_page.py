"""plugins/lax/PRIMITIVES.md is what `ricci primitives --markdown` prints.

usage: primitives_page.py TOOL [--update]
"""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "plugins" / "lax" / "PRIMITIVES.md"


def main(tool, update=None):
    printed = subprocess.run([tool, "primitives", "--markdown"], capture_output=True, text=True, check=True).stdout
    if update == "--update":
        PAGE.write_text(printed)
    current = PAGE.exists() and PAGE.read_text() == printed
    print(f"{PAGE.name} is current" if current else f"{PAGE.name} is not current; primitives_page.py TOOL --update writes it")
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
