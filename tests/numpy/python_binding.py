"""Runs the same expressions by the Python binding: python_binding.py FILE, of numpy_cases, as compare.py.

Only those that Ricci's numpy has all names of: `jnp` is `ricci.numpy` there. So a case of the table holds for JAX, the C++
binding and the Python binding.
"""
import re
import sys

import numpy as np

import compare
import ricci
import ricci.numpy

# Reductions, means, variances and their kin that leave out NaN; other groups have tables of their own (tests/python).
FUNCTIONS = set("""all amax amin any argmax argmin average count_nonzero cumprod cumsum cumulative_prod cumulative_sum max mean
    min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar prod ptp std sum
    var""".split())
OTHERS = {"where", "nan", "inf", "full", "ones", "zeros", "concatenate", "float16", "bfloat16", "float32", "float64", "int32", "uint8"}


def is_shared(expression):
    """Whether the case is of a function of these and names nothing that only JAX has."""
    if re.search(r"\b(jsp|jax|scipy|lax|linalg)\.", expression):
        return False
    names = set(re.findall(r"\bjnp\.([A-Za-z_0-9]+)", expression.split("#=")[0]))
    return bool(names & FUNCTIONS) and names <= FUNCTIONS | OTHERS


def evaluated(expression, inputs):
    """The results of Ricci's functions on these arrays."""
    expression = expression.split("#=")[0]
    names = [n for n in inputs if re.search(rf"\b{n}\b", expression)]
    function = eval(f"lambda {', '.join(names)}: {expression}", {"jnp": ricci.numpy, "np": np})
    out = ricci.jit(function)(*[np.asarray(inputs[n]) for n in names]) if names else ricci.jit(function)()
    return [np.asarray(x) for x in (out if isinstance(out, (tuple, list)) else [out])]


def main():
    inputs, cases = compare.read(sys.argv[1])
    shared = [(tolerance, expression) for tolerance, expression, _ in cases if is_shared(expression)]
    failed = 0
    for (tolerance, expression), want in zip(shared, compare.references([(t, e, None) for t, e in shared], inputs)):
        try:
            got = evaluated(expression, inputs)
            text = "; ".join(filter(None, (compare.difference(g, w, tolerance) for g, w in zip(got, want, strict=True))))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        if text:
            failed += 1
            print(f"{expression}: {text}")
    print(f"{len(shared)} cases, {failed} failed")
    return failed > 0 or len(shared) < 40


if __name__ == "__main__":
    sys.exit(main())
