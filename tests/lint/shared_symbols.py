"""libricci.so.0 exports the public functions and nothing else, and each of them."""
import argparse
import subprocess
import sys

import source_tree

sys.path.insert(0, str(source_tree.ROOT / "cmake"))
import generate_api_table  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    library = parser.parse_args().library
    declared = {f"ricci_{n}" for h in generate_api_table.HEADERS for n, _, _ in generate_api_table.declarations(h)}
    declared |= {"ricci_plugin_query_lax", "ricci_plugin_query_nn"}
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[2].split("@")[0] for line in lines.splitlines()}
    errors = [f"{name}: exported, but in no public header" for name in sorted(exported - declared)]
    errors += [f"{name}: not exported" for name in sorted(declared - exported)]
    return source_tree.report(errors, "shared library")


if __name__ == "__main__":
    sys.exit(main())
