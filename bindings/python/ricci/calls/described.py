"""Structures as the extension takes them (bindings/python/native/native_trees.h): a list with a tuple for each node, those
of a node's children after it. A class of the user, or one that only JAX knows, is opened and made by functions.
"""
import collections

from .trees import Leaf, Nested, PyTree, Tuple
from .user_trees import Structure, is_named_tuple, registered

LEAF = [("*",)]
_NONE = type(None)


def described(tree, leaf=LEAF):
    """The nodes of a structure with `leaf` in the place of each leaf; None if it has a node of another kind."""
    if isinstance(tree, Leaf):
        return list(leaf)
    if isinstance(tree, Structure):
        return _of_structure(tree, leaf)
    if isinstance(tree, Tuple):
        return joined(("T", len(tree.children)), [described(child, leaf) for child in tree.children])
    if isinstance(tree, Nested):
        inner = described(tree.inner, leaf)
        return None if inner is None else described(tree.outer, inner)
    return _of_treedef(tree.treedef, leaf) if isinstance(tree, PyTree) else None


def joined(node, parts):
    """A node and its children; None if one of these is."""
    return None if any(part is None for part in parts) else [node, *(inner for part in parts for inner in part)]


def of_call(positional, named):
    """The nodes of the arguments of a call, from those of each."""
    arguments = joined(("T", len(positional)), positional)
    keywords = joined(("D", tuple(named)), list(named.values()))
    return None if arguments is None or keywords is None else arguments + keywords


def _of_structure(tree, leaf):
    if tree.kind is None:
        return list(leaf)
    return joined(_node(tree.kind, tree.data, len(tree.children)), [_of_structure(child, leaf) for child in tree.children])


def _node(kind, data, n):
    if kind in registered:
        return "C", n, kind, data, *registered[kind][:2]
    if kind is collections.OrderedDict:
        return "C", n, kind, data, _opened_dict, _made_dict
    return ("P", n, kind) if is_named_tuple(kind) else _builtin(kind, data, n)


def _builtin(kind, data, n):
    return {_NONE: ("N",), tuple: ("T", n), list: ("L", n), dict: ("D", tuple(data or ()))}[kind]


def _opened_dict(x):
    return tuple(x.values()), tuple(x)


def _made_dict(keys, parts):
    return collections.OrderedDict(zip(keys, parts))


def _of_treedef(treedef, leaf):
    """A class that is registered with JAX is opened by JAX, with all that is below."""
    from jax import tree_util
    from jax._src.tree_util import _registry
    node = treedef.node_data()
    if node is None:
        return list(leaf)
    (kind, data), children = node, treedef.children()
    is_named = is_named_tuple(kind) and kind not in _registry
    if not is_named and kind not in (tuple, list, dict, _NONE):
        unflatten = tree_util.tree_unflatten
        return [("C", treedef.num_leaves, None, treedef, tree_util.tree_flatten, unflatten), *leaf * treedef.num_leaves]
    first = ("P", len(children), kind) if is_named else _builtin(kind, data, len(children))
    return joined(first, [_of_treedef(child, leaf) for child in children])
