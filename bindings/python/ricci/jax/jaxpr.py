"""From a jaxpr to a program, one equation at a time, with loops, branches, calls and custom rules kept as such.

`Importer` walks; `attributes.py` is the table of primitives that are one equation in both; `control.py` has one
function for each that holds jaxprs or becomes several equations.
"""
import numpy as np
from jax._src import core, source_info_util
from jax._src.interpreters import partial_eval

from ..abi._abi import RICCI_ATTR_BOOL
from ..abi.builder import Builder
from ..abi.dtypes import numpy_of
from ..abi.library import Error
from ..abi.user_line import OWN
from ..tracing.rows import row_of
from .alike import Keys
from .attributes import ELEMENTWISE, RENAMED, SCALARS_STAY, attributes_of
from .avals import host_array, is_differentiable, is_nothing, type_of
from .checkpoint import saved
from .moving import Moving
from .traced_rules import JvpRule

NOTHING = {"dce_sink", "inspect_sharding"}  # equations that have no results and do nothing here
_SMALL = 4096  # bytes


def _contents(array):
    """Equal for equal arrays; large ones are known by where they are, which costs no copy."""
    return array.tobytes() if array.nbytes <= _SMALL else (array.ctypes.data, array.strides)


def location_of(eqn, around):
    """(file, line, function) of the user's code; that of the equation around it if JAX has none, or it is our own."""
    frame = source_info_util.user_frame(eqn.source_info.traceback)
    return around if frame is None or frame.file_name.startswith(OWN) else (frame.file_name, frame.start_line, frame.function_name)


class Body:
    """One program under construction and the values of the variables of its jaxpr."""

    def __init__(self, importer, name, types):
        self.importer, self.builder = importer, Builder(importer.context, name, types)
        self.values, self._constants, self._moving = {}, {}, set()
        self.outer = {}  # by id: what a rule closes over, which is a tracer of the function around it

    def constant(self, array, dtype, shape=None):
        array = np.asarray(array)
        key = _contents(array), dtype, array.shape if shape is None else shape
        if key not in self._constants:
            self._constants[key] = self.builder.constant(array, dtype, shape), array  # so that no other gets its place
        return self._constants[key][0]

    def zeros(self, aval):
        dtype, shape = type_of(aval)
        return self.constant(np.zeros((), numpy_of(dtype)), dtype, shape)

    def read(self, atom, shape=None):
        """The value of a variable or literal, repeated to `shape`."""
        if not isinstance(atom, core.Literal):
            value = self.values[atom]
            return value if shape is None else self.builder.expand(value, shape)
        if is_nothing(atom.aval):
            return self.zeros(atom.aval)
        element = np.asarray(atom.val, atom.aval.dtype)
        if shape is None or element.ndim:
            value = self.constant(element, type_of(atom.aval)[0])
            return value if shape is None else self.builder.expand(value, shape)
        return self.constant(element, type_of(atom.aval)[0], tuple(shape))

    def reads(self, atoms):
        return [self.read(a) for a in atoms]

    def value_of(self, tracer):
        """The value that a tracer of the function of this body is, computed if nothing else used it; LookupError if it is
        of another function."""
        if id(tracer) in self.outer:
            return self.outer[id(tracer)]
        var, eqn = getattr(tracer, "val", None), getattr(tracer, "parent", None)
        if isinstance(var, core.Literal) or var in self.values:
            return self.read(var)
        if isinstance(tracer, partial_eval.DynamicJaxprTracer) and var in tracer._trace.frame.constvar_to_val:
            self.values[var] = self.constant(host_array(tracer.get_const()), type_of(tracer.aval)[0])
            return self.values[var]
        if eqn is None:
            raise LookupError(f"it closes over a value of another trace, {tracer}")
        for operand in eqn.in_tracers:
            self.value_of(operand)
        self.importer.equation(self, core.new_jaxpr_eqn([t.val for t in eqn.in_tracers], eqn.outvars, eqn.primitive,
                                                        eqn.params, eqn.effects, eqn.source_info, eqn.ctx))
        self._moving.update(v for v in eqn.outvars if is_differentiable(v.aval))
        return self.values[var]

    def moves(self, atoms):
        """Which of them have tangents if everything that is differentiated does."""
        return [not isinstance(a, core.Literal) and a in self._moving for a in atoms]

    def run(self, jaxpr, consts, arguments, moving=None):
        """Appends the equations of `jaxpr`; returns the values of its results. `moving`: which arguments have tangents,
        None for all."""
        flags = [True] * len(arguments) if moving is None else moving
        self._moving |= self.importer.moving.of(jaxpr, flags, [isinstance(c, core.Tracer) for c in consts])[0]
        for var, const in zip(jaxpr.constvars, consts):
            known = self.outer.get(id(const))
            self.values[var] = self.constant(host_array(const), type_of(var.aval)[0]) if known is None else known
        self.values.update(zip(jaxpr.invars, arguments))
        for eqn in jaxpr.eqns:
            self.importer.equation(self, eqn)
        return self.reads(jaxpr.outvars)


