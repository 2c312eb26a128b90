"""Structures of leaves around the flat arguments and results of a program.

A tree builds its structure from leaves and flattens one of the same structure. The structures of a JAX function are
JAX's own (`PyTree`); those that transformations add are tuples.
"""
from ..abi.arguments import count, is_integer


class Tree:
    def parts(self, value):
        """Like `flatten`, but any leaf may be None."""
        return self.flatten(value)

    def spread(self, value):
        """One value per leaf, from a value for all or from a structure of values."""
        return [value] * self.size if value is None or is_integer(value) else self.parts(value)

    def paths(self):
        """How Python reaches each leaf, such as `[0]['w']`."""
        raise NotImplementedError

    def pair(self):
        """The two trees of a pair; None if it is none."""
        return None


class Leaf(Tree):
    size = 1

    def build(self, leaves):
        (leaf,) = leaves
        return leaf

    def flatten(self, value):
        return [value]

    def paths(self):
        return [""]


class Tuple(Tree):
    def __init__(self, *children):
        self.children, self.size = children, sum(c.size for c in children)

    def build(self, leaves):
        parts, at = [], 0
        for child in self.children:
            parts.append(child.build(leaves[at:at + child.size]))
            at += child.size
        return tuple(parts)

    def pair(self):
        return self.children if len(self.children) == 2 else None

    def _pairs(self, values):
        n = len(self.children)
        if not isinstance(values, (tuple, list)):
            raise TypeError(f"a tuple of {count(n, 'value')} is expected, one of type {type(values).__name__} is given")
        if len(values) != n:
            raise TypeError(f"{count(n, 'value')} expected, {len(values)} given")
        return zip(self.children, values)

    def flatten(self, values):
        return [leaf for child, value in self._pairs(values) for leaf in child.flatten(value)]

    def parts(self, values):
        return [leaf for child, value in self._pairs(values) for leaf in child.parts(value)]

    def spread(self, value):
        if not isinstance(value, (tuple, list)):
            return super().spread(value)
        return [leaf for child, part in self._pairs(value) for leaf in child.spread(part)]

    def paths(self):
        return [f"[{i}]{path}" for i, child in enumerate(self.children) for path in child.paths()]


class PyTree(Tree):
    """A structure of jax.tree_util."""

    def __init__(self, treedef):
        self.treedef, self.size = treedef, treedef.num_leaves

    def build(self, leaves):
        return self.treedef.unflatten(leaves)

    def flatten(self, value):
        import jax
        leaves, treedef = jax.tree_util.tree_flatten(value)
        if treedef != self.treedef:
            if self.size == 1 and not self.treedef.children() and isinstance(value, (list, tuple)):
                raise TypeError(f"an array is expected, a {type(value).__name__} is given; numpy.asarray makes one")
            raise TypeError(f"the structure {self.treedef} is expected, {treedef} is given")
        return leaves

    def pair(self):
        parts = self.treedef.children()
        is_pair = len(parts) == 2 and self.treedef.node_data()[0] in (tuple, list)
        return [PyTree(part) for part in parts] if is_pair else None

    def parts(self, value):
        return self.treedef.flatten_up_to(value)

    def spread(self, value):
        """As in JAX, `value` may be the upper part of the structure, with a value for all leaves that are below."""
        from jax.api_util import flatten_axes
        return flatten_axes("its value", self.treedef, value)

    def paths(self):
        from jax.tree_util import keystr, tree_flatten_with_path
        try:
            leaves, _ = tree_flatten_with_path(self.treedef.unflatten(range(self.size)))
        except Exception:  # a class of the user that takes no numbers
            return [f" leaf {i}" for i in range(self.size)]
        return [keystr(path) for path, _ in leaves]


class Nested(Tree):
    """`outer`, with a copy of `inner` in the place of each leaf."""

    def __init__(self, outer, inner):
        self.outer, self.inner, self.size = outer, inner, outer.size * inner.size

    def build(self, leaves):
        n = self.inner.size
        return self.outer.build([self.inner.build(leaves[i * n:i * n + n]) for i in range(self.outer.size)])

    def flatten(self, value):
        return [leaf for part in self.outer.parts(value) for leaf in self.inner.flatten(part)]

    def paths(self):
        return [outer + inner for outer in self.outer.paths() for inner in self.inner.paths()]


def flat(n):
    """The structure of `n` results: the result itself if there is one."""
    return Leaf() if n == 1 else Tuple(*[Leaf()] * n)
