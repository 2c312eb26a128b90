"""Writes everything that is generated from the annotated C headers, or with --check fails if a file is not up to date.

Needs the package libclang (cmake/requirements.txt). The files are checked in, so that nothing else needs it.
"""
import argparse
import sys

import annotations
import backend_functions
import ctypes_layer
import exports
import freeze
import function_table
import headers
import julia_layer
import layout
import reference
import rust_sys

LAYERS = [function_table, exports, layout, backend_functions, reference, ctypes_layer, rust_sys, julia_layer]


def outputs(release):
    """path -> text of every generated file; a mistake in the headers ends the process with its message."""
    spec = headers.read()
    errors = annotations.check(spec)
    if errors:
        sys.exit("\n".join(errors))
    written = {path: text for layer in LAYERS for path, text in layer.outputs(spec).items()}
    return written | freeze.release(spec) if release else written


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if a file is not up to date")
    parser.add_argument("--release", action="store_true",
                        help="also write what this version promises; only when it is released")
    arguments, stale = parser.parse_args(), []
    for path, text in outputs(arguments.release).items():
        file = headers.ROOT / path
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(path)
        if not arguments.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if arguments.check and stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run .venv/bin/python bindings/spec/write_bindings.py")
    for path in stale:
        print(f"written: {path}")


if __name__ == "__main__":
    main()
