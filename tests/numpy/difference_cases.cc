// Differences, integrals, interpolation, convolution, polynomials.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.diff(x)", [](const Given& g) -> Results { return diff(g.x); }},
    {"jnp.diff(t, 2, 1)", [](const Given& g) -> Results { return diff(g.t, 2, 1); }},
    {"jnp.diff(b, axis=0)", [](const Given& g) -> Results { return diff(g.b, 1, 0); }},
    {"jnp.diff(v, 9)", [](const Given& g) -> Results { return diff(g.v, 9); }},
    {"jnp.diff(x, axis=1, prepend=0, append=y)",
     [](const Given& g) -> Results { return diff(g.x, 1, 1, Operand(0), g.y); }},
    {"jnp.ediff1d(x)", [](const Given& g) -> Results { return ediff1d(g.x); }},
    {"jnp.ediff1d(i, 9, j)", [](const Given& g) -> Results { return ediff1d(g.i, Operand(9), g.j); }},
    {"jnp.gradient(v)", [](const Given& g) -> Results { return gradient(g.v); }},
    {"jnp.gradient(t[:, :2])",
     [](const Given& g) -> Results {
       return gradient(index(g.t, {kAll, Slice{0, 2}}));
     }},
    {"jnp.gradient(t, 0.5, axis=2)", [](const Given& g) -> Results { return gradient(g.t, 0.5, 2); }},
    {"jnp.trapezoid(x)", [](const Given& g) -> Results { return trapezoid(g.x); }},
    {"jnp.trapezoid(i, dx=0.5, axis=0)", [](const Given& g) -> Results { return trapezoid(g.i, {}, 0.5, 0); }},
    {"jnp.trapezoid(u, s)", [](const Given& g) -> Results { return trapezoid(g.u, g.s); }},
    {"jnp.trapezoid(x, y, axis=0)", [](const Given& g) -> Results { return trapezoid(g.x, g.y, 1, 0); }},
    {"jnp.unwrap(jnp.array([0, 3.5, 7.2, 1.1, 4.0]))",
     [](const Given& g) -> Results {
       return unwrap(Array(g.ctx, {0.0f, 3.5f, 7.2f, 1.1f, 4.0f}));
     }},
    {"jnp.unwrap(t * 3, axis=0)", [](const Given& g) -> Results { return unwrap(g.t * 3, {}, 0); }},
    {"jnp.unwrap(x, period=4.0)", [](const Given& g) -> Results { return unwrap(g.x, {}, -1, 4.0); }},
    {"jnp.interp(x, s, u)", [](const Given& g) -> Results { return interp(g.x, g.s, g.u); }},
    {"jnp.interp(x, s, u, left=9, right=-9)",
     [](const Given& g) -> Results { return interp(g.x, g.s, g.u, {.left = 9, .right = -9}); }},
    {"jnp.interp(x, s, u, period=3.5)",
     [](const Given& g) -> Results { return interp(g.x, g.s, g.u, {.period = 3.5}); }},
    {"jnp.interp(i, s, u)", [](const Given& g) -> Results { return interp(g.i, g.s, g.u); }},
    {"jnp.convolve(v, u)", [](const Given& g) -> Results { return convolve(g.v, g.u); }},
    {"jnp.convolve(v, u, mode='same')", [](const Given& g) -> Results { return convolve(g.v, g.u, "same"); }},
    {"jnp.convolve(u, v, mode='valid')", [](const Given& g) -> Results { return convolve(g.u, g.v, "valid"); }},
    {"jnp.convolve(t.ravel(), jnp.tile(t.ravel(), 2), mode='same')",
     [](const Given& g) -> Results { return convolve(ravel(g.t), tile(ravel(g.t), {2}), "same"); }, 64},
    {"jnp.correlate(u, v)", [](const Given& g) -> Results { return correlate(g.u, g.v); }},
    {"jnp.correlate(v, u, mode='full')", [](const Given& g) -> Results { return correlate(g.v, g.u, "full"); }},
    {"jnp.correlate(v, u, mode='same')", [](const Given& g) -> Results { return correlate(g.v, g.u, "same"); }},
    {"jnp.correlate(u, v, mode='same')", [](const Given& g) -> Results { return correlate(g.u, g.v, "same"); }},
    {"jnp.correlate(zv, v, mode='full')", [](const Given& g) -> Results { return correlate(g.zv, g.v, "full"); }},
    {"jnp.correlate(v, zv, mode='full')", [](const Given& g) -> Results { return correlate(g.v, g.zv, "full"); }},
    {"jnp.polyval(v, x)", [](const Given& g) -> Results { return polyval(g.v, g.x); }},
    {"jnp.polyval(j, i)", [](const Given& g) -> Results { return polyval(g.j, g.i); }},
    {"jnp.polyadd(v, u)", [](const Given& g) -> Results { return polyadd(g.v, g.u); }},
    {"jnp.polysub(v, j)", [](const Given& g) -> Results { return polysub(g.v, g.j); }},
    {"jnp.polymul(v, u)", [](const Given& g) -> Results { return polymul(g.v, g.u); }},
    {"jnp.polydiv(u, v[:3])", [](const Given& g) -> Results { return polydiv(g.u, slice(g.v, 0, 3)); }, 64},
    {"jnp.polyder(v)", [](const Given& g) -> Results { return polyder(g.v); }},
    {"jnp.polyder(u, 2)", [](const Given& g) -> Results { return polyder(g.u, 2); }},
    {"jnp.polyint(v)", [](const Given& g) -> Results { return polyint(g.v); }},
    {"jnp.polyint(v, 2, jnp.array([1.0, 2.0]))",
     [](const Given& g) -> Results {
       return polyint(g.v, 2, Array(g.ctx, {1.0f, 2.0f}));
     }},
    {"jnp.poly(v)", [](const Given& g) -> Results { return poly(g.v); }},
    {"jnp.sort(jnp.abs(jnp.roots(v, strip_zeros=False)))",
     [](const Given& g) -> Results { return sort(abs(roots(g.v))); }, 64},
    {"jnp.sort(jnp.roots(jnp.array([0.0, 0.0, 2.0, -6.0, 4.0, 0.0]), strip_zeros=False).real)",
     [](const Given& g) -> Results {
       return sort(real(roots(Array(g.ctx, {0.0f, 0.0f, 2.0f, -6.0f, 4.0f, 0.0f}))));
     },
     64},
    {"jnp.roots(jnp.zeros(3), strip_zeros=False)", [](const Given& g) -> Results { return roots(zeros(g.ctx, {3})); }},
    {"jnp.roots(w, strip_zeros=False)", [](const Given& g) -> Results { return roots(g.w); }},
    {"jnp.polyfit(u, s, 2)", [](const Given& g) -> Results { return polyfit(g.u, g.s, 2); }, 256},
    {"jnp.polyfit(u, jnp.stack([s, u * u], 1), 2, w=jnp.abs(s) + 1)",
     [](const Given& g) -> Results {
       return polyfit(g.u, stack({g.s, g.u * g.u}, 1), 2, {.w = abs(g.s) + 1});
     },
     256},
    {"jnp.polyfit(u, s, 3, rcond=0.2)", [](const Given& g) -> Results { return polyfit(g.u, g.s, 3, {.rcond = 0.2}); },
     256},
};

}  // namespace

std::span<const Case> DifferenceCases() { return kCases; }

}  // namespace ricci::testing
