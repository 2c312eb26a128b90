"""The programs of tests/cuda/source/*.case, each as a file of its own: smoke_programs.py SOURCE OUT RICCI

They are one for each family of kernels that the backend writes; those whose text is that of a vmap are batched as there.
"""
import pathlib
import re
import subprocess
import sys


def cases(folder):
    """Name and text of each program, and the arguments of the tool that transform it first."""
    for case in sorted(folder.glob("*.case")):
        for part in case.read_text().split("\n====\n"):
            text, _, steps = part.partition("\n$ ")
            if name := re.search(r"^program (\w+)\(", text, re.M):
                transform = re.match(r"(vmap [^|]*)\|", steps)
                yield f"{case.stem}.{name[1]}", text.strip() + "\n", transform[1].split() if transform else []


def main():
    source, out, tool = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    for name, text, transform in cases(source):
        if transform:
            text = subprocess.run([tool, *transform, "-"], input=text, text=True, capture_output=True, check=True).stdout
        (out / f"{name}.ricci").write_text(text)


if __name__ == "__main__":
    main()
