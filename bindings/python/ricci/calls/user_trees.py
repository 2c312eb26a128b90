"""Trees of arrays: tuples, lists, dicts, named tuples, None and registered classes around leaves.

The functions have the names and meanings of `jax.tree`. A `Structure` is what is left of a tree without its leaves. It
is a `Tree` of `trees.py`, so a traced function becomes a `Function` like an imported one. Nothing here needs JAX; a tree
of a class that only JAX knows is a leaf.
"""
import collections
import dataclasses

import numpy as np

from .trees import Tree

_NONE = type(None)
_BUILT_IN = tuple, list, dict, collections.OrderedDict, _NONE
registered = {}  # class: (flatten -> (children, data), unflatten(data, children), names of the children or None)


def register_node(kind, flatten, unflatten, names=None):
    """Makes instances of `kind` nodes. `flatten(x)` gives (children, data), `unflatten(data, children)` an equal x.

    `data` is compared and hashed. `names(data)` gives what messages call the children (`.weight`).
    """
    if not isinstance(kind, type):
        raise TypeError(f"register_node: kind is {kind!r}; a class is expected")
    if kind in registered or kind in _BUILT_IN:
        raise ValueError(f"register_node: {kind.__name__} is registered already")
    registered[kind] = flatten, unflatten, names


def register_node_class(kind):
    """A decorator for classes with the methods `tree_flatten(self)` and `tree_unflatten(cls, data, children)`."""
    register_node(kind, lambda x: x.tree_flatten(), kind.tree_unflatten)
    return kind


def register_dataclass(kind, data_fields=None, meta_fields=()):
    """Makes a dataclass a node: `data_fields` (all others if None) are its children, `meta_fields` are static."""
    fields = [f.name for f in dataclasses.fields(kind)]
    data = tuple(f for f in fields if f not in meta_fields) if data_fields is None else tuple(data_fields)
    meta = tuple(meta_fields)
    if sorted(data + meta) != sorted(fields):
        raise ValueError(f"register_dataclass: data_fields {data} and meta_fields {meta} are not the fields of "
                         f"{kind.__name__}, {tuple(fields)}")

    def flatten(x):
        return tuple(getattr(x, f) for f in data), tuple(getattr(x, f) for f in meta)

    def unflatten(static, children):
        made = object.__new__(kind)  # __init__ may look at its arguments, which need not be arrays here
        for name, value in (*zip(data, children), *zip(meta, static)):
            object.__setattr__(made, name, value)
        return made
    register_node(kind, flatten, unflatten, lambda _: [f".{f}" for f in data])
    return kind


def is_named_tuple(kind):
    """Is the class that of named tuples of one form?"""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _keys_of(value):
    if isinstance(value, collections.OrderedDict):
        return tuple(value)
    try:
        return tuple(sorted(value))
    except TypeError:
        raise TypeError(f"the keys {list(value)} of a dict have no order; use keys of one type") from None


_LEAVES = (np.ndarray, float, int)  # classes that are leaves whatever is registered


def _opened(value):
    """(class, data, children) of a node; None of a leaf."""
    kind = type(value)
    if kind in _LEAVES:
        return None
    if kind in registered:
        children, data = registered[kind][0](value)
        return kind, data, tuple(children)
    if value is None:
        return _NONE, None, ()
    if kind in (tuple, list):
        return kind, None, tuple(value)
    if kind in (dict, collections.OrderedDict):
        keys = _keys_of(value)
        return kind, keys, tuple(value[k] for k in keys)
    if is_named_tuple(kind):
        return kind, None, tuple(value)
    return None


