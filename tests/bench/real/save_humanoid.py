"""Writes MJX's step of a humanoid as a file of a Ricci program, for ricci_kept_bench and the tool.

usage: save_humanoid.py FILE [--worlds 1]

It needs what measure_humanoid.py needs.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings/python"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what to write")
    parser.add_argument("--worlds", type=int, default=1, help="size of the batch")
    options = parser.parse_args()
    import humanoid
    import ricci
    step, arguments = humanoid.step_and_arguments()
    f = ricci.from_jax(step, *arguments)
    if options.worlds > 1:
        f = f.vmap(options.worlds)
    f.save(options.file)


if __name__ == "__main__":
    main()
