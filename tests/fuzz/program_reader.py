"""Program text as Python values: the parameters, equations and results of a program, programs in attributes too.

The grammar is that of src/ir/print.cc. Literals keep their bits.
"""
import re
import sys
import pathlib
import typing

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'jax'))

from case_file import DTYPES  # noqa: E402

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|%\w+|#[0-9a-f]{16}|-?(?:\d[\w.+]*(?:(?<=e)-\d+)?|inf\b)|[A-Za-z_][\w.-]*|[][(){}:,=])')
SHORT = set(DTYPES) | {'key'}


class Type(typing.NamedTuple):
    dtype: str
    shape: tuple


class Equation(typing.NamedTuple):
    primitive: str
    operands: list  # names
    attrs: dict
    results: list


class Constant(typing.NamedTuple):
    value: np.ndarray
    result: str


class Program(typing.NamedTuple):
    params: list  # (name, Type)
    steps: list  # Equation, Constant
    results: list
    types: dict  # by name


class Blob(str):
    """The name of the bytes of a large constant, which follow the program."""


def tokens_of(text):
    out, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise ValueError(f'program text: {text[at:at + 40]!r} is not a token')
        out.append(found[1])
        at = found.end()
    return out


class Reader:
    def __init__(self, text):
        text, *blobs = re.split(r'^blob ', text, flags=re.M)
        self.blobs = {name: bytes.fromhex(digits) for name, digits in (re.findall(r'(#\w+) "(\w*)"', b)[0] for b in blobs)}
        self.tokens, self.at = tokens_of(text), 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ''

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def want(self, token):
        if self.next() != token:
            raise ValueError(f'program text: {self.tokens[self.at - 1]!r} in the place of {token!r}')

    def list_of(self, item, close):
        """Items up to `close`, with commas between."""
        out = []
        while self.peek() != close:
            out.append(item())
            if self.peek() == ',':
                self.next()
        self.next()
        return out

    def type(self):
        dtype = self.next()
        self.want('[')
        return Type(dtype, tuple(self.list_of(lambda: int(self.next()), ']')))

    def typed(self):
        name = self.next()
        self.want(':')
        return name, self.type()

    def program(self):
        self.want('program')
        if self.peek() != '(':
            self.next()
        self.want('(')
        params = self.list_of(self.typed, ')')
        self.want('{')
        steps, types = [], dict(params)
        while self.peek() != 'return':
            steps.append(self.step(types))
        self.next()
        results = self.list_of(self.next, '}')
        return Program(params, steps, results, types)

    def step(self, types):
        results = []
        while self.peek().startswith('%'):
            name, types[name] = self.typed()
            results.append(name)
            self.next()  # a comma, or =
        if self.peek() == 'constant':
            self.next()
            return Constant(self.constant(types[results[0]]), results[0])
        primitive = self.next()
        self.want('(')
        operands, attrs = self.list_of(self.next, ')'), {}
        while self.peek(1) == '=':
            name = self.next()
            self.next()
            attrs[name] = self.attribute()
        return Equation(primitive, operands, attrs, results)

    def attribute(self):
        if self.peek() == '[':
            self.next()
            return self.list_of(self.attribute, ']')
        if self.peek() == 'program':
            return self.program()
        word = self.next()
        if word.startswith('"'):
            return re.sub(r'\\(.)', r'\1', word[1:-1])
        if word in SHORT or word in ('true', 'false'):
            return word if word in SHORT else word == 'true'
        return float(word) if re.search(r'[.a-z]', word) else int(word)

    def constant(self, type_):
        if self.peek().startswith('#'):
            return np.frombuffer(self.blobs[self.next()], storage(type_.dtype)).reshape(type_.shape)
        if self.peek() == '[':
            self.next()
            elements = self.list_of(lambda: self.element(type_.dtype), ']')
            return np.array(elements, storage(type_.dtype)).reshape(type_.shape)
        return np.full(type_.shape, self.element(type_.dtype))

    def element(self, dtype):
        part = {'c64': 'f32', 'c128': 'f64'}.get(dtype)
        if part:
            self.want('(')
            re_, im = self.list_of(lambda: self.element(part), ')')
            return np.array([re_, im]).view(storage(dtype))[0]
        return number(self.next(), storage(dtype))


def storage(dtype):
    """The memory layout of elements; of a key its 64 bits."""
    return np.dtype(np.uint64) if dtype == 'key' else DTYPES[dtype]


def number(word, dtype):
    if word in ('true', 'false'):
        return np.bool_(word == 'true')
    if dtype.kind in 'iu':
        return dtype.type(int(word))
    if word.startswith('0x'):
        return np.array(int(word, 16), f'u{dtype.itemsize}').view(dtype)[()]
    if dtype == np.float32:
        return np.float32(word)
    return np.array(float(word)).astype(dtype)[()]


def read_program(text):
    return Reader(text).program()
