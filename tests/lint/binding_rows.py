"""Every primitive has its function in the C++ binding: its name stands in a header of bindings/cpp.

usage: binding_rows.py TOOL
"""
import pathlib
import subprocess
import sys

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "cpp"
# Made by transforms and passes, never by a host.
INTERNAL = {"call", "check", "custom_linear", "fusion"}


def main():
    lines = subprocess.run([sys.argv[1], "primitives"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split()[0] for line in lines if line.strip()}
    text = "".join(p.read_text() for p in sorted(HEADERS.rglob("*.[hc][pc]*")))
    missing = sorted(n for n in names - INTERNAL if f'"{n}"' not in text)
    for name in missing:
        print(f"bindings/cpp: no function emits {name}")
    print(f"binding_rows: {len(names)} primitives, {len(missing)} without a function")
    return 1 if missing or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
