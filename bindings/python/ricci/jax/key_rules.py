"""Keys of generators other than threefry2x32 (rbg, unsafe_rbg, philox, ...): arrays of their words, u32.

What a primitive of keys does with words is a function of JAX, which is traced. Any other primitive moves keys about: it
does the same with each word. Typed keys are taken where the function was imported for one, and come out as words.
"""
import math

import jax
import jax.numpy as jnp
from jax._src import core
from jax._src.random import philox2x32, philox4x32, prng, threefry4x32

from ..abi.library import Error
from .avals import is_key_dtype, is_words, type_of
from .package_rules import implemented


def _word_ndim(aval):
    return len(aval.dtype._impl.key_shape)


def _seed(eqn, seeds):
    return prng.random_seed_impl_base(seeds, impl=eqn.params["impl"])


def _split(eqn, words):
    keys = eqn.invars[0].aval
    return prng.random_split_impl_base(keys.dtype._impl, words, keys.ndim, shape=eqn.params["shape"])


def _fold_in(eqn, words, data):
    keys = eqn.invars[0].aval
    return prng.random_fold_in_impl_base(keys.dtype._impl, words, data, keys.shape)


def _bits(eqn, words):
    keys = eqn.invars[0].aval
    return prng.random_bits_impl_base(keys.dtype._impl, words, keys.ndim, bit_width=eqn.params["bit_width"],
                                      shape=eqn.params["shape"])


def _same(eqn, words):
    return words


def _each_word(eqn, *xs):
    """The primitive for each word: it is mapped over the last dimensions of keys."""
    keyed = [is_key_dtype(v.aval.dtype) for v in eqn.invars]
    ndim = max(_word_ndim(v.aval) for v in (*eqn.invars, *eqn.outvars) if is_key_dtype(v.aval.dtype))
    f = lambda *ys: eqn.primitive.bind(*ys, **eqn.params)  # noqa: E731
    for _ in range(ndim):
        f = jax.vmap(f, in_axes=[-1 if k else None for k in keyed], out_axes=-1)
    return f(*xs)


def _all_words(eqn, x, y):
    """Keys are equal if all of their words are."""
    ndim, equal = _word_ndim(eqn.invars[0].aval), jnp.equal(x, y).all
    same = equal(axis=tuple(range(-ndim, 0)))
    return same if eqn.primitive.name == "eq" else ~same


_FUNCTIONS = {"random_seed": _seed, "random_split": _split, "random_fold_in": _fold_in, "random_bits": _bits,
              "random_wrap": _same, "random_unwrap": _same, "random_clone": _same, "eq": _all_words, "ne": _all_words}


def concerns_words(eqn):
    """Does it take or give such keys itself, not a program that it holds?"""
    return any(is_words(v.aval) for v in (*eqn.invars, *eqn.outvars)) and not any(core.jaxprs_in_params(eqn.params))


def on_words(importer, body, eqn):
    function = _FUNCTIONS.get(eqn.primitive.name, _each_word)
    structs = [_struct(v.aval) for v in eqn.invars]
    closed = jax.make_jaxpr(lambda *xs: function(eqn, *xs))(*structs)
    return body.run(closed.jaxpr, closed.consts, body.reads(eqn.invars))


def _struct(aval):
    return jax.ShapeDtypeStruct(type_of(aval)[1], jnp.uint32 if is_key_dtype(aval.dtype) else aval.dtype)


def iota_2x32(importer, body, eqn):
    """Numbers of elements as pairs of words; there are fewer than 2^32, so the high ones are zeros."""
    shape = eqn.params["shape"]
    if math.prod(shape) > 2 ** 32:
        raise Error(f"{math.prod(shape)} elements; at most {2 ** 32} are numbered")
    closed = jax.make_jaxpr(lambda: jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape))()
    return [body.zeros(eqn.outvars[0].aval), *body.run(closed.jaxpr, closed.consts, [])]


def _generator(function):
    """A primitive of a generator, which repeats its operands to one shape."""
    return lambda importer, body, eqn: implemented(importer, body, eqn, lambda *xs: function(*jnp.broadcast_arrays(*xs)))


KEY_RULES = {"iota_2x32_shape": iota_2x32, "philox2x32": _generator(philox2x32._philox2x32_lowering),
             "philox4x32": _generator(philox4x32._philox4x32_lowering),
             "threefry4x32": _generator(threefry4x32._threefry4x32_lowering)}
