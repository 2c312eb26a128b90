"""A stand-in for Triton, for rehearse.sh: what peers_triton.py uses of it, each program of a grid run by NumPy."""
import inspect
import itertools
import sys

import numpy as np
import triton_language as language

sys.modules["triton.language"] = language

__version__ = "3.4.0 (stand-in)"
OPTIONS = {"num_warps", "num_stages", "num_ctas"}


class Kernel:
    def __init__(self, body):
        self.body, self.names = body, inspect.signature(body).parameters

    def __getitem__(self, grid):
        def launch(*arguments, **named):
            named = {name: value for name, value in named.items() if name not in OPTIONS}
            inspect.signature(self.body).bind(*arguments, **named)
            given = [language.Pointer(a) if isinstance(a, np.ndarray) else a for a in arguments]
            for at in itertools.product(*map(range, grid)):
                language.program = at
                self.body(*given, **named)

        return launch


def jit(body):
    return Kernel(body)
