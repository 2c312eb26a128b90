"""Where the libraries and the tool are: in $RICCI_PREFIX (an installed prefix or a build folder) if that is set, else in
`lib` of the package, where pip puts them."""
import os
import pathlib


def _folders():
    prefix = os.environ.get("RICCI_PREFIX")
    if prefix is None:
        return [pathlib.Path(__file__).parent.parent / "lib"]
    root = pathlib.Path(prefix)
    return [root, root / "lib", root / "lib/ricci", *root.glob("lib/*-linux-gnu"), *root.glob("lib/*-linux-gnu/ricci"),
            root / "plugins/cpu", root / "plugins/cuda", root / "bindings/python/native", root / "bin", root / "src/cli"]


def find(name):
    """The path of the file `name`."""
    folders = _folders()
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    searched = ", ".join(map(str, folders))
    raise ImportError(f"no {name} in {searched}; set RICCI_PREFIX to an installed prefix or to a build folder")
