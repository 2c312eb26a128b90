"""`python -m ricci`: the tool `ricci`, with its arguments, output and exit codes, because it is that program.

It is next to the libraries of the package, or in $RICCI_PREFIX.
"""
import os
import sys

from .abi.installation import find


def main():
    tool = find("ricci")
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
