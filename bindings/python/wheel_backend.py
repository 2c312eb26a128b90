"""Builds the wheel: the package with the libraries, plugins and tool of $RICCI_PREFIX, a prefix or a build folder.

    RICCI_PREFIX=$PWD/build pip wheel --no-deps ./bindings/python

A build backend in the source tree (PEP 517): it needs nothing but Python, so pip builds without a network. One wheel
serves every Python 3: the extension is one of the stable ABI, and an interpreter that loads none goes without; libricci.so.0 and the tool find Abseil's shared
libraries next to themselves. The other libraries they need are those of a Linux with the C++ runtime, zlib and zstd of
the building machine's versions or later, which no manylinux tag promises (zstd): the tag is linux_x86_64.
"""
import base64
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# Where they are in a build folder and in a prefix; those that a prefix may lack.
FILES = {"libricci.so.0": ("", "lib/", "lib/*/"),
         "libricci_plugin_cpu.so.0": ("plugins/cpu/", "lib/ricci/", "lib/*/ricci/"),
         "libricci_plugin_cuda.so.0": ("plugins/cuda/", "lib/ricci/", "lib/*/ricci/"),
         "ricci_calls.abi3.so": ("bindings/python/native/", "lib/ricci/", "lib/*/ricci/"),
         "ricci": ("src/cli/", "bin/")}
OPTIONAL = {"libricci_plugin_cuda.so.0", "ricci_calls.abi3.so"}


def _prefix():
    if "RICCI_PREFIX" not in os.environ:
        raise SystemExit("set RICCI_PREFIX to an installed prefix or to a build folder of Ricci")
    return pathlib.Path(os.environ["RICCI_PREFIX"]).resolve()


def _find(prefix, name):
    found = [path for folder in FILES[name] for path in sorted(prefix.glob(folder + name)) if path.is_file()]
    if not found and name not in OPTIONAL:
        raise SystemExit(f"no {name} in {prefix}; set RICCI_PREFIX to an installed prefix or to a build folder of Ricci")
    return found[0] if found else None


def _abseil(library):
    """The shared libraries of Abseil that the loader finds for `library`."""
    lines = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout.splitlines()
    return [pathlib.Path(line.split("=>")[1].split()[0]) for line in lines if "libabsl_" in line and "=> /" in line]


def libraries(prefix, folder):
    """Puts all of them into `folder`, without symbols that only debuggers read; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    found = [path for name in FILES if (path := _find(prefix, name)) is not None]
    found += _abseil(_find(prefix, "libricci.so.0"))
    for path in found:
        shutil.copy(path, folder / path.name)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(folder / path.name)], check=True)
    return [path.name for path in found]


def _project():
    return tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _tag():
    return f"py3-none-linux_{platform.machine()}"


def _metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {r}" for r in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {r}; extra == '{extra}'" for r in needs)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines)


class _Wheel:
    """A wheel being written: its files and their hashes, the same bytes for the same contents."""

    def __init__(self, path):
        self._zip, self._record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def finish(self, record):
        self._zip.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), "\n".join([*self._record, f"{record},,", ""]))
        self._zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: writes the wheel and returns its name."""
    project, prefix = _project(), _prefix()
    base = f"{project['name']}-{project['version']}"
    name = f"{base}-{_tag()}.whl"
    wheel = _Wheel(pathlib.Path(wheel_directory) / name)
    for path in sorted((HERE / "ricci").rglob("*.py")):
        wheel.add(str(path.relative_to(HERE)), path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for library in sorted(libraries(prefix, folder)):
            wheel.add(f"ricci/lib/{library}", (folder / library).read_bytes(), 0o755)
    info = f"{base}.dist-info"
    wheel.add(f"{info}/METADATA", _metadata(project).encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ricci\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode())
    wheel.finish(f"{info}/RECORD")
    return name


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the libraries are built by CMake from the whole source tree."""
    raise SystemExit("ricci has no source distribution of its Python package; build a wheel from the source tree")
