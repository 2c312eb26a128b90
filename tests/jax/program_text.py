"""Programs of several equations as text, for results that are compared after more steps."""
from case_file import DType, attr_text

PARTS = {'c64': 'f32', 'c128': 'f64'}


class Array:
    """A value of a program: its name and type."""

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)

    @property
    def type(self):
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class Text:
    """A program under construction."""

    def __init__(self, dtype, shape):
        self.lines, self.count = [], 0
        self.param = Array('%a', dtype, shape)

    def emit(self, prim, operands, types, **attrs):
        outs = []
        for dtype, shape in types:
            outs.append(Array(f'%{self.count}', dtype, shape))
            self.count += 1
        words = ''.join(f' {k}={attr_text(v)}' for k, v in attrs.items())
        results = ', '.join(f'{o.name}: {o.type}' for o in outs)
        self.lines.append(f"  {results} = {prim}({', '.join(o.name for o in operands)}){words}\n")
        return outs

    def one(self, prim, operands, like, dtype=None, shape=None, **attrs):
        """An equation with one result, which has the type of `like` where nothing else is given."""
        return self.emit(prim, operands, [(dtype or like.dtype, like.shape if shape is None else shape)], **attrs)[0]

    def done(self, *results):
        names = ', '.join(r.name for r in results)
        return f'program({self.param.name}: {self.param.type}) {{\n' + ''.join(self.lines) + f'  return {names}\n}}\n'

    # ---- steps ----
    def adjoint(self, x):
        order = list(range(len(x.shape)))
        order[-2:] = order[-1], order[-2]
        t = self.one('transpose', [x], x, shape=[x.shape[i] for i in order], permutation=order)
        return self.one('conj', [t], t) if x.dtype in PARTS else t

    def product(self, x, y):
        n = len(x.shape)
        batch = list(range(n - 2))
        return self.one('dot_general', [x, y], x, shape=x.shape[:-1] + y.shape[-1:], lhs_contract=[n - 1],
                        rhs_contract=[n - 2], lhs_batch=batch, rhs_batch=batch)

    def across_rows(self, list_, like):
        """Element (i, j) is list_[j], of the dtype of `like`."""
        n = len(like.shape)
        return self.convert(self.broadcast(list_, like.shape, [*range(n - 2), n - 1]), like.dtype)

    def diagonal(self, list_, like):
        """Matrices of the type of `like` with list_ on the diagonal and zeros beside it."""
        return self.where('eq', self.numbers(like, -2), self.numbers(like, -1), self.across_rows(list_, like))

    def broadcast(self, x, shape, dimensions):
        return self.emit('broadcast_in_dim', [x], [(x.dtype, shape)], shape=shape, broadcast_dimensions=dimensions)[0]

    def convert(self, x, dtype):
        return x if x.dtype == dtype else self.one('convert_element_type', [x], x, dtype=dtype, new_dtype=DType(dtype))

    def numbers(self, like, axis):
        """The row (axis -2) or column number of each element."""
        n = len(like.shape)
        return self.emit('iota', [], [('i32', like.shape)], dtype=DType('i32'), shape=like.shape, dimension=n + axis)[0]

    def where(self, prim, x, y, like):
        """`like` where the comparison of x and y holds, else 0."""
        zero = self.one('sub', [like, like], like)
        return self.one('select_n', [self.one(prim, [x, y], x, dtype='bool'), zero, like], like)

    def times_powers(self, x, exponents):
        """x with its first dimension multiplied by powers of two, which may exceed those of its dtype."""
        real = PARTS.get(x.dtype, x.dtype)
        for half in ([e // 2 for e in exponents], [e - e // 2 for e in exponents]):
            powers = Array(f'%{self.count}', real, (len(half),))
            self.count += 1
            self.lines.append(f"  {powers.name}: {powers.type} = constant [{', '.join(repr(2.0**e) for e in half)}]\n")
            x = self.one('mul', [x, self.convert(self.broadcast(powers, x.shape, [0]), x.dtype)], x)
        return x

    def sum(self, x, axis):
        axis += len(x.shape)
        return self.one('reduce_sum', [x], x, shape=x.shape[:axis] + x.shape[axis + 1:], axes=[axis])

    def slice(self, x, axis, start, limit):
        axis += len(x.shape)
        starts, limits = [0] * len(x.shape), list(x.shape)
        starts[axis], limits[axis] = start, limit
        return self.one('slice', [x], x, shape=[b - a for a, b in zip(starts, limits)], start_indices=starts,
                        limit_indices=limits, strides=[1] * len(x.shape))

    def phase(self, v):
        """For each column of v, the number that makes a certain sum of its elements real and positive; a constant."""
        real = PARTS.get(v.dtype, v.dtype)
        rows = self.convert(self.numbers(v, -2), real)
        weights = self.convert(self.one('cos', [rows], rows), v.dtype)
        total = self.sum(self.one('mul', [v, weights], v), -2)
        if v.dtype in PARTS:
            total = self.one('conj', [total], total)
        size = self.convert(self.one('abs', [total], total, dtype=real), v.dtype)
        return self.one('stop_gradient', [self.one('div', [total, size], size)], size)

    def in_phase(self, v, phase):
        return self.one('mul', [v, self.across_rows(phase, v)], v)
