// Parts of floating numbers, division with a remainder, comparison up to a tolerance.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.signbit(n)", [](const Given& g) -> Results { return signbit(g.n); }},
    {"jnp.signbit(i)", [](const Given& g) -> Results { return signbit(g.i); }},
    {"jnp.signbit(k)", [](const Given& g) -> Results { return signbit(g.k); }},
    {"jnp.copysign(x, y)", [](const Given& g) -> Results { return copysign(g.x, g.y); }},
    {"jnp.copysign(i, n)", [](const Given& g) -> Results { return copysign(g.i, g.n); }},
    {"jnp.nextafter(x, y)", [](const Given& g) -> Results { return nextafter(g.x, g.y); }, 0},
    {"jnp.spacing(x)", [](const Given& g) -> Results { return spacing(g.x); }, 0},
    {"jnp.spacing(d)", [](const Given& g) -> Results { return spacing(g.d); }, 0},
    {"jnp.frexp(n)", [](const Given& g) -> Results { return frexp(g.n); }, 0},
    {"jnp.frexp(x)", [](const Given& g) -> Results { return frexp(g.x); }, 0},
    {"jnp.frexp(h)", [](const Given& g) -> Results { return frexp(g.h); }, 0},
    {"jnp.ldexp(x, i)", [](const Given& g) -> Results { return ldexp(g.x, g.i); }, 0},
    {"jnp.ldexp(2, i)", [](const Given& g) -> Results { return ldexp(2, g.i); }, 0},
    {"jnp.modf(x)", [](const Given& g) -> Results { return modf(g.x); }, 0},
    {"jnp.modf(i)", [](const Given& g) -> Results { return modf(g.i); }, 0},
    {"jnp.bitwise_count(i)", [](const Given& g) -> Results { return bitwise_count(g.i); }},
    {"jnp.bitwise_count(k)", [](const Given& g) -> Results { return bitwise_count(g.k); }},
    {"jnp.trunc(x)", [](const Given& g) -> Results { return trunc(g.x); }},
    {"jnp.trunc(i)", [](const Given& g) -> Results { return trunc(g.i); }},
    {"jnp.rint(x)", [](const Given& g) -> Results { return rint(g.x); }},
    {"jnp.rint(i)", [](const Given& g) -> Results { return rint(g.i); }},
    {"jnp.fmod(x, y)", [](const Given& g) -> Results { return fmod(g.x, g.y); }},
    {"jnp.fmod(i, 3)", [](const Given& g) -> Results { return fmod(g.i, 3); }},
    {"jnp.divmod(x, y)", [](const Given& g) -> Results { return divmod(g.x, g.y); }},
    {"jnp.divmod(i, 4)", [](const Given& g) -> Results { return divmod(g.i, 4); }},
    {"jnp.gcd(i, 6)", [](const Given& g) -> Results { return gcd(g.i, 6); }},
    {"jnp.gcd(k, 10)", [](const Given& g) -> Results { return gcd(g.k, 10); }},
    {"jnp.gcd(i, j[:3])", [](const Given& g) -> Results { return gcd(g.i, slice(g.j, 0, 3)); }},
    {"jnp.lcm(i, 4)", [](const Given& g) -> Results { return lcm(g.i, 4); }},
    {"jnp.isneginf(n)", [](const Given& g) -> Results { return isneginf(g.n); }},
    {"jnp.isposinf(n)", [](const Given& g) -> Results { return isposinf(g.n); }},
    {"jnp.isreal(z)", [](const Given& g) -> Results { return isreal(g.z); }},
    {"jnp.isreal(x)", [](const Given& g) -> Results { return isreal(g.x); }},
    {"jnp.iscomplex(z)", [](const Given& g) -> Results { return iscomplex(g.z); }},
    {"jnp.isclose(x, x + 1e-6)", [](const Given& g) -> Results { return isclose(g.x, g.x + 1e-6); }},
    {"jnp.isclose(n, n)", [](const Given& g) -> Results { return isclose(g.n, g.n); }},
    {"jnp.isclose(n, n, equal_nan=True)",
     [](const Given& g) -> Results { return isclose(g.n, g.n, 1e-5, 1e-8, true); }},
    {"jnp.isclose(i, i + 1, 0.1)", [](const Given& g) -> Results { return isclose(g.i, g.i + 1, 0.1); }},
    {"jnp.allclose(x, x)", [](const Given& g) -> Results { return allclose(g.x, g.x); }},
    {"jnp.allclose(x, y, 0.1, 0.5)", [](const Given& g) -> Results { return allclose(g.x, g.y, 0.1, 0.5); }},
    {"jnp.array_equal(x, x)", [](const Given& g) -> Results { return array_equal(g.x, g.x); }},
    {"jnp.array_equal(x, v)", [](const Given& g) -> Results { return array_equal(g.x, g.v); }},
    {"jnp.array_equal(n, n, equal_nan=True)", [](const Given& g) -> Results { return array_equal(g.n, g.n, true); }},
    {"jnp.array_equiv(x, w)", [](const Given& g) -> Results { return array_equiv(g.x, g.w); }},
    {"jnp.nan_to_num(n)", [](const Given& g) -> Results { return nan_to_num(g.n); }},
    {"jnp.nan_to_num(n, nan=1.5, posinf=7.0)", [](const Given& g) -> Results { return nan_to_num(g.n, 1.5, 7.0); }},
    {"jnp.nan_to_num(i)", [](const Given& g) -> Results { return nan_to_num(g.i); }},
};

}  // namespace

std::span<const Case> FloatPartCases() { return kCases; }

}  // namespace ricci::testing
