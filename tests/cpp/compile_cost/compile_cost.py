"""Hosts of about 50 lines stay quick to compile: the size of their code at -O2, which determines the time, is bounded.

python3 compile_cost.py COMPILER: also prints the user time of each host, which no test bounds, because it depends on
the machine: with g++ 12 on a quiet core 1 s for the headers and 1 s more for each 23 KB of code.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MAX_BYTES = {"network_host.cc": 30_000, "simulation_host.cc": 52_000, "transforms_host.cc": 54_000}


def measure(compiler, name, folder):
    """(bytes of code, seconds of user time)."""
    out = pathlib.Path(folder) / "host.o"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([compiler, "-std=c++20", "-O2", "-I", ROOT / "include", "-I", ROOT / "bindings/cpp", "-c",
                    HERE / name, "-o", out], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    table = subprocess.run(["size", out], check=True, capture_output=True, text=True).stdout
    return int(table.splitlines()[1].split()[0]), seconds


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, limit in MAX_BYTES.items():
            size, seconds = measure(sys.argv[1], name, folder)
            failed |= size > limit
            print(f"{name}: {size} bytes of code, at most {limit}; {seconds:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
