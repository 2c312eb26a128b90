"""libricci.so.0 exports the public functions and nothing else, and each of them."""
import argparse
import subprocess
import sys

import source_tree


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    library = parser.parse_args().library
    declared = source_tree.public_functions()
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[2].split("@")[0] for line in lines.splitlines()}
    errors = [f"{name}: exported, but in no public header" for name in sorted(exported - declared)]
    errors += [f"{name}: not exported" for name in sorted(declared - exported)]
    return source_tree.report(errors, "shared library")


if __name__ == "__main__":
    sys.exit(main())
