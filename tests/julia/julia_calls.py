"""Every function of the library that the Julia package calls is called by the sequences in C: none goes untried."""
import pathlib
import re
import sys

import julia_text

HERE = pathlib.Path(__file__).parent


def called_by_package(folder):
    low = julia_text.low_level(folder / "src/LowLevel.jl")
    files = [p for p in sorted((folder / "src").glob("*.jl")) if p.name != "LowLevel.jl"]
    named = {name for p in files for name in re.findall(r"\bsys\.(\w+)", p.read_text())}
    return named & (set(low.functions) | {n for n in low.others if n.startswith("ricci_plugin_query")})


def check(folder, code=None):
    if code is None:
        code = (HERE / "julia_host.h").read_text() + (HERE / "julia_sequences.c").read_text()
    used = set(re.findall(r"\b(ricci_\w+)", re.sub(r"/\*.*?\*/", "", code, flags=re.S)))
    untried = sorted(called_by_package(folder) - used)
    return [f"{name}: the package calls it, julia_sequences.c does not" for name in untried]


def main():
    errors = check(julia_text.PACKAGE)
    all_calls = called_by_package(julia_text.PACKAGE)
    print("\n".join(errors + [f"calls of the Julia package: {len(errors)} of {len(all_calls)} untried"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
