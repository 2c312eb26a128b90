"""Misuse that the C++ compiler refuses: each snippet must fail with its sentence as the first error.

python3 refused_programs.py COMPILER [COMPILER ...]: a static_assert that comes after a page of template errors helps
nobody, so only the first error counts.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FLAGS = ["-std=c++20", "-fsyntax-only", "-xc++", "-I", ROOT / "include", "-I", ROOT / "bindings/cpp", "-"]
FRAME = """#include "ricci/ricci.hpp"
using namespace ricci;
template <class T> struct Params {{ T w, b; }};
struct Fixed {{ Value w; }};
struct Opaque {{ explicit Opaque(int) {{}} }};
Context* ctx;
Array x, y;
void Misuse(Value v) {{ {} }}
"""
TEMPLATE_IN = ("a struct that crosses jit, grad or vmap outside of a trace must be a template over its leaf: "
               "Params<Array> outside, Params<Value> inside")
CALLABLE = ("the function given to a transform cannot be called with these arguments: Arrays and numbers reach it as "
            "Value, Params<Array> as Params<Value>")
CASES = [
    ("jit([](Value a, Value b) { return a; })(x);", CALLABLE),
    ("grad([](const Params<Array>& p) { return p.w; })(Params<Array>{x, y});", CALLABLE),
    ("jit([](Value) {})(x);", "the function given to a transform returns nothing; return its result"),
    ("jit([](Opaque, Value a) { return a; })(Opaque(1), x);",
     "a tree is made of Values or Arrays, numbers, texts, plain structs, and std::vector, array, tuple, pair, optional "
     "and map of trees"),
    ("jit([](Value a) { return Fixed{a}; })(x);",
     "a struct that a function gives to jit, grad or vmap must be a template over its leaf: Params<Value> inside, "
     "Params<Array> outside"),
    ("grad<1>([](Value a) { return a; })(x);", "grad<k>(f): f has no argument k; arguments are counted from 0"),
    ("grad([](Value a) { return std::vector<Value>{a}; })(x);",
     "the function given to grad must give a scalar, or std::pair(scalar, auxiliary results)"),
    ("jacrev<2>([](Value a) { return a; })(x);",
     "jacfwd<k>(f), jacrev<k>(f): f has no argument k; arguments are counted from 0"),
    ("jvp([](Value a) { return a; }, std::tuple(x), std::tuple(x, y));", "jvp needs one tangent per argument"),
    ("scan([](Value c, Value e) { return c + e; }, v, v);", "the body of scan must give std::pair(carry, output)"),
    ("scan([](Value c, Value e) { return std::pair(std::pair(c, c), e); }, v, v);",
     "the body of scan must give a carry of the type that it takes"),
    ("while_loop([](Value c) { return std::pair(c, c); }, [](Value c) { return c; }, v);",
     "the condition of while_loop must give one bool scalar"),
    ("while_loop([](Value c) { return c < 1; }, [](Value c) { return std::pair(c, c); }, v);",
     "the body of while_loop must give a carry of the type that it takes"),
    ("cond(v, [](Value a) { return a; }, [](Value a) { return std::pair(a, a); }, v);",
     "all branches of cond and switch_ must give results of one type"),
    ("switch_(v, std::tuple<>(), v);", "switch_ needs at least one branch"),
    ("custom_jvp([](Value a) { return a; }, [](Value a, Value t) { return std::pair(a, t); })(v);",
     "the rule of custom_jvp takes two tuples, the primals and the tangents of all arguments"),
    ("custom_jvp([](Value a) { return a; }, [](auto a, auto t) { return std::get<0>(t); })(v);",
     "the rule of custom_jvp must give std::pair(result, tangent of the result)"),
    ("custom_vjp([](Value a) { return a; }, [](Value a) { return a; }, [](Value, Value c) { return std::tuple(c); })(v);",
     "fwd of custom_vjp must give std::pair(result, residuals)"),
    ("custom_vjp([](Value a) { return a; }, [](Value a) { return std::pair(a, a); }, [](Value c) { return c; })(v);",
     "bwd of custom_vjp takes the residuals that fwd gives, then the cotangent of the result"),
]


def first_error(compiler, statement):
    result = subprocess.run([compiler, *FLAGS], input=FRAME.format(statement), text=True, capture_output=True)
    if result.returncode == 0:
        return "it compiles"
    line = next(l for l in result.stderr.splitlines() if "error:" in l)
    return re.sub(r'.*error: (static assertion failed: |static_assert failed due to requirement .*? "|static_assert failed "|)', "", line).rstrip('"')


def check(job):
    compiler, statement, want = job
    got = first_error(compiler, statement)
    return "" if want in got else f"{compiler}: {statement}\n  want: {want}\n  got:  {got}"


def main():
    jobs = [(compiler, *case) for compiler in sys.argv[1:] for case in CASES]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        errors = [e for e in pool.map(check, jobs) if e]
    print("\n".join(errors + [f"refused programs: {len(jobs)} compiled, {len(errors)} wrong"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
