"""cond and switch of Python functions: one equation whose branches are programs."""
from ..abi.dtypes import type_text
from ..calls.user_trees import Structure, flatten
from ..tracing.closing import all_captured, check_callable, closed, in_a_trace, leaf_types, with_captures
from ..tracing.operands import converted, truth, value
from ..tracing.promotion import I32, INTEGERS, result_type
from ..tracing.trace import current


@in_a_trace
def switch(index, branches, *operands):
    """The result of branch number `index`, limited to their range. All branches give the same types."""
    which = value("switch", index)
    if which.shape or which.kind not in INTEGERS:
        raise TypeError(f"switch: index is {type_text(which.type)}; an integer scalar is expected")
    if not branches:
        raise ValueError("switch: there are no branches")
    return _chosen("switch", converted(which, I32), list(branches), operands)


@in_a_trace
def cond(pred, true_fun, false_fun, *operands):
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; only that one is run."""
    which = truth("cond", pred)
    if which.shape:
        raise TypeError(f"cond: pred is {type_text(which.type)}; a scalar is expected (ricci.numpy.where is for arrays)")
    return _chosen("cond", converted(which, I32), [false_fun, true_fun], operands)


def _chosen(name, which, functions, operands):
    for f in functions:
        check_callable(name, f)
    leaves, structure = flatten(tuple(operands))
    types = leaf_types(name, leaves, (f"operand {p}" for p in structure.paths()))
    arguments = Structure(tuple, None, (structure, Structure(dict, (), ())))

    def traced(types, cast=None):
        return [closed(name, f, arguments, types, cast=cast, widens=True) for f in functions]
    made, kinds = traced(types), None
    while (taken := _taken(made, types)) != types or (own := _common(name, made)) not in (None, kinds):
        types, kinds = (taken, kinds) if taken != types else (types, own)
        made = traced(types, kinds)
    captured = all_captured(*made)
    programs = [with_captures(m, captured) for m in made]
    return made[0].output.build(current().emit("cond", [which, *made[0].operands(leaves)[:len(leaves)], *captured], {"branches": programs}))


def _taken(made, types):
    """The types of the operands where a branch may need one in 64 bits, which all get then."""
    return [max(same) for same in zip(*(m.taken(types) for m in made))]


def _label(name, i):
    """What messages call branch number `i`."""
    return ("false_fun", "true_fun")[i] if name == "cond" else f"branch {i}"


def _common(name, made):
    """The dtypes that the results are converted to; None if they agree. Only numbers of Python are converted."""
    first = made[0]
    for i, other in enumerate(made[1:], 1):
        if other.output != first.output:
            raise TypeError(f"{name}: {_label(name, 0)} returns {first.output}, {_label(name, i)} {other.output}; branches "
                            "must return one structure")
    kinds = []
    for n, types in enumerate(zip(*(m.types for m in made))):
        kind, _ = result_type([(t[0], t[2]) for t in types])
        for i, t in enumerate(types):
            if t[1] != types[0][1] or t[0] != kind and not t[2]:
                path, j = first.output.paths()[n], next(j for j, u in enumerate(types) if u[:2] != t[:2])
                (i, t), (j, u) = sorted([(i, t), (j, types[j])])
                raise TypeError(f"{name}: result{path} is {type_text(t[:2])} in {_label(name, i)} and {type_text(u[:2])} in "
                                f"{_label(name, j)}; branches must return one type")
        kinds.append(kind)
    return None if all(t[0] == k for m in made for t, k in zip(m.types, kinds)) else kinds
