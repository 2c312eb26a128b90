"""Numbers that the user gives to a call outside of any trace.

The call is traced and run at once, and they become parameters of its program where it takes them as operands, so that it
runs again for other numbers; those of the library itself stay constants, which can be folded. To tell them apart they are
marked by their types, which are numbers like any others where they are axes or sizes. Those, the exponent of an integer
power and numbers in a list are part of the program.
"""


class _GivenInteger(int):
    pass


class _GivenFloat(float):
    pass


class _GivenComplex(complex):
    pass


_OF = {int: _GivenInteger, float: _GivenFloat, complex: _GivenComplex}
GIVEN = tuple(_OF.values())
for _plain, _own in _OF.items():
    _own.__name__ = _own.__qualname__ = _plain.__name__  # as messages call it


def given(*arguments, **named):
    """The arguments, their numbers marked."""
    return [_marked(x) for x in arguments], {name: _marked(x) for name, x in named.items()}


def given_trees(*arguments, **named):
    """The same with the numbers in tuples, lists and dicts, which would be shapes or axes of other functions."""
    return [_marked_tree(x) for x in arguments], {name: _marked_tree(x) for name, x in named.items()}


def _marked(x):
    return _OF[type(x)](x) if type(x) in _OF else x


def _marked_tree(x):
    if type(x) in (tuple, list):
        return type(x)(map(_marked_tree, x))
    return {name: _marked_tree(part) for name, part in x.items()} if type(x) is dict else _marked(x)
