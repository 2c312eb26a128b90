"""scan and while_loop of Python functions: one equation each, whose bodies are programs."""
from ..abi.dtypes import type_text
from ..calls.user_trees import Structure, flatten
from ..tracing.closing import captures_first, check_callable, closed, in_a_trace, leaf_types
from ..tracing.operands import converted
from ..tracing.promotion import BOOL, result_type
from ..tracing.trace import current


def _widened(loop, carry, out, paths):
    """Types of a carry that both sides have: numbers of Python take the type that the body gives. None if they fit."""
    found, changed = [], False
    for a, b, path in zip(carry, out, paths):
        if a[:2] == b[:2]:
            found.append(a)
            continue
        kind, _ = result_type([(a[0], a[2]), (b[0], b[2])])
        if a[1] != b[1] or not (a[2] and kind == b[0] or b[2] and kind == a[0]):
            raise TypeError(f"{loop}: the carry{path} is {type_text(a[:2])} before and {type_text(b[:2])} after the body; "
                            "it must keep its type")
        found.append((kind, a[1], a[2] and b[2]))
        changed = changed or kind != a[0]
    return found if changed else None


def _check_structure(loop, carry, output):
    if carry != output:
        raise TypeError(f"{loop}: the carry is {carry} before and {output} after the body; it must keep its structure")


def _initial(leaves, types):
    return [converted(current().lift(x), t[0]) for x, t in zip(leaves, types)]


@in_a_trace
def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """`f(carry, x)` gives (carry, y), for each slice x of `xs` along its first dimension; gives (last carry, the ys
    stacked). `xs` is a tree, or None with `length`. From the last slice on if `reverse`."""
    check_callable("scan", f)
    init_leaves, carry = flatten(init)
    x_leaves, slices = flatten(xs)
    types = leaf_types("scan", init_leaves, (f"init{p}" for p in carry.paths()))
    x_types = leaf_types("scan", x_leaves, (f"xs{p}" for p in slices.paths()))
    length = _length(x_types, slices, length)
    x_types = [(t[0], t[1][1:], False) for t in x_types]
    arguments = Structure(tuple, None, (carry, slices))
    made, types, pair = _fixed_scan(f, arguments, carry, types, x_types)
    k, n = len(made.captured), carry.size
    operands = made.captured + _initial(init_leaves, types) + x_leaves
    found = current().emit("scan", operands, {"body": captures_first(made), "length": length, "reverse": bool(reverse),
                                              "num_consts": k, "num_carry": n, "unroll": int(unroll)})
    return carry.build(found[:n]), pair[1].build(found[n:])


def _fixed_scan(f, arguments, carry, types, x_types):
    """The body as a Closed whose carry keeps its types."""
    cast = None
    for _ in range(len(types) + 2):
        made = closed("scan", f, arguments, types + x_types, spread=False, cast=cast, widens=True)
        types, given = made.taken(types), types
        pair = made.output.pair()
        if pair is None:
            raise TypeError(f"scan: the body returns {made.output}; a pair (carry, y) is expected")
        _check_structure("scan", carry, pair[0])
        wider = _widened("scan", types, made.types[:carry.size], carry.paths())
        if wider is None and types == given and all(a[0] == b[0] for a, b in zip(types, made.types)):
            return made, types, pair
        types = wider or types
        cast = [t[0] for t in types] + [None] * (len(made.types) - carry.size)
    raise TypeError("scan: the types of the carry do not settle")


def _length(types, slices, length):
    sizes = {} if length is None else {int(length): "length"}
    for t, path in zip(types, slices.paths()):
        if not t[1]:
            raise ValueError(f"scan: xs{path} is {type_text(t[:2])}; it needs a first dimension to be sliced along")
        sizes.setdefault(t[1][0], f"xs{path}")
    if len(sizes) > 1:
        raise ValueError("scan: there must be one length; it is " + " and ".join(f"{n} in {w}" for n, w in sizes.items()))
    if not sizes:
        raise ValueError("scan: xs has no arrays, so length must be given")
    return next(iter(sizes))


@in_a_trace
def while_loop(cond_fun, body_fun, init_val, max_trips=None):
    """`body_fun` applied while `cond_fun` holds. With `max_trips`, an error if it still holds then, there is a reverse
    mode."""
    check_callable("while_loop", cond_fun)
    check_callable("while_loop", body_fun)
    leaves, carry = flatten(init_val)
    types = leaf_types("while_loop", leaves, (f"init_val{p}" for p in carry.paths()))
    arguments, cast = Structure(tuple, None, (carry,)), None
    for _ in range(len(types) + 2):
        body = closed("while_loop", body_fun, arguments, types, spread=False, cast=cast, widens=True)
        _check_structure("while_loop", carry, body.output)
        cond = closed("while_loop", cond_fun, arguments, body.taken(types), spread=False, widens=True)
        types, given = cond.taken(types), types
        wider = _widened("while_loop", types, body.types, carry.paths())
        if wider is None and types == given and all(a[0] == b[0] for a, b in zip(types, body.types)):
            break
        types = wider or types
        cast = [t[0] for t in types]
    if cond.program.results != ((BOOL, ()),):
        raise TypeError(f"while_loop: the condition gives {', '.join(map(type_text, cond.program.results))}; bool[] is "
                        "expected")
    operands = cond.captured + body.captured + _initial(leaves, types)
    found = current().emit("while", operands, {
        "cond": captures_first(cond), "body": captures_first(body), "cond_nconsts": len(cond.captured),
        "body_nconsts": len(body.captured), "max_trips": max_trips})
    return carry.build(found)
