"""Of triton.language, for rehearse.sh: what one program of a grid does."""
import numpy as np

program = (0,)


class constexpr:
    pass


class Pointer:
    """Elements of an array by their numbers; outside of it is an error, as it would be on a GPU."""

    def __init__(self, array, at=0):
        self.array, self.at = array, at

    def __add__(self, offset):
        return Pointer(self.array, self.at + offset)


def program_id(axis):
    return program[axis]


def arange(start, end):
    if (end - start) & (end - start - 1):
        raise ValueError("arange's range must be a power of 2")
    return np.arange(start, end)


def inside(pointer, mask):
    at = np.broadcast_to(pointer.at, np.broadcast_shapes(np.shape(pointer.at), np.shape(mask)))
    keep = np.broadcast_to(mask, at.shape)
    if (at[keep] < 0).any() or (at[keep] >= pointer.array.size).any():
        raise IndexError("an access outside of an array")
    return at, keep


def load(pointer, mask=True):
    at, keep = inside(pointer, mask)
    return np.where(keep, pointer.array.reshape(-1)[np.where(keep, at, 0)], 0).astype(np.float32)


def store(pointer, value, mask=True):
    at, keep = inside(pointer, mask)
    pointer.array.reshape(-1)[at[keep]] = np.broadcast_to(value, at.shape)[keep]


def exp(x):
    return np.exp(x)


def sqrt(x):
    return np.sqrt(x)


def max(x, axis):
    return x.max(axis)


def sum(x, axis):
    return x.sum(axis)