class Structure(Tree):
    """A tree without its leaves. Hashable, and equal to that of every tree of the same form."""

    __slots__ = ("kind", "data", "children", "size", "_hash")

    def __init__(self, kind=None, data=None, children=()):
        self.kind, self.data, self.children = kind, data, tuple(children)
        self.size = 1 if kind is None else sum(c.size for c in self.children)

    def __eq__(self, other):
        return self is other or isinstance(other, Structure) and self._key() == other._key()

    def _key(self):
        return self.kind, self.data, self.children

    def __hash__(self):
        """Found once, as that of each child: calls of jit look for it several times."""
        try:
            return self._hash
        except AttributeError:
            self._hash = hash((self.kind, self.data, self.children))
        return self._hash

    def __reduce__(self):
        """Without the hash, which is another one in another process."""
        return Structure, (self.kind, self.data, self.children)

    def __repr__(self):
        return _shown(self)

    def build(self, leaves):
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self.kind is None:
            return next(leaves)
        return self._joined([c._built(leaves) for c in self.children])

    def _joined(self, parts):
        kind = self.kind
        if kind in registered:
            return registered[kind][1](self.data, parts)
        if kind is _NONE:
            return None
        if kind in (dict, collections.OrderedDict):
            return kind(zip(self.data, parts))
        return kind(*parts) if is_named_tuple(kind) else kind(parts)

    def flatten(self, value):
        leaves, found = flatten(value)
        if found != self:
            raise TypeError(f"the structure {self} is expected, {found} is given")
        return leaves

    def _opened_alike(self, value):
        """The children of a value with the same node at its top."""
        opened = _opened(value)
        if opened is None or opened[:2] != (self.kind, self.data) or len(opened[2]) != len(self.children):
            raise TypeError(f"the structure {self} is expected, {structure(value)} is given")
        return opened[2]

    def parts(self, value):
        if self.kind is None:
            return [value]
        return [x for child, part in zip(self.children, self._opened_alike(value)) for x in child.parts(part)]

    def spread(self, value):
        """`value` may be the upper part of the structure: what stands in the place of a node is for all its leaves."""
        if self.kind is None:
            return [value]
        if value is None or _opened(value) is None:
            return [value] * self.size
        if self.kind is tuple and isinstance(value, list):
            value = tuple(value)
        return [x for child, part in zip(self.children, self._opened_alike(value)) for x in child.spread(part)]

    def paths(self):
        if self.kind is None:
            return [""]
        return [name + path for name, child in zip(self._names(), self.children) for path in child.paths()]

    def _names(self):
        if self.kind in registered:
            names = registered[self.kind][2]
            return names(self.data) if names else [f"[{i}]" for i in range(len(self.children))]
        if self.data is not None:
            return [f"[{key!r}]" for key in self.data]
        fields = getattr(self.kind, "_fields", None)
        return [f"[{i}]" for i in range(len(self.children))] if fields is None else [f".{f}" for f in fields]

    def pair(self):
        return self.children if self.kind in (tuple, list) and len(self.children) == 2 else None


LEAF = Structure()


def _shown(s):
    if s.kind is None:
        return "*"
    if s.kind is _NONE:
        return "None"
    parts = [_shown(c) for c in s.children]
    if s.kind is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if s.kind is list:
        return f"[{', '.join(parts)}]"
    if s.kind in (dict, collections.OrderedDict):
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(s.data, parts)) + "}"
    return f"{s.kind.__name__}({', '.join(parts)})"


def _collect(value, is_leaf, leaves):
    opened = None if is_leaf is not None and is_leaf(value) else _opened(value)
    if opened is None:
        leaves.append(value)
        return LEAF
    kind, data, children = opened
    return Structure(kind, data, [_collect(c, is_leaf, leaves) for c in children])


def flatten(tree, is_leaf=None):
    """(its leaves from left to right, its Structure)."""
    found = []
    made = _collect(tree, is_leaf, found)
    return found, made


def unflatten(structure, leaves):
    """The tree of that structure with these leaves."""
    leaves = list(leaves)
    if len(leaves) != structure.size:
        raise ValueError(f"tree.unflatten: {len(leaves)} leaves are given, {structure} has {structure.size}")
    return structure.build(leaves)


def leaves(tree, is_leaf=None):
    """Its leaves from left to right; None has none."""
    return flatten(tree, is_leaf)[0]


def structure(tree, is_leaf=None):
    return flatten(tree, is_leaf)[1]


def map(function, tree, *rest, is_leaf=None):  # noqa: A001, the name of jax.tree.map
    """`function` of each leaf of `tree` and what stands in its place in `rest`, in a tree of the same structure."""
    first, made = flatten(tree, is_leaf)
    others = [made.parts(r) for r in rest]
    return made.build([function(*xs) for xs in zip(first, *others)])


def reduce(function, tree, *initial, is_leaf=None):
    """The leaves combined from the left, as by functools.reduce."""
    import functools
    return functools.reduce(function, leaves(tree, is_leaf), *initial)


def all(tree):  # noqa: A001, the name of jax.tree.all
    """Are all leaves true?"""
    import builtins
    return builtins.all(leaves(tree))


def transpose(outer, inner, tree):
    """A tree of structure `outer` of trees of structure `inner`, turned into one of `inner` of trees of `outer`."""
    rows = [inner.flatten(part) for part in outer.parts(tree)]
    return inner.build([outer.build(list(column)) for column in zip(*rows)])


def leaves_with_path(tree, is_leaf=None):
    """[(how Python reaches it, leaf)], such as `("['w'][0]", x)`."""
    found, made = flatten(tree, is_leaf)
    return list(zip(made.paths(), found))


def map_with_path(function, tree, *rest, is_leaf=None):
    """As `map`; `function` also gets how Python reaches the leaf."""
    first, made = flatten(tree, is_leaf)
    others = [made.parts(r) for r in rest]
    return made.build([function(*xs) for xs in zip(made.paths(), first, *others)])
