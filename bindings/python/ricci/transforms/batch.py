"""vmap of a Python function."""
import functools

from ..abi import arguments as given
from ..calls.user_trees import flatten
from ..tracing.closing import check_callable, closed, in_a_trace, leaf_name, leaf_types
from ..tracing.trace import current


def _axes(in_axes, structure):
    """The axis of each leaf of (arguments, keywords): keywords are mapped along their first one, as in JAX."""
    arguments, named = structure.children
    with given.about("vmap", "in_axes"):
        own = [in_axes] * arguments.size if in_axes is None or given.is_integer(in_axes) else arguments.spread(
            tuple(in_axes))
    return own + [0] * named.size


def _sliced(types, axes, names, axis_size):
    """(types of the slices, axes counted from the front, -1 for None, the size of the batch)."""
    found, dims, sizes = [], [], {}
    for (kind, shape, weak), axis, name in zip(types, axes, names):
        if axis is None:
            found.append((kind, shape, weak))
            dims.append(-1)
            continue
        if not given.is_integer(axis):
            raise given.wrong_type("vmap", f"in_axes of {name}", axis, "an integer or None is")
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"vmap: in_axes of {name} is {axis}; it has {given.count(len(shape), 'dimension')}")
        d = axis % len(shape)
        sizes.setdefault(shape[d], name)
        found.append((kind, shape[:d] + shape[d + 1:], weak))
        dims.append(d)
    if axis_size is not None:
        sizes.setdefault(given.integer("vmap", "axis_size", axis_size, given.SIZE), "axis_size")
    if len(sizes) > 1:
        raise ValueError("vmap: the batch must have one size; it is " + " and ".join(
            f"{n} in {name}" for n, name in sizes.items()))
    if not sizes:
        raise ValueError("vmap: no argument is mapped, and axis_size is not given")
    return found, dims, next(iter(sizes))


def vmap(function, in_axes=0, out_axes=0, axis_name="", axis_size=None, schedule="auto"):
    """`function` on each slice of its arguments along `in_axes`, its results stacked along `out_axes`.

    Axes are a number or None for all, or one for each argument (or for the parts of its tree). `schedule`: `auto`, whole
    batches (`batched`) or one element after the other (`lanes`).
    """
    check_callable("vmap", function)

    @functools.wraps(function)
    @in_a_trace
    def call(*arguments, **named):
        leaves, structure = flatten((arguments, named))
        names = list(map(leaf_name, structure.paths()))
        types = leaf_types("vmap", leaves, names)
        slices, dims, size = _sliced(types, _axes(in_axes, structure), names, axis_size)
        made = closed("vmap", function, structure, slices, widens=True)
        with given.about("vmap", "out_axes"):
            outs = made.output.spread(out_axes)
        fronts = []
        for axis, (_, shape), path in zip(outs, made.program.results, made.output.paths()):
            if axis is not None and not given.is_integer(axis):
                raise given.wrong_type("vmap", f"out_axes of the result{path}", axis, "an integer or None is")
            if axis is not None and not -len(shape) - 1 <= axis <= len(shape):
                raise ValueError(f"vmap: out_axes is {axis}; the result{path} has "
                                 f"{given.count(len(shape) + 1, 'dimension')}")
            fronts.append(-1 if axis is None else axis % (len(shape) + 1))
        program = made.program.vmap(dims + [-1] * len(made.captured), fronts, size, schedule, axis_name or "")
        return made.output.build(current().inline(program, made.operands(leaves)))
    return call
