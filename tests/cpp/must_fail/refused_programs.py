"""Misuse that the C++ compiler refuses: each snippet must fail with its sentence as the first error. Programs that must
not be refused compile without a warning.

python3 refused_programs.py COMPILER [COMPILER ...]: a static_assert after a page of template errors does not help, so
only the first error counts.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FLAGS = ["-std=c++20", "-I", ROOT / "include", "-I", ROOT / "bindings/cpp"]
COMPILES = "it compiles"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
HEADER = '#include "ricci/ricci.hpp"\n'
FRAME = """
using namespace ricci;
template <class T> struct Params {{ T w, b; }};
template <class T> struct Rows {{ Params<T> p; T w[2]; int n; }};
template <class T> struct OneRow {{ T w[1]; }};
struct Fixed {{ Value w; }};
template <class T> struct Derived : Params<T> {{ T c; }};
template <class T> struct DerivedAlone : Params<T> {{}};
template <class T> class Private {{ T w; public: Private() = default; explicit Private(T v) : w(v) {{}} }};
struct Opaque {{ explicit Opaque(int) {{}} }};
Context* ctx;
Array x, y;
void Misuse(Value v) {{ {} }}
"""
TEMPLATE_IN = ("a struct that crosses jit, grad or vmap outside of a trace must be a template over its leaf: "
               "Params<Array> outside, Params<Value> inside")
ARRAY_MEMBER = "a struct in a tree holds an array T w[N]; use std::array<T, N>"
AXES = ("axes are integers: max(x, 1) and sum(x, 1) reduce along axis 1; the greater and the lesser of two values are "
        "maximum(x, y) and minimum(x, y)")
AXIS = "an axis is an integer"
ELEMENT = "x[i] is a copy, to which nothing can be assigned; write x = set_at(x, i, value)"
TRUTH = "a Value is not a bool, because its elements are not known yet; instead of if (p) write cond(p, f, g, x)"
BASE = ("a struct in a tree has a base class, and C++20 names no members of two classes; list those of both: "
        "template <class T> struct ricci::TreeMembers<S<T>> { static auto of(auto& s) { return std::tie(s.a, s.b); } };")
TEMPORARY = "the left side is a temporary copy; to change an element write x = "
MORE = "the function given to a transform takes more arguments than it is called with"
FEWER = "the function given to a transform takes fewer arguments than it is called with"
NUMBER = ("a parameter of the function given to a transform is a C++ number, but numbers are traced and reach it as Value; "
          "for a number that is fixed when the function is traced, take Static<int> and pass Static<int>{n}")
LEAVES = ("a parameter of the function given to a transform holds Arrays, but inside of it leaves are Values: take Value "
          "for Array, Params<Value> for Params<Array>")
REFERENCE = ("a parameter of the function given to a transform is a reference to a variable; take it by value or by const "
             "reference")
CALLABLE = ("the function given to a transform cannot be called with these arguments: Arrays and numbers reach it as "
            "Value, Params<Array> as Params<Value>")
CASES = [
    ("jit([](const std::vector<Value>& a) { return a[0]; })(x);", CALLABLE),
    ("jit([](auto a, const std::vector<Value>& b) { return b[0]; })(x, y);", CALLABLE),
    ("jit([](Value a, Value b) { return a; })(x);", MORE),
    ("vmap([](Value a, Value b) { return a; })(v);", MORE),
    ("jit([](Value a) { return a; })(x, y);", FEWER),
    ("grad([](const Params<Array>& p) { return p.w; })(Params<Array>{x, y});", LEAVES),
    ("jit([](Value a, Array b) { return a; })(x, y);", LEAVES),
    ("jit([](Value a, int n) { return a; })(x, 3);", NUMBER),
    ("grad([](Value a, const double& s) { return a; })(v, 0.5);", NUMBER),
    ("jit([](Value& a) { return a; })(x);", REFERENCE),
    ("jit([](const Rows<Value>& r) { return r.w[0]; })(Rows<Array>());", ARRAY_MEMBER),
    ("jit([](const OneRow<Value>& r) { return r.w[0]; })(OneRow<Array>());", ARRAY_MEMBER),
    ("jit([](const Derived<Value>& r) { return r.c; })(Derived<Array>());", BASE),
    ("jit([](const DerivedAlone<Value>& r) { return r.w; })(DerivedAlone<Array>());", BASE),
    ("jit([](const Private<Value>& r) { return Value(); })(Private<Array>(x));",
     "for another class list its members in ricci::TreeMembers"),
    ("if (v > 0) v = -v;", TRUTH),
    ("if (x > 0) return;", TRUTH),
    ("while (v > 0 && v < 1) v = v / 2;", TRUTH),
    ("const bool b = !(v == v);", TRUTH),
    ("v = (v > 0) ? v : -v;", TRUTH),
    ("jit([](Value a) { return a > 0 || a < -1 ? a : -a; })(x);", TRUTH),
    ("max(v, 0.0);", AXES),
    ("min(v, 0.5f);", AXES),
    ("sum(v, 1.0);", AXES),
    ("mean(v, true);", AXES),
    ("max(v, v);", AXES),
    ("min(x, y);", AXES),
    ("squeeze(v, 1.0);", AXES),
    ("softmax(v, 0.5);", AXIS),
    ("argmax(v, 1.0);", AXIS),
    ("concatenate({v, v}, 1.0);", AXIS),
    ("sort(v, true);", AXIS),
    ("v[0] = v;", ELEMENT),
    ("v[0] = 1.0;", ELEMENT),
    ("v[0][1] = v[1];", ELEMENT),
    ("index(v, {0, 1}) = v;", ELEMENT),
    ("slice(v, 0, 1) = v;", ELEMENT),
    ("v[0] += 1.0;", TEMPORARY + "add_at(x, i, value)"),
    ("v[0] -= v;", TEMPORARY + "sub_at(x, i, value)"),
    ("v[0] *= v;", TEMPORARY + "mul_at(x, i, value)"),
    ("v[0] /= 2;", TEMPORARY + "set_at(x, i, x[i] / value)"),
    ("tree_map([](Value a) { return a; }, v, v);", "the function given to tree_map takes one leaf of each tree"),
    ("tree_map([](Value) {}, v);", "the function given to tree_map returns nothing; return its result"),
    ("tree_map([](Value a) { return a; }, std::pair(v, x));",
     "the leaves of a tree given to tree_map or a reduction are all Values, all Arrays or all shapes"),
    ("einsum(\"i\");", "einsum needs at least one operand"),
    ("fori_loop(0, 3, [](Value, Value c) { return std::pair(c, c); }, v);",
     "the body of fori_loop must give a carry of the type that it takes"),
    ("jit([](Value) {})(x);", "the function given to a transform returns nothing; return its result"),
    ("jit([](Opaque, Value a) { return a; })(Opaque(1), x);",
     "a tree is made of Values or Arrays, numbers, texts, plain structs, and std::vector, array, tuple, pair, optional "
     "and map of trees; for another class list its members in ricci::TreeMembers"),
    ("jit([](Value a) { return Fixed{a}; })(x);",
     "a struct that a function under jit, grad or vmap returns must be a template over its leaf: Params<Value> inside, "
     "Params<Array> outside"),
    ("grad<1>([](Value a) { return a; })(x);", "grad<k>(f): f has no argument k; arguments are counted from 0"),
    ("grad([](Value a) { return std::vector<Value>{a}; })(x);",
     "the function given to grad must give a scalar, or std::pair(scalar, auxiliary results)"),
    ("jacrev<2>([](Value a) { return a; })(x);",
     "jacfwd<k>(f), jacrev<k>(f): f has no argument k; arguments are counted from 0"),
    ("jvp([](Value a) { return a; }, std::tuple(x), std::tuple(x, y));", "jvp needs one tangent per argument"),
    ("jvp(has_aux([](Value a) { return a; }), std::tuple(x), std::tuple(x));",
     "the function given to has_aux must give std::pair(result, auxiliary results)"),
    ("vjp(has_aux([](Value a) { return a; }), x);",
     "the function given to has_aux must give std::pair(result, auxiliary results)"),
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
     "bwd of custom_vjp takes the residuals that fwd returns, then the cotangent of the result"),
]
# These must compile without a warning.
QUIET = [
    "jit([](Value a) { return a; }, {.donate_argnums = {0}})(x);",
    "jit([](Value a) { return a; }, {.context = *ctx})(1.0);",
    "scan([](Value c, None) { return std::pair(c, None{}); }, v, None{}, {.length = 3});",
    "index(v, {Slice{.start = 1}, Slice{.stop = 2}, kAll});",
    "eval_shape(*ctx, [](Value a) { return a; }, ShapeDType{.shape = {2}, .dtype = DType::kF32});",
    "v = v[0]; v += v[0]; Value w = v[1]; w = set_at(w, {0, v}, 1.0);",
    "max(v, 0); sum(v, {0, -1}); softmax(v, size_t{1}); max(v, {}, true);",
    "jit([](Static<int> n, Value a) { return a * n.value; })(Static<int>{3}, x);",
    "const auto [y1, pull, aux] = vjp(has_aux([](Value a) { return std::pair(a, a); }), x); pull(y1);",
    "tree_map([](Value p, Value g) { return p - 0.1 * g; }, Params<Value>{v, v}, Params<Value>{v, v});",
    "einsum(\"ij,jk\", v, x);",
    "auto y1 = sin(x); auto y2 = y1 * 2 + x; Array a = y2; y2.to_vector<float>(); y1.item<float>(); jit([](Value u) { return u; })(y2);",
    "if ((x > 0).item<bool>()) return;",
    "const bool ok = true; if (ok && x.empty()) return;",
]


def precompile(compiler, folder):
    """The arguments that make `compiler` begin with HEADER, whose compilation would take most of the time."""
    header = pathlib.Path(folder) / f"{compiler}.hpp"
    header.write_text(HEADER)
    out = header.with_suffix(".hpp.gch")  # clang takes this name for `-include` too
    # With the templates that the header needs, which clang else makes again for each program.
    templates = ["-fpch-instantiate-templates"] if "clang" in compiler else []
    subprocess.run([compiler, *WARNINGS, *FLAGS, *templates, "-xc++-header", header, "-o", out], check=True)
    return [*templates, "-include", header]


def first_error(compiler, begin, statement, warnings=()):
    result = subprocess.run([compiler, *warnings, *FLAGS, *begin, "-fsyntax-only", "-xc++", "-"],
                            input=FRAME.format(statement), text=True, capture_output=True)
    if result.returncode == 0:
        return COMPILES
    line = next(l for l in result.stderr.splitlines() if "error:" in l)
    return re.sub(r'.*error: (static assertion failed: |static_assert failed due to requirement .*? "|static_assert failed "|)', "", line).rstrip('"')


def check(job):
    compiler, begin, statement, want = job
    got = first_error(compiler, begin, statement, WARNINGS if want == COMPILES else ())
    return "" if want in got else f"{compiler}: {statement}\n  want: {want}\n  got:  {got}"


def main():
    cases = CASES + [(s, COMPILES) for s in QUIET]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [(c, begin, *case) for c in sys.argv[1:] for begin in [precompile(c, folder)] for case in cases]
        errors = [e for e in pool.map(check, jobs) if e]
    print("\n".join(errors + [f"refused programs: {len(jobs)} compiled, {len(errors)} wrong"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
