"""Structures of leaves around the flat arguments and results of a program.

A tree builds its structure from leaves and flattens one of the same structure. The structures of a JAX function are
JAX's own (`PyTree`); those that transformations add are tuples.
"""


class Tree:
    def parts(self, value):
        """Like `flatten`, but any leaf may be None."""
        return self.flatten(value)

    def spread(self, value):
        """One value per leaf, from a value for all or from a structure of values."""
        return [value] * self.size if value is None or isinstance(value, int) else self.parts(value)

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
        if len(values) != len(self.children):
            raise TypeError(f"{len(self.children)} values expected, {len(values)} given")
        return zip(self.children, values)

    def flatten(self, values):
        return [leaf for child, value in self._pairs(values) for leaf in child.flatten(value)]

    def parts(self, values):
        return [leaf for child, value in self._pairs(values) for leaf in child.parts(value)]

    def spread(self, value):
        if not isinstance(value, (tuple, list)):
            return super().spread(value)
        return [leaf for child, part in self._pairs(value) for leaf in child.spread(part)]


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
            raise TypeError(f"the structure {self.treedef} is expected, {treedef} is given")
        return leaves

    def pair(self):
        parts = self.treedef.children()
        is_pair = len(parts) == 2 and self.treedef.node_data()[0] is tuple
        return [PyTree(part) for part in parts] if is_pair else None

    def parts(self, value):
        return self.treedef.flatten_up_to(value)


class Nested(Tree):
    """`outer`, with a copy of `inner` in the place of each leaf."""

    def __init__(self, outer, inner):
        self.outer, self.inner, self.size = outer, inner, outer.size * inner.size

    def build(self, leaves):
        n = self.inner.size
        return self.outer.build([self.inner.build(leaves[i * n:i * n + n]) for i in range(self.outer.size)])

    def flatten(self, value):
        return [leaf for part in self.outer.parts(value) for leaf in self.inner.flatten(part)]


def flat(n):
    """The structure of `n` results: the result itself if there is one."""
    return Leaf() if n == 1 else Tuple(*[Leaf()] * n)