class _Made:
    """The program of a jaxpr, and what it depends on: the custom operations around it, and those that it holds."""

    def __init__(self, closed, around, outside, made):
        self.closed = closed  # so that no other jaxpr gets its id
        self.around, self.outside, (self.program, self.met) = around, outside, made

    def fits(self, around, outside):
        """Is it the same with these around it, whose rules are at the locations `outside`?"""
        return self.met.isdisjoint(self.outside) and self.met.isdisjoint(outside) or self.around == around


class Importer:
    """Jaxprs to programs of one context.

    `rule_of(eqn)`: the function (importer, body, eqn) -> values of its results, None for what is the same primitive in
    Ricci; `held(importer, eqn)`: the closed jaxpr of a call, None if the equation is none (control.py has both).
    `order`: how often a custom rule that applies itself in another way is followed. `refused`, a list, collects what
    cannot be imported instead of raising. `debug`: are prints and debug callbacks called?
    """

    def __init__(self, context, rule_of, held, order=2, refused=None, debug=True):
        self.context, self.order, self.refused, self.debug = context, order, refused, debug
        self._rule_of, self._held = rule_of, held
        self.enclosing = {"custom_jvp": [], "custom_vjp": []}
        self.policies = []  # of the checkpoints around, None for those that Ricci has a text for
        self.solves_around = 0
        self.met = [set()]  # locations of rules, for each program under construction
        self._programs, self._rules, self._location = {}, {}, ("", 0, "")
        self._keys, self._alike = Keys(), {}
        self.moving = Moving(self._jvp_rule, lambda eqn: held(self, eqn))

    def another(self):
        """An importer with the same settings that knows nothing of this one's programs, and raises what it cannot import."""
        return Importer(self.context, self._rule_of, self._held, self.order, debug=self.debug)

    def program(self, closed, name="", moving=None):
        """The program of a closed jaxpr; the same one for the same jaxpr in the same place. `moving`: which parameters
        have tangents, None for all that can.

        Custom operations around it matter only to those inside of it that have the same rule: what holds none of these
        is made once, however many rules lead to it.
        """
        around = tuple(map(tuple, self.enclosing.values()))
        outside = {location for stack in around for _, _, location, _ in stack}
        flags = [True] * len(closed.in_avals) if moving is None else moving
        custom = self.moving.of(closed.jaxpr, flags, [isinstance(c, core.Tracer) for c in closed.consts])[2]
        key = id(closed.jaxpr), tuple(map(id, closed.consts)), tuple(self.policies), self.solves_around, custom
        known = self._programs.setdefault(key, [])
        made = next((m for m in known if m.fits(around, outside)), None)
        if made is None:
            made = _Made(closed, around, outside, self._made_in(closed, name, flags))
            known.append(made)
        self.met[-1] |= made.met
        return made.program

    def _made_in(self, closed, name, moving):
        """(the program, the locations of the rules of all custom operations in it)."""
        self.met.append(set())
        body = Body(self, name, [type_of(a) for a in closed.in_avals])
        results = body.run(closed.jaxpr, closed.consts, body.builder.params, moving)
        return body.builder.finish(results), self.met.pop()

    def rule(self, eqn, make, moving):
        """The traced rule of a custom_jvp or custom_vjp, `make(params, moving)`: the same one wherever the equation is
        met with the same moving arguments."""
        key = id(eqn), tuple(moving) if eqn.params["symbolic_zeros"] else ()
        if key not in self._rules:
            self._rules[key] = make(eqn.params, moving), eqn
        return self._rules[key][0]

    def _jvp_rule(self, eqn, moving):
        try:
            return self.rule(eqn, JvpRule, moving)
        except Exception:  # whatever the user's rule raises, which is said where the operation is imported
            return None

    def alike(self, eqn, make, *given):
        """`make(eqn, *given)`, the same for equations of the same parameters and types: made for the first of them."""
        key = make, given, eqn.primitive, self._keys.of_params(eqn.params), tuple(v.aval for v in eqn.invars)
        if key not in self._alike:
            self._alike[key] = make(eqn, *given)
        return self._alike[key]

    def equation(self, body, eqn):
        if not eqn.outvars and eqn.primitive.name in NOTHING:
            return
        around, self._location = self._location, location_of(eqn, self._location)
        file, line, function = self._location
        body.builder.at(file, line, function)
        try:
            results = self.results(body, eqn)
        except Error as error:
            if getattr(error, "located", False):
                raise
            results = self._refuse(body, eqn, error, f"{file}:{line}: " if file else "")
        finally:
            self._location = around
        for var, value in zip(eqn.outvars, results):
            if not isinstance(var, core.DropVar):
                body.values[var] = value

    def _refuse(self, body, eqn, error, location):
        name, text = eqn.primitive.name, str(error).removeprefix(location)
        text = location + (text if text.startswith(name) else f"{name}: {text}")
        if self.refused is not None:
            self.refused.append((name, text))
            return [body.zeros(v.aval) for v in eqn.outvars]
        located = Error(text, error.code, error.primitive or name, error.rule)
        located.located = True
        raise located from None

    def results(self, body, eqn):
        if eqn.outvars and all(is_nothing(v.aval) for v in eqn.outvars):
            return [body.zeros(v.aval) for v in eqn.outvars]
        rule = self._rule_of(eqn)
        return saved(self, body, eqn, self.same(body, eqn) if rule is None else rule(self, body, eqn))

    def same(self, body, eqn):
        """The primitive that has the same meaning in Ricci."""
        name = eqn.primitive.name
        ours = RENAMED.get(name, name)
        if not self.context.has_primitive(ours):
            raise Error("Ricci has no such primitive")
        shape = eqn.outvars[0].aval.shape if eqn.outvars else ()
        if name in ELEMENTWISE:
            operands = [body.read(a, shape) for a in eqn.invars]
        elif name in SCALARS_STAY:
            operands = [body.read(a) if i in SCALARS_STAY[name] and not a.aval.shape else body.read(a, shape)
                        for i, a in enumerate(eqn.invars)]
        else:
            operands = body.reads(eqn.invars)
        attributes = self._truths(ours, attributes_of(name, eqn.params))
        return body.builder.emit(ours, operands, len(eqn.outvars), **attributes)

    def _truths(self, ours, attributes):
        """JAX takes anything for a bool, as in cho_factor(a, lower=1)."""
        row = row_of(self.context, ours).attributes
        return {k: bool(v) if k in row and row[k][0] == RICCI_ATTR_BOOL else v for k, v in attributes.items()}
