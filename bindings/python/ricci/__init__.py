"""Ricci in Python: programs, their derivatives and batches, and native code. See README.md."""
from ._library import Error
from .context import Context, default_context
from .executable import Executable
from .program import Program

__all__ = ["Context", "Error", "Executable", "Program", "default_context"]
