"""fori_loop, map and associative_scan of Python functions, as jax.lax has them."""
import numpy as np

from ..abi import arguments as given
from ..abi.dtypes import numpy_of, type_text
from ..calls.user_trees import flatten
from ..tracing.closing import check_callable, in_a_trace, leaf_types
from ..tracing.operands import axis_of, converted, emit, value
from ..tracing.promotion import INTEGERS, result_type
from ..tracing.trace import current
from ..transforms.batch import vmap
from ..transforms.loops import scan, while_loop
from .creation import arange
from .joining import concatenate, stack
from .shaping import moveaxis, reshape


@in_a_trace
def fori_loop(lower, upper, body_fun, init_val, *, unroll=1, max_trips=None):
    """`body_fun(i, value)` for each i from `lower` to before `upper`. If both are known it is a scan, which has a reverse
    mode; else a while_loop."""
    check_callable("fori_loop", body_fun)
    types = leaf_types("fori_loop", (lower, upper), ("lower", "upper"))
    for t, name in zip(types, ("lower", "upper")):
        if t[0] not in INTEGERS or t[1]:
            raise TypeError(f"fori_loop: {name} is {type_text(t[:2])}; an integer scalar is expected")
    kind = result_type([(t[0], t[2]) for t in types])[0]
    if isinstance(lower, (int, np.integer)) and isinstance(upper, (int, np.integer)):
        if upper <= lower:
            return init_val
        counts = arange(int(lower), int(upper), dtype=numpy_of(kind))
        return scan(lambda value, i: (body_fun(i, value), None), init_val, counts, unroll=unroll)[0]
    first, last = (converted(current().lift(x), kind) for x in (lower, upper))
    return while_loop(lambda s: s[0] < last, lambda s: (s[0] + 1, body_fun(s[0], s[1])), (first, init_val), max_trips)[1]


def _arrays(function, tree, axis=0):
    """(leaves as values with `axis` in front, the structure, their size along it)."""
    leaves, structure = flatten(tree)
    values = [value(function, x) for x in leaves]
    for v, path in zip(values, structure.paths()):
        if not v.ndim:
            raise ValueError(f"{function}: the leaf{path} is a number; an array is expected")
    values = [moveaxis(v, axis_of(function, axis, v.ndim), 0) for v in values]
    sizes = {v.shape[0] for v in values}
    if len(sizes) != 1:
        raise ValueError(f"{function}: the leaves must have one size along the axis; it is "
                         + (" and ".join(map(str, sorted(sizes))) or "none, for there are no leaves"))
    return values, structure, sizes.pop()


@in_a_trace
def map(f, xs, *, batch_size=None):  # noqa: A001, the name of jax.lax
    """`f` of each slice of the tree `xs` along its first dimension, in order (`vmap` takes all at once), the results
    stacked. With `batch_size`, of so many at once."""
    check_callable("map", f)
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    size = given.integer("map", "batch_size", batch_size, given.SIZE)
    values, structure, n = _arrays("map", xs)
    whole = n - n % size if size else 0
    parts = []
    if whole:
        batches = [reshape(v[:whole], (whole // size, size, *v.shape[1:])) for v in values]
        done, out = flatten(scan(lambda _, x: (None, vmap(f)(x)), None, structure.build(batches))[1])
        parts.append([reshape(v, (whole, *v.shape[2:])) for v in done])
    if whole < n or not parts:
        rest, out = flatten(vmap(f)(structure.build([v[whole:] for v in values])))
        parts.append(rest)
    return out.build([concatenate(same) for same in zip(*parts)])


@in_a_trace
def associative_scan(fn, elems, reverse=False, axis=0):
    """The results of the associative operation `fn(a, b)` over all prefixes of the tree `elems` along `axis`, from its end
    on if `reverse`. `fn` gets slices of several elements: there are logarithmically many steps, each of which is parallel.

    G. E. Blelloch, "Prefix sums and their applications", 1990.
    """
    check_callable("associative_scan", fn)
    values, structure, _ = _arrays("associative_scan", elems, axis)

    def combined(a, b):
        found, out = flatten(fn(structure.build(a), structure.build(b)))
        found = [value("associative_scan", x) for x in found]
        if out != structure or [x.type for x in found] != [x.type for x in a]:
            raise TypeError(f"associative_scan: the function gives {out} of {_texts(found)}; it must give what it is given, "
                            f"{structure} of {_texts(a)}")
        return found
    values = [emit("rev", v, dimensions=[0]) for v in values] if reverse else values
    found = _prefixes(combined, values)
    found = [emit("rev", v, dimensions=[0]) for v in found] if reverse else found
    return structure.build([moveaxis(v, 0, axis) for v in found])


def _texts(values):
    return ", ".join(type_text(v.type) for v in values)


def _prefixes(combined, values):
    n = values[0].shape[0]
    if n < 2:
        return values
    pairs = combined([v[0:n - 1:2] for v in values], [v[1::2] for v in values])
    odd = _prefixes(combined, pairs)
    tails = [v[2::2] for v in values]
    even = combined([v[:tails[0].shape[0]] for v in odd], tails) if n > 2 else tails
    return [_interleaved(concatenate([v[:1], e]), o) for v, e, o in zip(values, even, odd)]


def _interleaved(even, odd):
    """The elements of both in turn; `even` has as many, or one more."""
    n = odd.shape[0]
    both = reshape(stack([even[:n], odd], 1), (2 * n, *odd.shape[1:]))
    return concatenate([both, even[n:]]) if even.shape[0] > n else both
