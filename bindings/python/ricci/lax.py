"""Every primitive of the context as a function: ricci.lax.NAME(operands..., attribute=value).

The functions come from the table of primitives, so those of a plugin are there too. Operands have one type and one
shape, as the primitive wants them; nothing is promoted. `-` in a name is `_` here (scatter_add), and the names that
Python keeps for itself end in `_` (and_, or_, not_). `help(ricci.lax.dot_general)` gives operands and attributes.
"""
import inspect
import keyword

from .abi.context import default_context
from .tracing.rows import rows_of
from .tracing.trace import bind, current


def _context():
    trace = current()
    return default_context() if trace is None else trace.context


def _python_name(name):
    own = name.replace("-", "_").replace(".", "_")
    return own + "_" if keyword.iskeyword(own) else own


def _signature(row):
    positional = [inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL)] if row.operands is None else [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in row.operands]
    named = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None if optional else inspect.Parameter.empty)
             for n, (_, optional) in row.attributes.items() if n.isidentifier()]
    return inspect.Signature(positional + named)


def _function(row):
    def call(*operands, **attributes):
        return bind(row.name, *operands, **attributes)
    call.__name__ = call.__qualname__ = _python_name(row.name)
    call.__doc__ = row.doc
    try:
        call.__signature__ = _signature(row)
    except ValueError:  # an operand has the name of an attribute
        pass
    return call


def __getattr__(name):
    for row in rows_of(_context()).values():
        if _python_name(row.name) == name:
            return _function(row)
    raise AttributeError(f"ricci.lax: there is no primitive {name}; dir(ricci.lax) lists them")


def __dir__():
    return sorted(map(_python_name, rows_of(_context())))
