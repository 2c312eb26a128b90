"""map and associative_scan of Python functions, as jax.lax has them."""
from ..abi import arguments as given
from ..abi.dtypes import type_text
from ..calls.user_trees import flatten
from ..tracing.closing import check_callable, in_a_trace
from ..tracing.operands import axis_of, emit, value
from ..transforms.batch import vmap
from ..transforms.loops import scan
from .joining import concatenate, stack
from .shaping import moveaxis, reshape


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
