"""from_jax and missing: a JAX function as a Function of Ricci, and what stands in the way of that."""
import jax

from ..abi import arguments as given
from ..abi.library import Error
from ..abi.program import checked_context
from ..calls.trees import PyTree
from ..transforms.function import Function
from .avals import type_of
from .control import held_jaxpr, rule_of
from .imported_program import ImportedProgram
from .jaxpr import Importer
from .traced import traced

if jax.__version_info__[:2] != (0, 10):
    raise ImportError(f"ricci reads jaxprs as JAX 0.10 makes them; this is JAX {jax.__version__}")


def _names(args, kwargs):
    """What messages call the leaves of all arguments."""
    leaves, _ = jax.tree_util.tree_flatten_with_path((args, kwargs))
    return [f"argument {path[1].idx if path[0].idx == 0 else path[1].key}{jax.tree_util.keystr(path[2:])}"
            for path, _ in leaves]


def _check_leaves(function, args, kwargs):
    """A text or a function is not an array: fn takes one only if it is not an argument of what is traced."""
    for name, leaf in zip(_names(args, kwargs), jax.tree_util.tree_leaves((args, kwargs))):
        if isinstance(leaf, (str, bytes)) or callable(leaf):
            wrong = given.wrong_type(function, name, leaf, "an array is")
            raise TypeError(f"{wrong}; bind others with functools.partial")


def _check_types(closed, args, kwargs):
    for name, aval in zip(_names(args, kwargs), closed.in_avals):
        try:
            type_of(aval)
        except Error as error:
            raise Error(f"{name}: {error}", error.code) from None


def _checked(function, fn, order, context):
    if not callable(fn):
        raise given.wrong_type(function, "fn", fn, "a function is")
    return checked_context(function, context), given.integer(function, "order", order, given.UINT32)


def _program(importer, closed, name):
    """Imported as if nothing moved, which needs no rules; with them if there are any, and when they are needed."""
    flags = [False] * len(closed.in_avals)
    for_values, wide = importer.program(closed, name, flags), jax.config.jax_enable_x64

    def whole():
        with jax.enable_x64(wide):
            return importer.program(closed, name)
    return ImportedProgram(for_values, whole) if importer.moving.holds_rules(closed) else for_values


def from_jax(fn, *args, order=2, debug=True, context=None, **kwargs):
    """`fn` as a function of Ricci, for arguments of the shapes and dtypes of `args` and `kwargs`: arrays, trees of them,
    or jax.ShapeDtypeStruct. What is static is bound (`functools.partial(fn, mode="a")`), not an argument.

    Loops, branches, calls, checkpoints and custom rules stay what they are. A custom rule that applies its own function
    to the same shapes has derivatives of every order; if to others, to the depth `order`. Calls need no rules: they are
    traced, as in JAX, by the first derivative, and by whatever else is about the program itself (`text`, `save`, pickle,
    a call in a function that is traced). Error names the first primitive that Ricci lacks and the line that applies it,
    in a rule when that is traced; `missing` lists all. `debug=False` leaves out prints and debug callbacks. An argument
    of `fn` that is called `order`, `debug` or `context` is given by its position.
    """
    context, order = _checked("from_jax", fn, order, context)
    _check_leaves("from_jax", args, kwargs)
    closed, out_tree = traced(fn, args, kwargs)
    _check_types(closed, args, kwargs)
    name = getattr(fn, "__name__", type(fn).__name__).strip("<>")
    program = _program(Importer(context, rule_of, held_jaxpr, order, debug=debug), closed, name)
    tree = lambda x: PyTree(jax.tree_util.tree_structure(x))  # noqa: E731
    return Function(program, map(tree, args), {k: tree(v) for k, v in kwargs.items()}, PyTree(out_tree))


def missing(fn, *args, order=2, context=None, **kwargs):
    """{primitive: [where and why]} for everything in `fn` that cannot be imported; empty if from_jax works."""
    context, order = _checked("missing", fn, order, context)
    _check_leaves("missing", args, kwargs)
    refused = []
    closed, _ = traced(fn, args, kwargs)
    try:
        _check_types(closed, args, kwargs)
        Importer(context, rule_of, held_jaxpr, order, refused).program(closed)
    except Error as error:
        refused.append((error.primitive or "program", str(error)))
    found = {}
    for name, text in refused:
        if text not in found.setdefault(name, []):
            found[name].append(text)
    return found
