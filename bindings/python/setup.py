"""Puts the libraries of $RICCI_PREFIX (an installed prefix or a build folder) into the package.

`RICCI_PREFIX=$PWD/build pip install ./bindings/python`: libricci.so.0, the CPU backend, and Abseil's shared libraries,
which libricci.so.0 finds next to itself. The other libraries they need are those of any Linux with the C++ runtime,
zlib and zstd.
"""
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

# Where they are in a build folder and in a prefix.
LIBRARIES = {"libricci.so.0": ("", "lib/", "lib/*/"),
             "libricci_plugin_cpu.so.0": ("plugins/cpu/", "lib/ricci/", "lib/*/ricci/")}


def find(prefix, name):
    found = [path for folder in LIBRARIES[name] for path in prefix.glob(folder + name)]
    if found:
        return found[0]
    raise SystemExit(f"no {name} in {prefix}; set RICCI_PREFIX to an installed prefix or to a build folder of Ricci")


def abseil(library):
    """The shared libraries of Abseil that the loader finds for `library`."""
    lines = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout.splitlines()
    return [pathlib.Path(line.split("=>")[1].split()[0]) for line in lines if "libabsl_" in line and "=> /" in line]


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        if "RICCI_PREFIX" not in os.environ:
            raise SystemExit("set RICCI_PREFIX to an installed prefix or to a build folder of Ricci")
        prefix = pathlib.Path(os.environ["RICCI_PREFIX"]).resolve()
        target = pathlib.Path(self.build_lib) / "ricci/lib"
        target.mkdir(parents=True, exist_ok=True)
        for name in LIBRARIES:
            shutil.copy(find(prefix, name), target / name)
        for library in abseil(find(prefix, "libricci.so.0")):
            shutil.copy(library, target / library.name)


class Platform(Distribution):
    """A wheel for this platform: it holds libraries."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibraries}, distclass=Platform)
