"""Where NVIDIA's Python packages (nvidia-cuda-nvrtc and others) have put their libraries."""
import importlib.util
import pathlib


def library_folders():
    """The folders of the running Python's `nvidia` packages that hold NVRTC, in the order of its path."""
    try:
        found = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):  # a module of that name that is not a package
        return []
    folders = (found.submodule_search_locations or []) if found else []
    return sorted({str(path.parent) for folder in folders for path in pathlib.Path(folder).glob("*/lib/libnvrtc.so.*")},
                  reverse=True)
