// Arrays made from nothing, diagonals, triangles, indices of flattened arrays.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.arange(5)", [](const Given& g) -> Results { return arange(g.ctx, 5); }},
    {"jnp.arange(2, 11, 3)", [](const Given& g) -> Results { return arange(g.ctx, 2, 11, 3); }},
    {"jnp.arange(7, -2, -2)", [](const Given& g) -> Results { return arange(g.ctx, 7, -2, -2); }},
    {"jnp.arange(3, 1)", [](const Given& g) -> Results { return arange(g.ctx, 3, 1); }},
    {"jnp.arange(0.0, 1.0, 0.15)", [](const Given& g) -> Results { return arange(g.ctx, 0.0, 1.0, 0.15); }},
    {"jnp.arange(2.5), jnp.arange(-2.5), jnp.arange(3, dtype='float32'), jnp.arange(2.5, dtype='int32')",
     [](const Given& g) -> Results {
       return Values{arange(g.ctx, 2.5), arange(g.ctx, -2.5), arange(g.ctx, 3, DType::kF32),
                     arange(g.ctx, 2.5, DType::kI32)};
     }},
    {"jnp.arange(0.5, 3), jnp.arange(0, True), jnp.arange(1.5, 9, 2.5, 'int32'), jnp.arange(1, 2, 0.5, 'int32')",
     [](const Given& g) -> Results {
       return Values{arange(g.ctx, 0.5, 3), arange(g.ctx, 0, true), arange(g.ctx, 1.5, 9, 2.5, DType::kI32),
                     arange(g.ctx, 1, 2, 0.5, DType::kI32)};
     }},
    {"jnp.arange(1, 2, 0.1, 'float16'), jnp.arange(0.1, 5, dtype='float16'), jnp.arange(1, 4, 1, 'complex64'), "
     "jnp.arange(250, 260, dtype='uint8')",
     [](const Given& g) -> Results {
       return Values{arange(g.ctx, 1, 2, 0.1, DType::kF16), arange(g.ctx, 0.1, 5, DType::kF16),
                     arange(g.ctx, 1, 4, 1, DType::kC64), arange(g.ctx, 250, 260, DType::kU8)};
     }},
    {"jnp.linspace(0, 1, 5)", [](const Given& g) -> Results { return linspace(g.ctx, 0, 1, 5); }},
    {"jnp.linspace(2, -3)", [](const Given& g) -> Results { return linspace(g.ctx, 2, -3); }},
    {"jnp.linspace(0, 1, 4, endpoint=False)",
     [](const Given& g) -> Results { return linspace(g.ctx, 0, 1, 4, false); }},
    {"jnp.linspace(0, 7, 5, dtype=int)",
     [](const Given& g) -> Results { return linspace(g.ctx, 0, 7, 5, true, DType::kI32); }},
    {"jnp.linspace(3, 4, 1)", [](const Given& g) -> Results { return linspace(g.ctx, 3, 4, 1); }},
    {"jnp.linspace(3, 4, 0)", [](const Given& g) -> Results { return linspace(g.ctx, 3, 4, 0); }},
    {"jnp.linspace(x, y, 3)", [](const Given& g) -> Results { return linspace(g.x, g.y, 3); }},
    {"jnp.linspace(x, 2.0, 3, endpoint=False, axis=-1)",
     [](const Given& g) -> Results { return linspace(g.x, 2.0, 3, false, DType::kNone, -1); }},
    {"jnp.logspace(0, 2, 4)", [](const Given& g) -> Results { return logspace(g.ctx, 0, 2, 4); }, 32},
    {"jnp.logspace(-1, 2, 4, endpoint=False, base=2.0)",
     [](const Given& g) -> Results { return logspace(g.ctx, -1, 2, 4, false, 2.0); }, 32},
    {"jnp.geomspace(1, 1000, 4)", [](const Given& g) -> Results { return geomspace(g.ctx, 1, 1000, 4); }, 32},
    {"jnp.geomspace(-1.0, -32.0, 5, endpoint=False)",
     [](const Given& g) -> Results { return geomspace(g.ctx, -1, -32, 5, false); }, 32},
    {"jnp.zeros((2, 3))",
     [](const Given& g) -> Results {
       return zeros(g.ctx, {2, 3});
     }},
    {"jnp.ones(3, dtype=jnp.int8)", [](const Given& g) -> Results { return ones(g.ctx, {3}, DType::kI8); }},
    {"jnp.full((2, 2), 7)",
     [](const Given& g) -> Results {
       return full(g.ctx, {2, 2}, 7);
     }},
    {"jnp.full((2, 3), x[0])",
     [](const Given& g) -> Results {
       return full(g.ctx, {2, 3}, index(g.x, {0}));
     }},
    {"jnp.empty((0, 2))",
     [](const Given& g) -> Results {
       return empty(g.ctx, {0, 2});
     }},
    {"jnp.empty_like(i)", [](const Given& g) -> Results { return empty_like(g.i); }},
    {"jnp.zeros_like(z)", [](const Given& g) -> Results { return zeros_like(g.z); }},
    {"jnp.full_like(k, 9)", [](const Given& g) -> Results { return full_like(g.k, 9); }},
    {"jnp.eye(3)", [](const Given& g) -> Results { return eye(g.ctx, 3); }},
    {"jnp.eye(3, 4, 1, dtype=bool)", [](const Given& g) -> Results { return eye(g.ctx, 3, 4, 1, DType::kBool); }},
    {"jnp.eye(2, 3, -5)", [](const Given& g) -> Results { return eye(g.ctx, 2, 3, -5); }},
    {"jnp.identity(2, dtype=int)", [](const Given& g) -> Results { return identity(g.ctx, 2, DType::kI32); }},
    {"jnp.tri(3, 4, -1)", [](const Given& g) -> Results { return tri(g.ctx, 3, 4, -1); }},
    {"jnp.tri(2)", [](const Given& g) -> Results { return tri(g.ctx, 2); }},
    {"jnp.tril(m, 1)", [](const Given& g) -> Results { return tril(g.m, 1); }},
    {"jnp.triu(t, -1)", [](const Given& g) -> Results { return triu(g.t, -1); }},
    {"jnp.triu(n)", [](const Given& g) -> Results { return triu(g.n); }},
    {"jnp.tril(b)", [](const Given& g) -> Results { return tril(g.b); }},
    {"jnp.triu(b)", [](const Given& g) -> Results { return triu(g.b); }},
    {"jnp.indices((2, 3))",
     [](const Given& g) -> Results {
       return indices(g.ctx, {2, 3});
     }},
    {"jnp.vander(v)", [](const Given& g) -> Results { return vander(g.v); }},
    {"jnp.vander(j, 3, increasing=True)", [](const Given& g) -> Results { return vander(g.j, 3, true); }},
    {"jnp.bartlett(5)", [](const Given& g) -> Results { return bartlett(g.ctx, 5); }},
    {"jnp.blackman(6)", [](const Given& g) -> Results { return blackman(g.ctx, 6); }},
    {"jnp.hamming(7)", [](const Given& g) -> Results { return hamming(g.ctx, 7); }},
    {"jnp.kaiser(7, 3.5)", [](const Given& g) -> Results { return kaiser(g.ctx, 7, 3.5); }},
    {"jnp.kaiser(1, 3.5)", [](const Given& g) -> Results { return kaiser(g.ctx, 1, 3.5); }},
    {"jnp.hanning(1)", [](const Given& g) -> Results { return hanning(g.ctx, 1); }},
    {"jnp.hanning(4)", [](const Given& g) -> Results { return hanning(g.ctx, 4); }},
    {"jnp.diag(v)", [](const Given& g) -> Results { return diag(g.v); }},
    {"jnp.diag(v, -2)", [](const Given& g) -> Results { return diag(g.v, -2); }},
    {"jnp.diag(x, 1)", [](const Given& g) -> Results { return diag(g.x, 1); }},
    {"jnp.diag(c)", [](const Given& g) -> Results { return diag(g.c); }},
    {"jnp.diagflat(x)", [](const Given& g) -> Results { return diagflat(g.x); }},
    {"jnp.diagonal(x)", [](const Given& g) -> Results { return diagonal(g.x); }},
    {"jnp.diagonal(t, 1, 2, 0)", [](const Given& g) -> Results { return diagonal(g.t, 1, 2, 0); }},
    {"jnp.diagonal(x, -1)", [](const Given& g) -> Results { return diagonal(g.x, -1); }},
    {"jnp.diagonal(n, 1)", [](const Given& g) -> Results { return diagonal(g.n, 1); }},
    {"jnp.trace(m)", [](const Given& g) -> Results { return trace(g.m); }},
    {"jnp.trace(t, 1, -2, -1)", [](const Given& g) -> Results { return trace(g.t, 1, -2, -1); }},
    {"jnp.trace(b)", [](const Given& g) -> Results { return trace(g.b); }},
    {"jnp.fill_diagonal(x, 9, inplace=False)", [](const Given& g) -> Results { return fill_diagonal(g.x, 9); }},
    {"jnp.fill_diagonal(m, v[:2], inplace=False)",
     [](const Given& g) -> Results { return fill_diagonal(g.m, slice(g.v, 0, 2)); }},
    {"jnp.fill_diagonal(t[:, :2, :2], 5, inplace=False)",
     [](const Given& g) -> Results {
       return fill_diagonal(index(g.t, {kAll, Slice{0, 2}, Slice{0, 2}}), 5);
     }},
    {"jnp.tril_indices(3, -1)", [](const Given& g) -> Results { return tril_indices(g.ctx, 3, -1); }},
    {"jnp.triu_indices(2, 0, 4)", [](const Given& g) -> Results { return triu_indices(g.ctx, 2, 0, 4); }},
    {"jnp.tril_indices_from(x, 1)", [](const Given& g) -> Results { return tril_indices_from(g.x, 1); }},
    {"jnp.triu_indices_from(m)", [](const Given& g) -> Results { return triu_indices_from(g.m); }},
    {"jnp.diag_indices(3)", [](const Given& g) -> Results { return diag_indices(g.ctx, 3); }},
    {"jnp.diag_indices_from(m)", [](const Given& g) -> Results { return diag_indices_from(g.m); }},
    {"jnp.unravel_index(j, (2, 3))",
     [](const Given& g) -> Results {
       return unravel_index(g.j, {2, 3});
     }},
    {"jnp.unravel_index(i, (2, 5))",
     [](const Given& g) -> Results {
       return unravel_index(g.i, {2, 5});
     }},
    {"jnp.ravel_multi_index((j, j), (3, 4), mode='clip')",
     [](const Given& g) -> Results {
       const Value j = constant(g.ctx, g.j);
       return ravel_multi_index({j, j}, {3, 4});
     }},
    {"jnp.ravel_multi_index((i, i), (3, 4), mode='wrap')",
     [](const Given& g) -> Results {
       const Value i = constant(g.ctx, g.i);
       return ravel_multi_index({i, i}, {3, 4}, "wrap");
     }},
};

}  // namespace

std::span<const Case> CreationCases() { return kCases; }

}  // namespace ricci::testing
