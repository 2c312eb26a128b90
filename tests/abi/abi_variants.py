"""Copies of the public headers with a change, for tests that show that a check sees it, or rightly accepts it."""
import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASES = ROOT / "tests/abi/releases"
HEADERS = "\n".join(f'#include "ricci/{p.name}"' for p in sorted((ROOT / "include/ricci").glob("*.h")))


def replaced(path, old, new):
    text = path.read_text()
    if old not in text:
        sys.exit(f"{path.name} has no {old!r}; the change of this test cannot be made")
    path.write_text(text.replace(old, new, 1))


@contextlib.contextmanager
def variant(*changes):
    """A folder with `include/ricci` and `cmake/plugin_forwarders.c`; changes are (file, old, new)."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shutil.copytree(ROOT / "include/ricci", work / "include/ricci")
        (work / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/plugin_forwarders.c", work / "cmake")
        for file, old, new in changes:
            replaced(work / file, old, new)
        yield work


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def version():
    """(major, minor) of the ABI in ricci/base.h."""
    words = [line.split() for line in (ROOT / "include/ricci/base.h").read_text().splitlines()]
    found = {w[1]: int(w[2].rstrip("u")) for w in words if len(w) == 3 and w[1] in ("RICCI_ABI_MAJOR", "RICCI_ABI_MINOR")}
    return found["RICCI_ABI_MAJOR"], found["RICCI_ABI_MINOR"]


def still_promised(stem):
    """Whether the promise of the release `abi_MAJOR_MINOR` holds: before 1.0 a minor version may break it."""
    major, minor = map(int, stem.split("_")[1:])
    now = version()
    return major == now[0] and (major > 0 or minor == now[1])


def current():
    """The stem of the files of the release in development, or the last one."""
    return "abi_{}_{}".format(*version())


def report(errors, what):
    print("\n".join(errors + [f"{what}: {len(errors)} mistake(s)"]))
    return 1 if errors else 0
