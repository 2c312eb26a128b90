"""Which of Python's packages for GPUs are on the machine, a line each."""
import importlib.metadata
import sys

print("Python", sys.version.split()[0])
for name in "numpy", "torch", "triton", "jax", "jax-cuda13-plugin", "jax-cuda12-plugin", "nvidia-cuda-nvrtc":
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print("no", name)
